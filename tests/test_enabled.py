"""Bodies that are not enabled: as if they were not there, in every world, and back as they were."""

import copy
import json
import pickle

import numpy as np
import pytest

import mcsim as mc

WORLDS = [mc.World, mc.ReducedWorld]
every_world = pytest.mark.parametrize("kind", WORLDS)
DT = 1 / 200


def pile(off=(), without=()):
    """A floor, a table on it, a crate on the table and a ball above; a pendulum, and a wheel geared to another."""
    scene = mc.Scene()

    def add(name, **arguments):
        if name not in without:
            scene.add_body(name, enabled=name not in off, **arguments)

    def join(joint, *names):
        if not set(names) & set(without):
            scene.add_joint(joint)

    add("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    add("table", shape=mc.Box((0.5, 0.5, 0.2)), position=(0, 0, 0.2))
    add("crate", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.6))
    add("upper", shape=mc.Capsule(0.05, 0.2), position=(3.0, 0, 2.3))
    add("lower", shape=mc.Capsule(0.05, 0.2), position=(3.0, 0, 1.7))
    for name, x in (("wheel", 6.0), ("pinion", 7.0)):
        add(name, shape=mc.Cylinder(0.3, 0.05), position=(x, 0, 1), angular_velocity=(0, 0, 0))
    join(mc.BallJoint(None, "upper", (3.0, 0, 2.6), name="pivot"), "upper")
    motor = mc.Motor(position=0.3, kp=20.0, kd=1.0)
    join(mc.HingeJoint("upper", "lower", (3.0, 0, 2.0), (0, 1, 0), name="knee", motor=motor), "upper", "lower")
    for name, x in (("wheel", 6.0), ("pinion", 7.0)):
        torque = mc.Motor(velocity=3.0, max_force=5.0) if name == "wheel" else None
        join(mc.HingeJoint(None, name, (x, 0, 1), (0, 0, 1), name=f"{name}.axle", motor=torque), name)
    join(mc.GearJoint("wheel.axle", "pinion.axle", 2.0, name="gear"), "wheel", "pinion")
    return scene


def motion(world, names):
    """Of the bodies of these names: positions and velocities."""
    rows = [world.body_names.index(name) for name in names]
    return world.positions[rows], world.velocities[rows], world.angular_velocities[rows]


ALONE = ["table", "crate", "upper", "lower", "wheel", "pinion"]


@pytest.mark.parametrize("off", [*ALONE, "floor"])
@every_world
def test_it_is_as_if_it_were_not_there(kind, off):
    """Others go as in a world without it and its joints; from the beginning, or from the first step on."""
    told, late, without = (kind(scene, dt=DT) for scene in (pile([off]), pile(), pile(without=[off])))
    late.body(off).enabled = False
    others = [name for name in without.body_names if name != "floor"]
    for _ in range(5):
        for world in (told, late, without):
            world.step(20)
        for world in (told, late):
            for one, other in zip(motion(world, others), motion(without, others)):
                assert one == pytest.approx(other, abs=1e-9)
            assert not world.body(off).enabled and world.body(off).kind == "static" and not world.body(off).velocity.any()
    assert told.positions == pytest.approx(late.positions, abs=1e-12)


@every_world
def test_it_comes_back_at_rest_where_it_stands(kind):
    """The crate falls through where the table was, which is there again for the ball that comes later."""
    world = kind(pile(), dt=DT)
    world.step(10)
    world.body("table").enabled = False
    mass, place = world.body("table").mass, world.body("table").position.copy()
    assert mass == 0 and not world.overlap(mc.Sphere(0.01), place)
    assert world.ray_cast((0.4, 0, 5), (0, 0, -1), 10).body.name == "floor"
    world.step(150)
    assert world.body("crate").position[2] == pytest.approx(0.2, abs=2e-3)
    assert np.array_equal(world.body("table").position, place)
    world.set_pose("crate", (2.0, 2.0, 0.2))
    world.body("table").enabled = True
    assert world.body("table").kind == "dynamic" and world.body("table").mass == pytest.approx(400.0)
    assert not world.body("table").velocity.any()
    world.add_body("late", shape=mc.Sphere(0.1), position=(0, 0, 1.0))
    world.step(150)
    assert world.body("late").position[2] == pytest.approx(0.5, abs=2e-3)
    assert world.body("table").position == pytest.approx(place, abs=2e-3)


@every_world
def test_joints_hold_again(kind):
    """A pendulum's lower half is let go while the upper is off, and hangs on it again after."""
    world = kind(pile(), dt=DT)
    assert world.joint("knee").enabled
    world.body("upper").enabled = False
    assert not world.joint("knee").enabled and not world.joint("pivot").enabled and not world.joint("knee").broken
    assert world.joint_errors().max() < 1e-9
    z = world.body("lower").position[2]
    world.step(20)
    assert world.body("lower").position[2] - z == pytest.approx(-9.81 * 0.1**2 / 2, abs=3e-3)
    assert np.array_equal(world.joint("knee").force, (0, 0, 0)) and len(world.events.broken) == 0
    if kind is mc.ReducedWorld:
        with pytest.raises(mc.SceneError, match="joint 'knee' is on a body that is not enabled"):
            world.index("knee")
    world.set_pose("lower", (3.0, 0, z))
    world.set_velocity("lower", (0, 0, 0), (0, 0, 0))
    world.body("upper").enabled = True
    assert world.joint("knee").enabled and world.joint("pivot").enabled
    world.step(400)
    assert world.joint_errors()[:2].max() < 1e-5
    assert world.joint("knee").motor_force != 0


@every_world
def test_a_gear_is_off_with_either_wheel(kind):
    world = kind(pile(), dt=DT)
    world.step(40)
    assert world.angular_velocities[-1][2] == pytest.approx(-0.5 * world.angular_velocities[-2][2], rel=1e-6)
    world.body("wheel").enabled = False
    spin = world.angular_velocities[-1][2]
    world.step(40)
    assert spin < -0.1 and world.angular_velocities[-1][2] == pytest.approx(spin, rel=1e-6)
    world.body("wheel").enabled = True
    world.step(40)
    assert world.angular_velocities[-1][2] == pytest.approx(-0.5 * world.angular_velocities[-2][2], rel=1e-6)


@every_world
def test_to_the_bit_where_it_is_switched_between_steps(kind):
    """Off and on again, at rest, is what it was: nothing is left of it, in copies and restored ones alike."""
    world = kind(pile(), dt=DT)
    world.step(20)
    begin = world.snapshot()
    for name in ("upper", "table"):
        world.body(name).enabled = False
    world.step(30)
    off = world.snapshot()
    copies = [copy.deepcopy(world), pickle.loads(pickle.dumps(world)), world.remade()]
    for each in (world, *copies):
        each.body("table").enabled = True
        each.step(30)
        assert [each.body(name).enabled for name in ("upper", "table")] == [False, True]
    assert all(each.state_hash() == world.state_hash() for each in copies)
    end = world.state_hash()
    world.restore(begin)
    assert all(world.body(name).enabled for name in ("upper", "table")) and world.joint("knee").enabled
    world.restore(off)
    assert not world.body("table").enabled and not world.joint("knee").enabled
    world.body("table").enabled = True
    world.step(30)
    assert world.state_hash() == end


@every_world
def test_files_of_it(kind, tmp_path):
    scene = pile(["upper", "pinion"])
    data = scene.to_dict()
    assert [body.get("enabled", True) for body in data["bodies"]] == [
        b["name"] not in ("upper", "pinion") for b in data["bodies"]
    ]
    assert data["bodies"][3]["kind"] == "dynamic" and "dynamic, not enabled" in repr(scene.body("upper"))
    scene.save(tmp_path / "scene.json")
    assert mc.load(tmp_path / "scene.json") == scene
    world = kind(scene, dt=DT)
    world.step(10)
    world.body("crate").enabled = False
    world.save_state(tmp_path / "world.npz")
    again = mc.load_state(tmp_path / "world.npz")
    told = world.to_scene()
    assert json.loads(json.dumps(told.to_dict())) == mc.Scene.from_dict(told.to_dict()).to_dict()
    assert [joint.name for joint in told.joints] == [joint.name for joint in scene.joints]
    other = kind(told, dt=DT)
    for each in (world, again, other):
        for name in ("upper", "crate"):
            each.body(name).enabled = True
        each.step(20)
    assert again.state_hash() == world.state_hash()
    assert other.positions == pytest.approx(world.positions, abs=1e-4)


@pytest.mark.parametrize("standing", ["static", "kinematic"])
@every_world
def test_a_joint_on_what_stands_still_lets_go_with_it(kind, standing):
    """Its mass, kind and inertia are those that it has while it is enabled, so that is to be asked for by itself."""
    scene = mc.Scene()
    scene.add_body("post", kind=standing, shape=mc.Sphere(0.1), position=(0, 0, 2))
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0.5, 0, 2))
    scene.add_joint(mc.BallJoint("post", "ball", (0, 0, 2), name="arm"))
    world, falling = kind(scene, dt=DT), kind(scene, dt=DT)
    world.set_body("post", enabled=False)
    falling.body("post").enabled = False
    for one in (world, falling):
        assert not one.joint("arm").enabled
        assert pickle.loads(pickle.dumps(one)).state_hash() == one.state_hash()
        one.step(20)
        assert one.velocities[1] == pytest.approx((0, 0, -9.81 * 20 * DT), abs=1e-9)
    world.set_body("post", enabled=True)
    assert world.joint("arm").enabled


def test_what_sleeps_on_it_wakes():
    world = mc.World(pile(), dt=DT, sleep=mc.Sleep(time=0.1))
    world.step(100)
    assert world.asleep[1] and world.asleep[2]
    world.body("table").enabled = False
    assert not world.asleep[2]
    world.step(150)
    assert world.body("crate").position[2] == pytest.approx(0.2, abs=2e-3)


def test_no_force_moves_it():
    world = mc.World(pile(["crate"]))
    with pytest.raises(mc.SceneError, match="only dynamic bodies feel forces"):
        world.apply_force("crate", (1, 0, 0))
    world.set_pose("crate", (0, 0, 3))
    world.set_kind("crate", "kinematic")
    world.body("crate").enabled = True
    assert world.body("crate").kind == "kinematic"


@pytest.mark.parametrize(
    "keywords", [{"contact": "event"}, {"solver": "pgs"}, {"joint_solver": "rows"}, {"integrator": "rk4"}]
)
def test_other_ways_of_making_steps(keywords):
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("held", shape=mc.Sphere(0.1), position=(0, 0, 1), enabled=False)
    scene.add_body("hung", shape=mc.Sphere(0.1), position=(0, 0, 0.6))
    scene.add_joint(mc.HingeJoint(None, "held", (0, 0, 1.5), (0, 1, 0), limits=(-1, 1)))
    scene.add_joint(mc.DistanceJoint("held", "hung", (0, 0, 1), (0, 0, 0.6)))
    world = mc.World(scene, dt=1 / 400, **keywords)
    world.step(100)
    assert world.positions[1] == pytest.approx((0, 0, 1), abs=0.0)
    assert world.positions[2][2] == pytest.approx(0.6 - 9.81 * 0.25**2 / 2, abs=5e-3)


@pytest.mark.parametrize(
    "act, words",
    [
        (lambda w: setattr(w.body("crate"), "enabled", 1), "body 'crate': enabled must be True or False, got 1"),
        (lambda w: w.set_body("crate", enabled="no"), "body 'crate': enabled must be True or False"),
        (lambda w: w.set_kind("upper", "static"), "joint 'pivot' would join no dynamic body"),
    ],
)
@pytest.mark.parametrize("off", [False, True])
def test_what_is_wrong_is_refused_by_name(act, words, off):
    world = mc.World(pile(["upper"] if off else []))
    before = world.state_hash()
    with pytest.raises(mc.SceneError, match=words):
        act(world)
    assert world.state_hash() == before
