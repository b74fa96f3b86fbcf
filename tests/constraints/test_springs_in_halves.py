"""Springs in the direct joint solver's step, half before the drift, half after it: order, energy, stability, at
rest."""

import numpy as np
import pytest

import mcsim as mc

M = 2.0


def car(stiffness, damping=0.0, position=0.2, gravity=0.0, **keywords):
    """A mass on a slider along z with a spring to where it started; moved away by `position`."""
    scene = mc.Scene(gravity=(0, 0, -gravity))
    scene.add_body("car", mass=M, inertia=(1, 1, 1))
    scene.add_joint(mc.SliderJoint(None, "car", (0, 0, 1), name="s", spring=mc.Spring(stiffness, damping)))
    world = mc.World(scene, **dict(joint_solver="tree") | keywords)
    world.set_pose("car", (0, 0, position))
    return world


def closed_form(k, c, t, start=0.2):
    decay = c / (2 * M)
    w = np.sqrt(k / M - decay**2)
    return start * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))


@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_order_two(damping):
    """Against the closed form after 1.3 s."""
    errors = []
    for substeps in (4, 8, 16, 32):
        world = car(80.0, damping, dt=1 / 60, substeps=substeps)
        world.step(78)
        errors.append(abs(world.positions[0, 2] - closed_form(80.0, damping, 1.3)))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[0] < 2e-4 and orders.min() > 1.9, errors


@pytest.mark.parametrize("joint_solver", ["tree", "rows"])
def test_an_undamped_spring_keeps_its_energy(joint_solver):
    """A minute: 60 swings. Implicit Euler, in whole kicks, loses all but a tenth."""
    world = car(80.0, dt=1 / 60, joint_solver=joint_solver)
    begin = world.energy().total
    lost = []
    for _ in range(60):
        world.step(60)
        lost.append(abs(world.energy().total - begin) / begin)
    assert max(lost) < 1e-4
    whole = car(80.0, dt=1 / 60, joint_solver=joint_solver, stabilization="baumgarte")
    whole.step(3600)
    assert whole.energy().total < 0.1 * begin


@pytest.mark.parametrize("damping", [0.0, 1.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("stiffness", [0.0, 1e2, 1e4, 3e5, 1e6, 1e8])
def test_no_spring_is_too_stiff(stiffness, damping):
    """Of any speed against the substep, on both sides of where it counts as too fast: the energy never grows."""
    world = car(stiffness, damping, dt=1 / 60, substeps=2)
    world.set_velocity("car", (0, 0, 3.0))
    last = world.energy().total
    begin = last
    for _ in range(200):
        world.step()
        now = world.energy().total
        assert now < begin * (1 + 1e-9) and np.isfinite(now)
    if damping >= 1.0 and stiffness in (0.0, 1e2, 1e4):
        assert world.energy().total < last


@pytest.mark.parametrize("stiffness, damping", [(5e2, 20.0), (1e5, 50.0), (1e8, 1e3)])
def test_a_load_comes_to_rest(stiffness, damping):
    """At m g / k below, where the spring carries the weight and nothing moves; the same after a hundred steps more."""
    world = car(stiffness, damping, position=0.0, gravity=9.81, dt=1 / 60)
    world.step(1200)
    assert world.positions[0, 2] == pytest.approx(-M * 9.81 / stiffness, rel=1e-6, abs=1e-12)
    assert np.abs(world.velocities).max() < 1e-6
    assert world.joint("s").force == pytest.approx((0, 0, M * 9.81), rel=1e-6)
    world.step(100)
    assert world.positions[0, 2] == pytest.approx(-M * 9.81 / stiffness, rel=1e-6, abs=1e-12)


def servo(hertz, damping_ratio, substeps, max_force=1e9):
    """A wheel that a position motor turns from 0 to 1."""
    scene = mc.Scene()
    scene.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.2))
    scene.add_joint(
        mc.HingeJoint(
            None,
            "wheel",
            (0, 0, 0),
            (0, 0, 1),
            name="h",
            motor=mc.Motor(position=1.0, hertz=hertz, damping_ratio=damping_ratio, max_force=max_force),
        )
    )
    return mc.World(scene, substeps=substeps)


@pytest.mark.parametrize("substeps", [1, 4, 16])
@pytest.mark.parametrize("hertz, damping_ratio", [(1.0, 0.1), (5.0, 0.1), (5.0, 0.7), (200.0, 0.02)])
def test_a_position_motor_is_a_damped_oscillator(hertz, damping_ratio, substeps):
    """Against the closed form over a second, at every step."""
    w = 2 * np.pi * hertz
    ringing = w * np.sqrt(1 - damping_ratio**2)
    world = servo(hertz, damping_ratio, substeps)
    for _ in range(60):
        world.step()
        off = np.exp(-damping_ratio * w * world.time) * (
            np.cos(ringing * world.time) + damping_ratio * w / ringing * np.sin(ringing * world.time)
        )
        assert world.joint("h").position == pytest.approx(1 - off, abs=1e-10)


def test_a_position_motor_in_two_halves_keeps_to_its_bound():
    """It asks for 200 N m and may have 0.5: steady acceleration, and that much is reported."""
    world = servo(5.0, 0.5, 4, max_force=0.5)
    world.step(30)
    assert world.joint("h").velocity == pytest.approx(0.5 / 0.2 * 0.5, rel=1e-9)
    assert world.joint("h").motor_force == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("beside", ["nothing", "hinge", "box on the floor"])
@pytest.mark.parametrize("hertz", [0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("kind", ["distance", "rope"])
def test_a_spring_is_the_same_whatever_else_there_is(kind, hertz, beside):
    """Joints without rows of their own: alone in a world their springs went by whole kicks, and lost 96 % in 20 s. A rope
    that stays slack changes nothing."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("ball", mass=1.0, inertia=(1, 1, 1), position=(1.5, 0, 0))
    scene.add_joint(
        mc.DistanceJoint(None, "ball", (0, 0, 0), (1.5, 0, 0), length=1.0, spring=mc.Spring((2 * np.pi * hertz) ** 2, 0.0))
    )
    if kind == "rope":
        scene.add_joint(mc.DistanceJoint(None, "ball", (0, 3, 0), (1.5, 0, 0), limits=(None, 9.0)))
    if beside == "hinge":
        scene.add_body("far", mass=1.0, inertia=(1, 1, 1), position=(50, 0, 0))
        scene.add_joint(mc.HingeJoint(None, "far", (50, 0, 0), (0, 1, 0)))
    if beside == "box on the floor":
        scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), position=(0, 0, -5))
        scene.add_body("box", shape=mc.Box((0.5, 0.5, 0.5)), position=(50, 0, -4.5))
    world = mc.World(scene)
    begin = world.energy().total
    for _ in range(10):
        world.step(120)
        assert world.energy().total == pytest.approx(begin, rel=1e-9)
