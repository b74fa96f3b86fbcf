"""world.to_scene(): a scene of what a running world has become, from which another one goes on as it does."""

import numpy as np
import pytest

import mcsim as mc
from test_adding import CASES, DOWN, pair

WORLDS = {"World": mc.World, "ReducedWorld": mc.ReducedWorld}
every_world = pytest.mark.parametrize("make", WORLDS.values(), ids=WORLDS)


def assert_same_way(world, other, steps=60, within=1e-7):
    """Both go on alike, from now."""
    begin = world.time - other.time
    for _ in range(steps // 20):
        world.step(20)
        other.step(20)
        assert other.positions == pytest.approx(world.positions, abs=within)
        assert other.velocities == pytest.approx(world.velocities, abs=100 * within)
        assert np.abs(np.sum(other.orientations * world.orientations, axis=1)) == pytest.approx(1.0, abs=within)
    assert world.time - other.time == pytest.approx(begin)


@pytest.mark.parametrize("case", CASES)
def test_every_joint_goes_on(case):
    """Under Runge-Kutta, whose steps begin with nothing of the last one; and a file holds it."""
    world = mc.World(pair(CASES[case]()), dt=1e-3, integrator="rk4")
    world.step(300)
    scene = world.to_scene()
    assert mc.World(scene).positions == pytest.approx(world.positions, abs=1e-14)
    if "user" not in case:
        again = mc.Scene.from_dict(scene.to_dict())
        assert again == scene and mc.World(again).state_hash() == mc.World(scene).state_hash()
    assert_same_way(world, mc.World(scene, dt=1e-3, integrator="rk4"))


DRIVES = {
    "hinge motor": lambda: mc.HingeJoint(None, "b", (0, 0, 0), (0, 1, 0), motor=mc.Motor(velocity=9.0), name="j"),
    "hinge to a position": lambda: mc.HingeJoint(
        None, "b", (0, 0, 0), (0, 1, 0), motor=mc.Motor(position=20.0, max_force=40.0, hertz=0.5), name="j"
    ),
    "hinge, spring and limits": lambda: mc.HingeJoint(
        None, "b", (0, 0, 0), (0, 1, 0), limits=(-1, 17.0), spring=mc.Spring(5.0, 0.1, rest=20.0), friction=0.1, name="j"
    ),
    "hinge, given motion": lambda: mc.HingeJoint(
        None, "b", (0, 0, 0), (0, 1, 0), motion=mc.Motion(0.1, 8.0, 0.5, 0.2, 1.3, 0.4), name="j"
    ),
    "hinge, a function": lambda: mc.HingeJoint(
        None, "b", (0, 0, 0), (0, 1, 0), motion=mc.Motion(lambda t: 8.0 * t + np.sin(t)), name="j"
    ),
    "planar": lambda: mc.PlanarJoint(
        None, "b", (0, 0, 0), (0, 1, 0), motor=(None, None, mc.Motor(position=15.0, hertz=0.6)), name="j"
    ),
    "cylindrical": lambda: mc.CylindricalJoint(
        None, "b", (0, 0, 0), (0, 1, 0), spring=(mc.Spring(80.0, 1.0), mc.Spring(4.0, 0.1, rest=18.0)), name="j"
    ),
    "ball": lambda: mc.BallJoint(None, "b", (0, 0, 0), motor=mc.Motor(velocity=(1.0, 2.0, 0.5), max_force=30), name="j"),
    "slot": lambda: mc.SlotJoint(None, "b", (0, 0, 0), (1, 0, 0), spring=mc.Spring(30.0, 0.2), limits=(-3, 3), name="j"),
    "rope": lambda: mc.DistanceJoint(None, "b", (0, 0, 2), (0, 0, 0), limits=(0.1, 2.2), name="j"),
    "distance spring": lambda: mc.DistanceJoint(None, "b", (0, 0, 2), (0, 0, 0), 1.5, spring=mc.Spring(90.0), name="j"),
    "free": lambda: mc.FreeJoint(None, "b", motion=[mc.Motion(0.0, 0.5), *[None] * 5], name="j"),
}


def driven(drive):
    scene = mc.Scene()
    scene.add_body("b", shape=mc.Box((0.4, 0.1, 0.1)), position=(0, 0, 0), angular_velocity=(0, 6.0, 0))
    scene.add_joint(DRIVES[drive]())
    return scene


TURNING = ("hinge", "planar", "cylindrical")


@every_world
@pytest.mark.parametrize("drive", DRIVES)
def test_drives_go_on_after_whole_turns(make, drive):
    """What aims at a coordinate that has counted turns aims at the same pose, and a clock of 0 at the same time."""
    world = make(driven(drive), dt=1e-3)
    world.step(2000)
    scene = world.to_scene()
    other = make(scene, dt=1e-3)
    if drive.startswith(TURNING):
        assert abs(world.joint("j").angle) > 2 * np.pi > np.pi >= abs(other.joint("j").angle)
    if "function" not in drive:
        again = mc.Scene.from_dict(scene.to_dict())
        assert again == scene and make(again, dt=1e-3).state_hash() == other.state_hash()
    assert_same_way(world, other, within=2e-5)


CHANGES = {
    "hinge motor": lambda j: j.set_motor(velocity=-3.0, max_force=20.0),
    "hinge to a position": lambda j: j.set_motor(velocity=2.0),
    "hinge, spring and limits": lambda j: (j.set_spring(mc.Spring(2.0, 0.0, 1.0)), j.set_limits(None, 30.0)),
    "planar": lambda j: (j.set_motor(velocity=3.0, axis=2), j.set_limits(-0.5, None, axis=0)),
    "cylindrical": lambda j: (j.set_spring(None, axis=0), j.set_limits(-0.1, 0.1, axis=0)),
    "ball": lambda j: (
        j.set_motor(position=0.3, max_force=5, axis=0),
        j.set_spring(mc.Spring(3.0), 1),
        j.set_limits(-1, 1, 2),
    ),
    "slot": lambda j: j.set_spring(mc.Spring(10.0, 0.5, 0.3), axis=0),
    "rope": lambda j: j.set_limits(None, None),
    "distance spring": lambda j: (j.set_spring(mc.Spring(40.0, 0.0, 1.0)), j.set_limits(0.5, None)),
}


@pytest.mark.parametrize("drive", CHANGES)
def test_changed_drives_go_on(drive):
    world = mc.World(driven(drive), dt=1e-3)
    world.step(500)
    CHANGES[drive](world.joint("j"))
    scene = world.to_scene()
    again = mc.Scene.from_dict(scene.to_dict())
    assert again == scene
    other = mc.World(again, dt=1e-3)
    told, axes = other._joints["axes"][0], world._joints["axes"][0]
    for name in ("motor_mode", "motor_max_force", "stiffness", "damping", "has_spring", "friction"):
        assert told[name] == pytest.approx(axes[name])
    assert_same_way(world, other, within=2e-5)


def gears():
    scene = mc.Scene()
    for name, x in (("p", 0.0), ("q", 1.0)):
        scene.add_body(name, shape=mc.Cylinder(0.3, 0.05), position=(x, 0, 0), angular_velocity=(0, 0, 0))
        scene.add_joint(mc.HingeJoint(None, name, (x, 0, 0), (0, 0, 1), name=f"{name}.h"))
    scene.add_joint(mc.GearJoint("p.h", "q.h", 0.7, name="gear", constant=0.0))
    return scene


def test_gears_keep_what_they_keep():
    """After turns of both wheels by other numbers."""
    world = mc.World(gears())
    world.set_velocity("p", angular_velocity=(0, 0, 5.0))
    world.step(300)
    turns = [world.joint(name).angle for name in ("p.h", "q.h")]
    assert np.abs(turns).min() > 7.0 and abs(turns[0] + 0.7 * turns[1]) < 1e-6
    other = mc.World(world.to_scene())
    assert abs(other.joint_errors()[2]).max() < 1e-6
    assert_same_way(world, other, within=1e-6)


@every_world
def test_what_was_added_removed_and_set(make):
    scene = mc.Scene(gravity=(0, 0, -5), name="here")
    for k in range(3):
        scene.add_body(f"b{k}", shape=mc.Sphere(0.1), position=(k, 0, 0), linear_damping=0.1)
    scene.add_body("wall", shape=mc.Plane((0, 0, 1)), kind="static", position=(0, 0, -50))
    scene.ignore_collision("b0", "b1")
    scene.ignore_collision("b1", "b2")
    world = make(scene, dt=1 / 120)
    world.step(30)
    world.remove_body("b0")
    new = world.add_body("new", shape=mc.Box((0.1, 0.1, 0.1)), position=(5, 0, 0), velocity=(1, 2, 3))
    world.add_joint(mc.DistanceJoint(new, "b2", (5, 0, 0), (2, 0, 0), spring=mc.Spring(10.0), name="spring"))
    world.set_body("b1", mass=3.0, collision_group=2)
    world.body("b2").gravity_scale = 0.5
    world.body("b2").bullet = True
    world.body(new).angular_damping = 0.25
    world.step(30)
    told = world.to_scene()
    assert told.name == "here" and told.ignored_pairs == [("b1", "b2")]
    assert [body.name for body in told.bodies] == ["b1", "b2", "wall", "new"]
    assert [body.index for body in told.bodies] == [0, 1, 2, 3]
    assert told.body("b1").mass == 3.0 and told.body("b1").collision_group == 2
    assert (told.body("b2").gravity_scale, told.body("b2").bullet) == (0.5, True)
    assert told.body("new").angular_damping == 0.25
    assert mc.Scene.from_dict(told.to_dict()) == told
    before = world.scene.copy()
    told.add_body("more", shape=mc.Sphere(1.0))  # it is a scene like others
    assert world.scene == before
    told = world.to_scene()
    assert_same_way(world, make(told, dt=1 / 120), within=1e-6)


def test_what_broke_is_gone():
    """With the gears on it; the two bodies go on to pass through each other."""
    scene = gears()
    scene.add_body("r", shape=mc.Sphere(0.1), position=(0, 0.0, 0.5))
    scene.add_joint(mc.FixedJoint("p", "r", break_force=1.0, name="weld"))
    scene.add_body("s", shape=mc.Sphere(0.1), position=(2, 0, 0))
    scene.add_joint(mc.HingeJoint("q", "s", (1, 0, 0), (0, 0, 1), break_force=1.0, name="loose"))
    scene.add_joint(mc.GearJoint("q.h", "loose", 2.0, name="on it"))
    world = mc.World(scene)
    world.step(20)
    assert world.joint("weld").broken and world.joint("loose").broken
    told = world.to_scene()
    assert [joint.name for joint in told.joints] == ["p.h", "q.h", "gear"]
    assert told.ignored_pairs == [("p", "r"), ("q", "s")]
    assert [joint.index for joint in told.joints] == [0, 1, 2]


@every_world
def test_things_at_rest_stay_at_rest(make):
    """Contacts begin cold, with more sweeps, as in any new world: a stack stands on as it stood."""
    scene = mc.scenes.stack(count=4)
    scene.gravity = (0, 0, -9.81)
    world = make(scene, dt=1 / 60, substeps=4)
    world.step(120)
    other = make(world.to_scene(), dt=1 / 60, substeps=4)
    other.step(60)
    assert other.positions == pytest.approx(world.positions, abs=2e-4)


def test_both_kinds_of_world_tell_alike():
    world = mc.ReducedWorld(driven("hinge motor"))
    world.step(40)
    other = world.maximal()
    a, b = world.to_scene(), other.to_scene()
    assert a.body("b").position == pytest.approx(b.body("b").position, abs=1e-12)
    assert a.joint("j").axes == b.joint("j").axes


def test_taken_apart_and_joined():
    """Two running worlds in one scene: each part moves as it does alone."""
    one, two = mc.World(pair(CASES["hinge"]())), mc.World(driven("hinge motor"))
    one.step(30)
    two.step(50)
    both = mc.Scene(gravity=DOWN)
    both.add(one.to_scene(), (0, 0, 10), prefix="one.")
    both.add(two.to_scene(), prefix="two.")
    world = mc.World(both)
    assert world.positions[:2] == pytest.approx(one.positions + [0, 0, 10])
    alone = mc.World(one.to_scene())
    alone.step(30)
    world.step(30)
    assert world.positions[:2] == pytest.approx(alone.positions + [0, 0, 10], abs=1e-7)


def test_a_state_that_is_not_finite_is_refused():
    world = mc.World(pair(CASES["hinge"]()))
    world.velocities[1] = np.nan
    with pytest.raises(mc.SceneError, match="World.to_scene: the state of body 'b' is not finite"):
        world.to_scene()


def test_three_motors_of_a_ball_joint():
    """Each axis may have one of its own, also from a file."""
    motors = [mc.Motor(velocity=1.0), None, mc.Motor(position=0.5, max_force=3.0)]
    scene = driven("ball")
    scene.add_body("c", shape=mc.Sphere(0.1), position=(3, 0, 0))
    joint = scene.add_joint(mc.BallJoint(None, "c", (3, 0, 0), motor=motors, spring=[None, mc.Spring(2.0), None]))
    assert [axis.motor for axis in joint.axes] == motors and joint.axes[1].spring == mc.Spring(2.0)
    again = mc.Scene.from_dict(scene.to_dict())
    assert again == scene and again.joints[1].axes == joint.axes
    for wrong, message in (
        ([1, 2, 3], r"motor\[0\] must be a Motor, got 1"),
        ([None], "a Motor or three of Motor or None"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            mc.BallJoint(None, "c", (3, 0, 0), motor=wrong)
    with pytest.raises(mc.SceneError, match=r"motor\[2\].velocity must be one number here"):
        mc.BallJoint(None, "c", (3, 0, 0), motor=[None, None, mc.Motor(velocity=(1, 2, 3))])


@every_world
def test_gravity_scale_acts_from_now_on(make):
    """Set in a running world, it is what the step and the energy go by."""
    scene = mc.Scene(gravity=(0, 0, -5))
    scene.add_body("b", shape=mc.Sphere(0.1), velocity=(1, 0, 0))
    world = make(scene, dt=1 / 128)
    world.step(2)
    before, saved = world.velocities[0].copy(), world.snapshot()
    body = world.body("b")
    body.gravity_scale = 0.5
    assert body.gravity_scale == 0.5 and world.velocities[0].tolist() == before.tolist()
    energy = world.energy().total
    world.step(16)
    assert world.velocities[0, 2] - before[2] == pytest.approx(-2.5 / 8, abs=1e-12)
    assert world.energy().total == pytest.approx(energy, abs=1e-9 if make is mc.ReducedWorld else 2e-2)
    world.restore(saved)
    assert world.body("b").gravity_scale == 1.0
    world.step(16)
    assert world.velocities[0, 2] - before[2] == pytest.approx(-5 / 8, abs=1e-12)
