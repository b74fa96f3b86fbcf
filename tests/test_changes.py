"""Bodies and joints that come, go and change while a world runs: what stays keeps its state to the bit."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import mcsim as mc
from mcsim.scene.joints import TYPES
from mcsim.world.gathering import Gathering

WORLDS = {
    "default": {},
    "rows": {"joint_solver": "rows"},
    "pgs": {"solver": "pgs", "stabilization": "baumgarte"},
    "rk4": {"integrator": "rk4"},
    "rattle": {"integrator": "rattle"},
    "split": {"stabilization": "split_impulse"},
}
every_world = pytest.mark.parametrize("keywords", WORLDS.values(), ids=WORLDS)


def yard():
    """A stack, a pendulum of two links with a gear, a ball on the floor, each away from the others."""
    scene = mc.Scene(name="yard")
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(3):
        scene.add_body(f"box{i}", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.2 + 0.4 * i))
    for i in range(2):
        scene.add_body(f"link{i}", shape=mc.Capsule(0.05, 0.2), position=(3, 0, 3 - 0.5 * i))
        scene.add_joint(
            mc.HingeJoint(f"link{i - 1}" if i else None, f"link{i}", (3, 0, 3.25 - 0.5 * i), (0, 1, 0), name=f"hinge{i}")
        )
    scene.add_joint(mc.GearJoint("hinge0", "hinge1", 2.0, name="gear"))
    scene.add_body(
        "ball", shape=mc.Sphere(0.2, material=mc.Material(restitution=0.5)), position=(-3, 0, 0.5), velocity=(0, 0, -1)
    )
    return scene


def running(**keywords):
    world = mc.World(yard(), **keywords)
    world.body("link1").velocity[...] = (0.5, 0, 0)
    world.step(20)
    return world


ADDED = [
    mc.Sphere(0.2),
    mc.Box((0.1, 0.2, 0.3)),
    mc.ConvexHull(np.random.default_rng(1).normal(size=(12, 3))),
    [mc.Cylinder(0.1, 0.2), mc.Capsule(0.1, 0.2, position=(1, 0, 0))],
]


# ---- what stays ------------------------------------------------------------------------------------------------------


@every_world
@pytest.mark.parametrize("shape", ADDED, ids=["sphere", "box", "hull", "compound"])
@pytest.mark.sampled(5)
def test_adding_and_removing_leaves_no_trace(keywords, shape):
    """A body that came and went far away, with a joint: the world goes on to the bits of one that never saw it."""
    world, other = running(**keywords), running(**keywords)
    before = world.state_hash()
    world.add_body("far", shape=shape, position=(100, 0, 50), velocity=(1, 2, 3), orientation=(0.6, 0.8, 0, 0))
    world.add_joint(mc.BallJoint("far", None, (100, 0, 51), name="far joint"))
    assert world.state_hash() != before
    assert world.remove_body("far") == ("far joint",)
    assert world.state_hash() == before
    for each in (world, other):
        each.step(20)
    assert world.state_hash() == other.state_hash()


@every_world
def test_a_far_body_does_not_change_the_others(keywords):
    """Bits of all others are those of a world without it, while it is there, with and without a step between."""
    world, other = running(**keywords), running(**keywords)
    world.add_body("far", shape=mc.Sphere(0.2), position=(100, 0, 50))
    for each in (world, other):
        each.step(20)
    count = len(other.positions)
    for name in ("positions", "orientations", "velocities", "angular_velocities"):
        assert np.array_equal(getattr(world, name)[:count], getattr(other, name)), name
    world.remove_body("far")
    assert world.state_hash() == other.state_hash()
    for each in (world, other):
        each.step(10)
    assert world.state_hash() == other.state_hash()


def test_a_body_removed_from_the_middle_is_as_if_it_had_never_been():
    """Everything behind it is renumbered: bodies, shapes, contacts, joints and gears. Not to the bit: sweeps end when all
    that touches is at rest."""
    world, other = mc.World(yard()), mc.World(yard().without({"box0", "box1", "box2"}, set()))
    for each in (world, other):
        each.step(90)
    world.remove_body("box1")
    world.remove_bodies(["box2", "box0"])
    assert world.body_names == other.body_names and world.joint_names == other.joint_names
    for _ in range(2):
        for name in ("body_a", "body_b", "shape_a", "shape_b", "key", "point_count", "normal"):
            found, expected = (each._collider.get_manifolds()[name] for each in (world, other))
            assert len(found) > 0 and np.array_equal(found, expected), name
        for name in ("type", "body_a", "body_b", "geared", "impulse", "anchor_a", "constant"):
            np.testing.assert_allclose(world._joints[name], other._joints[name], atol=1e-12)
        assert np.allclose(world.positions, other.positions, atol=1e-12)
        assert np.allclose(world.contacts["normal_impulse"], other.contacts["normal_impulse"], atol=1e-12)
        for each in (world, other):
            each.step(90)


@every_world
def test_a_world_of_the_final_scene_with_the_state_is_equal(keywords):
    """Adding, removing and changing leave nothing behind that a world made anew does not have."""
    world = running(**keywords)
    world.add_bodies(
        [{"name": f"new{i}", "shape": shape, "position": (0.3 * i, 0.1, 2 + i)} for i, shape in enumerate(ADDED)]
    )
    world.add_joint(mc.DistanceJoint("new0", "new1", (0, 0.1, 2), (0.3, 0.1, 3), name="rope", limits=(0.1, 1.5)))
    world.step(10)
    world.remove_body("box2")
    world.set_shape("box1", mc.Sphere(0.2))
    world.set_kind("ball", "kinematic")
    world.step(10)
    goes_on_as_one_made_anew(world, keywords)


def goes_on_as_one_made_anew(world, keywords):
    """To the bit, for 20 steps."""
    again = mc.World(world.scene, **keywords)
    snapshot = world.snapshot()
    for name, array in snapshot.arrays.items():
        getattr(again._bodies, name)[...] = array
    again._joints[...] = world._joints
    again._collider.set_manifolds(world._collider.get_manifolds())
    again._pipeline.restored()
    again._pipeline.set_clock(snapshot.steps, snapshot.start)
    assert again.state_hash() == world.state_hash()
    for each in (world, again):
        each.step(20)
    assert again.state_hash() == world.state_hash()


@every_world
@pytest.mark.sampled(2)
def test_the_plan_of_the_joints_serves_while_bodies_without_joints_come_and_go(keywords):
    """On top of what is jointed, in all more than there is room for; and it is made anew where joints' bodies move up."""
    world = running(**keywords)
    planned = world._pipeline.parts.plan.tree
    count = len(world.positions)
    for i in range(4):
        names = [f"drop{i}_{k}" for k in range(30)]
        world.add_bodies(
            [
                {
                    "name": name,
                    "shape": mc.Sphere(0.08),
                    "density": 500.0,
                    "position": (0.25 * (k % 6) + 2.4, 0.3 * (k // 6) - 0.6, 3.3 + 0.2 * i),
                }
                for k, name in enumerate(names)
            ]
        )
        assert i > 0 or world._pipeline.parts.plan.tree is planned
        world.step(12)
        world.remove_bodies(names[::3])
        goes_on_as_one_made_anew(world, keywords)
    assert len(world.positions) == count + 80
    world.remove_body("box0")
    assert planned is None or world._pipeline.parts.plan.tree is not planned
    goes_on_as_one_made_anew(world, keywords)


def test_contacts_stay_warm():
    """A stack does not move by a bit more because something was added and removed elsewhere."""
    world = running()
    touching = world.contacts
    world.add_body(shape=mc.Sphere(0.1), position=(50, 0, 50))
    assert np.array_equal(world.contacts, touching) and np.any(touching["normal_impulse"] > 0)
    world.remove_body("link1")
    assert np.array_equal(world.contacts["normal_impulse"], touching["normal_impulse"])
    assert sorted(world.contacts["body_b"]) == [1] * 4 + [2] * 4 + [3] * 4 + [5] * np.sum(touching["body_b"] == 6)


def test_time_forces_and_impulses_of_joints_stay():
    world = running()
    world.apply_force("ball", (1, 2, 3))
    carried, when = world.joint("hinge0").force.copy(), world.time
    world.add_body(shape=mc.Sphere(0.1), position=(50, 0, 50))
    world.remove_body("box0")
    assert world.time == when
    assert world.forces[world.body("ball").index].tolist() == [1, 2, 3, 0, 0, 0]
    assert np.array_equal(world.joint("hinge0").force, carried) and np.any(carried)


# ---- what comes ------------------------------------------------------------------------------------------------------


def test_an_added_body_is_what_it_would_be_in_the_scene():
    """The same arguments, the same arrays, the same steps as when it had been there from the start."""
    scene = yard()
    world = mc.World(scene)
    description = dict(
        shape=mc.Capsule(0.1, 0.3),
        position=(1, 1, 2),
        orientation=(0.6, 0, 0.8, 0),
        velocity=(1, 0, 0),
        angular_velocity=(0, 2, 0),
        density=500.0,
        material=mc.Material(0.3),
        gravity_scale=0.5,
        linear_damping=0.1,
        angular_damping=0.2,
        collision_group=2,
        collision_mask=3,
    )
    handle = world.add_body("late", **description)
    scene.add_body("late", **description)
    other = mc.World(scene)
    assert world.state_hash() == other.state_hash() and world.scene == other.scene
    for each in (world, other):
        each.step(30)
    assert world.state_hash() == other.state_hash()
    assert handle == world.body("late") and handle.index == len(world.body_names) - 1 and handle.mass > 0
    assert world.add_body(shape=mc.Sphere(1), position=(9, 9, 9)).name == f"body{len(scene.bodies)}"


def test_signatures_are_those_of_the_scene():
    theirs, ours = (inspect.signature(owner.add_body).parameters for owner in (mc.Scene, mc.World))
    assert list(theirs) == list(ours) and all(theirs[name] == ours[name] for name in theirs)


JOINTS = {
    "hinge": lambda a, b: mc.HingeJoint(a, b, (1, 0, 1), (0, 1, 0)),
    "ball": lambda a, b: mc.BallJoint(a, b, (1, 0, 1), axis=(1, 0, 0), swing_limit=1.0),
    "universal": lambda a, b: mc.UniversalJoint(a, b, (1, 0, 1), (1, 0, 0), (0, 1, 0)),
    "slider": lambda a, b: mc.SliderJoint(a, b, (1, 0, 1)),
    "fixed": lambda a, b: mc.FixedJoint(a, b),
    "cylindrical": lambda a, b: mc.CylindricalJoint(a, b, (1, 0, 1), (0, 0, 1)),
    "planar": lambda a, b: mc.PlanarJoint(a, b, (1, 0, 1), (0, 0, 1)),
    "screw": lambda a, b: mc.ScrewJoint(a, b, (1, 0, 1), (0, 0, 1), 0.1),
    "rod": lambda a, b: mc.DistanceJoint(a, b, (1, 0, 1), (0, 0, 2)),
    "rope": lambda a, b: mc.DistanceJoint(a, b, (1, 0, 1), (0, 0, 2), limits=(None, 1.5)),
    "spring": lambda a, b: mc.DistanceJoint(a, b, (1, 0, 1), (0, 0, 2), 1.4, spring=mc.Spring(100.0, 1.0)),
    "rack": lambda a, b: mc.RackPinionJoint(a, b, (1, 0, 1), (1, 0, 0), (0, 1, 0), 0.2),
    "free": lambda a, b: mc.FreeJoint(a, b),
    "rolling": lambda a, b: mc.RollingJoint(a, b, 0.3),
    "knife": lambda a, b: mc.KnifeEdgeJoint(a, b, axis=(0, 1, 0)),
    "lock": lambda a, b: mc.LockJoint(a, b, "z", "xy"),
    "user": lambda a, b: mc.UserJoint(a, b, lambda p, q: q.position[:2] - p.position[:2] + (0.5, 0.1)),
    "frames": lambda a, b: mc.HingeJoint(a, b, frame_a=((0, 0, 0.5), (1, 0, 0, 0))),
}
# Those that are placed by a point and one direction, which need no line here.
JOINTS |= {
    name: lambda a, b, joint=joint: joint(a, b, (1, 0, 1), (0, 0, 1))
    for name, joint in TYPES.items()
    if name not in JOINTS and name not in ("distance", "rack_pinion", "gear", "knife_edge")
}


def pair(turned=False):
    """Two bodies, one of them a compound whose centre of mass is not its frame; at rest or thrown."""
    scene = mc.Scene(gravity=(0, 0, 0))
    motion = dict(velocity=(0.3, 0.2, 0.1), angular_velocity=(1, 2, 3)) if turned else {}
    scene.add_body(
        "a", shape=[mc.Box((0.1, 0.2, 0.3)), mc.Sphere(0.2, position=(0.4, 0, 0))], position=(0.5, 0, 1), **motion
    )
    scene.add_body("b", shape=mc.Capsule(0.1, 0.3), position=(0, 0.1, 2), **motion)
    return scene


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("ends", [("a", "b"), (None, "b"), ("a", None)], ids=["ab", "world-b", "a-world"])
@pytest.mark.sampled(2)
def test_a_joint_added_at_the_start_is_that_of_the_scene(kind, ends):
    if kind in ("rolling",) and ends[1] is None or kind == "user" and None in ends:
        pytest.skip("not such a joint")
    scene = pair()
    world = mc.World(scene)
    handle = world.add_joint(JOINTS[kind](*ends))
    scene.add_joint(JOINTS[kind](*ends))
    other = mc.World(scene)
    assert handle.name == "joint0" and world.joint_names == other.joint_names
    for name in set(world._joints.dtype.names) - {"axes"}:
        np.testing.assert_allclose(world._joints[name], other._joints[name], atol=1e-15, err_msg=name)
    for name in world._joints["axes"].dtype.names:
        np.testing.assert_allclose(world._joints["axes"][name], other._joints["axes"][name], atol=1e-15, err_msg=name)
    for each in (world, other):
        each.step(5)
    assert np.allclose(world.positions, other.positions, atol=1e-12)


@pytest.mark.parametrize("kind", JOINTS)
def test_a_joint_is_placed_at_the_present_poses(kind):
    """Bodies that have moved far since they were described: nothing is off, and the scene tells the joint rightly."""
    world = mc.World(pair(turned=True))
    world.step(100)
    assert np.linalg.norm(world.positions[0] - (0.5, 0, 1)) > 0.5
    if kind == "user":
        offset = world.positions[1, :2] - world.positions[0, :2]
        joint = mc.UserJoint("a", "b", lambda p, q: q.position[:2] - p.position[:2] - offset)
    elif kind in ("rod", "rope", "spring"):
        make = {"rod": {}, "rope": {"limits": (None, 9.0)}, "spring": {"spring": mc.Spring(1.0)}}[kind]
        joint = mc.DistanceJoint("a", "b", world.positions[0], world.positions[1] + (0, 0, 0.1), **make)
    else:
        joint = JOINTS[kind](world.body("a"), world.body("b"))
    before = world.state_hash()
    handle = world.add_joint(joint)
    assert np.abs(world.joint_errors()).max() < 1e-12
    if kind in ("rod", "rope", "spring"):
        gap = np.linalg.norm(world.positions[1] + (0, 0, 0.1) - world.positions[0])
        assert handle.position == pytest.approx(gap, abs=1e-12)
    elif kind not in ("frames", "rolling", "knife", "user", "fixed", "lock"):
        assert np.abs(np.atleast_1d(handle.position)).max(initial=0.0) < 1e-12
    if kind == "rod":
        assert world._joints["constant"][0] == pytest.approx(gap, abs=1e-12)
    if kind not in ("user",):
        told = mc.World(mc.Scene.from_dict(world.scene.to_dict()))
        for name in ("anchor_a", "anchor_b", "basis_a", "basis_b", "constant", "radius", "disc"):
            np.testing.assert_allclose(told._joints[name], world._joints[name], atol=1e-14, err_msg=name)
    world.step(20)
    assert np.abs(world.joint_errors()).max() < 1e-4
    assert world.remove_joint(handle) == ("joint0",)
    assert before != world.state_hash() and len(world.joint_names) == 0


def test_a_gear_keeps_what_it_finds():
    """Added while the hinges stand at angles; removed with a hinge; the same after a restore and in a copy."""
    world = running()
    world.remove_joint("gear")
    world.step(20)
    q = [world.joint(f"hinge{i}").position for i in range(2)]
    gear = world.add_joint(mc.GearJoint(world.joint("hinge0"), world.joint("hinge1"), -1.5))
    kept = q[0] - 1.5 * q[1]
    assert world._joints["constant"][gear.index] == pytest.approx(kept, abs=1e-14)
    for each in (world, pickle.loads(pickle.dumps(world)), copy.deepcopy(world)):
        each.step(20)
        now = [each.joint(f"hinge{i}").position for i in range(2)]
        assert now[0] - 1.5 * now[1] == pytest.approx(kept, abs=1e-5)
    snapshot = world.snapshot()
    assert world.remove_joint("hinge0") == ("hinge0", gear.name)
    assert gear.removed
    world.restore(snapshot)
    assert not gear.removed and world.joint_names == ("hinge0", "hinge1", gear.name)
    assert world.remove_body("link1") == ("hinge1", gear.name)


# ---- handles and views -----------------------------------------------------------------------------------------------


def test_handles_follow_and_notice():
    scene = yard()
    world = mc.World(scene)
    world.step(5)
    body, joint, gone = world.body("ball"), world.joint("hinge1"), world.body("box0")
    position = body.position.copy()
    world.remove_body(gone)
    world.remove_joint("hinge0")
    assert body.index == 5 and joint.index == 0 and np.array_equal(body.position, position)
    assert body.name == "ball" and world.body(body) == body == world.body("ball")
    assert hash(body) == hash(world.body("ball"))
    assert gone.removed and gone.name == "box0" and "removed" in repr(gone)
    uses = [
        lambda h: h.index,
        lambda h: h.position,
        lambda h: h.velocity,
        lambda h: h.kind,
        lambda h: h.mass,
        lambda h: h.inertia,
        lambda h: h.frame,
        lambda h: h.orientation,
        lambda h: h.angular_velocity,
        world.body,
        world.remove_body,
        lambda h: world.set_pose(h, (0, 0, 0)),
        lambda h: world.apply_force(h, (0, 0, 1)),
        lambda h: world.set_kind(h, "static"),
        lambda h: world.add_joint(mc.FixedJoint(h, None)),
    ]
    for again in (False, True):
        for stale in (gone, scene.body("box0")):
            for use in uses if stale is gone else uses[9:]:
                with pytest.raises(mc.StaleHandleError, match="body 'box0' was removed"):
                    use(stale)
        if not again:
            world.add_body("box0", shape=mc.Sphere(0.1), position=(20, 0, 0))  # another of the same name
            assert world.body("box0") != gone
    with pytest.raises(LookupError):
        gone.position
    joint = world.joint("hinge1")
    world.remove_joint(joint)
    for use in (
        lambda h: h.index,
        lambda h: h.position,
        lambda h: h.force,
        lambda h: h.error,
        lambda h: h.type,
        lambda h: h.set_motor(velocity=1),
        world.joint,
        world.remove_joint,
        lambda h: mc.GearJoint(h, h, 1.0),
        lambda h: h.broken,
        lambda h: h.set_limits(0, 1),
    ):
        with pytest.raises(mc.StaleHandleError, match="joint 'hinge1' was removed"):
            use(joint)
    with pytest.raises(mc.SceneError, match="another world"):
        world.body(mc.World(scene).body("ball"))
    with pytest.raises(mc.SceneError, match="unknown body 'nobody'"):
        world.remove_body("nobody")


def test_a_view_taken_before_is_safe_and_stays():
    world = running()
    views = [world.positions, world.velocities, world.forces, world.body("ball").position]
    kept = [view.copy() for view in views]
    world.remove_body("box0")
    world.add_body(shape=mc.Sphere(0.1), position=(9, 9, 9))
    world.step(10)
    for view, before in zip(views, kept):
        assert np.array_equal(view, before)
    for view in views:
        view[...] = np.nan
    world.step(10)
    assert np.all(np.isfinite(world.positions))


def test_handles_in_copies():
    world = running()
    handle = world.add_body("late", shape=mc.Sphere(0.1), position=(5, 5, 5))
    for other in (pickle.loads(pickle.dumps(handle)), copy.deepcopy(handle)):
        assert np.array_equal(other.position, handle.position)
        other._world.remove_body(other)
        assert other.removed and not handle.removed


# ---- changes ---------------------------------------------------------------------------------------------------------


def test_another_shape_keeps_the_frame_and_its_motion():
    """The body's own frame stays and moves as before; mass, inertia and centre of mass are the new shape's."""
    world = mc.World(pair(turned=True))
    world.step(30)
    handle = world.body("a")
    frame, spin = handle.frame, handle.angular_velocity.copy()
    of_frame = handle.velocity + np.cross(spin, frame[0] - handle.position)
    shape = [mc.Sphere(0.3, position=(0, 0.5, 0)), mc.Box((0.1, 0.1, 0.1))]
    world.set_shape("a", shape)
    scene = mc.Scene()
    scene.add_body("a", shape=shape)
    np.testing.assert_allclose(handle.frame[0], frame[0], atol=1e-15)
    assert np.array_equal(handle.frame[1], frame[1]) and np.array_equal(handle.angular_velocity, spin)
    np.testing.assert_allclose(handle.velocity + np.cross(spin, handle.frame[0] - handle.position), of_frame, atol=1e-14)
    assert handle.mass == scene.body("a").mass and np.array_equal(handle.inertia, scene.body("a").inertia)
    assert world.masses[0] == handle.mass and world._bodies.inv_mass[0] == 1 / handle.mass
    world.set_shape("a", mc.Sphere(0.2), mass=3.0)
    assert handle.mass == 3.0
    world.set_shape("a", mc.Sphere(0.4))
    assert handle.mass == 3.0  # given by a number, so it stays
    world.set_body("a", density=10.0)
    assert handle.mass == pytest.approx(10.0 * 4 / 3 * np.pi * 0.4**3)


def test_joints_stay_where_they_are_on_a_body_of_another_shape():
    world = mc.World(pair())
    world.add_joint(mc.BallJoint("a", "b", (0.2, 0.3, 1.5)))
    world.add_joint(mc.BallJoint(None, "a", (0.5, 0, 1)))
    world.step(10)
    world.set_shape("a", mc.Sphere(0.2, position=(-1, 0, 0)))
    assert np.abs(world.joint_errors()).max() < 1e-12
    again = mc.World(mc.Scene.from_dict(world.scene.to_dict()))
    np.testing.assert_allclose(again._joints["anchor_a"], world._joints["anchor_a"], atol=1e-15)
    np.testing.assert_allclose(again._joints["anchor_b"], world._joints["anchor_b"], atol=1e-15)


TILT = 0.5 * np.arctan(0.3)


def test_material_and_kind_take_effect():
    """A box on a slope rests with friction and slides without; held static it stays; contacts keep their impulses."""
    scene = mc.Scene()
    scene.add_body("slope", shape=mc.Plane((0.3, 0, 1)), kind="static")
    scene.add_body(
        "box", shape=mc.Box((0.2, 0.2, 0.1)), position=(0, 0, 0.11), orientation=(np.cos(TILT), 0, np.sin(TILT), 0)
    )
    world = mc.World(scene)
    world.step(120)
    assert np.linalg.norm(world.body("box").velocity) < 1e-3
    impulses = world.contacts["normal_impulse"].copy()
    world.set_material("box", mc.Material(0.0))
    world.set_material("slope", mc.Material(0.0), shape=0)
    assert np.array_equal(world.contacts["normal_impulse"], impulses)
    world.step(30)
    assert world.body("box").velocity[0] > 0.5
    world.set_kind("box", "static")
    assert not np.any(world.body("box").velocity) and world.body("box").kind == "static" and world.masses[1] == 0
    place = world.positions.copy()
    world.step(10)
    assert np.array_equal(world.positions, place)
    world.set_kind("box", "kinematic")
    world.set_velocity("box", (0, 0, 1))
    world.step(6)
    assert world.positions[1, 2] == pytest.approx(place[1, 2] + 0.1)
    world.set_kind("box", "dynamic")
    world.step(60)
    assert world.body("box").velocity[0] > 0.5 and world.body("box").mass == mc.World(scene).body("box").mass


def test_filters_take_effect():
    world = running()
    world.set_body("floor", collision_mask=0)
    world.step(30)
    assert world.positions[1, 2] < 0 and len(world.contacts) == 8


# ---- bad calls -------------------------------------------------------------------------------------------------------


SPHERE = mc.Sphere(0.1)
REFUSED = [
    (lambda w: w.add_body("ball", shape=SPHERE), "name 'ball' is taken"),
    (lambda w: w.add_body("x"), "body 'x': is dynamic and has no shape|body 'x' is dynamic and has no shape"),
    (lambda w: w.add_body("x", shape=SPHERE, position=(0, np.nan, 0)), r"position\[1\] must be finite"),
    (lambda w: w.add_body("x", shape=SPHERE, mass=-1), "mass must be positive"),
    (lambda w: w.add_body("x", shape=mc.Plane((0, 0, 1))), "Plane"),
    (lambda w: w.add_bodies([dict(shape=SPHERE), dict(shape="ball")]), "shape must be"),
    (lambda w: w.add_bodies([dict(shape=SPHERE), 3]), r"descriptions\[1\] must be a dict"),
    (lambda w: w.add_bodies(3), "descriptions must be a list of dicts"),
    (lambda w: w.remove_body("nobody"), "unknown body 'nobody'"),
    (lambda w: w.remove_bodies(["ball", "nobody"]), "unknown body 'nobody'"),
    (lambda w: w.remove_joint("gaer"), "did you mean 'gear'"),
    (lambda w: w.remove_joint(17), "unknown joint 17"),
    (lambda w: w.add_joint("hinge"), "takes a joint such as HingeJoint"),
    (lambda w: w.add_joint(mc.HingeJoint("ball", "nobody", (0, 0, 0), (0, 0, 1))), "no body 'nobody'"),
    (lambda w: w.add_joint(mc.FixedJoint("floor", None)), "at least one of the two must be dynamic"),
    (lambda w: w.add_joint(mc.FixedJoint("ball", None, name="gear")), "name 'gear' is taken"),
    (lambda w: w.add_joint(w.scene.joint("gear")), "in a scene already"),
    (lambda w: w.add_joint(mc.GearJoint("hinge0", "nothing", 1.0)), "no joint 'nothing'"),
    (lambda w: w.add_joint(mc.DistanceJoint("ball", None, (0, 0, 9), (0, 0, 9))), "would be zero"),
    (lambda w: w.add_joint(mc.UserJoint("ball", None, lambda a, b: [np.nan])), "finite numbers"),
    (lambda w: w.add_joint(mc.FixedJoint(mc.World(yard()).body("ball"), None)), "another world"),
    (lambda w: w.add_joints([mc.FixedJoint("ball", None), mc.FixedJoint("ball", "nobody")]), "no body 'nobody'"),
    (lambda w: w.add_joints([mc.FixedJoint("ball", None)] * 2), "stands twice"),
    (lambda w: w.set_shape("ball", None), "needs mass and inertia"),
    (lambda w: w.set_shape("ball", "box"), "shape must be"),
    (lambda w: w.set_shape("ball", mc.Plane((0, 0, 1))), "Plane"),
    (lambda w: w.set_shape("ball", SPHERE, mass=np.nan), "mass must be finite"),
    (lambda w: w.set_shape("ball", SPHERE, colour=3), "has no 'colour'"),
    (lambda w: w.set_kind("ball", "solid"), "kind must be one of"),
    (lambda w: w.set_kind("floor", "dynamic"), "Plane"),
    (lambda w: w.set_kind("link1", "static"), "gear 'gear' is on its joints"),
    (lambda w: w.set_material("ball", 0.3), "must be a Material"),
    (lambda w: w.set_material("ball", mc.Material(), shape=1), "shape must be from 0 to 0"),
    (lambda w: w.set_body("ball", position=(0, 0, 0)), "changed by set_pose"),
    (lambda w: w.set_body("ball", mass=1.0, density=1.0), "density or mass"),
    (lambda w: w.joint("hinge0").set_limits(2, 1), "reversed"),
    (lambda w: w.joint("hinge0").set_limits(0, 1, axis=1), "axis must be"),
    (lambda w: w.joint("gear").set_limits(0, 1), "no coordinate"),
    (lambda w: w.joint("hinge0").set_spring("soft"), "must be a Spring"),
    (lambda w: w.joint("hinge0").set_limits(0, np.nan), "limits"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_a_refused_call_changes_nothing(call, message):
    world = running()
    scene, before = world.scene, world.state_hash()
    with pytest.raises((mc.SceneError, mc.StaleHandleError), match=message):
        call(world)
    assert world.state_hash() == before and world.scene is scene and len(scene.bodies) == 7 and len(scene.joints) == 3
    other = running()
    for each in (world, other):
        each.step(5)
    assert world.state_hash() == other.state_hash()


def test_unknown_arguments_are_type_errors():
    world = running()
    before = world.state_hash()
    with pytest.raises(TypeError, match="add_body.*color"):
        world.add_body("x", shape=SPHERE, color="red")
    assert world.state_hash() == before


def test_a_refused_joint_can_be_mended_and_added():
    """The joint object is as it was: nothing of a failed call stays in it."""
    world = running()
    joint = mc.RollingJoint(None, "ball", 0.2, name="roll")
    kept = dict(joint.__dict__)
    world.positions[-1] = np.nan
    with pytest.raises(mc.SceneError, match="joint 'roll'.*'ball' is not finite"):
        world.add_joint(joint)
    assert joint.__dict__.keys() == kept.keys() and all(joint.__dict__[k] is kept[k] for k in kept)
    world.set_pose("ball", (-3, 0, 0.2))
    assert world.add_joint(joint).name == "roll"
    assert np.abs(world.joint_errors()).max() < 1e-3
    with pytest.raises(mc.SceneError, match="in a scene already"):
        world.add_joint(joint)


@pytest.mark.parametrize(
    "call",
    [
        lambda w: w.add_body(shape=SPHERE),
        lambda w: w.remove_body("b"),
        lambda w: w.remove_joint("j"),
        lambda w: w.add_joint(mc.FixedJoint("a", None)),
        lambda w: w.set_kind("a", "static"),
        lambda w: w.snapshot(),
        lambda w: w.set_shape("a", SPHERE),
        lambda w: w.state_hash(),
        lambda w: w.joint("j").set_limits(0, 1),
    ],
)
def test_no_change_in_the_middle_of_a_step(call):
    reach = {}

    def motion(t):
        if "world" in reach:
            call(reach.pop("world"))
        return 0.1 * t

    scene = pair()
    scene.add_joint(mc.HingeJoint(None, "b", (0, 0, 2), (0, 1, 0), name="j", motion=mc.Motion(motion)))
    world = mc.World(scene)
    world.step(3)
    before = world.state_hash()
    reach["world"] = world
    with pytest.raises(mc.SimulationError, match="in the middle of a step"):
        world.step(2)
    assert world.state_hash() == before
    world.step(2)


@pytest.mark.parametrize(
    "change", [lambda w: w.remove_body("box0"), lambda w: w.add_body(shape=SPHERE)], ids=["remove", "add"]
)
@pytest.mark.parametrize("late", [False, True])
def test_ctrl_c_while_a_change_takes_effect_leaves_a_whole_world(monkeypatch, change, late):
    """The collider is changed already, the rest is not: the world is as it was before, its contacts cold."""
    world, edit_of = running(), Gathering.edit

    def interrupted(*arguments):
        edit = edit_of(*arguments)

        def cut():
            if late:
                edit()
            raise KeyboardInterrupt

        return cut

    names, positions, time = world.body_names, world.positions.copy(), world.time
    monkeypatch.setattr(Gathering, "edit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        change(world)
    monkeypatch.undo()
    assert world.body_names == names and np.array_equal(world.positions, positions) and world.time == time
    assert not world.body("box0").removed and len(world._collider.get_shapes()) == 7
    change(world)
    world.step(30)
    assert np.all(np.isfinite(world.positions)) and len(world.positions) == len(world.body_names) != len(names)


# ---- limits and springs ----------------------------------------------------------------------------------------------


def test_limits_and_springs_of_a_joint_can_be_changed():
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("b", shape=mc.Sphere(0.1), position=(1, 0, 0))
    scene.add_joint(mc.SliderJoint(None, "b", (1, 0, 0), name="rail"))
    world = mc.World(scene)
    rail = world.joint("rail")
    rail.set_limits(None, 0.2)
    world.set_velocity("b", (1, 0, 0))
    world.step(120)
    assert rail.position == pytest.approx(0.2, abs=5e-3)
    rail.set_limits(None, None)
    world.set_velocity("b", (1, 0, 0))
    world.step(60)
    assert rail.position > 1.0
    rail.set_spring(mc.Spring(100.0, 40.0, rest=0.5))
    world.step(300)
    assert rail.position == pytest.approx(0.5, abs=1e-3)
    snapshot = world.snapshot()
    rail.set_spring(None)
    world.set_velocity("b", (1, 0, 0))
    world.step(60)
    assert rail.position > 1.0
    world.restore(snapshot)
    world.set_velocity("b", (1, 0, 0))
    world.step(300)
    assert rail.position == pytest.approx(0.5, abs=1e-3)


def test_a_restore_after_the_scene_was_looked_at_between():
    """Looking at the scene numbers its parts anew, as other versions of them: a gear lost its joints over that."""
    world = running()
    world.add_joint(mc.BallJoint("ball", None, (0, 0, 1), name="late"))
    world.remove_body("box0")
    snapshot, digest = world.snapshot(), world.state_hash()
    world.remove_joint("late")
    assert [body.index for body in world.scene.bodies] == list(range(6))
    handle = world.body("ball")
    world.restore(snapshot)
    assert world.state_hash() == digest and handle.index == 5 and handle == world.body("ball")
    world.step(5)
    assert [joint.index for joint in world.scene.joints] == list(range(4))


def test_going_back_from_more_bodies_mends_what_broke():
    """The plan of the joints that hold is made anew, also where joints and their bodies' numbers are the same."""

    def hung():
        scene = mc.Scene()
        for i in range(3):
            scene.add_body(f"bob{i}", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, -i))
            scene.add_joint(mc.BallJoint(f"bob{i - 1}" if i else None, f"bob{i}", (0, 0, 0.5 - i), break_force=100.0))
        world = mc.World(scene)
        world.velocities[2] = (0.5, 0, 0)
        world.step(5)
        return world

    world, other = hung(), hung()
    whole = world.snapshot()
    world.apply_force("bob2", (0, 0, -500))
    world.step()
    assert len(world.events.broken) > 0
    world.add_body("new", shape=mc.Sphere(0.1), position=(5, 0, 0))
    world.step(3)
    assert np.any(world._joints["broken"])
    world.restore(whole)
    for each in (world, other):
        each.step(20)
    assert world.state_hash() == other.state_hash() and not np.any(world._joints["broken"])


@pytest.mark.parametrize("keywords", [{}, {"solver": "pgs"}, {"integrator": "rk4"}, {"joint_solver": "rows"}], ids=str)
def test_a_changed_world_has_room_for_all_that_strikes_at_once(keywords):
    """The pipeline of a changed world took over its rows' room, but not that for what strikes: beyond 64 rows it wrote into
    memory of others."""
    bouncing, count = mc.Material(restitution=0.8), 150
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=bouncing)
    for k in range(count):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.1), position=(0.3 * (k % 15), 0.3 * (k // 15), 0.2), material=bouncing)
    world = mc.World(scene, sleep=False, **keywords)
    world.step(20)
    world.add_body("another", shape=mc.Sphere(0.1), position=(-3, 0, 0.5), material=bouncing)
    for k in range(count):
        world.set_pose(f"ball{k}", position=(0.3 * (k % 15), 0.3 * (k // 15), 0.2))
    world.velocities[1:] = world.angular_velocities[1:] = 0.0
    struck = []
    for _ in range(20):
        world.step()
        struck.append(world.stats.impacts)
    assert max(struck) >= count
    assert np.all(world.positions[1:-1, 2] == world.positions[1, 2])
