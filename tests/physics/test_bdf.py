"""integrator="bdf": the motion of "reference" by backward differentiation, and the Jacobian of implicit methods."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from test_published_benchmarks import MODELS
from test_radau import dropped, wheel
from test_reference_integrator import DRY, SCENES, a_joint_of_ones_own, arm, ends

BOTH = pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
QUICK = [(kind, make) for make in SCENES + DRY if make is not a_joint_of_ones_own for kind in (mc.World, mc.ReducedWorld)]
SLOW = [pytest.param(kind, a_joint_of_ones_own, marks=pytest.mark.slow) for kind in (mc.World, mc.ReducedWorld)]


@pytest.mark.parametrize("kind, make", [*QUICK, *SLOW])
@pytest.mark.sampled(6)
def test_it_comes_to_the_end_of_the_explicit_one(kind, make):
    """Of order 5 at most, in some hundred steps of 1e-13 each; by substeps of two lengths."""
    right = ends(mc.ReducedWorld, make(), 0.25, 0.5, integrator="reference").positions
    for dt in (0.25, 1 / 20):
        world = ends(kind, make(), dt, 0.5, integrator="bdf")
        assert np.abs(world.positions - right).max() < 1e-10
        assert world.joint_errors().max() < 1e-12 and not world.stats.notes


@pytest.mark.parametrize("name", ["andrews", "flyball_governor", "stewart", "bennett"])
@pytest.mark.sampled(2)
def test_published_mechanisms(name):
    model = MODELS[name]()
    dt = 0.002 if name == "andrews" else 0.02
    found = []
    for integrator in ("reference", "bdf"):
        world = mc.ReducedWorld(model.scene(), dt=dt, integrator=integrator)
        for _ in range(5):
            if model.push is not None:
                model.push(world)
            world.step()
        found.append(world.positions)
    assert np.abs(found[1] - found[0]).max() < 1e-10


@BOTH
def test_turns_of_any_size(kind):
    """A steady spin, and one that tumbles, past where turns from a base would be whole ones; a kinematic one as well."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("steady", mass=1, inertia=(1, 1, 1), angular_velocity=(0, 30.0, 0))
    scene.add_body("tumbling", mass=1, inertia=(1, 2, 3), position=(5, 0, 0), angular_velocity=(0.1, 7.0, 0.2))
    scene.add_body("led", kind="kinematic", position=(9, 0, 0), angular_velocity=(9.0, 0, 4.0))
    right = ends(kind, scene, 0.5, integrator="reference").orientations
    found = ends(kind, scene, 0.5, integrator="bdf").orientations
    assert np.abs(np.abs(np.sum(found * right, axis=1)) - 1.0).max() < 1e-14
    assert np.abs(found - right).max() < 1e-10
    half = 0.5 * 30.0
    assert np.abs(found[0]) == pytest.approx(np.abs([np.cos(half), 0, np.sin(half), 0]), abs=1e-11)


@BOTH
def test_a_tolerance_is_kept(kind):
    right = ends(kind, dropped(20.0, 5.0), 0.25, integrator="reference").positions
    off = [
        np.abs(ends(kind, dropped(20.0, 5.0), 0.25, integrator=mc.BDF(tolerance=t)).positions - right).max()
        for t in (1e-5, 1e-8, 1e-11)
    ]
    assert off[2] < 1e-8 and off[1] < 0.1 * off[0] and off[2] < 0.1 * off[1], off


@BOTH
def test_what_is_stiff(kind):
    """The law of joint friction by a creep of 1e-6 rad/s, whose rate is 1.5e6 per second: SciPy's BDF has the same."""

    def law(t, y):
        return [y[1], -10 * 0.15 * y[1] / np.hypot(y[1], 1e-6)]

    turned, rate = solve_ivp(law, (0, 2), [0, 2.0], method="BDF", rtol=1e-9, atol=1e-12).y[:, -1]
    axle = ends(kind, wheel(friction=0.15), 0.5, 2.0, integrator=mc.BDF(creep=1e-6)).joint("axle")
    assert axle.position == pytest.approx(turned, abs=1e-6) and axle.velocity == pytest.approx(rate, abs=1e-6)
    assert axle.position == pytest.approx(2.0**2 * 0.1 / (2 * 0.15), abs=1e-8)


@BOTH
def test_its_bits_follow_from_the_state(kind):
    world = ends(kind, dropped(20.0, 5.0), 0.05, 0.25, integrator="bdf")
    saved = world.snapshot()
    world.step(3)
    other = kind(dropped(20.0, 5.0), dt=0.05, integrator="bdf")
    other.restore(saved)
    other.step(3)
    assert other.state_hash() == world.state_hash()


def test_its_name_and_what_it_refuses():
    world = mc.World(arm(), integrator=mc.BDF(tolerance=1e-9))
    assert world.settings.integrator == mc.BDF(tolerance=1e-9, creep=1e-3)
    with pytest.raises(mc.SceneError, match=r"ReducedWorld\(integrator='bdf'\): joint 'elbow' has limits"):
        mc.ReducedWorld(arm(limits=(-1, 1)), integrator="bdf")


# ---- the Jacobian ----------------------------------------------------------------------------------------------------


def balls():
    scene = mc.Scene()
    for i in range(3):
        moving = {"velocity": (0.1, 0.2 * i, 0.3), "angular_velocity": (0.5, -0.3, 0.8 * i)}
        scene.add_body(f"b{i}", mass=1 + i, inertia=(0.1, 0.2, 0.25), position=(0.5 * i + 0.3, 0.1 * i, 0), **moving)
        scene.add_joint(mc.BallJoint(f"b{i - 1}" if i else None, f"b{i}", anchor=(0.5 * i, 0, 0)))
    moving = {"velocity": (1, 2, 3), "angular_velocity": (1, 2, 3)}
    scene.add_body("free", mass=2, inertia=(0.1, 0.2, 0.3), position=(0, 0, 5), **moving)
    return scene


def sprung_and_dry():
    scene = arm(spring=mc.Spring(1000, 300.0, 0.2), friction=0.8)
    scene.add_body("slide", mass=1, inertia=(0.1, 0.1, 0.1), position=(0, 3, 0))
    scene.add_joint(mc.CylindricalJoint(None, "slide", anchor=(0, 3, 0), axis=(0, 0.6, 0.8)))
    return scene


@pytest.mark.parametrize("integrator", ["radau", "bdf"])
@pytest.mark.parametrize("make", [arm, balls, sprung_and_dry, *DRY])
def test_the_jacobian_of_trees_is_that_of_differences(make, integrator):
    """Which differences of accelerations of some 20 rad/s² tell to a few millionths."""
    found = []
    for differences in (False, True):
        world = mc.ReducedWorld(
            make(), dt=0.01, integrator=mc.BDF(creep=0.1) if integrator == "bdf" else mc.Radau(creep=0.1)
        )
        at = world._pipeline.parts.integrator
        at.differences = differences
        world.step(3)
        found.append((at.last_jacobian(), world.positions))
    (jacobian, positions), (other, positions_then) = found
    assert not np.array_equal(jacobian, other)
    assert np.abs(jacobian - other).max() < 1e-5 * (1.0 + np.abs(other).max())
    assert np.abs(positions - positions_then).max() < 1e-11


def test_turns_are_differentiated():
    """B of u' = B w, and how B w changes with u, near 0 and far from it, against differences of products of quaternions."""
    from mcsim.core.rotation import products
    from mcsim.rotation import from_rotation_vector, to_rotation_vector
    from mcsim.step.tree_jacobian import turn_derivatives

    rng = np.random.default_rng(3)
    for size in (1e-3, 0.05, 0.0999, 0.1001, 0.8, 2.0, 3.0):
        u, w = rng.normal(size=3), rng.normal(size=3)
        u *= size / np.linalg.norm(u)
        rate, slope = turn_derivatives(u, w)
        e = 1e-5
        turned = [to_rotation_vector(products(from_rotation_vector(u), from_rotation_vector(s * e * w))) for s in (1, -1)]
        assert rate @ w == pytest.approx((turned[0] - turned[1]) / (2 * e), abs=1e-8)
        for k in range(3):
            step = e * np.eye(3)[k]
            change = [turn_derivatives(u + s * step, w)[0] @ w for s in (1, -1)]
            assert slope[:, k] == pytest.approx((change[0] - change[1]) / (2 * e), abs=1e-8)


# ---- singular poses, and joints that contradict each other -----------------------------------------------------------


@pytest.mark.parametrize("integrator", ["radau", "bdf"])
@BOTH
def test_implicit_methods_pass_singular_poses(kind, integrator):
    """All bars in one line, three times: once they were off by 0.1 m and 4e-5 m in generalized coordinates, without a
    note."""
    scene = mc.load("four_bars", windows=1)
    right = ends(kind, scene, 0.05, 4.0, integrator="reference").positions
    assert np.abs(ends(kind, scene, 0.25, 4.0, integrator=integrator).positions - right).max() < 1e-7


def too_far_apart():
    scene = mc.Scene()
    for i in range(6):
        scene.add_body(f"b{i}", mass=1, inertia=(0.1, 0.1, 0.1), position=(i + 0.5, 0, 0), velocity=(0, 0.1 * i, 0))
        scene.add_joint(mc.BallJoint(f"b{i - 1}" if i else None, f"b{i}", anchor=(i, 0, 0), name=f"j{i}"))
    scene.add_joint(mc.DistanceJoint(None, "b5", (9, 0, 0), (6, 0, 0), length=0.5, name="rod"))
    return scene


def two_motions():
    scene = mc.Scene()
    scene.add_body("a", mass=1, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    for name, speed in (("one", 1.0), ("other", -1.0)):
        motion = mc.Motion(velocity=speed)
        scene.add_joint(mc.HingeJoint(None, "a", anchor=(0, 0, 0), axis=(0, 1, 0), name=name, motion=motion))
    return scene


def no_place():
    scene = mc.Scene()
    scene.add_body("a", mass=1, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "a", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    scene.add_joint(mc.UserJoint(None, "a", residual=lambda a, b: (b.position[0] ** 2 + 1.0,), size=1, name="own"))
    return scene


@pytest.mark.parametrize("integrator", ["reference", "radau", "bdf"])
@pytest.mark.parametrize("make", [too_far_apart, two_motions, no_place])
@BOTH
def test_joints_that_cannot_be_closed_end_the_step_with_their_name(kind, make, integrator):
    world = kind(make(), dt=0.1, integrator=integrator)
    before = world.state_hash()
    with pytest.raises(mc.SimulationError, match="joint '.*' cannot be closed and stays open by .*; remove one of them"):
        world.step()
    assert world.state_hash() == before


@BOTH
def test_joints_that_are_open_far_are_closed(kind):
    """By more rounds than one settling has."""
    scene = mc.Scene()
    for i in range(4):
        scene.add_body(f"b{i}", mass=1, inertia=(0.1, 0.1, 0.1), position=(i + 0.5, 0, 0.2 * i))
        scene.add_joint(mc.BallJoint(f"b{i - 1}" if i else None, f"b{i}", anchor=(i, 0, 0)))
    scene.add_joint(mc.DistanceJoint(None, "b3", (2, 0, 3.0), (4, 0, 0), length=2.0))
    world = kind(scene, dt=0.05, integrator="reference")
    world.step()
    assert world.joint_errors().max() < 1e-12
