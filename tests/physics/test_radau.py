"""integrator="radau": the motion of "reference" by an implicit method, where something stiff makes explicit steps short."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from test_published_benchmarks import MODELS
from test_reference_integrator import (
    DRY,
    SCENES,
    a_joint_of_ones_own,
    arm,
    block,
    ends,
    wheel,
)

BOTH = pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])


# Python's functions of a joint, asked for each number of a World's Jacobian, take long.
QUICK = [(kind, make) for make in SCENES + DRY for kind in (mc.World, mc.ReducedWorld)]
QUICK.remove((mc.World, a_joint_of_ones_own))


@pytest.mark.parametrize("kind, make", [*QUICK, pytest.param(mc.World, a_joint_of_ones_own, marks=pytest.mark.slow)])
@pytest.mark.sampled(6)
def test_it_comes_to_the_end_of_the_explicit_one(kind, make):
    """Two methods that share the accelerations alone; by steps of two lengths."""
    right = ends(mc.ReducedWorld, make(), 0.25, 0.5, integrator="reference").positions
    for dt in (0.25, 1 / 60):
        world = ends(kind, make(), dt, 0.5, integrator="radau")
        assert np.abs(world.positions - right).max() < 2e-11
        assert world.joint_errors().max() < 1e-12 and not world.stats.notes


def dropped(hertz=0.0, damping=0.0):
    """A bob that a strong spring holds, and a rod on a damped hinge below it."""
    scene = mc.Scene()
    scene.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    turning = {"velocity": (0, 0, -0.6), "angular_velocity": (0, 2, 0)}
    scene.add_body("rod", mass=0.5, inertia=(0.02, 0.02, 0.001), position=(0.3, 0, -1), **turning)
    scene.add_joint(mc.SliderJoint(None, "bob", axis=(0, 0, 1), spring=mc.Spring((2 * np.pi * hertz) ** 2, damping)))
    scene.add_joint(mc.HingeJoint("bob", "rod", anchor=(0, 0, -1), axis=(0, 1, 0), spring=mc.Spring(0, 0.1)))
    return scene


@pytest.mark.parametrize("integrator", ["radau", "reference"])
@BOTH
def test_a_stiff_damper_costs_few_steps(kind, integrator):
    """Rates of 1e7 per second die out: the bob sinks as gravity and the damper have it, m g / c, and the rod swings as from
    a ceiling. SciPy has it by its own Radau."""
    c = 1e7

    def rate(t, y):
        # z up, q about +y from +x: the rod's centre is at (r cos q, -r sin q) from the bob.
        r, m, mass, inertia = 0.3, 0.5, 1.5, 0.02 + 0.5 * 0.3**2
        sine, cosine = np.sin(y[1]), np.cos(y[1])
        a = np.array([[mass, -m * r * cosine], [-m * r * cosine, inertia]])
        b = [-mass * 9.81 - c * y[2] - m * r * sine * y[3] ** 2, m * 9.81 * r * cosine - 0.1 * y[3]]
        return [y[2], y[3], *np.linalg.solve(a, b)]

    end = solve_ivp(rate, (0, 1), [0, 0, 0, 2.0], method="Radau", rtol=1e-11, atol=1e-13).y[:, -1]
    world = ends(kind, dropped(0.0, c), 0.25, integrator=integrator)
    assert [world.joint(0).position, world.joint(1).position] == pytest.approx(end[:2], abs=1e-9)
    assert [world.joint(0).velocity, world.joint(1).velocity] == pytest.approx(end[2:], abs=1e-8)
    assert abs(end[0]) < 1e-5 < abs(end[1])


@pytest.mark.parametrize("kind", [pytest.param(mc.World, marks=pytest.mark.slow), mc.ReducedWorld])
def test_a_tolerance_is_kept(kind):
    right = ends(kind, dropped(200.0, 5.0), 0.25, integrator=mc.Radau(tolerance=1e-14)).positions
    off = [
        np.abs(ends(kind, dropped(200.0, 5.0), 0.25, integrator=mc.Radau(tolerance=t)).positions - right).max()
        for t in (1e-4, 1e-7, 1e-10)
    ]
    assert off[2] < 1e-8 and off[1] < 0.1 * off[0] and off[2] < 0.1 * off[1], off
    assert np.abs(ends(kind, dropped(200.0, 5.0), 0.25, integrator="reference").positions - right).max() < 1e-10


@BOTH
def test_friction_that_holds(kind):
    """The law of joint friction by a creep of 1e-6 rad/s, whose rate is 1.5e6 per second: SciPy's Radau has the same."""

    def law(t, y):
        return [y[1], -10 * 0.15 * y[1] / np.hypot(y[1], 1e-6)]

    turned, rate = solve_ivp(law, (0, 2), [0, 2.0], method="Radau", rtol=1e-10, atol=1e-13).y[:, -1]
    axle = ends(kind, wheel(friction=0.15), 0.5, 2.0, integrator=mc.Radau(creep=1e-6)).joint("axle")
    assert axle.position == pytest.approx(turned, abs=1e-9) and axle.velocity == pytest.approx(rate, abs=1e-9)
    assert axle.position == pytest.approx(2.0**2 * 0.1 / (2 * 0.15), abs=1e-8)


def test_the_governor():
    """Whose dampers ask for steps of 50 us of an explicit method."""
    found = [
        ends(mc.ReducedWorld, MODELS["flyball_governor"]().scene(), 0.1, 0.5, integrator=name)
        for name in ("radau", "reference")
    ]
    assert np.abs(found[0].positions - found[1].positions).max() < 1e-10


@pytest.mark.parametrize("integrator, of", [("radau", (200.0, 5.0)), ("reference", (0.0, 1e5))])
@BOTH
def test_its_bits_follow_from_the_state(kind, integrator, of):
    """A copy goes on alike, whatever Jacobians, or methods, the run before has had."""
    world = ends(kind, dropped(*of), 0.05, 0.25, integrator=integrator)
    saved = world.snapshot()
    world.step(3)
    other = kind(dropped(*of), dt=0.05, integrator=integrator)
    other.restore(saved)
    other.step(3)
    assert other.state_hash() == world.state_hash()


@BOTH
def test_what_it_refuses_names_it(kind):
    with pytest.raises(mc.SceneError, match=rf"{kind.__name__}\(integrator='radau'\): joint 'elbow' has limits"):
        kind(arm(limits=(-1, 1)), integrator=mc.Radau(tolerance=1e-9))
    with pytest.raises(mc.SceneError, match=r"integrator='radau'\): bodies 'floor' and 'block' touch"):
        kind(block(), integrator="radau")
    world = kind(arm(), integrator="radau")
    assert world.settings.integrator == mc.Radau(tolerance=1e-13, creep=1e-3)
    world = kind(arm(spring=mc.Spring(1e300, 0.0, 0.2)), dt=1 / 100, integrator="radau")
    before = world.state_hash()
    with pytest.raises(mc.SimulationError, match="integrator='radau' stopped at t = 0 s"):
        world.step()
    assert world.state_hash() == before


@BOTH
def test_the_reference_goes_over_by_itself(kind):
    """Rates of 1e9 per second, of which an explicit method would make 1e8 steps a second; the bob's and the rod's motion
    then are those of a bob that is welded to the world, to what it sinks, 1.5e-8 m/s."""
    held = mc.Scene()
    rod = {"mass": 0.5, "inertia": (0.02, 0.02, 0.001), "position": (0.3, 0, -1)}
    held.add_body("rod", **rod, velocity=(0, 0, -0.6), angular_velocity=(0, 2, 0))
    held.add_joint(mc.HingeJoint(None, "rod", anchor=(0, 0, -1), axis=(0, 1, 0), spring=mc.Spring(0, 0.1)))
    right = ends(kind, held, 0.25, integrator="reference")
    world = ends(kind, dropped(0.0, 1e9), 0.25, integrator="reference")
    assert world.joint(1).position == pytest.approx(right.joint(0).position, abs=1e-7)
    assert world.joint(1).velocity == pytest.approx(right.joint(0).velocity, abs=1e-7)
    assert -1e-7 < world.joint(0).position < 0.0 and not world.stats.notes


def test_it_goes_on_explicitly_where_nothing_is_stiff():
    """A fast oscillation, whose every turn counts: many steps, in which the other method is tried, and left."""
    w = 2 * np.pi * 150.0
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), velocity=(0, 0, 1.0))
    scene.add_joint(mc.SliderJoint(None, "bob", axis=(0, 0, 1), spring=mc.Spring(w * w, 0.0)))
    for kind in (mc.World, mc.ReducedWorld):
        world = ends(kind, scene, 0.5, 1.0, integrator="reference")
        assert world.joint(0).position == pytest.approx(np.sin(w) / w, abs=1e-11)
        assert world.joint(0).velocity == pytest.approx(np.cos(w), abs=1e-9)
