"""integrator="rattle" and "variational": what both must do. What is variational's own stands in test_variational.py."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import matrix
from mcsim.integrate.principal import principal_axes
from mechanism_scenes import G, double_pendulum, pendulum, turned
from position_scenes import energies, every_integrator, orders, tangle
from reduced_models import MODELS, rod_inertia, rotation
from test_momentum import check_momentum, jointed

TIMES = np.array([0.3, 0.6, 0.9])


@cache
def reference(name):
    """Frames of the reduced model at TIMES."""
    return MODELS[name]().frames(TIMES)


def follow(world, steps, frames):
    """-> largest error of the frames at TIMES, joint error and change of energy at any step."""
    begin, error, gap, change = world.energy().total, 0.0, 0.0, 0.0
    for positions, rotations in zip(*frames):
        for _ in range(steps):
            world.step()
            gap = max(gap, world.joint_errors().max())
            change = max(change, abs(world.energy().total - begin))
        turns = np.array([rotation(q) for q in world.orientations])
        error = max(error, np.abs(world.positions - positions).max(), np.abs(turns - rotations).max())
    return error, gap, change


@every_integrator
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.sampled(5)
def test_second_order_with_closed_joints(name, integrator):
    """Chains and loops, with redundant rows and through singular positions, against models that have no joints to
    open."""
    scene = MODELS[name]().scene()
    # 120 rad/s: increments turn too far by (w h)^2 / 6
    fast = (name, integrator) == ("spinning_top", "variational")
    runs = np.array(
        [
            follow(mc.World(scene, dt=1 / 120, substeps=8 * k if fast else k, integrator=integrator), 36, reference(name))
            for k in (3, 6)
        ]
    )
    errors, gaps, changes = runs.T
    assert orders(errors)[0] > 1.9 and errors[1] < (1e-2 if fast else 2e-3), runs
    assert orders(changes)[0] > 1.9 or changes[1] < 1e-9, runs
    assert gaps.max() < (1e-6 if name == "n_four_bar" else 1e-14), runs


def finest(scene, seconds):
    """The state of rk4 at a fine step: positions and velocities."""
    world = mc.World(scene, dt=seconds / 500, substeps=1, integrator="rk4", stabilization="none")
    world.step(500)
    return np.hstack([world.positions, world.velocities, world.angular_velocities])


def check_order(scene, integrator, seconds, steps):
    """Positions and velocities come to those of a fine rk4 run as h^2."""
    end, found = finest(scene, seconds), []
    for n in steps:
        world = mc.World(scene, dt=seconds / n, substeps=1, integrator=integrator)
        world.step(n)
        found.append(np.abs(np.hstack([world.positions, world.velocities, world.angular_velocities]) - end).max())
    assert np.all(np.abs(orders(found) - 2.0) < 0.15), found


@every_integrator
def test_springs_dampers_motors_and_damping_are_of_second_order(integrator):
    """Forces that depend on velocities too; a different damping on each body."""
    scene = tangle(3, damping=((0.0, 0.8), (0.3, 0.5), (0.6, 0.2)))
    scene.add_body("flap", mass=0.4, inertia=(0.01, 0.02, 0.03), position=(2, 0, 0))
    scene.add_joint(
        mc.HingeJoint(None, "flap", (1.7, 0, 0), (0, 1, 0), spring=mc.Spring(stiffness=3.0, damping=0.2, rest=0.4))
    )
    scene.add_body("arm", mass=0.4, inertia=(0.02, 0.02, 0.03), position=(2.6, 0, 0))
    scene.add_joint(
        mc.HingeJoint("flap", "arm", (2.3, 0, 0), (0, 0, 1), motor=mc.Motor(position=0.5, max_force=50, hertz=1.5))
    )
    check_order(scene, integrator, 0.8, (100, 200, 400))


@every_integrator
def test_prescribed_motion_is_of_second_order(integrator):
    """A ball joint's arm shaken by a sine, with a pendulum on it."""
    scene = mc.Scene()
    scene.add_body("arm", mass=1.0, inertia=(0.02, 0.03, 0.04), position=(0.5, 0, 0))
    scene.add_body("bob", mass=0.5, inertia=(0.01, 0.02, 0.03), position=(1, 0, -0.3))
    scene.add_joint(
        mc.HingeJoint(
            None,
            "arm",
            (0, 0, 0),
            (0, 1, 0),
            motion=mc.Motion(amplitude=0.4, frequency=1.3, phase=np.pi / 2, position=-0.4),
            name="drive",
        )
    )
    scene.add_joint(mc.BallJoint("arm", "bob", (1, 0, 0)))
    check_order(scene, integrator, 0.7, (100, 200, 400))
    world = mc.World(scene, dt=1 / 200, integrator=integrator)
    world.step(100)
    assert world.joint("drive").angle == pytest.approx(0.4 * np.cos(2 * np.pi * 1.3 * 0.5) - 0.4, abs=1e-12)


@every_integrator
@pytest.mark.parametrize("kind", ["knife", "disc"])
def test_nonholonomic_joints_are_of_second_order(kind, integrator):
    """A sleigh with its centre beside the blade, and a leaning disc that rolls."""
    scene = mc.Scene()
    if kind == "knife":
        slope, forward = np.array((np.sin(0.3), 0, np.cos(0.3))), np.array((np.cos(0.3), 0, -np.sin(0.3)))
        spin = 2 * slope
        scene.add_body(
            "b",
            mass=1.5,
            inertia=(0.1, 0.15, 0.2),
            position=(0, 0, 0),
            angular_velocity=spin,
            velocity=np.cross(spin, forward * 0.2) + 0.5 * forward,
        )
        scene.add_joint(mc.PlanarJoint(None, "b", (0, 0, 0), slope))
        scene.add_joint(mc.KnifeEdgeJoint(None, "b", anchor=-0.2 * forward, axis=(0, 1, 0)))
    else:
        lean = turned((0, 1, 0), -0.25)
        axis = matrix(lean)[:, 0]
        rise = matrix(lean)[:, 2] * 0.3
        spin = np.array([0, 0, 1.0]) - 6 * axis
        scene.add_body(
            "b",
            mass=1.0,
            inertia=(0.045, 0.0225, 0.0225),
            position=rise,
            orientation=lean,
            angular_velocity=spin,
            velocity=np.cross(spin, rise),
        )
        scene.add_joint(mc.RollingJoint(None, "b", 0.3, axis=axis))
    check_order(scene, integrator, 0.5, (100, 200, 400))


def geared():
    """Two eccentric wheels of different size in mesh."""
    scene = mc.Scene()
    for k in range(2):
        scene.add_body(f"w{k}", mass=1 + k, inertia=(0.05, 0.04, 0.06), position=(k + 0.3 - 0.1 * k, 0, 0.2 * k + 0.1))
        scene.add_joint(mc.HingeJoint(None, f"w{k}", (k, 0, 0), (0, 1, 0), name=f"h{k}"))
    scene.add_joint(mc.GearJoint("h0", "h1", ratio=2.0))
    return scene


def on_an_ellipsoid(broken_at):
    """A body that slides on a surface which a function of the user's gives."""

    def height(a, b):
        if b.position[0] < broken_at:
            raise KeyError("no surface here")
        return [b.position[0] ** 2 + 2 * b.position[1] ** 2 + 3 * b.position[2] ** 2 - 1.0]

    scene = mc.Scene()
    scene.add_body(
        "a", mass=1, inertia=(0.05, 0.04, 0.06), position=(1, 0, 0), velocity=(0, 1, 0), angular_velocity=(1, 2, 3)
    )
    scene.add_joint(mc.UserJoint(None, "a", height, size=1))
    return scene


@every_integrator
@pytest.mark.parametrize("make", [geared, lambda: on_an_ellipsoid(-np.inf)], ids=["gear", "user"])
@pytest.mark.sampled(3)
def test_gears_and_joints_of_the_user_are_of_second_order(make, integrator):
    check_order(make(), integrator, 0.5, (50, 100, 200))
    world = mc.World(make(), integrator=integrator)
    world.step(30)
    assert world.joint_errors().max() < 1e-14


@every_integrator
def test_what_a_function_of_the_user_raises_comes_out(integrator):
    world = mc.World(on_an_ellipsoid(0.9), integrator=integrator)
    with pytest.raises(KeyError, match="no surface here"):
        world.step(60)
    assert 0 < world.time < 1 and world.positions[0, 0] > 0.9


# ---- what is kept ----------------------------------------------------------------------------------------------------


@every_integrator
@pytest.mark.parametrize("driven", [False, True], ids=["free", "driven"])
def test_momentum_is_kept(driven, integrator):
    """All joint types in a loop, with limits, motors and friction or without, and a bare chain of asymmetric bodies."""
    check_momentum(mc.World(jointed(1, driven), integrator=integrator), 60)
    check_momentum(mc.World(tangle(5, held=False), integrator=integrator), amount(500, 2000))
    check_momentum(mc.World(jointed(2, driven=False, ratio=1000.0), integrator=integrator), 60)


@every_integrator
@pytest.mark.parametrize("size", [1e-3, 0.3])
def test_joints_opened_by_hand_close_and_keep_the_momentum(size, integrator):
    """At once, or by a centimetre a substep; no energy comes in."""
    world = mc.World(jointed(1, driven=False), integrator=integrator)
    start = world.energy().total
    world.positions[...] += size * np.random.default_rng(5).normal(size=world.positions.shape)
    check_momentum(world, 60)
    assert world.joint_errors().max() < 1e-14 and world.energy().total < start


@every_integrator
def test_energy_is_bounded(integrator):
    """A double pendulum that does not turn over, 10,000 steps or more: the last tenth wavers as much as the first."""
    world = mc.World(double_pendulum(a=0.9, b=0.4), dt=1 / 200, substeps=1, integrator=integrator)
    count = amount(10_000, 30_000)
    found = np.abs(energies(world, count, count // 10)).reshape(10, -1).max(axis=1)
    assert found[-1] < 1.05 * found[0] and found[0] < 0.01, found
    assert world.joint_errors().max() < 1e-14


@every_integrator
def test_steps_are_reversible(integrator):
    """Back to the start by the same steps with the velocities turned round."""
    world = mc.World(tangle(3), dt=1 / 200, substeps=1, integrator=integrator)
    start = world.positions.copy()
    world.step(100)
    assert np.abs(world.positions - start).max() > 0.3
    world.velocities[...] *= -1
    world.angular_velocities[...] *= -1
    world.step(100)
    assert np.abs(world.positions - start).max() < 1e-10


def test_spheres_and_symmetric_bodies_turn_exactly():
    """rattle's free flight, at any speed; an asymmetric body keeps its momentum."""
    scene = mc.Scene(gravity=(0, 0, 0))
    w = np.array([3.0, -40.0, 700.0])
    scene.add_body("ball", mass=1, inertia=(0.2, 0.2, 0.2), angular_velocity=w)
    scene.add_body("top", mass=1, inertia=((0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.1)), position=(1, 0, 0), angular_velocity=w)
    world = mc.World(scene, dt=1 / 50, substeps=1, integrator="rattle")
    world.step(1)
    angle = np.linalg.norm(w) / 50
    assert np.abs(rotation(world.orientations[0]) - rotation(turned(w, angle))).max() < 1e-12
    # About its momentum at |L| / I_1, and about its own axis at the rest of the spin.
    momentum = w * (0.3, 0.3, 0.1)
    own = turned((0, 0, 1), (w[2] - momentum[2] / 0.3) / 50)
    expected = rotation(turned(momentum, np.linalg.norm(momentum) / 0.3 / 50)) @ rotation(own)
    assert np.abs(rotation(world.orientations[1]) - expected).max() < 1e-11


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 1e-6, 1e6]))
def test_principal_axes(seed, size):
    """Against LAPACK; equal moments and diagonal tensors too."""
    rng = np.random.default_rng(seed)
    moments = size * rng.uniform(1.0, 2.0, 3)
    if seed % 3 == 0:
        moments[1] = moments[0]
    r = np.eye(3) if seed % 5 == 0 else matrix(turned(rng.normal(size=3), rng.uniform(0, 3)))
    tensor = r @ np.diag(moments) @ r.T
    (q,), (found,) = principal_axes(tensor[None])
    np.testing.assert_allclose(found, np.linalg.eigvalsh(tensor), rtol=1e-14)
    np.testing.assert_allclose(matrix(q) @ np.diag(found) @ matrix(q).T, tensor, atol=1e-14 * size)


# ---- joint forces ----------------------------------------------------------------------------------------------------


@every_integrator
def test_joint_force_is_that_of_the_end_state(integrator):
    """`joint().force` against kkt() at the same state, and of second order against the pendulum's closed form."""
    found = []
    for n in (250, 500, 1000):
        world = mc.World(pendulum(), dt=1 / n, substeps=1, integrator=integrator)
        world.step(3 * n // 5)
        x = world.positions[0]
        _, forces = world.kkt().solve()
        assert np.allclose(world.joint(0).force, world.jacobian().toarray().T[:3] @ forces, rtol=1e-9)
        along = world.joint(0).force @ x / np.linalg.norm(x)
        found.append(along)
        # m l w^2 + m g cos, where energy gives w: (I + m l^2) w^2 / 2 = m g l cos
        assert along == pytest.approx(-(2 / 1.01 + 1) * G * -x[2], rel=1e-3 * (250 / n) ** 2)
    assert abs(orders(np.abs(np.diff(found)))[0] - 2) < 0.1


@every_integrator
def test_statics(integrator):
    """A hanging chain of mixed masses, and a cantilever of welds: to 1e-8 of the largest, after 240 steps."""
    masses = np.array([3, 1, 0.5, 2, 0.1, 400])
    scene = mc.Scene()
    for k, mass in enumerate(masses):
        scene.add_body(f"b{k}", mass=mass, inertia=rod_inertia((0, 0, 1), mass, 0.5), position=(0, 0, -0.5 * k - 0.25))
        scene.add_joint(mc.BallJoint(f"b{k - 1}" if k else None, f"b{k}", (0, 0, -0.5 * k)))
    for k in range(8):
        scene.add_body(f"c{k}", mass=1.0, inertia=rod_inertia((1, 0, 0), 1.0, 0.25), position=(5.125 + 0.25 * k, 0, 0))
        scene.add_joint(mc.FixedJoint(f"c{k - 1}" if k else None, f"c{k}", (5 + 0.25 * k, 0, 0)))
    world = mc.World(scene, integrator=integrator)
    world.step(240)
    below = G * np.cumsum(masses[::-1])[::-1]
    for k in range(6):
        assert np.abs(world.joint(k).force - (0, 0, below[k])).max() < 1e-8 * below[0]
    for k in range(8):
        assert np.abs(world.joint(6 + k).force - (0, 0, (8 - k) * G)).max() < 1e-8 * 8 * G
        assert np.abs(world.joint(6 + k).torque - (0, -G * 0.125 * (8 - k) ** 2, 0)).max() < 1e-8 * 8 * G


# ---- what has bounds, settings, failure ------------------------------------------------------------------------------


@every_integrator
def test_ragdolls_fall_with_closed_joints(integrator):
    world = mc.World(mc.load("ragdolls11", n=1), integrator=integrator)
    start = world.energy().total
    world.step(90)
    assert world.joint_errors().max() < 1e-12 and world.energy().total < start


@every_integrator
def test_bits_repeat_and_restore(integrator):
    scene = mc.load("ragdolls11", n=1)
    one, two = (mc.World(scene, integrator=integrator) for _ in range(2))
    one.step(30)
    kept = one.snapshot()
    one.step(10)
    two.restore(kept)
    for _ in range(10):
        two.step()
    assert one.state_hash() == two.state_hash()


@every_integrator
def test_a_strained_chain_is_refused(integrator):
    """1000 kg on 1 kg links shake a pure step apart: an error that names a joint and a cure, the state before it
    kept."""
    world = mc.World(mc.load("chain20_heavy"), integrator=integrator)
    with pytest.raises(
        mc.SimulationError, match="no velocities close the joints.*joint 'joint.*smaller dt or more substeps"
    ):
        world.step(120)
    assert world.joint_errors().max() < 1e-7 and 0 < world.time < 2
    assert np.all(np.isfinite(world.positions))
    world = mc.World(mc.load("chain20_heavy"), substeps=32, integrator=integrator)
    start = world.energy()
    world.step(60)
    assert world.joint_errors().max() < 1e-9 and abs(world.energy().total - start.total) < 1e-4 * world.energy().kinetic


@every_integrator
def test_strong_damping_is_refused(integrator):
    scene = mc.Scene()
    scene.add_body("car", mass=1, inertia=(1, 1, 1), velocity=(1, 0, 0))
    scene.add_joint(mc.SliderJoint(None, "car", (1, 0, 0), spring=mc.Spring(stiffness=1.0, damping=1e4)))
    with pytest.raises(mc.SimulationError, match="too strong for substeps of 0.00417 s.*more substeps"):
        mc.World(scene, integrator=integrator).step()


@every_integrator
def test_settings_are_checked(integrator):
    scene = pendulum()
    for joint_solver in ("tree", "rows", None):
        mc.World(scene, integrator=integrator, joint_solver=joint_solver).step()
    for name in ("split_impulse", "projection", "ggl"):
        with pytest.raises(mc.SceneError, match="does not go with integrator='" + integrator):
            mc.World(scene, integrator=integrator, stabilization=name)
    with pytest.warns(DeprecationWarning, match="geometric_stiffness has no effect"):
        mc.World(scene, integrator=integrator, geometric_stiffness=0.25)
    with pytest.raises(mc.SceneError, match="solver: 'pgs'|solver 'pgs' does not go"):
        mc.World(scene, integrator=integrator, solver="pgs")
