"""What the fuzzer has found, and what was mended: each as a test of its own."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc


def torn(kind=mc.ReducedWorld, **keywords):
    """Two bodies, and a joint that stands open by half a metre, added to their world."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(2):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(i, 0, 0))
    world = kind(scene, **keywords)
    frames = {"frame_a": ((0, 0, 0), (1, 0, 0, 0)), "frame_b": ((-0.5, 0, 0), (1, 0, 0, 0))}
    world.add_joint(mc.BallJoint("b0", "b1", name="torn", **frames))
    return world


def add(world):
    world.add_body("other", shape=mc.Sphere(0.1), position=(0, 0, 5))


def add_and_remove(world):
    add(world)
    world.remove_body("b0" if "other" not in world.body_names else "other")


@pytest.mark.parametrize("change", [add, add_and_remove, lambda world: world.change_settings(iterations=7)])
def test_what_waits_for_a_step_is_told_whatever_changes_before_it(change):
    """A note of a new joint that stands open was lost where something else changed before the next step."""
    world = torn()
    change(world)
    world.step()
    assert [(note.kind, note.joints) for note in world.stats.notes] == [("torn joints", ("torn",))]
    world.step()
    assert not world.stats.notes
    assert [note.total for note in world.stats.all_notes] == [1]


def test_what_is_gone_before_the_step_is_not_told():
    """... but not if the joint goes, too."""
    world = torn()
    world.remove_joint("torn")
    world.step()
    assert not world.stats.notes


def test_strict_worlds_that_forget_answer_alike(monkeypatch):
    """A world that forgets all but its record noted joints as open, which a change had brought, between the bodies of the
    scene's beginning."""
    monkeypatch.setenv("MCSIM_FORGET", "1")
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(2):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(i, 0, 0), velocity=(0, 0.1 * i, 0))
    world = mc.ReducedWorld(scene, strict=True)
    world.step(20)
    world.set_pose("b1", (1, 0.7, 0.2))
    world.add_joint(mc.BallJoint("b0", "b1", (0.5, 0, 0)))
    world.step(2)


COPIES = [copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world)), lambda world: world.remade()]


@pytest.mark.parametrize("copied", COPIES)
def test_copies_tell_what_waits_for_a_step_and_nothing_else(copied):
    """A copy noted joints that a change had brought as open, between the bodies of the scene's beginning; strict, it
    answered otherwise than the world that it was made of."""
    world = torn()
    other = copied(world)
    other.step()
    assert [note.kind for note in other.stats.notes] == ["torn joints"]
    world.step()
    other = copied(world)
    other.step()
    assert not other.stats.all_notes
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(2):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(i, 0, 0))
    world = mc.ReducedWorld(scene, strict=True)
    world.set_pose("b1", (1, 0.7, 0.2))
    world.add_joint(mc.BallJoint("b0", "b1", (0.5, 0, 0)))
    copied(world).step()


def test_going_back_notes_nothing():
    """A joint that a restored snapshot brings back was measured between the bodies of before."""
    world = mc.ReducedWorld(mc.load("pendulum"), strict=True)
    kept = world.snapshot()
    name = world.joint_names[0]
    body = world.scene.joints[0].b
    world.remove_joint(name)
    world.set_pose(body, (3, 2, 1))
    world.restore(kept)
    world.step()


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_forces_that_overflow_are_refused(kind):
    """Finite arguments gave forces that are not: a torque about a body that is far away, and sums."""
    world = kind(mc.Scene(gravity=(0, 0, 0)))
    world.add_body("a", shape=mc.Box((0.1, 0.1, 0.1)), position=(1e308, 0, 0))
    world.apply_force("a", (1e308, 0, 0))
    twice = lambda: [world.apply_torque("a", (1e308, 0, 0)) for _ in range(2)]
    before = world.state_hash()
    for call in (
        lambda: world.apply_force("a", (1, 50, 1), (0, 0, 0)),
        lambda: world.apply_force("a", (1e308, 0, 0)),
        lambda: world.apply_forces([(1e308, 0, 0)]),
        lambda: world.apply_impulse("a", (0, 1e10, 0), (0, 0, 0)),
        twice,
    ):
        with pytest.raises(mc.SceneError, match="than a number can hold|finite"):
            call()
        if call is not twice:
            assert world.state_hash() == before


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_arguments_that_numpy_refused_in_its_own_words(kind):
    """They are refused in mcsim's, and nothing changes."""
    world = torn(kind)
    before = world.state_hash()
    ragged = [0.0, np.zeros((3, 3)), 0.0]
    for call, told in (
        (lambda: world.set_kind("b1", np.zeros((3, 3))), "kind must be"),
        (lambda: world.index([1.0]), "no tree joint or free body"),
        (lambda: world.apply_impulse("b1", ragged), "impulse"),
        (lambda: world.apply_impulse("b1", (0, 0, 1), ragged), "point"),
    ):
        with pytest.raises(mc.SceneError, match=told):
            call()
    assert world.state_hash() == before


@pytest.mark.parametrize("sleeps", [False, True])
def test_a_refused_change_wakes_nobody(sleeps):
    """What was moved by hand woke its neighbours for a change that was refused then."""
    soft = mc.Material(stiffness=1e5, damping=100.0)
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=soft)
    scene.add_body("lift", shape=mc.Box((0.5, 0.5, 0.1)), kind="kinematic", position=(0, 0, 0.1), material=soft)
    scene.add_body("box", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.3), material=soft)
    world = mc.World(scene, **({} if sleeps else {"contact": "compliant"}))
    world.step(120)
    assert world.asleep.any() == sleeps
    world.set_pose("lift", (0, 0, 0))
    before = world.state_hash()
    with pytest.raises(mc.SceneError):
        if sleeps:
            world.add_joint(mc.UserJoint("lift", "box", lambda a, b: [0.0, 0.0], size=1))
        else:
            world.add_bodies(
                [{"name": name, "shape": mc.Sphere(0.1), "position": (x, 0, 9)} for x, name in enumerate("hg")]
            )
    assert world.state_hash() == before
    twin = copy.deepcopy(world)
    for one in (world, twin):
        one.step(5)
    assert world.state_hash() == twin.state_hash()


def test_a_lock_of_a_body_on_its_own_has_no_rows_after_it_is_restored():
    """It stayed in the body's inverse mass, and had rows beside that."""
    scene = mc.Scene()
    scene.add_body("a", shape=mc.Box((0.2, 0.1, 0.3)), position=(0, 0, 2))
    scene.add_joint(mc.LockJoint(None, "a", "yz", "xyz"))
    worlds = [mc.World(scene) for _ in range(2)]
    for world in worlds:
        world.step(2)
    worlds[1].restore(worlds[1].snapshot())
    for world in worlds:
        world.step()
    assert worlds[0].state_hash() == worlds[1].state_hash()


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_a_sensor_that_becomes_solid_has_nothing_inside(kind):
    """The ground was in it still, so that the world refused its own state. The other sensor has what it had."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(2):
        box = mc.Box((1.0, 1.0, 0.3), sensor=True)
        scene.add_body(f"b{i}", shape=box, mass=1.0, inertia=(1, 1, 1), position=(3 * i, 0, 0.2))
    world = kind(scene)
    world.step()
    world.set_shape("b0", mc.Sphere(0.1))
    world.check()
    world.restore(world.snapshot())
    world.step()
    assert world.events.sensor_end.size == 0 and world.overlaps("b1")


@pytest.mark.parametrize("keywords", [{}, {"integrator": "rk4"}, {"solver": "pgs"}], ids=str)
def test_a_motion_that_gives_nonsense_now_is_refused_as_it_comes(keywords):
    """It was added, and every look at the world's rows failed from then on."""
    scene = mc.Scene()
    scene.add_body("b", shape=mc.Sphere(0.1))
    world = mc.World(scene, **keywords)
    world.step(3)
    before = world.state_hash()
    sliding = mc.SliderJoint(None, "b", axis=(1, 0, 0), motion=mc.Motion(position=lambda t: np.nan if t > 0.02 else t))
    with pytest.raises(mc.SimulationError, match="joint0.*finite number"):
        world.add_joint(sliding)
    assert world.joint_names == () and world.state_hash() == before and sliding.name is None
    world.jacobian()
    world.step()


def test_a_loop_of_trees_with_few_velocities():
    """Whether they move freely was asked of velocities that are none of theirs, behind the end of the array."""
    world = mc.ReducedWorld(mc.load("newton_cradle"), dt=0.01)
    world.add_joint(mc.SliderJoint("ball2", "ball4", anchor=(0.361, 0.131, 0.412), axis=(0, 1, 0), collide=True))
    world.step(8)
    world.check()


def beside(value):
    """A residual that gives `value` on one side of the pose at which the joint is added."""

    def residual(a, b):
        if b.position[0] > 1.0:
            if isinstance(value, Exception):
                raise value
            return value
        return [b.position[0] - 1.0]

    return residual


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("value", [[np.nan], [np.inf], [], [1.0, 2.0], "far", None, [[0.0]], KeyError("gone")], ids=repr)
def test_a_residual_without_a_derivative_now_is_refused_as_it_comes(kind, value):
    """It was added, and every look at the world's rows failed from then on (seed 741)."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("b", shape=mc.Sphere(0.1), position=(1, 0, 0))
    with pytest.raises(mc.SceneError, match="residual"):
        scene.add_joint(mc.UserJoint(None, "b", residual=beside(value)))
    world = kind(scene)
    world.step(3)
    before = world.state_hash()
    joint = mc.UserJoint(None, "b", residual=beside(value))
    with pytest.raises(mc.SceneError, match="residual has no derivative at the initial pose"):
        world.add_joint(joint)
    assert world.joint_names == () and world.state_hash() == before and joint.name is None
    world.jacobian()
    world.step()


def test_residuals_are_told_again_once_a_users_function_answers():
    """What it answers in between is refused in words, wherever it is asked for."""
    joint = mc.UserJoint(None, "b", residual=lambda a, b: [np.nan] if broken else [b.position[0] - a.position[0]])
    broken = False
    scene = mc.Scene()
    scene.add_body("b", shape=mc.Sphere(0.1))
    scene.add_joint(joint)
    world = mc.World(scene)
    world.step()
    broken = True
    for look in (lambda: dict(world.stats.residuals), lambda: world.rows, world.delassus, world.jacobian):
        with pytest.raises(mc.SimulationError, match="joint0.*finite numbers"):
            look()
    broken = False
    assert all(np.isfinite(value) for value in dict(world.stats.residuals).values())
