"""Position motors hold what hangs on them, in both worlds, at every stiffness and step, within the bound of their force."""

import math

import numpy as np
import pytest

import mcsim as mc

KINDS = ("hinge", "slider", "universal", "ball", "cylindrical", "planar")


def arm(kind, links, ratio=1.0, **motor):
    """Links of 1 kg and 0.5 m along x, the last one `ratio` times as heavy, on joints with a motor for every coordinate."""
    scene, last = mc.Scene(), None
    for k in range(links):
        mass = ratio if k == links - 1 else 1.0
        body = scene.add_body(mass=mass, inertia=(0.02 * mass,) * 3, position=(0.5 * k + 0.25, 0, 0))
        here, one = dict(anchor=(0.5 * k, 0, 0)), mc.Motor(position=0.0, **motor)
        scene.add_joint(
            {
                "hinge": lambda: mc.HingeJoint(last, body, axis=(0, 1, 0), motor=one, **here),
                "slider": lambda: mc.SliderJoint(last, body, axis=(0, 0, 1), motor=one, **here),
                "universal": lambda: mc.UniversalJoint(
                    last, body, axis_a=(0, 1, 0), axis_b=(0, 0, 1), motor=(one, one), **here
                ),
                "ball": lambda: mc.BallJoint(last, body, motor=mc.Motor(position=(0, 0, 0), **motor), **here),
                "cylindrical": lambda: mc.CylindricalJoint(
                    last, body, axis=(0, k % 2, 1 - k % 2), motor=(one, one), **here
                ),
                "planar": lambda: mc.PlanarJoint(last, body, normal=(0, 1, 0), motor=(one, one, one), **here),
            }[kind]()
        )
        last = body
    return scene


def holds(world, seconds=0.5):
    """Runs. -> the farthest coordinate [degrees, or m * 57], and how much the first joint's force swings, relative"""
    world.step(max(10, round(seconds / world.dt)))
    forces, off = [], 0.0
    for _ in range(12):
        world.step()
        forces.append(np.atleast_1d(world.joint(world.joint_names[0]).motor_force).copy())
        off = max(off, max(np.abs(np.atleast_1d(world.joint(name).position)).max() for name in world.joint_names))
    return math.degrees(off), np.ptp(forces, axis=0).max() / np.abs(forces).max()


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])
@pytest.mark.sampled(5)
def test_arms_are_held(cls, seed):
    """Drawn arms, steps and stiffnesses: within a thousandth of a degree, torques steady to a thousandth."""
    random = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    links = int(random.integers(1, 9 if kind == "hinge" or cls is mc.World else 5))
    motor = dict(
        hertz=float(10 ** random.uniform(0, 3)),
        damping_ratio=float(random.choice([0.0, 0.5, 1.0, 2.0])),
        max_force=float(random.choice([1e5, math.inf])),
    )
    world = cls(
        arm(kind, links, float(10 ** random.uniform(0, 2)), **motor),
        dt=1 / float(np.exp(random.uniform(np.log(30), np.log(1000)))),
        substeps=int(random.integers(1, 9)),
    )
    off, swing = holds(world, 0.2)
    assert off < 1e-3 and swing < 1e-3, (kind, links, motor, world.dt)


METHODS = [
    *({"integrator": name} for name in ("rk4", "rattle", "variational")),
    *({"stabilization": name} for name in ("none", "baumgarte", "split_impulse", "projection", "ggl")),
]


@pytest.mark.parametrize("hertz", [1.0, 5.0, 50.0, 1000.0])
@pytest.mark.parametrize("keywords", METHODS, ids=str)
def test_an_arm_is_held_by_every_method(keywords, hertz):
    """Six links level. Rows of its motors must be solved together: swept they let it sag or threw it about."""
    off, swing = holds(mc.World(arm("hinge", 6, hertz=hertz, max_force=1e5), **keywords))
    assert off < 1e-2 and swing < 1e-2


def test_the_bound_is_kept():
    """An arm of two links whose first motor is too weak falls under it, and says that it gives all it has."""
    for cls in (mc.World, mc.ReducedWorld):
        world = cls(arm("hinge", 2), dt=1 / 240)
        name = world.joint_names[0]
        world.joint(name).set_motor(max_force=9.0)
        world.step(12)
        assert abs(world.joint(name).motor_force) == pytest.approx(9.0, rel=1e-9)
        needed, inertia = 9.81 * (0.25 + 0.75), 2 * 0.02 + 0.25**2 + 0.75**2
        assert world.joint(name).velocity == pytest.approx((needed - 9.0) / inertia * world.time, rel=1e-3)
        assert abs(world.joint(world.joint_names[1]).position) < 1e-6


@pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("bound", [100.0, math.inf])
def test_a_motor_that_presses_on_a_limit_leaves_it_at_once(cls, bound):
    """Ten seconds against a stop leave nothing behind that would hold it there."""
    scene = arm("hinge", 1, max_force=bound)
    world = cls(scene, dt=1 / 60)
    joint = world.joint(world.joint_names[0])
    joint.set_limits(-0.6, 0.6)
    joint.set_motor(position=1.2)
    world.step(600)
    assert joint.position == pytest.approx(0.6, abs=1e-6)
    joint.set_motor(position=-0.5)
    world.step(4)
    assert joint.position < 0.5
    world.step(120)
    assert joint.position == pytest.approx(-0.5, abs=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 100.0])
def test_links_move_each_as_its_own_oscillator(ratio):
    """New targets for all joints of a loaded arm: each coordinate comes to its own as the closed form has it."""
    for cls, near in ((mc.World, 1e-12), (mc.ReducedWorld, 3e-4)):
        world, targets = cls(arm("hinge", 4, ratio, hertz=1.0, max_force=1e6), dt=1 / 240), (0.3, -0.5, 0.2, 0.4)
        for name, target in zip(world.joint_names, targets):
            world.joint(name).set_motor(position=target)
        for _ in range(10):
            world.step(12)
            x = 2 * math.pi * world.time
            for name, target in zip(world.joint_names, targets):
                assert world.joint(name).position == pytest.approx(target * (1 - math.exp(-x) * (1 + x)), abs=near)


def test_kkt_accelerations_are_the_oscillators():
    """Three hinges, unequal targets and rates: J a + J' v is what each motor's oscillator has."""
    world = mc.World(arm("hinge", 3, 5.0, hertz=2.0, damping_ratio=0.7))
    for k, name in enumerate(world.joint_names):
        world.joint(name).set_motor(position=0.1 * k + 0.1)
    world.step(20)
    accelerations = world.kkt().solve()[0]
    turning = np.diff(accelerations[:, 4], prepend=0.0)
    w = 4 * math.pi
    for k, name in enumerate(world.joint_names):
        joint = world.joint(name)
        assert turning[k] == pytest.approx(-w * w * (joint.position - 0.1 * k - 0.1) - 1.4 * w * joint.velocity, rel=1e-6)


# ---- a largest velocity ----------------------------------------------------------------------------------------------


def turner(cls, dt=1 / 200, target=2.0, **motor):
    """A flywheel on a hinge whose motor is to turn it."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", mass=3.0, inertia=(0.4, 0.4, 0.7))
    scene.add_joint(mc.HingeJoint(None, "wheel", (0, 0, 0), (0, 0, 1), motor=mc.Motor(position=target, **motor), name="h"))
    return cls(scene, dt=dt)


@pytest.mark.parametrize("hertz, damping_ratio, dt", [(1.0, 1.0, 1 / 200), (20.0, 1.0, 1 / 60), (2.0, 3.0, 1 / 100)])
@pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])
def test_it_goes_no_faster_than_its_largest_velocity(cls, hertz, damping_ratio, dt):
    """At that speed until it is let go where the oscillator slows down, and from there as the oscillator does."""
    world, most = turner(cls, dt, hertz=hertz, damping_ratio=damping_ratio, max_velocity=0.8), 0.8
    joint, angles, rates = world.joint("h"), [0.0], []
    for _ in range(round(12.0 / dt)):
        world.step()
        angles.append(joint.position)
        rates.append(joint.velocity)
    angles, rates = np.array(angles), np.array(rates)
    assert rates.max() < most + 1e-9 and angles.max() < 2.0 + 1e-9
    w = 2 * math.pi * hertz
    # e'' = 0 of the oscillator at the speed V: e = 2 zeta V / w.
    free = 2.0 - 2 * damping_ratio * most / w
    cruising = angles[1:] < free - most * dt
    assert rates[cruising][3:] == pytest.approx(most, abs=1e-9)
    assert angles[-1] == pytest.approx(2.0, abs=1e-3)


@pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])
def test_both_worlds_and_small_steps_go_one_way(cls):
    """The clamp is one of the law in continuous time: e' = -V until e = 2 V / w, then critical damping."""
    w, most = 2 * math.pi * 1.0, 0.8
    world = turner(cls, 1 / 2000, hertz=1.0, max_velocity=most)
    world.step(2000 * 3)
    e0 = 2 * most / w
    since = 3.0 - (2.0 - e0) / most
    error = (e0 + (w * e0 - most) * since) * math.exp(-w * since)
    assert 2.0 - world.joint("h").position == pytest.approx(error, abs=2e-3)


@pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])
def test_a_bound_beyond_what_it_asks_for_changes_no_bit(cls):
    one, other = turner(cls, hertz=1.0), turner(cls, hertz=1.0, max_velocity=1e6)
    for world in (one, other):
        world.step(200)
    assert np.array_equal(one.orientations, other.orientations)


@pytest.mark.parametrize("cls", [mc.World, mc.ReducedWorld])
def test_it_is_set_told_and_kept(cls):
    world = turner(cls, hertz=1.0, max_velocity=0.5)
    joint = world.joint("h")
    assert joint.motor_max_velocity == 0.5
    assert mc.Scene.from_dict(world.scene.to_dict()) == world.scene
    begin = world.snapshot()
    world.step(100)
    joint.motor_max_velocity = 0.25
    world.step(100)
    assert joint.velocity == pytest.approx(0.25, abs=1e-9)
    assert world.to_scene().joints[0].axes[0].motor.max_velocity == 0.25
    world.restore(begin)
    assert joint.motor_max_velocity == 0.5
    joint.set_motor(velocity=3.0)
    assert math.isnan(joint.motor_max_velocity)
    joint.set_motor(position=1.0)
    assert joint.motor_max_velocity == math.inf
    joint.set_motor(position=1.0, max_velocity=0.1)
    world.step(50)
    assert joint.velocity == pytest.approx(0.1, abs=1e-9)


def test_a_weak_motor_with_a_largest_velocity_yields_to_its_load():
    """Its force is bounded all the same: below the load it does not go at all."""
    world = turner(mc.World, hertz=1.0, max_velocity=0.5, max_force=1.0)
    for _ in range(200):
        world.apply_torque("wheel", (0, 0, -1.5))
        world.step()
    assert world.joint("h").velocity == pytest.approx(-0.5 / 0.7 * 1.0, rel=1e-6)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: mc.Motor(velocity=1.0, max_velocity=2.0), "Motor: max_velocity is of a motor for a position alone"),
        (lambda: mc.Motor(position=1.0, kp=1.0, max_velocity=2.0), "max_velocity is of a motor for a position alone"),
        (lambda: mc.Motor(position=1.0, max_velocity=-2.0), "max_velocity must not be negative"),
        (lambda: turner(mc.World, hertz=1.0).joint("h").set_motor(velocity=1.0, max_velocity=1.0), "for a position alone"),
        (lambda: turner(mc.World, kp=1.0).joint("h").set_motor(max_velocity=1.0), "for a position alone"),
        (
            lambda: mc.World(turner(mc.World, max_velocity=1.0).scene, integrator="reference"),
            "joint 'h' has a motor with a max_velocity",
        ),
        (
            lambda: mc.World(turner(mc.World, max_velocity=1.0).scene, contact="event").step(),
            "joint 'h' has a motor with a max_velocity",
        ),
    ],
)
def test_what_has_no_largest_velocity_says_so(make, words):
    with pytest.raises(mc.SceneError, match=words):
        make()
