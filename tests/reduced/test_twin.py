"""The twin by itself: its joints by finite differences, its algorithms by identities, its motion by energy."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import compose, matrix
from mcsim.reduced.system import System
from random_trees import (
    KINDS as TREE_KINDS,
    joint_coordinates,
    random_forces,
    random_inertia,
    random_scene,
    random_state,
    scenes,
)
from twin import (
    KINDS,
    SIZES,
    Twin,
    Y,
    advance,
    coordinate_rates,
    cross,
    force_cross,
    inverse,
    jcalc,
    motion_cross,
    place_of,
    reversed_joint,
    rotation_of,
    spatial_inertia,
    transform,
    turn,
    way_of_turning,
)

H = 1e-5  # step of finite differences; what they leave is near H²
CONSTANT = 0.37
STILL = (0.0, 0.0, 0.0)

every_kind = pytest.mark.parametrize("kind", KINDS)
both_ways = pytest.mark.parametrize("other_way", [False, True], ids=["forwards", "backwards"])
trees = pytest.mark.parametrize("seed", range(8))


def tree(seed, count=9, **arguments):
    """-> Twin of a random tree, and the generator."""
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, count, **arguments)
    return Twin(System(scene, ball=("quaternion", "ypr")[seed % 2])), rng


def largest(a):
    return np.max(np.abs(a), initial=0.0)


# ---- spatial vectors and rotations -----------------------------------------------------------------------------------


def test_transforms():
    rng = np.random.default_rng(0)
    rotation, place = rotation_of(rng.normal(size=4)), rng.normal(size=3)
    x = transform(rotation, place)
    assert np.allclose(inverse(x) @ x, np.eye(6), atol=1e-15)
    for found, given_ in zip(place_of(x), (rotation, place)):
        assert np.allclose(found, given_, atol=1e-15)
    w, v, n, f = rng.normal(size=(4, 3))
    there = x @ [*w, *v]
    assert np.allclose(there[3:], rotation.T @ (v + np.cross(w, place)), atol=1e-15)  # velocity of that point
    assert np.allclose(x.T @ [*(rotation.T @ (n - np.cross(place, f))), *(rotation.T @ f)], [*n, *f], atol=1e-14)


def test_cross_products_are_rates_of_moving_vectors():
    """A motion and a force that stand still in a body with velocity v change by v× m and v×* f."""
    v, m, f = np.random.default_rng(1).normal(size=(3, 6))
    back = expm(H * motion_cross(v)), expm(-H * motion_cross(v))
    assert np.allclose((back[0] - back[1]) @ m / (2 * H), motion_cross(v) @ m, atol=1e-8)
    assert np.allclose((back[1] - back[0]).T @ f / (2 * H), force_cross(v) @ f, atol=1e-8)


def test_spatial_inertia_is_that_of_points():
    rng = np.random.default_rng(2)
    points, masses, v = rng.normal(size=(9, 3)), rng.uniform(0.5, 2, 9), rng.normal(size=6)
    momenta = masses[:, None] * (v[3:] + np.cross(v[:3], points))
    com = masses @ points / masses.sum()
    arms = points - com
    about = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms))
    total = np.concatenate([np.cross(points, momenta).sum(axis=0), momenta.sum(axis=0)])
    assert np.allclose(spatial_inertia(masses.sum(), com, about) @ v, total, atol=1e-13)


def test_rotations_are_scipys():
    q = np.random.default_rng(3).normal(size=4)
    assert np.allclose(rotation_of(q), Rotation.from_quat([*q[1:], q[0]]).as_matrix(), atol=1e-15)
    assert np.allclose(turn(Y, 0.7), Rotation.from_rotvec(0.7 * Y).as_matrix(), atol=1e-15)
    yaw, pitch, roll = 0.5, -0.8, 1.9
    assert np.allclose(
        place_of(jcalc("spherical_ypr", [yaw, pitch, roll], STILL).x)[0],
        Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix(),
        atol=1e-15,
    )
    assert np.allclose(
        place_of(jcalc("universal", [yaw, roll], [0, 0]).x)[0],
        Rotation.from_euler("ZX", [yaw, roll]).as_matrix(),
        atol=1e-15,
    )


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-5, 1.01e-4, 0.3, 2.8])
def test_way_of_turning(angle):
    """Against the exponential of the twist as a matrix."""
    axis, v = np.array([0.6, 0.0, 0.8]), np.array([0.3, -0.2, 0.9])
    twist = np.zeros((4, 4))
    twist[:3, :3], twist[:3, 3] = angle * cross(axis), v
    assert np.allclose(way_of_turning(angle * axis) @ v, expm(twist)[:3, 3], rtol=0, atol=2e-15)


# ---- joints ----------------------------------------------------------------------------------------------------------


def joint_at(kind, q, qd, other_way):
    joint = jcalc(kind, q, qd, CONSTANT)
    return reversed_joint(joint) if other_way else joint


def random_joint_state(kind, seed=4):
    rng = np.random.default_rng(seed)
    return joint_coordinates(rng, kind), rng.normal(size=SIZES[kind][1])


@every_kind
@both_ways
def test_motion_subspace_is_the_rate_of_the_transform(kind, other_way):
    """dX/dt = -v × X, so that (dX/dt) X⁻¹ = -(S q̇)×; column by column."""
    q, _ = random_joint_state(kind)
    for direction in np.eye(SIZES[kind][1]):
        joint = joint_at(kind, q, direction, other_way)
        ahead, behind = (joint_at(kind, advance(kind, q, direction, h), direction, other_way).x for h in (H, -H))
        rate = (ahead - behind) / (2 * H) @ inverse(joint.x)
        assert np.allclose(rate, -motion_cross(joint.s @ direction), atol=1e-8)
        assert np.allclose(joint.v, joint.s @ direction, atol=1e-15)


@every_kind
@both_ways
def test_bias_velocity_is_the_rate_of_the_subspace(kind, other_way):
    q, qd = random_joint_state(kind)
    joint = joint_at(kind, q, qd, other_way)
    ahead, behind = (joint_at(kind, advance(kind, q, qd, h), qd, other_way).s for h in (H, -H))
    assert np.allclose((ahead - behind) @ qd / (2 * H), joint.c, atol=1e-8)


@every_kind
@both_ways
def test_constraint_forces_do_no_work(kind, other_way):
    q, qd = random_joint_state(kind)
    joint = joint_at(kind, q, qd, other_way)
    assert joint.s.shape == (6, SIZES[kind][1]) and joint.t.shape == (6, 6 - SIZES[kind][1])
    assert np.allclose(joint.t.T @ joint.s, 0.0, atol=1e-14)
    assert np.linalg.matrix_rank(np.hstack([joint.s, joint.t])) == 6


@every_kind
def test_advancing_follows_the_coordinate_rates(kind):
    q, qd = random_joint_state(kind)
    rates = (advance(kind, q, qd, H) - advance(kind, q, qd, -H)) / (2 * H)
    assert np.allclose(rates, coordinate_rates(kind, q, qd), atol=1e-8)
    assert len(q) == len(rates) == SIZES[kind][0]


@pytest.mark.parametrize("kind", ["revolute", "helical", "cylindrical", "planar", "spherical"])
def test_advancing_is_exact_where_the_subspace_is_constant(kind):
    q, qd = random_joint_state(kind)
    joint = jcalc(kind, q, qd, CONSTANT)
    moved = jcalc(kind, advance(kind, q, qd, 0.8), qd, CONSTANT)
    assert np.allclose(moved.x, expm(-0.8 * motion_cross(joint.v)) @ joint.x, atol=1e-14)


def test_yaw_pitch_roll_is_singular_upright():
    assert np.linalg.matrix_rank(jcalc("spherical_ypr", [0.3, np.pi / 2, 0.2], STILL).s, tol=1e-10) == 2


def test_rack_and_pinion_rolls():
    """The point of the pinion at the teeth, the radius beside its axis, stands still."""
    joint = jcalc("rack_pinion", [0.6], [1.7], CONSTANT)
    rotation, _ = place_of(joint.x)
    tooth = rotation.T @ (CONSTANT * Y)
    assert np.allclose(joint.v[3:] + np.cross(joint.v[:3], tooth), 0.0, atol=1e-15)


# ---- trees: kinematics -----------------------------------------------------------------------------------------------


@trees
def test_poses_are_those_of_the_scene(seed):
    twin, _ = tree(seed)
    q, qd = twin.system.initial()
    positions, rotations = twin.poses(q)
    for link, position, rotation in zip(twin.links, positions, rotations):
        body = twin.system.scene.bodies[link.body_number]
        place, axes = compose((body.position, body.orientation), (body.center_of_mass, np.array([1.0, 0, 0, 0])))
        assert np.allclose(position, place, atol=1e-13)
        assert np.allclose(rotation @ link.frame[1], matrix(axes), atol=1e-13)
    assert largest(qd) == 0.0


@trees
def test_velocities_are_rates_of_poses(seed):
    twin, rng = tree(seed)
    q, qd, _ = random_state(rng, twin.system)
    v, w = twin.velocities(q, qd)
    (p1, r1), (p0, r0) = (twin.poses(twin.integrate(q, qd, h)) for h in (H, -H))
    assert np.allclose((p1 - p0) / (2 * H), v, atol=1e-6 * (1 + largest(v)))
    spins = (r1 - r0) / (2 * H) @ np.transpose(twin.poses(q)[1], (0, 2, 1))
    assert np.allclose(np.stack([spins[:, 2, 1], spins[:, 0, 2], spins[:, 1, 0]], axis=1), w, atol=1e-6)


@trees
def test_jacobians_times_rates_are_twists(seed):
    twin, rng = tree(seed)
    q, qd, _ = random_state(rng, twin.system)
    twists = np.hstack(twin.velocities(q, qd))
    for i in range(len(twin.links)):
        assert np.allclose(twin.body_jacobian(i, q) @ qd, twists[i], atol=1e-13 * (1 + largest(twists)))


@trees
def test_accelerations_are_rates_of_velocities(seed):
    twin, rng = tree(seed)
    q, qd, qdd = random_state(rng, twin.system)
    ahead, behind = (np.hstack(twin.velocities(twin.integrate(q, qd, h), qd + h * qdd)) for h in (H, -H))
    exact = twin.body_accelerations(q, qd, qdd)
    assert np.allclose((ahead - behind) / (2 * H), exact, atol=1e-6 * (1 + largest(exact)))


# ---- trees: dynamics -------------------------------------------------------------------------------------------------


@trees
def test_inverse_dynamics_is_newton_and_euler_of_every_body(seed):
    """τ = Σ Jᵀ [m a - f; I α + ω × I ω - n], the principle of virtual power, body by body in world axes."""
    twin, rng = tree(seed)
    q, qd, qdd = random_state(rng, twin.system)
    forces = random_forces(rng, twin.system)
    accelerations, (_, w), (_, rotations) = twin.body_accelerations(q, qd, qdd), twin.velocities(q, qd), twin.poses(q)
    tau = np.zeros(twin.system.nv)
    for i, link in enumerate(twin.links):
        inertia = rotations[i] @ link.inertia @ rotations[i].T
        linear = link.mass * accelerations[i, :3] - twin.weights[i] - forces[i, :3]
        angular = inertia @ accelerations[i, 3:] + np.cross(w[i], inertia @ w[i]) - forces[i, 3:]
        tau += twin.body_jacobian(i, q).T @ [*linear, *angular]
    assert np.allclose(twin.inverse_dynamics(q, qd, qdd, forces), tau, rtol=0, atol=1e-12 * largest(tau))


@trees
def test_forward_and_inverse_dynamics_undo_each_other(seed):
    twin, rng = tree(seed, count=20)
    q, qd, tau = random_state(rng, twin.system)
    forces = random_forces(rng, twin.system)
    qdd = twin.forward_dynamics(q, qd, tau, forces)
    assert np.allclose(twin.inverse_dynamics(q, qd, qdd, forces), tau, rtol=0, atol=1e-10)


@trees
def test_mass_matrix(seed):
    """H q̈ + C = τ; H is symmetric, positive definite, and Σ Jᵀ M J; q̇ᵀ H q̇ / 2 is the kinetic energy."""
    twin, rng = tree(seed)
    q, qd, qdd = random_state(rng, twin.system)
    h = twin.mass_matrix(q)
    assert np.allclose(h @ qdd + twin.bias_force(q, qd), twin.inverse_dynamics(q, qd, qdd), rtol=0, atol=1e-12 * largest(h))
    assert largest(h - h.T) < 1e-13 * largest(h) and np.linalg.eigvalsh(h).min(initial=1.0) > 0.0
    total = np.zeros_like(h)
    for i, (link, rotation) in enumerate(zip(twin.links, twin.poses(q)[1])):
        jacobian = twin.body_jacobian(i, q)
        total += link.mass * jacobian[:3].T @ jacobian[:3]
        total += jacobian[3:].T @ rotation @ link.inertia @ rotation.T @ jacobian[3:]
    assert np.allclose(h, total, rtol=0, atol=1e-13 * largest(h))
    assert np.isclose(twin.energy(q, qd).kinetic, qd @ h @ qd / 2, rtol=1e-13)


@trees
def test_power_balance(seed):
    """d/dt (kinetic + potential) = τ · q̇ + Σ forces · twists."""
    twin, rng = tree(seed)
    q, qd, tau = random_state(rng, twin.system)
    forces = random_forces(rng, twin.system)
    qdd = twin.forward_dynamics(q, qd, tau, forces)
    ahead, behind = (twin.energy(twin.integrate(q, qd, h), qd + h * qdd) for h in (H, -H))
    power = tau @ qd + np.sum(forces * np.hstack(twin.velocities(q, qd)))
    scale = largest(qdd) * largest(twin.mass_matrix(q))
    assert abs((ahead.total - behind.total) / (2 * H) - power) < 1e-6 * (1 + scale)


@trees
def test_hybrid_dynamics_is_that_of_the_split_mass_matrix(seed):
    twin, rng = tree(seed)
    q, qd, x = random_state(rng, twin.system)
    forces, given_ = random_forces(rng, twin.system), rng.random(twin.system.nv) < 0.4
    qdd, tau = twin.hybrid_dynamics(q, qd, x, x, given_, forces)
    h, c, free = twin.mass_matrix(q), twin.bias_force(q, qd, forces), ~given_
    expected = x.copy()
    expected[free] = np.linalg.solve(h[np.ix_(free, free)], (x - c)[free] - h[np.ix_(free, given_)] @ x[given_])
    assert np.allclose(qdd, expected, rtol=0, atol=1e-10 * (1 + largest(expected)))
    assert np.allclose(tau, h @ qdd + c, rtol=0, atol=1e-10 * (1 + largest(h @ qdd)))
    assert np.array_equal(qdd[given_], x[given_]) and np.array_equal(tau[free], x[free])


@trees
def test_maximal_coordinates_give_the_same_accelerations(seed):
    """Whichever T_a the joint forces act in: that changes the constraint forces, not the motion."""
    twin, rng = tree(seed)
    q, qd, tau = random_state(rng, twin.system)
    forces = random_forces(rng, twin.system)
    qdd = twin.forward_dynamics(q, qd, tau, forces)
    joints = [twin.joint(i, q, qd) for i in range(len(twin.links))]
    active = [
        np.linalg.pinv(joint.s).T + joint.t @ rng.normal(size=(joint.t.shape[1], joint.s.shape[1])) for joint in joints
    ]
    others = [twin.constrained_dynamics(q, qd, tau, forces), twin.constrained_dynamics(q, qd, tau, forces, active)]
    for found, _ in others:
        assert np.allclose(found, qdd, rtol=0, atol=1e-10 * (1 + largest(qdd)))
    for joint, ta, *parts, link in zip(joints, active, *(parts for _, parts in others), twin.links):
        totals = parts[0] + np.linalg.pinv(joint.s).T @ tau[link.v], parts[1] + ta @ tau[link.v]
        assert np.allclose(*totals, rtol=0, atol=1e-9 * (1 + largest(totals[0])))


@pytest.mark.parametrize("seed", range(10))
def test_worlds_constraint_rows_give_the_same_accelerations(seed):
    """M a + Jᵀ λ = f, J a = 0 with the J of a World whose bodies are at rest where the tree has them."""
    twin, rng = tree(seed)
    system, scene = twin.system, twin.system.scene
    q, still = system.initial()
    forces = random_forces(rng, system)
    jacobian = mc.World(scene).jacobian().toarray()
    columns = np.concatenate([np.arange(6 * link.body_number, 6 * link.body_number + 6) for link in twin.links])
    assert jacobian.shape[1] == 6 * len(scene.bodies)
    jacobian = jacobian[:, columns]
    size, rotations = len(columns), twin.poses(q)[1]
    masses = np.zeros((size, size))
    for i, link in enumerate(twin.links):
        masses[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = link.mass * np.eye(3)
        masses[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = rotations[i] @ link.inertia @ rotations[i].T
    right = forces + np.pad(twin.weights, ((0, 0), (0, 3)))
    assert len(jacobian) == size - system.nv
    kkt = np.block([[masses, jacobian.T], [jacobian, np.zeros((len(jacobian), len(jacobian)))]])
    accelerations = np.linalg.solve(kkt, np.concatenate([right.ravel(), np.zeros(len(jacobian))]))[:size]
    qdd = twin.forward_dynamics(q, still, still, forces)
    expected = twin.body_accelerations(q, still, qdd)
    assert np.allclose(accelerations.reshape(-1, 6), expected, rtol=0, atol=1e-10 * (1 + largest(expected)))


@trees
def test_apparent_inertia(seed):
    twin, rng = tree(seed)
    q, qd, tau = random_state(rng, twin.system)
    for number in range(0, len(twin.links), 3):
        phi, b = twin.apparent_inertia(number, q, qd, tau)
        forces = np.zeros((len(twin.links), 6))
        forces[number] = rng.normal(size=6)
        pushed = twin.body_accelerations(q, qd, twin.forward_dynamics(q, qd, tau, forces))[number]
        assert np.allclose(phi @ forces[number] + b, pushed, rtol=0, atol=1e-11 * (1 + largest(pushed)))


def test_kinematic_bodies_are_moved_as_they_are_told():
    """A pendulum on a carriage that is carried: as one on a base, from which it is moved at constant velocity; and as
    one whose gravity has changed, where the carriage is accelerated."""

    def scene(kind):
        made = mc.Scene()
        made.add_body("carriage", kind=kind, shape=mc.Box((0.1, 0.1, 0.1)))
        made.add_body("bob", shape=mc.Sphere(0.2), position=(0.5, 0, -0.7))
        made.add_joint(mc.BallJoint("carriage", "bob", (0, 0, 0)))
        return made

    carried, held = Twin(System(scene("kinematic"))), Twin(System(scene("static")))
    rng = np.random.default_rng(5)
    q, qd, tau = random_state(rng, held.system)
    at_rest = np.array([0.0, 0, 0, 1, 0, 0, 0])
    moving = np.array([0.3, -0.2, 0.5, 0, 0, 0])
    for more in (np.zeros(3), np.array([1.0, -2.0, 0.5])):
        told = np.array([*more, 0, 0, 0])
        qdd = carried.forward_dynamics(np.concatenate([at_rest, q]), np.concatenate([moving, qd]), [*told, *tau])
        lighter = Twin(held.system, held.system.scene.gravity - more)
        assert np.allclose(qdd, [*told, *lighter.forward_dynamics(q, qd, tau)], atol=1e-12)


def floating_chain(rng):
    """Seven bodies that nothing holds to the world, on ball joints and a slider."""
    scene = mc.Scene()
    for k in range(7):
        mass = rng.uniform(0.5, 2)
        scene.add_body(f"b{k}", mass=mass, inertia=random_inertia(rng, mass), position=rng.normal(size=3))
    scene.add_joint(mc.SliderJoint("b0", "b1", axis=(1, 2, 3)))
    for k in range(2, 7):
        scene.add_joint(mc.BallJoint(f"b{k // 2}", f"b{k}", rng.normal(size=3)))
    return scene


def test_momentum_changes_by_the_outer_forces():
    """d/dt of linear and angular momentum about the origin, whatever the joints do."""
    rng = np.random.default_rng(6)
    twin = Twin(System(floating_chain(rng)))
    q, qd, tau = random_state(rng, twin.system)
    tau[twin.links[0].v] = 0.0
    forces = random_forces(rng, twin.system)
    qdd = twin.forward_dynamics(q, qd, tau, forces)
    ahead, behind = (np.concatenate(twin.momentum(twin.integrate(q, qd, h), qd + h * qdd)) for h in (H, -H))
    pulls = forces[:, :3] + twin.weights
    torque = np.cross(twin.poses(q)[0], pulls).sum(axis=0) + forces[:, 3:].sum(axis=0)
    assert twin.links[0].joint is None
    assert np.allclose((ahead - behind) / (2 * H), [*pulls.sum(axis=0), *torque], atol=1e-6)
    masses = np.array([link.mass for link in twin.links])
    assert np.allclose(twin.momentum(q, qd)[0], masses @ twin.velocities(q, qd)[0], atol=1e-13)


@settings(max_examples=amount(8, 25))
@given(scenes())
def test_any_tree_keeps_the_identities(made):
    scene, rng = made
    twin = Twin(System(scene))
    q, qd, tau = random_state(rng, twin.system)
    qdd = twin.forward_dynamics(q, qd, tau)
    back = twin.mass_matrix(q) @ qdd + twin.bias_force(q, qd)
    assert np.allclose(back, tau, rtol=0, atol=1e-9)


def test_long_chains_lose_nothing():
    """In 60 links, one after the other, articulated inertias that are not kept symmetric lose half of the digits."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        twin = Twin(System(random_scene(rng, 60, branching=0.0)))
        q, qd, tau = random_state(rng, twin.system)
        qdd = twin.forward_dynamics(q, qd, tau)
        assert np.allclose(twin.inverse_dynamics(q, qd, qdd), tau, rtol=0, atol=3e-11)


# ---- motion ----------------------------------------------------------------------------------------------------------


def runge_kutta(twin, q, qd, dt):
    """One step of order 4."""

    def rates(q, qd):
        return twin.coordinate_rates(q, qd), twin.forward_dynamics(q, qd, np.zeros(twin.system.nv))

    k1 = rates(q, qd)
    k2 = rates(q + dt / 2 * k1[0], qd + dt / 2 * k1[1])
    k3 = rates(q + dt / 2 * k2[0], qd + dt / 2 * k2[1])
    k4 = rates(q + dt * k3[0], qd + dt * k3[1])
    return tuple(a + dt / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip((q, qd), k1, k2, k3, k4))


@pytest.mark.parametrize("kind", [kind for kind in TREE_KINDS if kind != "fixed"])
@pytest.mark.sampled(3)
def test_energy_is_kept(kind):
    """Two bodies, the first on a joint of this kind, over 0.2 s in 50 and in 100 steps."""
    rng = np.random.default_rng(11)
    scene = random_scene(rng, 2, kinds=(kind,), branching=0.0)
    twin = Twin(System(scene))
    q, qd, _ = random_state(rng, twin.system)
    begin = twin.energy(q, qd).total
    changes = []
    for steps in (50, 100):
        state = q, qd
        for _ in range(steps):
            state = runge_kutta(twin, *state, 0.2 / steps)
        changes.append(abs(twin.energy(*state).total - begin))
    scale = 1 + abs(begin) + twin.energy(q, qd).kinetic
    assert changes[0] < 1e-6 * scale
    assert changes[1] < changes[0] / 12 or changes[1] < 1e-12 * scale


def test_trajectory_of_a_free_body_is_that_of_eulers_top():
    """A symmetric body without weight: its spin about the axis stays, the rest of it goes round at a known rate."""
    scene = mc.Scene(gravity=STILL)
    scene.add_body("top", mass=2.0, inertia=(0.3, 0.3, 0.5))
    twin, times = Twin(System(scene)), np.linspace(0.25, 1.0, 4)
    w = np.array([1.0, 0.0, 4.0])
    q, qd = twin.trajectory(np.array([0.0, 0, 0, 1, 0, 0, 0]), np.array([0.5, 0, 0, *w]), times)
    angles = (0.5 - 0.3) / 0.3 * w[2] * times
    assert np.allclose(qd[:, 3:], np.stack([np.cos(angles), np.sin(angles), 4.0 + 0 * angles], axis=1), atol=1e-9)
    assert np.allclose(q[:, :3], 0.5 * times[:, None] * [1, 0, 0], atol=1e-9)
    spins = [twin.momentum(*state)[1] for state in zip(q, qd)]
    assert np.allclose(spins, [0.3, 0.0, 2.0], atol=1e-9)


def test_trajectory_is_that_of_small_steps():
    rng = np.random.default_rng(16)
    twin = Twin(System(random_scene(rng, 3, kinds=("planar", "universal"), branching=0.0)))
    q, qd, _ = random_state(rng, twin.system)
    ends = [part[-1] for part in twin.trajectory(q, qd, np.array([0.1]))]
    for _ in range(50):
        q, qd = runge_kutta(twin, q, qd, 0.1 / 50)
    assert np.allclose(q, ends[0], atol=1e-6) and np.allclose(qd, ends[1], atol=1e-5)
