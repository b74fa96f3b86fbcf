"""Scene.add: another scene's parts in this one, at another place and with other names."""

import pickle

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import multiply, normalized, rotate, rotated
from mcsim.scene.joints import TYPES
from plain_joints import PLAIN, plain_joint

PLACE = np.array([2.0, -1.0, 0.5]), normalized((0.8, 0.3, -0.4, 0.35))
DOWN = np.array([1.0, -2.0, -9.0])


def length_of(a, b):
    """A residual that keeps two points apart by what they are, and a point of b on the plane y = 0.1 + x of a."""
    return [np.sum((b.position - a.position) ** 2) - 1.0]


def spread(a, b):
    return [[*(-2.0 * (b.position - a.position)), 0, 0, 0, *(2.0 * (b.position - a.position)), 0, 0, 0]]


def leaning(a, b):
    """Of the world's end too: where b is in a's axes, not the same from other places."""
    return [b.position[0] - 2.0 * a.position[1] - 0.7, (b.rotation @ [0, 0, 1.0])[1] - (a.rotation @ [1.0, 0, 0])[1]]


OTHERS = {
    "distance": lambda: [mc.DistanceJoint("a", "b", (0.1, 0.1, 0.3), (0.7, 0.0, 0.2), name="j")],
    "rope to the world": lambda: [mc.DistanceJoint(None, "b", (0, 0, 1.0), (0.7, 0, 0.2), limits=(None, 1.1), name="j")],
    "rack_pinion": lambda: [mc.RackPinionJoint("a", "b", (0.5, 0, 0.2), (0, 1, 0), (1, 0, 0), 0.2, name="j")],
    "rolling": lambda: [mc.RollingJoint(None, "b", 0.3, (0.0, 0.6, 0.8), name="j")],
    "rolling disc": lambda: [mc.RollingJoint(None, "b", 0.3, (0.0, 0.0, 1.0), axis=(1, 0, 0), name="j")],
    "knife_edge": lambda: [mc.KnifeEdgeJoint(None, "b", (0.7, -0.2, 0.1), (1, 0, 0), name="j")],
    "lock": lambda: [mc.LockJoint("a", "b", "xz", "y", name="j")],
    "lock to the world": lambda: [mc.LockJoint(None, "b", "z", "xy", name="j")],
    "universal": lambda: [mc.UniversalJoint("a", "b", (0.3, 0, 0.2), (1, 0, 0), (0, 1, 0), name="j")],
    "screw": lambda: [mc.ScrewJoint(None, "b", (0.7, 0, 0.1), (1, 0.2, 0), 0.1, name="j")],
    "gear": lambda: [
        mc.HingeJoint(None, "a", (0, 0.1, 0.3), (1, 0.2, 0), name="h"),
        mc.SliderJoint(None, "b", (0.7, -0.2, 0.1), (1, 1, 0), name="s"),
        mc.GearJoint("h", "s", 0.4, name="j"),
    ],
    "user": lambda: [mc.UserJoint("a", "b", length_of, name="j")],
    "user with a Jacobian": lambda: [mc.UserJoint("a", "b", length_of, spread, anchor=(0.3, 0, 0.2), name="j")],
    "user of a place": lambda: [mc.UserJoint("a", "b", leaning, name="j")],
    "user to the world": lambda: [
        mc.UserJoint(None, "b", lambda a, b: [b.position[0] - 0.7, b.position[2] - 0.1], name="j")
    ],
}


def pair(joints):
    """Two bodies, one with a centre of mass of its own, and joints."""
    scene = mc.Scene(gravity=DOWN)
    scene.add_body(
        "a",
        mass=1.5,
        inertia=(0.1, 0.12, 0.15),
        center_of_mass=(0.05, 0, 0.1),
        position=(0.0, 0.1, 0.3),
        orientation=normalized((1.0, 0.2, 0.1, -0.3)),
        velocity=(0.3, -0.2, 0.1),
        angular_velocity=(1.0, -0.5, 0.25),
    )
    scene.add_body("b", shape=mc.Box((0.1, 0.2, 0.15)), position=(0.7, -0.2, 0.1), angular_velocity=(-0.5, 1.2, 0.7))
    for joint in joints:
        scene.add_joint(joint)
    return scene


def moved(scene):
    """A scene of its own, with the other one at PLACE; gravity is turned with it."""
    new = mc.Scene(gravity=rotate(PLACE[1], scene.gravity))
    return new, new.add(scene, *PLACE, prefix="there.")


def plain(kind, a):
    return lambda: [plain_joint(kind, a, "b", (0.25, 0.125, 0.375), (0.5, 0.25, 1.0), name="j")]


CASES = {kind: plain(kind, "a") for kind in PLAIN}
CASES |= {f"{kind} to the world": plain(kind, None) for kind in PLAIN} | OTHERS
every_case = pytest.mark.parametrize("case", CASES)


def test_every_type_of_joint_is_tried():
    tried = {joint.type for make in CASES.values() for joint in make()}
    assert tried == set(TYPES)


@every_case
def test_what_is_moved_whole_moves_as_before(case):
    """The same motion seen from the place: of poses, velocities, joint coordinates."""
    scene = pair(CASES[case]())
    before = scene.copy()
    new, added = moved(scene)
    old, here = mc.World(scene, dt=1e-3), mc.World(new, dt=1e-3)
    for world in (old, here):
        world.step(60)
    x, q = PLACE
    assert here.positions == pytest.approx(x + rotated(q, old.positions), abs=1e-8)
    assert here.velocities == pytest.approx(rotated(q, old.velocities), abs=1e-6)
    assert here.angular_velocities == pytest.approx(rotated(q, old.angular_velocities), abs=1e-6)
    seen = np.array([multiply(q, orientation) for orientation in old.orientations])
    assert np.abs(np.sum(seen * here.orientations, axis=1)) == pytest.approx(1.0, abs=1e-9)
    j = added.joints["j"]
    assert j.name == "there.j" and here.joint(j).position == pytest.approx(old.joint("j").position, abs=1e-7)
    assert old.joint_errors() == pytest.approx(here.joint_errors(), abs=1e-8)
    assert scene == before


@every_case
def test_as_it_stands_it_is_the_same_to_the_bit(case):
    scene = pair(CASES[case]())
    new = mc.Scene(gravity=DOWN)
    new.add(scene)
    worlds = mc.World(scene), mc.World(new)
    for world in worlds:
        world.step(20)
    assert worlds[0].state_hash() == worlds[1].state_hash()
    assert new == scene


@every_case
def test_a_file_holds_what_was_added(case):
    """But functions, which no file holds: read again, it moves by the same bits."""
    new, _ = moved(pair(CASES[case]()))
    if "user" in case:
        with pytest.raises(mc.SceneError, match="Python function"):
            new.to_dict()
        return
    again = mc.Scene.from_dict(new.to_dict())
    worlds = mc.World(new), mc.World(again)
    for world in worlds:
        world.step(20)
    assert worlds[0].state_hash() == worlds[1].state_hash()
    assert again.to_dict() == new.to_dict() and again == new
    # What a file wrote out is told anew, too: no place in world coordinates is left behind.
    third, fourth = (mc.Scene(), mc.Scene())
    third.add(again, *PLACE)
    fourth.add(new, *PLACE)
    assert mc.World(third).state_hash() == mc.World(fourth).state_hash()
    assert mc.World(mc.Scene.from_dict(third.to_dict())).state_hash() == mc.World(fourth).state_hash()


def test_joints_of_ones_own_pickle_with_their_place():
    new, _ = moved(pair(OTHERS["user of a place"]()))
    again = pickle.loads(pickle.dumps(new))
    worlds = mc.World(new), mc.World(again)
    for world in worlds:
        world.step(5)
    assert worlds[0].state_hash() == worlds[1].state_hash()


def test_the_handles_are_those_of_the_new_scene():
    scene, new = pair(OTHERS["gear"]()), mc.Scene()
    floor = new.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    bodies, joints = added = new.add(scene, (0, 0, 5), prefix="one.")
    assert list(added.bodies) == ["a", "b"] and list(added.joints) == ["h", "s", "j"]
    assert [body.index for body in bodies.values()] == [1, 2] and new.bodies == [floor, *bodies.values()]
    assert [joint.index for joint in joints.values()] == [0, 1, 2] and new.joints == list(joints.values())
    assert new.body("one.a") is bodies["a"] and new.joint(joints["j"]) is joints["j"]
    assert (joints["j"].joint_a, joints["j"].joint_b) == ("one.h", "one.s") and joints["h"].b == "one.a"
    world = mc.World(new)
    assert world.body(bodies["b"]).index == 2 and world.body("one.b") == world.body(bodies["b"])
    new.add_joint(mc.BallJoint(bodies["a"], None, (0, 0.1, 5.3)))  # handles serve where handles do
    with pytest.raises(mc.SceneError, match="not in this scene"):
        scene.body(bodies["a"])


def test_many_times_and_itself():
    scene = pair(OTHERS["gear"]())
    new = mc.Scene()
    for k in range(3):
        new.add(scene, (2.0 * k, 0, 0), prefix=f"{k}.")
    new.add(new, (0, 3, 0), prefix="again ")
    assert [body.name for body in new.bodies[6:]] == [f"again {body.name}" for body in new.bodies[:6]]
    world = mc.World(new)
    world.step(30)
    shifts = np.repeat([[2.0 * k, 3.0 * m, 0] for m in range(2) for k in range(3)], 2, axis=0)
    assert world.positions - shifts == pytest.approx(np.tile(world.positions[:2], (6, 1)), abs=1e-9)
    world.remove_body("1.a")  # parts of one copy are no versions of another one's
    assert world.joint_names == tuple(joint.name for joint in new.joints if joint.name not in ("1.h", "1.j"))


def test_all_else_goes_along():
    """Kinds, materials, groups, pairs that are ignored; gravity and the name do not."""
    other = mc.Scene(gravity=(1, 2, 3), name="other")
    other.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=mc.Material(friction=0.25))
    other.add_body("belt", shape=mc.Box((1, 1, 0.1)), kind="kinematic", position=(0, 0, 2), velocity=(1, 0, 0))
    for name, x in (("p", 0.0), ("q", 0.5)):
        other.add_body(name, shape=mc.Sphere(0.2), position=(x, 0, 3), collision_group=4, collision_mask=6, bullet=True)
    other.ignore_collision("p", "q")
    scene = mc.Scene(name="mine")
    turn = normalized((1, 0, 0, 1))
    added = scene.add(other, orientation=turn, prefix="x.")
    assert scene.name == "mine" and scene.gravity.tolist() == [0, 0, -9.81]
    assert scene.ignored_pairs == [("x.p", "x.q")]
    floor, belt, p, _ = added.bodies.values()
    assert floor.kind == "static" and floor.material is other.body("floor").material and belt.kind == "kinematic"
    assert belt.velocity == pytest.approx([0, 1, 0]) and belt._arguments["velocity"] == tuple(belt.velocity)
    assert (p.collision_group, p.collision_mask, p.bullet, p.mass) == (4, 6, True, other.body("p").mass)
    scene.ignore_collision("x.p", "x.q")
    assert len(scene.ignored_pairs) == 1
    with pytest.raises(ValueError, match="read-only"):
        p.position[0] = 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"a body 'a' in this scene already, and 1 more of the other one's names; .* prefix='b_'"),
        ({"prefix": "b_"}, r"there is a body 'b_a' in this scene already; .* prefix='c_'"),
        ({"prefix": "j."}, "there is a joint 'j.j' in this scene already; "),
        ({"prefix": 3}, "Scene.add: prefix must be a string, got 3"),
        ({"prefix": "\ud800"}, "Scene.add: prefix must be a string"),
        ({"prefix": "z", "position": (0, 0)}, "Scene.add: position must be 3 numbers"),
        ({"prefix": "z", "orientation": (1, 0, 0, 1)}, "Scene.add: orientation must be a unit quaternion"),
        ({"prefix": "z", "position": (1.7e308, 0, 0)}, "Scene.add: position is so far away"),
        ({"other": 3}, "Scene.add: other must be a Scene, got 3"),
    ],
)
def test_what_is_wrong_changes_nothing(arguments, message):
    other, scene = pair(CASES["hinge"]()), pair(CASES["ball"]())
    if "far away" in message:
        other.add_body("far", shape=mc.Sphere(1.0), position=(1.7e308, 0, 0))
    scene.add_body("b_a", shape=mc.Sphere(1.0))
    scene.add_joint(mc.BallJoint("b_a", None, (0, 0, 0), name="j.j"))
    before = scene.copy()
    with pytest.raises(mc.SceneError, match=message) as caught:
        scene.add(arguments.pop("other", other), **arguments)
    assert "\n" not in str(caught.value)
    assert scene == before and set(scene._body_of) == {"a", "b", "b_a"} and set(scene._joint_of) == {"j", "j.j"}


def test_of_a_running_world():
    """Its scene is read, not written."""
    world, scene = mc.World(pair(CASES["hinge"]())), mc.Scene()
    scene.add(world.scene, (0, 0, 1))
    assert scene.body("a").position.tolist() == [0, 0.1, 1.3]
    with pytest.raises(mc.SceneError, match="running world"):
        world.scene.add(scene, prefix="x")
    copy = world.scene.copy()
    copy.add(scene, prefix="x")
    assert len(copy.bodies) == 4
