"""Impulsive dynamics: closed forms, conservation, Newton's cradle, joints."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from amounts import amount
from mcsim import SceneError, SimulationError
from mcsim.solve.problems.impacts import LAWS, ORDERS, frictionless, impact, sticking, two_bodies

STILL = np.zeros(6)


def row(count):
    """Equal masses in a row: H and T of their contacts."""
    T = np.zeros((count, count - 1))
    for i in range(count - 1):
        T[i, i], T[i + 1, i] = -1.0, 1.0
    return np.eye(count), T


@pytest.mark.parametrize("law", LAWS)
def test_newtons_cradle_tells_simultaneous_from_sequential(law):
    """One ball hits four: by sequential impacts the last goes off alone; by one simultaneous problem the first comes
    back with 3/5, the others go off with 2/5 together. Momentum and energy are the same before and after, both ways."""
    H, T = row(5)
    before = np.array([1.0, 0, 0, 0, 0])
    after = {order: before + impact(H, T, before, 1.0, law=law, order=order).velocity_change for order in ORDERS}
    off = 1e-11 if law == "stronge" else 1e-14  # whose restitution ends by false position
    assert after["sequential"] == pytest.approx([0, 0, 0, 0, 1.0], abs=off)
    assert after["simultaneous"] == pytest.approx([-0.6, 0.4, 0.4, 0.4, 0.4], abs=off)
    for velocities in after.values():
        assert velocities.sum() == pytest.approx(1.0, abs=off)
        assert velocities @ velocities == pytest.approx(1.0, abs=off)


def test_two_balls_on_three():
    """Sequential: two go off."""
    H, T = row(5)
    before = np.array([1.0, 1.0, 0, 0, 0])
    after = before + impact(H, T, before, 1.0, order="sequential").velocity_change
    assert after == pytest.approx([0, 0, 0, 1.0, 1.0], abs=1e-14)


def test_a_sequence_without_end_is_ended():
    """A ball thrown between two that close on it with e = 0.5: ever weaker blows, ended by a plastic one to all."""
    H, T = row(3)
    found = impact(H, T, np.array([1.0, 0.0, -1.0]), 0.5, order="sequential")
    assert found.rates == pytest.approx(np.maximum(found.rates, 0.0), abs=1e-12)
    assert found.velocity_change.sum() == pytest.approx(0.0, abs=1e-14)
    assert found.energy < 0.0


@pytest.mark.parametrize("law", LAWS[:2])
def test_a_single_blow_is_the_problem_of_one_contact(law):
    """A sequence takes each of its blows from the closed form of one contact, a twentieth of the general problem's time."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 9))
        B, T, e = rng.normal(size=(n, n)), rng.normal(size=(n, 3)), rng.choice([0.0, 0.3, 1.0])
        H, before, friction = B @ B.T + 0.1 * np.eye(n), rng.normal(size=n), [rng.choice([0.0, 0.1, 0.4])]
        found = [impact(H, T, before, e, friction, law=law, order=order) for order in ORDERS]
        size = np.abs(found[0].impulses).max(initial=0.0)
        assert found[1].impulses == pytest.approx(found[0].impulses, rel=1e-9, abs=1e-9 * size), seed


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_two_bodies_without_friction(e):
    """(11.65): central impact of two spheres as the textbook has it, momentum kept, the speeds come back by e."""
    masses, inertias = (2.0, 3.0), np.stack([0.8 * np.eye(3), 1.2 * np.eye(3)])
    velocities = np.array([[1.0, 0.5, 0, 0, 0, 3.0], [-2.0, 0, 0, 0, 1.0, 0]])
    after, impulse = two_bodies(masses, inertias, [(-1.0, 0, 0), (1.0, 0, 0)], (0, 0, 0), (1.0, 0, 0), velocities, e)
    reduced = 2.0 * 3.0 / 5.0
    assert impulse == pytest.approx([(1 + e) * reduced * 3.0, 0, 0])
    assert after[1, 0] - after[0, 0] == pytest.approx(e * 3.0)
    assert 2.0 * after[0, :3] + 3.0 * after[1, :3] == pytest.approx([2.0 - 6.0, 1.0, 0])
    assert after[:, 3:] == pytest.approx(velocities[:, 3:])


@pytest.mark.parametrize("friction", [0.0, 0.2, np.inf])
def test_two_bodies_off_centre(friction):
    """Friction none, some and so much that it sticks (11.72): angular momentum about the point of impact is kept, the
    normal speed comes back by e, the impulse stays in its cone, and slip ends or is opposed."""
    masses, inertias = (np.inf, 1.5), np.stack([np.eye(3), np.diag([0.2, 0.3, 0.4])])
    center, point = np.array([0.3, -0.1, 0.5]), np.zeros(3)
    velocities = np.array([STILL, [1.0, -0.4, -2.0, 0.5, 2.0, -1.0]])
    after, impulse = two_bodies(masses, inertias, [(0, 0, -1.0), center], point, (0, 0, 1.0), velocities, 0.5, friction)

    def about_point(v):
        return 1.5 * np.cross(center, v[:3]) + inertias[1] @ v[3:]

    def at_point(v):
        return v[:3] + np.cross(v[3:], -center)

    assert np.all(after[0] == 0.0)
    assert about_point(after[1]) == pytest.approx(about_point(velocities[1]), abs=1e-13)
    assert at_point(after[1])[2] == pytest.approx(-0.5 * at_point(velocities[1])[2])
    slip = at_point(after[1])[:2]
    if friction == np.inf:
        assert slip == pytest.approx([0, 0], abs=1e-13)
    else:
        assert np.linalg.norm(impulse[:2]) <= friction * impulse[2] + 1e-12
        assert impulse[:2] == pytest.approx(-friction * impulse[2] * slip / np.linalg.norm(slip), abs=1e-10)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("order", ORDERS)
def test_an_articulated_impact(law, order):
    """u = H (change): a double pendulum struck at its tip. In joint angles, and as two rods with hinges as rows: the
    same change of all velocities, H times it the impulse, K of it zero."""
    mass, length = 1.3, 0.8
    inertia = mass * length**2 / 12.0
    angles = np.array([0.4, 1.1])  # of the rods from down, in the plane
    across = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    # Maximal: (x, z, turn) of each rod; G takes the angles' rates to them.
    G = np.zeros((6, 2))
    G[0:2, 0], G[2, 0] = 0.5 * length * across[0], 1.0
    G[3:5, 0], G[3:5, 1], G[5, 1] = length * across[0], 0.5 * length * across[1], 1.0
    M = np.diag([mass, mass, inertia] * 2)
    K = np.zeros((4, 6))
    K[0:2, 0:2], K[0:2, 2] = np.eye(2), -0.5 * length * across[0]
    K[2:4, 3:5], K[2:4, 0:2] = np.eye(2), -np.eye(2)
    K[2:4, 2], K[2:4, 5] = -0.5 * length * across[0], -0.5 * length * across[1]
    assert np.max(np.abs(K @ G)) < 1e-15
    T = np.zeros((6, 1))
    T[3:5, 0], T[5, 0] = (0, 1.0), 0.5 * length * across[1] @ (0, 1.0)
    rates = np.array([-1.0, -2.0])
    reduced = impact(G.T @ M @ G, G.T @ T, rates, 0.6, law=law, order=order)
    maximal = impact(M, T, G @ rates, 0.6, K=K, law=law, order=order)
    assert reduced.rates == pytest.approx(-0.6 * (T.T @ G @ rates))
    assert G @ reduced.velocity_change == pytest.approx(maximal.velocity_change, abs=1e-13)
    assert (G.T @ M @ G) @ reduced.velocity_change == pytest.approx(G.T @ T @ reduced.impulses)
    assert K @ maximal.velocity_change == pytest.approx(np.zeros(4), abs=1e-13)
    assert M @ maximal.velocity_change == pytest.approx(T @ maximal.impulses + K.T @ maximal.joint_impulses, abs=1e-12)
    closed, change = frictionless(np.linalg.inv(G.T @ M @ G), (G.T @ T)[:, 0], (T.T @ G @ rates)[0], 0.6)
    assert closed == pytest.approx(reduced.impulses[0]) and change == pytest.approx(reduced.velocity_change)


@settings(max_examples=amount(16, 50))
@given(
    st.integers(1, 6),
    st.integers(3, 12),
    st.sampled_from(LAWS),
    st.sampled_from(ORDERS),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_impacts_of_random_systems(contacts, freedoms, law, order, rough, seed):
    """Nothing closes afterwards; without friction energy never grows, and e = 1 keeps it (to rounding); impulses
    push."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(freedoms, 3 * contacts))
    e = rng.choice([0.0, 0.5, 1.0])
    velocities = rng.normal(size=freedoms)
    friction = rng.choice([0.0, 0.5, np.inf], contacts) if rough else None
    try:
        found = impact(np.eye(freedoms), T if rough else T[:, ::3], velocities, e, friction, law=law, order=order)
    except SimulationError as error:  # a contact that can stick only by pulling
        assert rough and np.isinf(friction).any() and "infinite friction" in str(error)
        return
    step = 3 if rough else 1
    if found.finished:
        assert np.min(found.rates[::step]) > -1e-9
    assert np.min(found.impulses[::step]) >= 0.0
    after = velocities + found.velocity_change
    assert found.energy == pytest.approx(0.5 * (after @ after - velocities @ velocities), abs=1e-9)
    if not rough or e == 0.0:
        assert found.energy < 1e-9
    if not rough and e == 1.0 and law == "newton" and found.finished:
        assert found.energy == pytest.approx(0.0, abs=1e-9)


def test_sticking_where_nothing_closes_and_wrong_names():
    p, change = sticking(np.eye(3), np.eye(3), np.array([0.1, 1.0, 0.0]))
    assert not p.any() and not change.any()
    with pytest.raises(SceneError, match="newton, poisson"):
        impact(np.eye(1), np.eye(1), np.ones(1), 0.5, law="hertz")
    with pytest.raises(SceneError, match=r"velocities\[0\] is nan; all must be finite"):
        impact(np.eye(1), np.eye(1), np.array([np.nan]), 0.5)
    with pytest.raises(SceneError, match="sequential"):
        impact(np.eye(1), np.eye(1), np.ones(1), 0.5, order="random")
