"""World.kkt and World.redundancy against dense NumPy and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from constraint_scenes import TYPES, Pair
from mechanism_scenes import G, double_pendulum, double_pendulum_rates, four_bar, pendulum


def dense_solution(world):
    """Accelerations and forces by a minimum-norm least squares of the dense system."""
    system = world.kkt()
    n = 6 * system.body_count
    x = np.linalg.lstsq(system.matrix.toarray(), system.rhs, rcond=1e-11)[0]
    return x[:n].reshape(-1, 6), -x[n:]


def test_parts_of_the_system():
    """M, J and the right side in their places; a kinematic body has an identity block and no columns."""
    world = mc.World(four_bar())
    system = world.kkt()
    matrix = system.matrix.toarray()
    n, rows = 6 * 3, 15
    assert system.body_count == 3 and matrix.shape == (n + rows, n + rows) and system.rhs.shape == (n + rows,)
    assert np.array_equal(matrix, matrix.T) and not matrix[n:, n:].any()
    assert np.array_equal(matrix[:6, :6], np.eye(6)) and not matrix[:6, 6:].any()
    jacobian = world.jacobian().toarray()
    assert np.array_equal(matrix[n:, 6:n], jacobian[:, 6:])
    for i, name in ((1, "coupler"), (2, "rocker")):
        body = world.body(name)
        block = matrix[6 * i : 6 * i + 6, 6 * i : 6 * i + 6]
        assert np.allclose(block, np.diag([body.mass] * 3 + list(np.diag(body.inertia))), rtol=0, atol=1e-15)
    assert np.allclose(system.rhs[6:12], [0, 0, -G, 0, 0, 0], atol=1e-15) and not system.rhs[:6].any()
    accelerations, forces = system.solve()
    assert accelerations.shape == (3, 6) and forces.shape == (rows,)
    assert "3 bodies and 15 rows" in repr(system)


def test_a_world_without_joints_and_one_without_bodies():
    scene = mc.Scene()
    scene.add_body(
        "top",
        mass=2.0,
        inertia=(0.1, 0.2, 0.25),
        angular_velocity=(1.0, 2.0, 3.0),
        velocity=(1, 0, 0),
        gravity_scale=0.5,
        linear_damping=0.3,
        angular_damping=0.7,
    )
    world = mc.World(scene)
    world.apply_torque("top", (0.4, 0, 0))
    accelerations, forces = world.kkt().solve()
    inertia, w = np.diag([0.1, 0.2, 0.25]), np.array([1.0, 2.0, 3.0])
    spin = np.linalg.solve(inertia, (0.4, 0, 0) - np.cross(w, inertia @ w) - 0.7 * inertia @ w)
    assert np.allclose(accelerations, [[-0.3, 0, -G / 2, *spin]], rtol=1e-13, atol=1e-13) and forces.shape == (0,)
    assert world.redundancy()[:2] == (0, 0)
    empty = mc.World(mc.Scene()).kkt()
    assert empty.solve()[0].shape == (0, 6)


def test_double_pendulum_matches_lagrange():
    """The rods' angular accelerations, at speed."""
    scene = double_pendulum(2.0, 1.0)
    world = mc.World(scene)
    da, db = 1.7, -2.9
    down_rate = lambda angle, rate: rate * np.array([np.cos(angle), 0, np.sin(angle)])
    world.set_velocity("a", down_rate(2.0, da) / 2, (0, -da, 0))
    world.set_velocity("b", down_rate(2.0, da) + down_rate(1.0, db) / 2, (0, -db, 0))
    accelerations, _ = world.kkt().solve()
    assert np.allclose(-accelerations[:, 4], double_pendulum_rates(0, (2.0, 1.0, da, db))[2:], rtol=1e-12)


def test_joint_force_of_a_swinging_pendulum():
    """At the lowest point, mass (g + v^2 / l) upward; on body b, in the joint axes of the world."""
    scene = pendulum(angle=0.0, length=1.5, mass=2.0)
    world = mc.World(scene)
    world.set_velocity("bob", (3.0, 0, 0), (0, -2.0, 0))
    system = world.kkt()
    accelerations, forces = system.solve()
    on_bob = world.jacobian().toarray().T @ forces
    assert np.allclose(on_bob[:3], (0, 0, 2.0 * (G + 9.0 / 1.5)), rtol=1e-12, atol=1e-12)
    assert np.allclose(accelerations[0, :3], (0, 0, 6.0), rtol=1e-12, atol=1e-12)


@settings(deadline=None, derandomize=True, max_examples=amount(20, 60))
@given(st.sampled_from(TYPES), st.integers(0, 10**6))
def test_random_joint_against_a_dense_solution(kind, seed):
    """Residual of the system, and the least-squares solution by NumPy."""
    world = mc.World(Pair(np.random.default_rng(seed), kind).scene, stabilization="none")
    system = world.kkt()
    accelerations, forces = system.solve()
    x = np.concatenate([accelerations.ravel(), -forces])
    assert np.allclose(system.matrix @ x, system.rhs, rtol=0, atol=1e-9 * (1 + np.abs(system.rhs).max()))
    dense, dense_forces = dense_solution(world)
    assert np.allclose(accelerations, dense, rtol=0, atol=1e-8 * (1 + np.abs(dense).max()))
    assert np.allclose(forces, dense_forces, rtol=0, atol=1e-8 * (1 + np.abs(dense_forces).max(initial=0.0)))


def test_springs_and_motors_count_as_forces():
    """A slider's spring and damper, and a position motor within and beyond its bound."""

    def acceleration(**keywords):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("car", mass=2.0, inertia=(1, 1, 1), position=(0.3, 0, 0), velocity=(0.5, 0, 0))
        scene.add_joint(mc.SliderJoint(None, "car", (1, 0, 0), **keywords))
        return mc.World(scene).kkt().solve()[0][0, 0]

    spring = mc.Spring(stiffness=50.0, damping=4.0, rest=0.1)
    assert np.isclose(acceleration(spring=spring), -(50.0 * -0.1 + 4.0 * 0.5) / 2.0, rtol=1e-12)
    w = 2 * np.pi * 1.5
    motor = dict(position=0.2, hertz=1.5, damping_ratio=0.8)
    assert np.isclose(acceleration(motor=mc.Motor(max_force=1e9, **motor)), w * w * 0.2 - 2 * 0.8 * w * 0.5, rtol=1e-9)
    assert np.isclose(acceleration(motor=mc.Motor(max_force=3.0, **motor)), 1.5, rtol=1e-9)
    assert acceleration(motor=mc.Motor(velocity=7.0, max_force=1e9)) == 0.0


def redundant_scenes():
    """name -> (scene, rank, redundant)"""
    planar = four_bar()
    door = mc.Scene()
    door.add_body("door", mass=20.0, inertia=(5, 5, 1), position=(0.5, 0, 1))
    for z in (0.2, 1.0, 1.8):
        door.add_joint(mc.HingeJoint(None, "door", (0, 0, z), (0, 0, 1)))
    ring = mc.Scene()
    corners = [(0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)]
    for i, corner in enumerate(corners):
        ring.add_body(f"b{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=corner)
    for i in range(4):
        ring.add_joint(mc.FixedJoint(f"b{i}", f"b{(i + 1) % 4}"))
    return {"four-bar": (planar, 12, 3), "door": (door, 5, 10), "ring of welds": (ring, 18, 6)}


@pytest.mark.parametrize("name", redundant_scenes())
def test_redundant_rows(name):
    """Rank, null space, and the accelerations of the least-squares solution."""
    scene, rank, redundant = redundant_scenes()[name]
    world = mc.World(scene)
    found = world.redundancy()
    assert (found.rank, found.redundant) == (rank, redundant)
    moving = np.repeat(world.masses > 0, 6)
    jacobian = world.jacobian().toarray()[:, moving]
    assert np.linalg.matrix_rank(jacobian) == rank
    assert found.null_space.shape == (rank + redundant, redundant)
    assert np.allclose(found.null_space.T @ found.null_space, np.eye(redundant), atol=1e-12)
    assert np.abs(jacobian.T @ found.null_space).max() < 1e-12
    system = world.kkt()
    accelerations, forces = system.solve()
    assert np.allclose(system.matrix @ np.concatenate([accelerations.ravel(), -forces]), system.rhs, atol=1e-10)
    assert np.allclose(accelerations, dense_solution(world)[0], atol=1e-9)


def test_redundant_forces_are_shared():
    """The weight of a door at rest on three equal hinges in one line: the vertical force, a third each."""
    door, _, _ = redundant_scenes()["door"]
    world = mc.World(door)
    _, forces = world.kkt().solve()
    jacobian = world.jacobian().toarray()
    on_door = [(jacobian[5 * k : 5 * k + 5].T @ forces[5 * k : 5 * k + 5])[2] for k in range(3)]
    assert np.allclose(on_door, 20.0 * G / 3, rtol=1e-6)


def test_looking_changes_nothing():
    world = mc.World(mc.load("ragdolls", count=1))
    world.step(3)
    before = world.state_hash()
    world.kkt().solve()
    world.redundancy()
    assert world.state_hash() == before
