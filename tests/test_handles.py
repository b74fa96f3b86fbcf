"""Handles: sequences of them, what is set on them, data of the user's own."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

WORLDS = {"World": mc.World, "ReducedWorld": mc.ReducedWorld}
every_world = pytest.mark.parametrize("make", WORLDS.values(), ids=WORLDS)


def scene():
    """A floor, a box on it, a driven arm, a disc on two motors."""
    made = mc.Scene()
    made.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    made.add_body("box", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5), user_data={"score": 3})
    made.add_body("ball", shape=mc.Sphere(0.2), position=(3, 0, 2))
    made.add_body("arm", shape=mc.Capsule(0.05, 0.4), position=(-3, 0, 2))
    made.add_body("cart", shape=mc.Sphere(0.1), position=(0, 5, 2))
    made.add_joint(mc.HingeJoint(None, "arm", (-3, 0, 2.4), (0, 1, 0), motor=mc.Motor(velocity=1.0, max_force=9), name="h"))
    motors = (mc.Motor(velocity=0.5), mc.Motor(position=0.25, max_force=4.0))
    made.add_joint(mc.CylindricalJoint(None, "cart", (0, 5, 2), (1, 0, 0), motor=motors, name="c"))
    return made


@every_world
def test_sequences_follow_the_world(make):
    world = make(scene())
    bodies, joints = world.bodies, world.joints
    assert len(bodies) == 5 and len(joints) == 2
    assert [body.name for body in bodies] == list(world.body_names) == list(bodies.names)
    assert bodies[2] == bodies["ball"] == world.body("ball") == bodies[-3] == bodies[np.int64(2)]
    assert [body.name for body in bodies[1:3]] == ["box", "ball"]
    assert "ball" in bodies and "bull" not in bodies and world.body("ball") in bodies and 3 not in bodies
    assert joints["h"] in joints and joints["h"] not in bodies
    world.remove_body("box")
    assert len(bodies) == 4 and bodies[1].name == "ball" and "box" not in bodies
    for body in bodies:  # as it was when the loop began
        if body.kind == "dynamic":
            world.remove_body(body)
    assert [body.name for body in bodies] == ["floor"] and len(joints) == 0
    assert repr(joints).startswith("<0 joints of <") and "1 bodies of" in repr(bodies)
    assert reversed(bodies).__next__() == bodies[0] and bodies == world.bodies and bodies != make(scene()).bodies


def test_wrong_names_and_numbers():
    world = mc.World(scene())
    with pytest.raises(mc.SceneError, match=r"unknown body 'bal'; did you mean 'ball'\?"):
        world.bodies["bal"]
    with pytest.raises(IndexError):
        world.joints[2]
    with pytest.raises(mc.SceneError, match="unknown body True"):
        world.bodies[True]
    other = mc.World(scene())
    assert other.bodies[0] not in world.bodies


def test_the_contacts_of_a_body():
    world = mc.World(scene())
    world.step(30)
    mine, all_of_them = world.body("box").contacts, world.contacts
    assert len(mine) == 4 == len(all_of_them) == len(world.bodies["floor"].contacts)
    assert np.array_equal(mine, all_of_them) and len(world.body("ball").contacts) == 0


@every_world
def test_motion_is_set_whole(make):
    world, other = make(scene()), make(scene())
    ball = world.bodies["ball"]
    ball.position = (1, 2, 3)
    ball.orientation = (0.6, 0.8, 0, 0)
    ball.velocity = (0.1, 0.2, 0.3)
    ball.angular_velocity = [1, 2, 3]
    other.set_pose("ball", (1, 2, 3), (0.6, 0.8, 0, 0))
    other.set_velocity("ball", (0.1, 0.2, 0.3), (1, 2, 3))
    assert world.state_hash() == other.state_hash()
    ball.velocity += (1, 0, 0)
    assert ball.velocity == pytest.approx([1.1, 0.2, 0.3])
    before = world.state_hash()
    for name, value, message in (
        ("position", (1, 2), "World.set_pose: position must be 3 numbers"),
        ("orientation", (1, 1, 0, 0), "World.set_pose: orientation must be a unit quaternion"),
        ("velocity", (1, 2, np.nan), r"World.set_velocity: velocity\[2\] must be finite"),
        ("velocity", None, "must be 3 numbers, got None"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            setattr(ball, name, value)
    with pytest.raises(mc.SceneError, match="static"):
        world.bodies["floor"].velocity = (1, 0, 0)
    assert world.state_hash() == before
    if make is mc.ReducedWorld:
        with pytest.raises(mc.SceneError, match=r"body 'arm' hangs on joint 'h'; write that one's coordinates: q at index"):
            world.bodies["arm"].position = (0, 0, 0)


@every_world
def test_motors_are_set(make):
    world, other = make(scene()), make(scene())
    hinge, cylinder = world.joints
    assert (hinge.motor_velocity, hinge.motor_max_force) == (1.0, 9.0) and np.isnan(hinge.motor_position)
    assert cylinder.motor_velocity[0] == 0.5 and np.isnan(cylinder.motor_velocity[1])
    assert cylinder.motor_position[1] == 0.25 and cylinder.motor_max_force.tolist() == [np.inf, 4.0]
    hinge.motor_velocity = 2.5
    hinge.motor_max_force = 3
    cylinder.motor_position = (0.5, -0.5)
    other.joint("h").set_motor(velocity=2.5, max_force=3)
    other.joint("c").set_motor(position=(0.5, -0.5))
    assert world.state_hash() == other.state_hash() and hinge.motor_velocity == 2.5
    hinge.motor_position = 0.5
    assert hinge.motor_position == 0.5 and np.isnan(hinge.motor_velocity)
    for name, value, message in (
        ("motor_velocity", "fast", "joint 'h': velocity must be a number, got 'fast'"),
        ("motor_velocity", None, r"joint\('h'\).motor_velocity: must be a number, or one for each axis, got None"),
        ("motor_max_force", -1, "max_force must not be negative"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            setattr(hinge, name, value)
    world.add_joint(mc.DistanceJoint("box", "ball", (0, 0, 0.5), (3, 0, 2), limits=(None, 9), name="rope"))
    for doing in (lambda j: j.motor_velocity, lambda j: setattr(j, "motor_velocity", 1.0)):
        with pytest.raises(mc.SceneError, match=r"joint 'rope':? has no motor; give it motor=Motor"):
            doing(world.joints["rope"])


def test_what_cannot_be_set_says_what_can():
    world = mc.World(scene())
    for part, name, message in (
        (world.joints["h"], "torque", r"joint\('h'\).torque is read only; what may be set: motor_max_force, motor_max_v"),
        (world.joints["h"], "motor_velocty", "is not there; did you mean 'motor_velocity'"),
        (
            world.bodies["box"],
            "mass",
            r"body\('box'\).mass is read only; what may be set: angular_damping, angular_velocity",
        ),
        (world.bodies["box"], "positon", "is not there; did you mean 'position'"),
    ):
        with pytest.raises(AttributeError, match=message):
            setattr(part, name, 1.0)


@every_world
def test_data_of_the_users_own(make):
    data, made = object(), scene()
    added = made.add_body("own", shape=mc.Sphere(0.1), position=(9, 9, 9), user_data=data)
    assert added.user_data is data and made.copy().body("own").user_data is data
    assert made.copy() == made and "user_data" not in str(made.to_dict())
    assert mc.Scene.from_dict(made.to_dict()).body("own").user_data is None
    world = make(made)
    own, box = world.bodies["own"], world.bodies["box"]
    assert own.user_data is data and box.user_data == {"score": 3} and world.bodies["ball"].user_data is None
    saved = world.snapshot()
    box.user_data = data
    own.user_data = None
    world.bodies["ball"].user_data = "red"
    assert world.body("box").user_data is data and own.user_data is None and made.body("box").user_data == {"score": 3}
    world.set_body("ball", mass=2.0)
    assert world.bodies["ball"].user_data == "red"
    with pytest.raises(mc.SceneError, match=r"user_data is changed by body.user_data = …"):
        world.set_body("ball", user_data=3)
    for other in (copy.deepcopy(world), world.remade(), make(world.to_scene())):
        assert other.bodies["box"].user_data is data and other.bodies["own"].user_data is None
        assert other.bodies["ball"].user_data == "red"
    world.remove_body("box")
    world.restore(saved)  # which holds none of it
    assert world.bodies["box"].user_data is data and world.bodies["ball"].user_data == "red"
    assert world.add_body("new", shape=mc.Sphere(0.1), user_data=[1]).user_data == [1]


def test_data_pickles_along():
    world = mc.World(scene())
    world.bodies["ball"].user_data = [1, 2]
    again = pickle.loads(pickle.dumps(world))
    assert again.bodies["ball"].user_data == [1, 2] and again.bodies["box"].user_data == {"score": 3}
    joined = mc.Scene()
    added = joined.add(scene(), prefix="x")
    assert added.bodies["box"].user_data == {"score": 3}
