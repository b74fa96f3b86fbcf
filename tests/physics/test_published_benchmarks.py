"""Published benchmark mechanisms under the direct joint solver, every stabilization and rk4, against reduced models."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import mcsim as mc
from benchmark_models import ANDREWS_ANGLES, ANDREWS_RATES, ANDREWS_TIME, MODELS, Reduced, andrews, double_cardan, whitworth
from mcsim.world.capabilities import POSITION_INTEGRATORS, RK4_STABILIZATIONS, STABILIZATIONS

# Largest error of a centre [m] or of a rotation's matrix under the direct solver at 16 substeps: half as much again as
# measured.
LIMITS = {
    "andrews": 2.1e-5,
    "whitworth": 2.5e-6,
    "scissor_lift": 1.9e-6,
    "peaucellier": 3e-7,
    "sarrus": 6e-8,
    "bennett": 8e-7,
    "spatial_slider_crank": 2.7e-5,
    "double_cardan": 2.1e-6,
    "flyball_governor": 8e-5,
    "stewart": 2.2e-6,
}

# Rows that follow from the others: rows + freedoms - 6 bodies.
REDUNDANT = {
    "andrews": 9,
    "whitworth": 6,
    "scissor_lift": 12,
    "peaucellier": 9,
    "sarrus": 1,
    "bennett": 3,
    "spatial_slider_crank": 0,
    "double_cardan": 1,
    "flyball_governor": 0,
    "stewart": 0,
}

# The other stabilizations: error at 16 substeps, all of first order. "none" is left out where rows are redundant in
# space: parts that have drifted apart no longer fit, and such a loop sticks, as a real one would.
STABILIZED = 0.45
STICK = {"bennett", "double_cardan"}

every_model = pytest.mark.parametrize("name", MODELS)


@cache
def motion(name):
    """-> model, its coordinates and their rates (t, d) at its times"""
    model = MODELS[name]()
    return model, model.solve(model.times)


def solved(name):
    """-> model, its frames at its times"""
    model, (q, _) = motion(name)
    return model, model.place(q)


def matrices(world):
    return Rotation.from_quat(world.orientations, scalar_first=True).as_matrix()


def follow(model, frames, kind=mc.World, **keywords):
    """-> largest error of the frames at the model's times, joint error at any step."""
    world = kind(model.scene(), dt=model.dt, **keywords)
    steps, error, gap = round(model.times[0] / model.dt), 0.0, 0.0
    for positions, rotations in zip(*frames):
        for _ in range(steps):
            if model.push:
                model.push(world)
            world.step()
            gap = max(gap, world.joint_errors().max())
        error = max(error, np.abs(world.positions - positions).max(), np.abs(matrices(world) - rotations).max())
    return error, gap


# ---- the models themselves -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_squeezer_comes_to_its_published_solution():
    """Data, kinematics and Kane's equations of the model against the digits of the literature."""
    model, (q, u) = motion("andrews")
    assert model.times[-1] == ANDREWS_TIME
    assert q[-1, 0] == pytest.approx(ANDREWS_ANGLES[0], abs=1e-7)
    assert u[-1, 0] == pytest.approx(ANDREWS_RATES[0], rel=1e-8)


@every_model
@pytest.mark.sampled(6)
def test_models_keep_energy(name):
    """Without springs, dampers and torques: kinetic and potential energy of the model stay, and it moved."""
    model, (q, u) = motion(name)
    positions, _ = model.place(q)
    if model.loads is None:
        energy = [
            (u[i] @ model.equations(q[i], u[i])[0] @ u[i]) / 2 - model.masses @ positions[i] @ model.gravity
            for i in range(len(q))
        ]
        assert np.ptp(energy) < 1e-8 * np.abs(energy).max()
    assert np.abs(positions[-1] - model.place(model.start)[0]).max() > 2e-3


@every_model
def test_redundant_rows_are_counted(name):
    """redundancy() of the closed mechanism: rank, redundant rows and a null space that moves nothing."""
    model = MODELS[name]()
    found = mc.World(model.scene()).redundancy()
    assert found.redundant == REDUNDANT[name]
    assert found.rank == 6 * len(model.masses) - (len(model.start) + (name == "flyball_governor"))


# ---- motion ----------------------------------------------------------------------------------------------------------


@every_model
def test_the_direct_solver_comes_to_the_reduced_model(name):
    """Joints stay closed; errors fall as the square of the substep."""
    model, frames = solved(name)
    runs = np.array([follow(model, frames, joint_solver="tree", substeps=n) for n in (16, 32)])
    errors, gaps = runs.T
    assert errors[0] < LIMITS[name] and gaps.max() < 1e-8, runs
    assert np.log2(errors[0] / errors[1]) > 0.9 * model.order, runs


@pytest.mark.parametrize("integrator", POSITION_INTEGRATORS)
@pytest.mark.parametrize("name", sorted(set(MODELS) - {"flyball_governor"}))
@pytest.mark.sampled(5)
def test_rattle_and_the_variational_step_are_of_second_order(name, integrator):
    """Closed to rounding, and the motion of the reduced model, with springs and torques too."""
    model, frames = solved(name)
    errors, gaps = np.array([follow(model, frames, integrator=integrator, substeps=n) for n in (8, 16)]).T
    assert errors[1] < 8e-5 and np.log2(errors[0] / errors[1]) > 1.9, errors
    assert gaps.max() < 1e-13, gaps


@pytest.mark.parametrize("integrator", ["rk4", *POSITION_INTEGRATORS])
def test_dampers_too_strong_for_an_explicit_step_are_refused(integrator):
    """The governor's dampers under what takes springs as forces of the present: an error that says what to change."""
    model = MODELS["flyball_governor"]()
    world = mc.World(model.scene(), dt=model.dt, integrator=integrator)
    with pytest.raises(mc.SimulationError, match="smaller dt or more substeps|smaller dt, more substeps"):
        world.step(30)
    assert np.isfinite(world.positions).all()


@pytest.mark.parametrize("stabilization", sorted(set(STABILIZATIONS) - {"soft"}))
@every_model
@pytest.mark.sampled(9)
def test_every_stabilization_follows(name, stabilization):
    """The same motion at first order, with joints as closed as each name promises."""
    if stabilization == "none" and name in STICK:
        pytest.skip("sticks once it has drifted apart")
    model, frames = solved(name)
    errors, gaps = np.array(
        [follow(model, frames, joint_solver="tree", stabilization=stabilization, substeps=n) for n in (16, 64)]
    ).T
    closed = {"none": 5e-3, "baumgarte": 1e-4, "split_impulse": 1e-4, "projection": 1e-12, "ggl": 5e-9}[stabilization]
    assert errors[0] < STABILIZED and gaps.max() < closed, (errors, gaps)
    assert errors[1] < 0.4 * errors[0] or errors[1] < 1e-3, errors


@pytest.mark.parametrize("stabilization", RK4_STABILIZATIONS)
@pytest.mark.parametrize("name", sorted(set(MODELS) - {"flyball_governor"}))  # its dampers need 20 us steps
@pytest.mark.sampled(5)
def test_rk4_is_of_fourth_order(name, stabilization):
    """Errors fall by 16 with each halving, down to what the model itself is good for."""
    model, frames = solved(name)
    errors, gaps = np.array(
        [follow(model, frames, integrator="rk4", stabilization=stabilization, substeps=n) for n in (2, 4)]
    ).T
    assert errors[1] < 3e-4 and (errors[0] / errors[1] > 9 or errors[1] < 1e-7), errors
    assert gaps[1] < (1e-12 if stabilization == "projection" else 1e-5), gaps


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"flyball_governor"}))
@pytest.mark.sampled(5)
def test_rk4_is_of_fourth_order_in_generalized_coordinates(name):
    """Loops are closed to rounding, up to 12 redundant rows among them."""
    model, frames = solved(name)
    errors, gaps = np.array([follow(model, frames, mc.ReducedWorld, integrator="rk4", substeps=n) for n in (1, 2)]).T
    assert errors[1] < 5e-5 and (errors[0] / errors[1] > 12 or errors[1] < 1e-7), errors
    assert gaps.max() < 1e-13, gaps


def test_the_squeezer_reaches_the_published_digits():
    """All seven angles and rates at 0.03 s, read from the world's bodies, by rk4 at 12.5 us."""
    model = andrews()
    world = mc.World(model.scene(), dt=2.5e-5, substeps=2, integrator="rk4", stabilization="projection")
    model.push(world)
    world.step(round(ANDREWS_TIME / 2.5e-5))
    beta, theta, gamma, phi, delta, omega, epsilon = ANDREWS_ANGLES
    at = np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])
    off = np.angle(np.exp(1j * (np.arctan2(matrices(world)[:, 2, 0], matrices(world)[:, 0, 0]) - at)))
    assert np.abs(off).max() < 3e-8
    beta, theta, gamma, phi, delta, omega, epsilon = ANDREWS_RATES
    at = np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])
    assert np.abs(-world.angular_velocities[:, 1] - at).max() < 1e-8 * beta
    assert world.joint(0).position == pytest.approx(ANDREWS_ANGLES[0] - model.start[0], abs=3e-8)  # counts its turns


# ---- what is known in closed form ------------------------------------------------------------------------------------


def test_peaucellier_draws_a_straight_line():
    """The point of the last two bars stays on x = (arm^2 - side^2) / (2 crank)."""
    model, _ = solved("peaucellier")
    world = mc.World(model.scene(), dt=model.dt, joint_solver="tree")
    heights = []
    for _ in range(240):
        world.step()
        tip = world.positions[4] + 0.225 * matrices(world)[4, :, 0]
        assert abs(tip[0] - (1 - 0.45**2) / 0.8) < 1e-8 and abs(tip[1]) < 1e-12
        heights.append(tip[2])
    assert np.ptp(heights) > 1.0


def test_the_platform_of_sarrus_does_not_turn():
    model, _ = solved("sarrus")
    world = mc.World(model.scene(), dt=model.dt, joint_solver="tree")
    for _ in range(48):
        world.step()
        assert np.abs(matrices(world)[4] - np.eye(3)).max() < 1e-8 and np.abs(world.positions[4, :2]).max() < 1e-8
    assert world.positions[4, 2] < 0.7


def test_two_crosses_in_phase_give_the_speed_back():
    """Over three turns the output has the input's angle and rate, though the shaft between them goes unevenly."""
    world = mc.World(double_cardan(bend=0.7, rate=12.0).scene(), dt=1 / 240, joint_solver="tree")
    uneven = 0.0
    for _ in range(480):
        world.step()
        first, middle, last = world.angular_velocities
        assert abs(world.joint("joint1").position - world.joint("joint0").position) < 2e-8
        assert np.abs(last - first).max() < 1e-6
        uneven = max(uneven, np.linalg.norm(middle) / first[0])
    assert world.joint("joint1").position > 6 * np.pi
    assert uneven == pytest.approx(1 / np.cos(0.7), rel=1e-3)


def test_whitworth_returns_quickly():
    """Crank at constant speed: forth and back take (pi + 2 a) : (pi - 2 a), sin a = crank / distance of the pivots."""
    model, speed = whitworth(rate=2 * np.pi), 2 * np.pi
    scene = driven(model, lambda t: speed * t, lambda t: speed, lambda t: 0.0).scene()
    world = mc.World(scene, dt=1e-3, joint_solver="tree")
    rates, times = [], []
    for _ in range(2200):
        world.step()
        rates.append(-world.angular_velocities[2, 1])
        times.append(world.time)
    rates, times = np.array(rates), np.array(times)
    at = np.nonzero(np.diff(np.sign(rates)))[0]
    turns = times[at] + rates[at] / (rates[at] - rates[at + 1]) * 1e-3
    a = np.arcsin(0.2 / 0.5)
    ways = np.diff(turns)[:3]
    assert ways.max() / ways.min() == pytest.approx((np.pi + 2 * a) / (np.pi - 2 * a), rel=1e-5)
    assert turns[2] - turns[0] == pytest.approx(1.0, abs=1e-6)


# ---- inverse dynamics ------------------------------------------------------------------------------------------------


def driven(model: Reduced, way, rate, bend) -> Reduced:
    """The same with its first joint, a hinge whose angle is q, on a prescribed motion since the start."""

    def joints():
        first, *others = model.joints()
        place = {name: first._arguments[name] for name in ("anchor", "axis")}
        return [mc.HingeJoint(first.a, first.b, **place, motion=mc.Motion(way, rate, bend)), *others]

    return replace(model, joints=joints)


@pytest.mark.parametrize("name", ["whitworth", "peaucellier", "sarrus", "bennett", "spatial_slider_crank", "double_cardan"])
def test_the_driving_torque_is_that_of_the_reduced_model(name):
    """A mechanism driven by its crank: motor_force is the inverse dynamics of the whole loop, to the last digits of the
    differences at the KKT level, and at the middle of the last substep to second order under the direct solver."""
    model, u, size, w = solved(name)[0], solved(name)[0].rate[0], 0.4, 5.0

    # Not too far: some of these cannot go all the way round.
    def at(t):
        return u * np.sin(t) + size * (1 - np.cos(w * t)) / w

    def rate(t):
        return u * np.cos(t) + size * np.sin(w * t)

    def bend(t):
        return -u * np.sin(t) + size * w * np.cos(w * t)

    scene, worst = driven(model, at, rate, bend).scene(), []
    for keywords in (
        dict(integrator="rk4", stabilization="projection"),
        dict(joint_solver="tree", substeps=16),
        dict(joint_solver="tree", substeps=32),
    ):
        world = mc.World(scene, dt=model.dt, **keywords)
        late = world.substep / 2 if "joint_solver" in keywords else 0.0
        errors, scale = [], 0.0
        for _ in range(30):
            world.step()
            t = world.time - late
            (torque,) = model.effort(model.start + at(t), rate(t), bend(t))
            errors.append(abs(world.joint(0).motor_force - torque))
            scale = max(scale, abs(torque))
            positions, _ = model.place(model.start + at(world.time))
            assert np.abs(world.positions - positions).max() < 1e-7
        worst.append(max(errors) / scale)
    assert worst[0] < 3e-8 and worst[2] < 2e-5, worst
    assert worst[2] < 0.3 * worst[1] or worst[2] < 2e-7, worst
