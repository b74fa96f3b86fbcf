"""ReducedWorld against the twin: what it observes at any q and qd, and how trees move that nothing touches."""

import numpy as np
import pytest

import mcsim as mc
from dynamics_checks import BALLS, apart, by_link, chain_of, random_case, state_of
from mcsim.reduced.kinds import QUATERNIONS
from random_trees import KINDS, random_forces, random_scene
from twin import Twin

numbers = pytest.mark.parametrize("number", range(0, 40, 2))
MOVING = [kind for kind in KINDS if kind != "fixed"] + ["spherical_ypr"]


def at_random(number, **keywords):
    """-> ReducedWorld of a random tree in a random state, Twin, the state."""
    system, state = random_case(number)
    world = mc.ReducedWorld(system.scene, ball=BALLS[number % 2], **keywords)
    world.q, world.qd = state["q"], state["qd"]
    return world, Twin(world.system), state


# ---- what is observed ------------------------------------------------------------------------------------------------


@numbers
def test_observers_at_any_state(number):
    world, twin, state = at_random(number)
    q, qd = state["q"], state["qd"]
    bodies = [link.body_number for link in twin.links]
    assert apart("poses", by_link(world.system, world.positions, world.orientations), twin.poses(q)) < 1e-12
    velocities = world.velocities[bodies], world.angular_velocities[bodies]
    assert apart("velocities", velocities, twin.velocities(q, qd)) < 1e-12
    assert apart("energy", tuple(world.energy())[:2], tuple(twin.energy(q, qd))) < 1e-10
    assert apart("momentum", world.momentum(), twin.momentum(q, qd)) < 1e-10
    for i, link in enumerate(twin.links):
        if i % 7 == 0:
            assert apart("body_jacobian", world.body_jacobian(link.body), twin.body_jacobian(i, q)) < 1e-12
    assert world.joint_errors().max(initial=0.0) < 1e-7


@numbers
def test_there_and_back_again(number):
    """The bodies' state of q and qd gives q and qd back, angles but for whole turns."""
    world, _twin, state = at_random(number)
    maximal = world.to_maximal()
    kinetic, momentum = world.energy().kinetic, world.momentum()
    world.q, world.qd = world.system.neutral(), np.zeros(world.system.nv)
    world.from_maximal(*maximal)
    for found, expected in zip(world.to_maximal(), maximal):
        assert np.allclose(found, expected, rtol=0, atol=1e-12 * (1 + np.abs(expected).max()))
    assert np.allclose(world.qd, state["qd"], rtol=0, atol=1e-10)
    assert np.allclose(np.cos(world.q), np.cos(state["q"]), rtol=0, atol=1e-10) or _up_to_signs(world, state["q"])
    assert np.isclose(world.energy().kinetic, kinetic, rtol=1e-12)
    assert apart("momentum", world.momentum(), momentum) < 1e-10


def _up_to_signs(world, q):
    """Whether q is the world's but for whole turns of angles and signs of quaternions."""
    for link in world.system.links:
        mine, other = world.q[link.q], q[link.q]
        if link.kind in QUATERNIONS:
            same = abs(abs(mine[-4:] @ other[-4:]) - 1) < 1e-12 and np.allclose(mine[:-4], other[:-4], atol=1e-10)
        else:
            same = np.allclose(np.exp(1j * mine), np.exp(1j * other), rtol=0, atol=1e-10)
        if not same:
            return False
    return True


@numbers
def test_an_impulse_changes_the_velocities_by_the_apparent_inertia(number):
    world, twin, state = at_random(number)
    rng = np.random.default_rng(number)
    link = twin.links[rng.integers(len(twin.links))]
    impulse = rng.normal(size=3)
    world.apply_impulse(link.body, impulse)
    push = twin.body_jacobian(link.number, state["q"])[:3].T @ impulse
    expected = state["qd"] + np.linalg.solve(twin.mass_matrix(state["q"]), push)
    assert np.allclose(world.qd, expected, rtol=0, atol=1e-10 * (1 + np.abs(expected).max(initial=0.0)))


# ---- how it moves ----------------------------------------------------------------------------------------------------


def errors_of_motion(system, state, ball, tau=None, seconds=0.1, steps=(10, 20), integrator="semi_implicit"):
    """How far ReducedWorlds of ever smaller steps end from the twin's trajectory: [(q, qd), ...]"""
    twin = Twin(system)
    expected = [
        part[-1]
        for part in twin.trajectory(
            state["q"], state["qd"], np.array([seconds]), tau, faster=mc.ReducedWorld(system.scene, ball=ball)
        )
    ]
    result = []
    for count in steps:
        world = mc.ReducedWorld(system.scene, dt=seconds / count, ball=ball, integrator=integrator)
        world.q, world.qd = state["q"], state["qd"]
        if tau is not None:
            world.tau = tau
        world.step(count)
        ends = [*twin.poses(world.q), *twin.velocities(world.q, world.qd)]
        references = [*twin.poses(expected[0]), *twin.velocities(*expected)]
        result.append(max(np.abs(a - b).max(initial=0.0) for a, b in zip(ends, references)))
    return np.array(result)


@pytest.mark.parametrize("kind", MOVING)
def test_every_kind_moves_as_the_twin_does(kind):
    """With joint forces. Errors fall with the square of the step, once it is short enough that no drift is divided."""
    system, state = chain_of(kind, 3)
    tau = np.random.default_rng(5).normal(size=system.nv)
    errors = errors_of_motion(system, state, BALLS[kind == "spherical_ypr"], tau, steps=(80, 160, 320))
    assert errors[-1] < 0.05 and errors[-1] < 1e-9 + errors[0] / 10, errors


@pytest.mark.parametrize("kind", MOVING)
def test_runge_kutta_is_of_the_fourth_order(kind):
    system, state = chain_of(kind, 3)
    tau = np.random.default_rng(5).normal(size=system.nv)
    errors = errors_of_motion(system, state, BALLS[kind == "spherical_ypr"], tau, steps=(10, 20, 40), integrator="rk4")
    assert errors[-1] < 1e-4 and errors[-1] < 1e-9 + errors[0] / 150, errors


@pytest.mark.parametrize("kind", MOVING)
def test_the_reference_integrator_is_the_twins_trajectory(kind):
    system, state = chain_of(kind, 3)
    errors = errors_of_motion(system, state, BALLS[kind == "spherical_ypr"], steps=(2,), integrator="reference")
    assert errors[0] < 1e-7, errors


@pytest.mark.parametrize("number", range(6))
def test_random_trees_move_as_the_twin_does(number):
    rng = np.random.default_rng(number)
    scene = random_scene(rng, 8)
    system = mc.ReducedWorld(scene).system
    state = state_of(rng, system)
    state["qd"] *= 0.3
    errors = errors_of_motion(system, state, "quaternion", steps=(20, 40, 80))
    assert errors[-1] < 0.05 and errors[-1] < 1e-9 + errors[0] / 10, errors


def test_outer_forces_act_through_a_step():
    """One small step: the change of qd is that of forward dynamics, to the first order of the step."""
    world, twin, state = at_random(4, dt=1e-6)
    forces = 100 * random_forces(np.random.default_rng(6), world.system)
    world.qd = 0.1 * state["qd"]
    before = world.qd.copy()
    for link, force in zip(twin.links, forces):
        world.forces[link.body_number] = force
    world.step()
    expected = twin.forward_dynamics(state["q"], before, np.zeros(twin.system.nv), forces)
    found = (world.qd - before) / 1e-6
    assert np.allclose(found, expected, rtol=0, atol=1e-3 * np.abs(expected).max())


def test_a_floating_tree_keeps_its_momentum():
    """Bodies on ball joints in free flight without weight. Linear momentum to rounding, angular to the step's order."""
    rng = np.random.default_rng(7)
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(5):
        scene.add_body(f"b{k}", mass=1.0 + k, inertia=(0.2, 0.3, 0.4), position=rng.normal(size=3))
    for k in range(1, 5):
        scene.add_joint(mc.BallJoint(f"b{k // 2}", f"b{k}", rng.normal(size=3)))
    changes = []
    for count in (100, 200):
        world = mc.ReducedWorld(scene, dt=0.2 / count)
        world.qd = np.random.default_rng(8).normal(size=world.system.nv)
        begin, energy = world.momentum(), world.energy().total
        world.step(count)
        linear, angular = (np.abs(a - b).max() for a, b in zip(world.momentum(), begin))
        changes.append([linear, angular, abs(world.energy().total - energy)])
    changes = np.array(changes)
    assert changes[1].max() < 1e-3, changes
    assert np.all(changes[1] < changes[0] / 3 + 1e-10), changes


def loose_tree(rng, joint):
    """Three or four bodies in a chain that nothing holds, each with a weight of its own."""
    scene = mc.Scene(gravity=rng.uniform(-10, 10, 3))
    for i in range(rng.integers(3, 5)):
        scene.add_body(
            f"b{i}",
            mass=rng.uniform(0.5, 3),
            inertia=rng.uniform(0.2, 0.3, 3),
            position=(i, 0.2 * i, 0),
            gravity_scale=rng.uniform(-1, 2),
        )
        if i > 0:
            anchor = (i - 0.5, 0.2 * i - 0.1, 0)
            scene.add_joint(joint(f"b{i - 1}", f"b{i}", anchor, *(() if joint is mc.BallJoint else (rng.normal(size=3),))))
    return scene


@pytest.mark.parametrize("joint", [mc.BallJoint, mc.HingeJoint, mc.SliderJoint])
@pytest.mark.parametrize("number", range(4))
def test_a_loose_tree_of_unlike_weights_falls_as_they_pull(number, joint):
    """Its energy, seen from its centre of mass, had no part of gravity's, as if all of it fell alike: what weights
    did to its joints was taken out as gained, and bodies that should have come apart fell side by side."""
    scene = loose_tree(np.random.default_rng(number), joint)
    dt = 1e-6
    changes = []
    for integrator in ("semi_implicit", "rk4"):
        world = mc.ReducedWorld(scene, dt=dt, integrator=integrator)
        before = world.qd = np.random.default_rng(number).normal(size=len(world.qd))
        world.step()
        changes.append((world.qd - before) / dt)
    np.testing.assert_allclose(changes[0], changes[1], rtol=0, atol=1e-4)
    world = mc.ReducedWorld(scene, dt=1e-3)
    start = world.energy()
    world.step(500)
    end = world.energy()
    assert abs(end.total - start.total) < 1e-10 * (abs(end.kinetic) + abs(end.potential))
