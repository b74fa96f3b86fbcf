"""integrator="variational": the discrete Euler-Lagrange equations themselves, and what follows from them over long
times."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from mechanism_scenes import double_pendulum, rotation
from position_scenes import energies, every_integrator, orders, tangle
from reduced_models import MODELS


def increments(before, after, h):
    """(n, 3) w with q+ = q (sqrt(1 - |h w / 2|^2), h w / 2), body axes."""

    def between(p, q):
        w = p[0] * q[1:] - q[0] * p[1:] - np.cross(p[1:], q[1:])
        return 2 / h * w * (1 if p @ q > 0 else -1)

    return np.array([between(p, q) for p, q in zip(before, after)])


@pytest.mark.parametrize("make", [tangle, MODELS["four_bar"], MODELS["bricard"], MODELS["cardan"]])
def test_positions_meet_the_discrete_euler_lagrange_equations(make):
    """Three poses in a row, in NumPy, as Bruedigam and Manchester write them (2020, section III): for some joint forces
    at the middle pose

        m (v2 - v1) = h (m g + F),    s2 I w2 + h/2 w2 x I w2 - s1 I w1 + h/2 w1 x I w1 = h T
        s = sqrt(1 - |h w / 2|^2)
    """
    scene = make()
    scene = scene if isinstance(scene, mc.Scene) else scene.scene()
    h = 1 / 120
    world = mc.World(scene, dt=h, substeps=1, integrator="variational")
    gravity = np.array(scene.gravity)
    inertia = [np.array(world.body(i).inertia) for i in range(len(world.masses))]
    inertia = [np.diag(i) if i.ndim == 1 else i for i in inertia]
    world.step(20)
    poses, jacobians = [], []
    for _ in range(6):
        poses.append((world.positions.copy(), world.orientations.copy()))
        jacobians.append(world.jacobian().toarray())
        world.step()
    for (x0, q0), (x1, q1), (x2, q2), jacobian in zip(poses, poses[1:], poses[2:], jacobians[1:]):
        w1, w2 = increments(q0, q1, h), increments(q1, q2, h)
        wanted = np.zeros((len(x1), 6))
        wanted[:, :3] = world.masses[:, None] * ((x2 - 2 * x1 + x0) / h - h * gravity)
        for k, i in enumerate(inertia):
            s1, s2 = (np.sqrt(1 - h * h / 4 * w[k] @ w[k]) for w in (w1, w2))
            change = (
                s2 * i @ w2[k] + h / 2 * np.cross(w2[k], i @ w2[k]) - s1 * i @ w1[k] + h / 2 * np.cross(w1[k], i @ w1[k])
            )
            wanted[k, 3:] = rotation(q1[k]) @ change
        wanted = wanted.ravel()
        forces = np.linalg.lstsq(jacobian.T, wanted, rcond=1e-8)[0]
        assert np.abs(jacobian.T @ forces - wanted).max() < 1e-12 < 1e-3 * np.abs(wanted).max()


def test_free_turn():
    """An asymmetric body: second order against Euler's equations, momentum and energy to rounding for 20,000."""
    inertia, w = np.array([1.0, 2.0, 2.5]), np.array([0.3, 4.0, 0.2])
    end = solve_ivp(lambda _, y: -np.cross(y, inertia * y) / inertia, (0, 3), w, method="DOP853", rtol=1e-12, atol=1e-12).y[
        :, -1
    ]
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("brick", mass=1, inertia=inertia, angular_velocity=w)
    found = []
    for n in (300, 600, 1200):
        world = mc.World(scene, dt=3 / n, substeps=1, integrator="variational")
        world.step(n)
        found.append(np.linalg.norm(rotation(world.orientations[0]).T @ world.angular_velocities[0] - end))
    assert np.all(np.abs(orders(found) - 2) < 0.1), found
    world = mc.World(scene, dt=1 / 40, substeps=1, integrator="variational")
    energy, momentum = world.energy().total, world.momentum()[1]
    assert np.abs(energies(world, 20_000, 1000)).max() < 1e-11 * energy
    assert np.abs(world.momentum()[1] - momentum).max() < 1e-12 * np.linalg.norm(momentum)


def test_what_turns_too_fast_is_refused():
    """A quarter turn of a ball is the most that an increment's momentum allows."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("ball", mass=1, inertia=(1, 1, 1), angular_velocity=(0, 0, 230.0))
    world = mc.World(scene, dt=1 / 60, substeps=4, integrator="variational")
    world.step()
    world.set_velocity("ball", angular_velocity=(0, 0, 250.0))
    with pytest.raises(mc.SimulationError, match="'ball' turns at 250 rad/s, 1.04 rad a substep, too fast"):
        world.step()
    mc.World(scene, dt=1 / 60, substeps=4, integrator="rattle").step()


@pytest.mark.slow
@every_integrator
@pytest.mark.parametrize("make, rate, band", [(double_pendulum, 200, 1e-3), (tangle, 400, 0.025)], ids=["plane", "space"])
def test_energy_is_bounded_over_1e5_steps(make, rate, band, integrator):
    """Chaotic chains that whip: in no tenth of the run does the median of the energy leave the band of O(h^2), which
    halving h makes four times narrower; no trend.

    A symplectic map keeps an energy near the true one up to a part that falls faster than any power of h, where a step is
    short beside the fastest motion (E. Hairer, C. Lubich and G. Wanner, "Geometric Numerical Integration", 2006, IX.8). The
    chain in space needs 1/400 s for that. At 1/200 s its most violent whips take the energy out by 2 J for a moment and
    leave it shifted by up to 0.15 J, under both integrators, up or down as chance has it: gravity turned by 1e-13 gives
    shifts between 0.01 and 0.11 J. So there is no band at that step that a test could ask for.
    """
    typical = []
    for n, widest in ((rate, band), (2 * rate, band / 4)):
        world = mc.World(make(), dt=1 / n, substeps=1, integrator=integrator)
        found = energies(world, 100_000, 10_000).reshape(10, -1)
        assert world.joint_errors().max() < 1e-12
        print(make.__name__, integrator, n, *(f"[{part.min():.1e} {part.max():.1e}]" for part in found))
        medians = np.median(found, axis=1)
        assert np.abs(medians).max() < widest, medians
        typical.append(abs(np.median(medians)))
    assert typical[1] < 0.4 * typical[0], typical


@pytest.mark.slow
@every_integrator
def test_a_step_turned_back_is_undone_in_the_most_violent_whips(integrator):
    """A step too long for a whip still is the map that it claims to be: with all velocities turned round it leads back to
    the state before, to rounding. It would not where the joints' impulses were another solution than the nearest, or half
    a one."""
    world, back = (mc.World(tangle(), dt=1 / 200, substeps=1, integrator=integrator) for _ in range(2))
    seen = 0
    for _ in range(20_000):
        x, q, v, w = (a.copy() for a in (world.positions, world.orientations, world.velocities, world.angular_velocities))
        world.step()
        if np.linalg.norm(world.angular_velocities, axis=1).max() / 200 < 0.15:
            continue
        seen += 1
        back.positions[:], back.orientations[:] = world.positions, world.orientations
        back.velocities[:], back.angular_velocities[:] = -world.velocities, -world.angular_velocities
        back.step()
        assert np.abs(back.positions - x).max() < 1e-13
        assert np.abs(np.abs(np.sum(back.orientations * q, axis=1)) - 1).max() < 1e-13
        assert np.abs(back.velocities + v).max() < 1e-12 and np.abs(back.angular_velocities + w).max() < 1e-11
    assert seen > 500
