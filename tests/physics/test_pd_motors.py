"""PD motors: Motor(kp=, kd=), a bounded spring and damper about a moving target, in both worlds."""

import copy
import math
import pickle

import numpy as np
import pytest

import mcsim as mc
from driven_scenes import COUNT, JOINTS, pair

every_joint = pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "free"])
both_worlds = pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
# How a world steps -> how near 0.3 s come to the closed form at 1 ms [m]; None: in World alone
WAYS = {
    "semi_implicit": ({}, 1e-6),
    "rk4": ({"integrator": "rk4"}, 1e-10),
    "reference": ({"integrator": "reference"}, 1e-13),
    "radau": ({"integrator": "radau"}, 1e-13),
    "baumgarte": ({"stabilization": "baumgarte"}, 5e-3),
    "projection": ({"stabilization": "projection"}, 5e-3),
}
OF_WORLD = {
    "rattle": ({"integrator": "rattle"}, 2e-6),
    "variational": ({"integrator": "variational"}, 2e-6),
    "rows": ({"joint_solver": "rows"}, 1e-6),
    "pgs": ({"solver": "pgs"}, 1e-6),
    "ggl": ({"stabilization": "ggl"}, 5e-3),
    "event": ({"contact": "event"}, 1e-9),
}
every_way = pytest.mark.parametrize(
    "make, way",
    [(mc.World, way) for way in WAYS | OF_WORLD] + [(mc.ReducedWorld, way) for way in WAYS],
    ids=lambda value: getattr(value, "__name__", value),
)
# How many motors a type of joint takes, where it is not one.
DRIVEN = {"ball": 3, "universal": 2, "cylindrical": 2, "planar": 3, "point_on_plane": 2}
MASS, GRAVITY, KP, KD = 2.0, 9.81, 200.0, 5.0


def lift(**motor):
    """A mass on a slider along gravity, with a motor, that begins at 0."""
    scene = mc.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_body("load", mass=MASS, inertia=(1, 1, 1))
    scene.add_joint(mc.SliderJoint(None, "load", (0, 0, 1), (0, 0, 0), name="j", motor=mc.Motor(**motor)))
    return scene


def on_all(kind, motor):
    """As set_motor takes it: one for each coordinate that may have one."""
    count = COUNT.get(kind, 1)
    return motor if count == 1 else [motor] * DRIVEN.get(kind, 1) + [None] * (count - DRIVEN.get(kind, 1))


def built(make, way, scene, **keywords):
    return make(scene, **(WAYS | OF_WORLD)[way][0] | {"substeps": 1} | keywords)


# ---- the law -----------------------------------------------------------------------------------------------------------


@every_way
def test_a_load_swings_as_the_closed_form_says(make, way):
    """m x'' = kp (target - x) + kd (velocity - x') - m g, from rest at 0."""
    world = built(make, way, lift(position=0.5, velocity=0.1, kp=KP, kd=KD), dt=1e-3)
    world.step(300)
    rest, decay = 0.5 + (KD * 0.1 - MASS * GRAVITY) / KP, KD / (2 * MASS)
    rate = math.sqrt(KP / MASS - decay**2)
    swing = math.exp(-decay * 0.3) * (math.cos(rate * 0.3) + decay / rate * math.sin(rate * 0.3))
    near = (WAYS | OF_WORLD)[way][1] * (4 if make is mc.ReducedWorld else 1)
    assert world.joint("j").position == pytest.approx(rest * (1 - swing), abs=near)


@every_way
def test_a_bound_is_kept(make, way):
    """What the bound leaves is a fall under a steady force; the force that is told is the bound."""
    world = built(make, way, lift(position=0.5, kp=KP, kd=KD, max_force=10.0), dt=1e-3)
    world.step(300)
    fall = -(GRAVITY - 10.0 / MASS) * 0.3**2 / 2
    assert world.joint("j").position == pytest.approx(fall, abs=1e-3 if way in ("baumgarte", "projection", "ggl") else 1e-6)
    if way != "event":
        assert world.joint("j").motor_force == pytest.approx(10.0)


@every_way
def test_it_yields_by_the_load_over_kp(make, way):
    world = built(make, way, lift(position=0.5, kp=KP, kd=4 * KD), dt=1 / 120)
    world.step(480)
    assert world.joint("j").position == pytest.approx(0.5 - MASS * GRAVITY / KP, abs=1e-6)
    if way != "event":
        assert world.joint("j").motor_force == pytest.approx(MASS * GRAVITY, abs=1e-3)
        assert world.joint("j").force[2] == pytest.approx(MASS * GRAVITY, abs=1e-3)


@every_joint
@both_worlds
def test_without_a_bound_it_is_a_spring(make, kind):
    """The same forces as a Spring's, by the reference, for every type of joint."""
    drives = {"spring": mc.Spring(30.0, 2.0, 0.0), "motor": mc.Motor(position=0.0, velocity=0.0, kp=30.0, kd=2.0)}
    if kind == "ball":
        drives = {
            "spring": mc.Spring(30.0, 2.0, (0.1, 0.2, -0.1)),
            "motor": mc.Motor(position=(0.1, 0.2, -0.1), velocity=(0, 0, 0), kp=30.0, kd=2.0),
        }
    worlds = []
    for name, drive in drives.items():
        several = None if kind == "ball" else DRIVEN.get(kind)
        scene = pair(kind, **{name: drive if several is None else [drive] * several})
        worlds.append(make(scene, dt=1e-2, integrator="reference"))
    for world in worlds:
        world.step(10)
    assert np.abs(worlds[0].positions - worlds[1].positions).max() < 1e-12
    assert np.abs(worlds[0].joint("j").force - worlds[1].joint("j").force).max() < 1e-9
    assert np.abs(np.asarray(worlds[1].joint("j").motor_force)).max() > 1e-3


@every_joint
def test_both_worlds_agree(kind):
    """With bounds that are reached and left, and targets that move, by the reference."""
    motor = mc.Motor(position=0.3, velocity=0.5, kp=40.0, kd=1.0, max_force=6.0)
    worlds = []
    for make in (mc.World, mc.ReducedWorld):
        world = make(pair(kind), dt=1e-2, integrator="reference")
        world.joint("j").set_motor(on_all(kind, motor))
        world.step(30)
        worlds.append(world)
    assert np.abs(worlds[0].positions - worlds[1].positions).max() < 1e-9
    assert np.asarray(worlds[0].joint("j").motor_force) == pytest.approx(
        np.asarray(worlds[1].joint("j").motor_force), abs=1e-6
    )


# ---- stable at any gain ------------------------------------------------------------------------------------------------


def arm(links, **motor):
    scene = mc.Scene()
    for k in range(links):
        scene.add_body(
            f"link{k}",
            shape=mc.Capsule(0.05, 0.2, orientation=(0.5**0.5, 0, 0.5**0.5, 0)),
            mass=1.0,
            position=(0.25 + 0.5 * k, 0, 0),
        )
        scene.add_joint(
            mc.HingeJoint(
                f"link{k - 1}" if k else None, f"link{k}", (0.5 * k, 0, 0), (0, 1, 0), name=f"j{k}", motor=mc.Motor(**motor)
            )
        )
    return scene


@pytest.mark.parametrize("kp", [1e2, 1e3, 1e4, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("dt", [1 / 20, 1 / 60, 1 / 240])
@both_worlds
def test_no_gain_is_too_large_for_a_step(make, dt, kp):
    """An arm of four links comes to rest where statics has it, whatever kp and dt are, critically damped or nearly so."""
    kd = 2.0 * math.sqrt(kp * 10.0)
    world = make(arm(4, position=0.2, kp=kp, kd=kd), dt=dt, sleep=False)
    energies = []
    for _ in range(20):
        world.step(round(0.5 / dt))
        energies.append(world.energy().kinetic)
    assert energies[-1] < 1e-6 * max(1.0, energies[0])
    angles = np.array([world.joint(k).angle for k in range(4)])
    forces = np.array([world.joint(k).motor_force for k in range(4)])
    rates = np.array([world.joint(k).velocity for k in range(4)])
    wanted = kp * (0.2 - angles) - kd * rates
    if kp < 1e9:  # an angle is rounded to more than the bound of this
        assert forces == pytest.approx(wanted, abs=2e-2 * np.abs(forces).max())
    weights = GRAVITY * np.array([sum(world.positions[k:, 0] - joint_x(world, k)) for k in range(4)])
    assert -forces == pytest.approx(weights, abs=2e-2 * np.abs(weights).max())


def joint_x(world, k):
    """Where joint k is along x."""
    angle = sum(world.joint(i).angle for i in range(k + 1))
    return world.positions[k, 0] - 0.25 * math.cos(angle)


@both_worlds
def test_a_weak_bound_is_no_danger_either(make):
    """Gains that would ask for far more than the bound: the arm sinks, as slowly as the bound lets it."""
    world = make(arm(3, position=0.0, kp=1e9, kd=1e7, max_force=1.0), dt=1 / 60)
    for _ in range(30):
        world.step(4)
        assert max(abs(world.joint(k).motor_force) for k in range(3)) <= 1.0 + 1e-9
        assert world.energy().total < 1.0
    assert world.joint(0).angle > 0.2


# ---- set at any time ---------------------------------------------------------------------------------------------------


@every_joint
@both_worlds
def test_a_motor_that_is_mounted_is_as_one_that_was_there(make, kind):
    """To the bit, of every type of joint; taken off, it is as if there had been none."""
    motor = mc.Motor(position=0.3, kp=40.0, kd=1.0, max_force=6.0)
    mounted, count = on_all(kind, motor), COUNT.get(kind, 1)
    there = make(pair(kind, motor=motor if kind not in DRIVEN else [motor] * DRIVEN[kind]), dt=1 / 120)
    later, never = (make(pair(kind), dt=1 / 120) for _ in range(2))
    later.joint("j").set_motor(mounted)
    for world in (there, later):
        world.step(20)
    assert np.array_equal(there.positions, later.positions)
    assert np.array_equal(there.velocities, later.velocities)
    never.step(20)
    assert np.abs(never.positions - later.positions).max() > 1e-5
    off = make(pair(kind), dt=1 / 120)
    off.joint("j").set_motor(mounted)
    off.joint("j").set_motor(None if count == 1 else [None] * count)
    off.step(20)
    assert np.array_equal(off.positions, never.positions)


@both_worlds
def test_gains_and_targets_change_while_it_runs(make):
    world = make(lift(velocity=0.5), dt=1 / 240)
    joint = world.joint("j")
    world.step(10)
    assert np.isnan(joint.motor_kp) and np.isnan(joint.motor_position)
    joint.set_motor(kp=KP, kd=4 * KD, position=0.2, velocity=0.0)
    assert (joint.motor_kp, joint.motor_kd, joint.motor_position, joint.motor_velocity) == (KP, 4 * KD, 0.2, 0.0)
    world.step(960)
    assert joint.position == pytest.approx(0.2 - MASS * GRAVITY / KP, abs=1e-5)
    joint.motor_position = 0.4
    joint.set_motor(kp=2 * KP)
    assert joint.motor_kd == 4 * KD
    world.step(960)
    assert joint.position == pytest.approx(0.4 - MASS * GRAVITY / (2 * KP), abs=1e-5)
    joint.set_motor(mc.Motor(velocity=0.25))
    world.step(240)
    assert joint.velocity == pytest.approx(0.25, abs=1e-6)
    joint.set_motor(None)
    world.step(240)
    assert joint.velocity == pytest.approx(0.25 - GRAVITY, abs=1e-6)
    for wrong, message in (
        (lambda: joint.set_motor(kp=1.0), "'j': has no motor"),
        (lambda: joint.set_motor(mc.Motor(velocity=1.0), kp=2.0), "kp is given beside another motor"),
        (lambda: joint.set_motor(mc.Motor(velocity=(1.0, 0, 0))), "velocity must be one number"),
        (lambda: joint.set_motor("fast"), "must be a Motor"),
        (lambda: joint.set_motor([mc.Motor(velocity=1.0)] * 2), "must be 1 of Motor or None"),
        (lambda: joint.set_motor(mc.Motor(velocity=1.0), axis=1), "axis must be from 0 to 0"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            wrong()
    joint.set_motor(mc.Motor(velocity=0.0))
    with pytest.raises(mc.SceneError, match="kp must not be negative"):
        joint.set_motor(kp=-1.0)
    with pytest.raises(mc.SceneError, match="both given"):
        joint.set_motor(velocity=1.0, position=1.0)


def test_what_takes_no_motor_says_so():
    scene = pair("free", hung=False)
    scene.add_joint(mc.FixedJoint(None, "a", name="weld"))
    scene.add_joint(mc.DistanceJoint("a", "b", (0, 0, 0), (1, 0, 0), name="rod"))
    scene.add_joint(mc.SliderJoint(None, "b", (1, 0, 0), (0, 0, 0), motion=mc.Motion(0.0), name="given"))
    scene.add_joint(mc.SlotJoint(None, "b", (1, 0, 0), (0, 1, 0), name="slot"))
    world = mc.World(scene)
    for name, message in (
        ("weld", "'weld': is a fixed joint, which has no coordinate"),
        ("rod", "'rod': is a rod"),
        ("given", "'given': motor is for a coordinate that has a prescribed motion"),
    ):
        with pytest.raises(mc.SceneError, match=message):
            world.joint(name).set_motor(mc.Motor(velocity=1.0))
    with pytest.raises(mc.SceneError, match="axis 1 of a slot joint takes no motors"):
        world.joint("slot").set_motor(mc.Motor(velocity=1.0), axis=1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({}, "takes exactly one of velocity and position, or kp and kd with them, got neither"),
        ({"velocity": 1.0, "position": 1.0}, "got both"),
        ({"kp": -1.0}, "kp must not be negative"),
        ({"kd": math.inf}, "kd must be finite"),
        ({"kp": 1.0, "hertz": 3.0}, "hertz and damping_ratio are of a motor for a position alone"),
    ],
)
def test_wrong_motors_are_refused(arguments, message):
    with pytest.raises(mc.SceneError, match=message):
        mc.Motor(**arguments)


# ---- what lasts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forget", [False, True])
@both_worlds
def test_copies_and_scenes_have_it(make, forget, monkeypatch):
    """Motors that were mounted while it ran: in copies, pickles, snapshots to the bit; in the scene, and its file."""
    if forget:
        monkeypatch.setenv("MCSIM_FORGET", "1")
    world = make(arm(3, position=0.1, velocity=0.2, kp=90.0, kd=4.0, max_force=30.0), dt=1 / 120)
    world.add_body("hand", mass=0.3, inertia=(0.01, 0.02, 0.015), position=(1.6, 0, 0))
    world.add_joint(mc.BallJoint("link2", "hand", (1.5, 0, 0), name="hand"))
    world.joint("hand").set_motor(mc.Motor(position=(0, 0.1, 0), velocity=(0, 0, 0), kp=5.0, kd=1.0))
    world.joint("j1").set_motor(None)
    world.joint("j2").set_motor(position=0.3)
    world.step(4)
    kept = world.snapshot()
    others = [copy.deepcopy(world), pickle.loads(pickle.dumps(world)), world.remade()]
    scene = mc.Scene.from_dict(world.to_scene().to_dict())
    told = [joint.axes[0].motor for joint in scene.joints]
    assert told[0] == mc.Motor(position=0.1, velocity=0.2, kp=90.0, kd=4.0, max_force=30.0)
    assert told[1] is None and told[2].position == 0.3 and told[3].kp == 5.0
    anew = make(scene, dt=1 / 120)
    for each in (world, *others, anew):
        each.step(8)
    for each in others:
        assert each.state_hash() == world.state_hash()
    assert np.abs(anew.positions - world.positions).max() < 1e-4
    world.joint("hand").set_motor(None)
    world.restore(kept)
    world.step(8)
    assert world.state_hash() == others[0].state_hash()


def test_it_sleeps_at_its_target_and_not_on_its_way():
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("base", shape=mc.Box((0.4, 0.4, 0.1)), position=(0, 0, 0.1), density=4000.0)
    scene.add_body("arm", shape=mc.Box((0.05, 0.05, 0.2)), position=(0, 0, 0.4))
    scene.add_joint(
        mc.HingeJoint("base", "arm", (0, 0, 0.2), (0, 1, 0), name="j", motor=mc.Motor(position=0.2, kp=500.0, kd=50.0))
    )
    for make in (mc.World, mc.ReducedWorld):
        world = make(scene, dt=1 / 60)
        world.step(300)
        assert world.asleep[1:].all()
        world.joint("j").set_motor(position=-0.2)
        assert not world.asleep[1:].any()
        world.step(300)
        assert world.asleep[1:].all() and world.joint("j").angle < -0.1
        world.joint("j").set_motor(velocity=0.01)
        world.step(300)
        assert not world.asleep[1:].any()


def test_events_in_trees_refuse_it():
    with pytest.raises(mc.SceneError, match="joint 'j' has a PD motor"):
        mc.ReducedWorld(lift(position=0.1, kp=1.0), contact="event").step()


def test_units_make_no_difference():
    """Lengths of half a metre, masses of a quarter: the same bits."""
    motor = {"position": 0.3, "velocity": 0.25}
    here = mc.World(pair("hinge", motor=mc.Motor(kp=40.0, kd=2.0, max_force=6.0, **motor)))
    there = mc.World(pair("hinge", size=2.0, weight=4.0, motor=mc.Motor(kp=640.0, kd=32.0, max_force=96.0, **motor)))
    for world in (here, there):
        world.step(30)
    assert np.array_equal(2.0 * here.positions, there.positions)
