"""Contact forces at the level of accelerations: three ways, unique results, unsolvable contacts, Painlevé's rod."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from amounts import amount
from mcsim.core.linear import least
from mcsim.solve.problems.contact_dynamics import (
    by_acceleration_qp,
    by_force_qp,
    by_lcp,
    complementary_solutions,
    contact_equations,
)
from mcsim.solve.problems.coulomb import apart, cone, negative_minor, slipping

G = 9.81


def all_ways(H, force, T, drift, **joints):
    """The three answers, and the acceleration program's accelerations."""
    equations = contact_equations(H, force, T, drift, **joints)
    third, accelerations = by_acceleration_qp(H, force, T, drift, **joints)
    return [by_lcp(equations.M, equations.d), by_force_qp(equations.M, equations.d), third], accelerations


def body(mass=4.0, inertia=(0.5, 0.6, 0.7)):
    H = np.zeros((6, 6))
    H[:3, :3], H[3:, 3:] = mass * np.eye(3), np.diag(inertia)
    return H


def normals(points, normal=(0.0, 0.0, 1.0)):
    return np.array([np.r_[normal, np.cross(p, normal)] for p in points]).T


def test_a_block_on_a_plane_carries_its_weight():
    """One point under the centre of mass: lambda = m g, zeta' = 0; pulled up by more than its weight it leaves."""
    T = normals([(0.0, 0.0, -1.0)])
    answers, _ = all_ways(body(), np.array([0, 0, -4 * G, 0, 0, 0.0]), T, np.zeros(1))
    for answer in answers:
        assert answer.solved
        assert answer.forces == pytest.approx([4 * G], rel=1e-13)
        assert answer.accelerations == pytest.approx([0.0], abs=1e-13)
    answers, accelerations = all_ways(body(), np.array([0, 0, 4.0, 0, 0, 0]), T, np.zeros(1))
    for answer in answers:
        assert answer.forces == pytest.approx([0.0], abs=1e-14) and answer.accelerations == pytest.approx([1.0])
    assert accelerations[2] == pytest.approx(1.0)


def test_a_table_with_four_legs():
    """lambda is not unique; T lambda and zeta' are what statics asks for, by all three ways."""
    T = normals([(x, y, -1.0) for x in (-1, 1) for y in (-1, 1)])
    load = np.array([0, 0, -4 * G, 3.0, 2.0, 0])
    answers, accelerations = all_ways(body(), load, T, np.zeros(4))
    for answer in answers:
        assert answer.solved and np.all(answer.forces >= 0.0)
        assert T @ answer.forces == pytest.approx(-load, abs=1e-11)
        assert answer.accelerations == pytest.approx(np.zeros(4), abs=1e-12)
    assert accelerations == pytest.approx(np.zeros(6), abs=1e-12)


def test_a_table_with_three_legs():
    T = normals([(-1, -1, -1.0), (1, -1, -1.0), (0, 1, -1.0)])
    answers, _ = all_ways(body(), np.array([0, 0, -4 * G, 0, 0, 0.0]), T, np.zeros(3))
    for answer in answers:
        assert answer.solved and answer.forces == pytest.approx([G, G, 2 * G])


@pytest.mark.parametrize("closing, status", [(1.0, "unsolvable"), (-1.0, "solved"), (0.0, "solved")])
def test_a_slot_that_grows_too_narrow(closing, status):
    """Two walls on both sides of a body, moving together with an acceleration (11.3's slot): unsolvable, with forces
    that cancel each other as the reason; a slot that keeps or gains width is solved."""
    T = np.array([[0, 0, 1.0, 0, 0, 0], [0, 0, -1.0, 0, 0, 0]]).T
    drift = np.array([0.5, -0.5 - closing])
    answers, _ = all_ways(body(), np.array([0, 0, -4 * G, 0, 0, 0.0]), T, drift)
    for answer in answers:
        assert answer.status == status
        if status == "unsolvable":
            y = answer.ray
            assert np.all(y >= 0.0) and np.max(y) == 1.0
            assert T @ y == pytest.approx(np.zeros(6), abs=1e-9)
            assert y @ contact_equations(body(), np.zeros(6), T, drift).d < -0.5


@settings(max_examples=amount(20, 60))
@given(st.integers(1, 10), st.integers(1, 8), st.integers(0, 2), st.booleans(), st.integers(0, 10**6))
def test_the_three_ways_agree(contacts, freedoms, joints, moving, seed):
    """Random systems, many of them redundant: the same status, and the same unique T lambda, zeta' and accelerations,
    which the constraints of joints hold."""
    rng = np.random.default_rng(seed)
    joints = min(joints, freedoms - 1)
    root = rng.normal(size=(freedoms, freedoms))
    H = root @ root.T + np.eye(freedoms)
    T, force = rng.normal(size=(freedoms, contacts)), rng.normal(size=freedoms)
    drift = rng.normal(size=contacts) if moving else np.zeros(contacts)
    K, k = rng.normal(size=(joints, freedoms)), rng.normal(size=joints)
    answers, accelerations = all_ways(H, force, T, drift, K=K, k=k)
    assert len({answer.status for answer in answers}) == 1 and answers[0].status != "limit"
    if not answers[0].solved:
        return
    equations = contact_equations(H, force, T, drift, K, k)
    for answer in answers:
        assert np.min(answer.forces) >= 0.0 and np.min(answer.accelerations) > -1e-8
        assert abs(answer.forces @ answer.accelerations) < 1e-7 * (1 + np.max(answer.forces))
        assert equations.pushes @ answer.forces == pytest.approx(equations.pushes @ answers[0].forces, abs=1e-7)
        assert answer.accelerations == pytest.approx(answers[0].accelerations, abs=1e-7)
    assert K @ accelerations == pytest.approx(k, abs=1e-9)


# ---- Painlevé's rod --------------------------------------------------------------------------------------------------


def rod(angle, friction, spin=0.0, length=1.0, mass=1.0, force=G):
    """A thin rod whose lower end slides to +x over a floor, at an angle [rad] from it, the upper end behind: A (3, 3),
    b (3,) of rows [z, x, y], in the plane."""
    inertia = mass * length**2 / 12.0
    arm = -0.5 * length * np.array([-np.cos(angle), np.sin(angle)])  # from the centre to the sliding end (x, z)
    J = np.array([[0.0, 1.0, -arm[0]], [1.0, 0.0, arm[1]], [0.0, 0.0, 0.0]])  # of (x', z', turning x to -z...)
    J[0, 2], J[1, 2] = arm[0], -arm[1]
    A = J @ np.diag([1 / mass, 1 / mass, 1 / inertia]) @ J.T
    b = np.array([-force - spin**2 * arm[1], -(spin**2) * arm[0], 0.0])
    return A, b, np.array([friction]), np.array([[1.0, 0.0]])


def determinant(angle, friction):
    """A_nn - mu A_nt of the rod: (1 + 3 c^2 - 3 mu s c) / m with s, c of the angle."""
    return 1.0 + 3.0 * np.cos(angle) ** 2 - 3.0 * friction * np.sin(angle) * np.cos(angle)


@pytest.mark.parametrize("angle, friction", [(1.0, 0.3), (1.0, 4.0), (0.6, 2.0), (1.2, 1.0)])
def test_the_rods_matrix_is_the_closed_form(angle, friction):
    A, *_ = rod(angle, friction)
    value = A[0, 0] - friction * A[0, 1]
    assert value == pytest.approx(determinant(angle, friction), rel=1e-12)
    assert (negative_minor(np.array([[value]])) is not None) == (value < 0.0)


def test_painleves_rod():
    """With mu over 4/3 there are angles at which the rod has no solution (it would be pushed down) or two (it flies, or
    is pressed by a force that presses itself)."""
    angle, friction = np.arctan(2.0), 4.0 / 3.0 * 1.5
    assert determinant(angle, friction) < 0.0
    assert slipping(*rod(angle, friction)).status == "none"
    fast = slipping(*rod(angle, friction, spin=6.0))  # the turning lifts the end: b > 0
    assert fast.status == "several" and fast.impulses[0] == 0.0
    assert len(complementary_solutions(np.array([[determinant(angle, friction)]]), np.array([2.0]))) == 2
    mild = slipping(*rod(angle, 0.3))
    assert mild.status == "solved" and mild.impulses[1] == pytest.approx(-0.3 * mild.impulses[0])
    assert mild.velocities[0] == pytest.approx(0.0, abs=1e-13)


# ---- friction --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pull, mu, force",
    [(2.0, 0.5, 2.0), (10.0, 0.5, 0.5 * 4 * G), (30.0, 0.5, 0.5 * 4 * G), (1e4, np.inf, 1e4), (3.0, 0.0, 0.0)],
)
def test_a_point_mass_pulled_over_a_floor(pull, mu, force):
    """Friction is the pull, at most mu m g, against it."""
    A = np.eye(3) / 4.0
    b = np.array([-G, -0.6 * pull / 4.0, 0.8 * pull / 4.0])
    answer = cone(A, b, np.array([mu]))
    assert answer.status == "solved"
    assert answer.impulses[1:] == pytest.approx(min(pull, force) * np.array([0.6, -0.8]), rel=1e-12, abs=1e-12)


@settings(max_examples=amount(20, 60))
@given(st.integers(1, 8), st.integers(3, 18), st.integers(0, 10**6))
def test_the_cone_is_met(contacts, freedoms, seed):
    """Coulomb's law in every contact of random problems, redundant ones among them."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * contacts, freedoms))
    A, b = J @ J.T, J @ rng.normal(size=freedoms)
    mu = rng.choice([0.0, 0.3, 0.8, 2.0, np.inf], contacts)
    answer = cone(A, b, mu)
    assert answer.status == "solved"
    size = max(np.max(np.abs(answer.impulses)), 1e-3)
    for p, u, m in zip(answer.impulses.reshape(-1, 3), answer.velocities.reshape(-1, 3), mu):
        length, speed = np.linalg.norm(p[1:]), np.linalg.norm(u[1:])
        assert p[0] >= 0.0 and u[0] > -1e-7 * size and abs(p[0] * u[0]) < 1e-6 * size**2
        if np.isfinite(m):
            assert length <= m * p[0] + 1e-7 * size
            if speed > 1e-3 * size:
                assert p[1:] == pytest.approx(-m * p[0] * u[1:] / speed, abs=1e-4 * size)
        elif p[0] > 1e-4 * size:
            assert speed < 1e-5 * size


@settings(max_examples=amount(20, 60))
@given(st.integers(1, 7), st.integers(3, 18), st.integers(0, 10**6))
def test_given_slips_and_loads(contacts, freedoms, seed):
    """Contacts that slip already have their friction along the slip, under the load too; the others Coulomb's law. Where
    there is a solution: little friction, so that none of Painlevé's."""
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * contacts, freedoms))
    A, b = J @ J.T, J @ rng.normal(size=freedoms)
    mu, load = rng.choice([0.0, 0.02, 0.05], contacts), rng.choice([0.0, 0.5], contacts)
    angle = rng.uniform(0, 2 * np.pi, contacts)
    slips = rng.random(contacts) < 0.5
    slip = np.where(slips[:, None], np.stack([np.cos(angle), np.sin(angle)], axis=1), 0.0)
    answer = cone(A, b, mu, load, slip)
    if not answer.solved:
        return
    size = max(np.max(np.abs(answer.impulses)), 1e-3)
    for p, u, m, extra, given_slip, s in zip(
        answer.impulses.reshape(-1, 3), answer.velocities.reshape(-1, 3), mu, load, slips, slip
    ):
        assert p[0] >= 0.0 and u[0] > -1e-6 * size and abs(p[0] * u[0]) < 1e-6 * size**2
        if given_slip and m > 0.0:
            assert p[1:] == pytest.approx(-m * (p[0] + extra) * s, abs=1e-7 * size)
        else:
            assert np.linalg.norm(p[1:]) <= m * (p[0] + extra) + 1e-7 * size


def test_groups_are_problems_of_their_own():
    """Contacts of two systems mixed up: the groups, and the answers that each has alone."""
    rng = np.random.default_rng(3)
    J = [rng.normal(size=(6, 4)), rng.normal(size=(9, 5))]
    A, b, mu = np.zeros((15, 15)), np.zeros(15), np.full(5, 0.4)
    own = [np.array([0, 3]), np.array([1, 2, 4])]
    for part, numbers in zip(J, own):
        rows = (3 * numbers[:, None] + np.arange(3)).ravel()
        A[np.ix_(rows, rows)], b[rows] = part @ part.T, part @ rng.normal(size=part.shape[1])
    assert [numbers.tolist() for numbers, _ in apart(A)] == [[0, 3], [1, 2, 4]]
    whole = cone(A, b, mu)
    for numbers, rows in apart(A):
        assert whole.impulses[rows] == pytest.approx(cone(A[np.ix_(rows, rows)], b[rows], mu[numbers]).impulses, abs=1e-13)


@pytest.mark.parametrize("size, rank", [(1, 1), (1, 0), (6, 6), (12, 5)])
def test_least_solutions(size, rank):
    rng = np.random.default_rng(size)
    B = rng.normal(size=(size, rank))
    A, x = B @ B.T, rng.normal(size=size)
    solution, independent = least(A, A @ x)
    assert solution == pytest.approx(np.linalg.lstsq(A, A @ x, rcond=1e-11)[0], abs=1e-9)
    assert len(independent) == rank == np.linalg.matrix_rank(A[:, independent])


def test_bad_and_empty_input():
    """NaN is refused by name; no contacts at all have an answer."""
    from mcsim import SceneError

    for solve in (by_lcp, by_force_qp):
        with pytest.raises(SceneError, match="d has values that are not finite"):
            solve(np.eye(2), [1.0, np.nan])
        assert solve(np.zeros((0, 0)), np.zeros(0)).solved
    with pytest.raises(SceneError, match="friction must not be negative"):
        cone(np.eye(3), np.zeros(3), [-0.1])
    assert cone(np.zeros((0, 0)), np.zeros(0), np.zeros(0)).status == "solved"
    answer, accelerations = by_acceleration_qp(body(), np.ones(6), np.zeros((6, 0)), np.zeros(0))
    assert answer.solved and accelerations == pytest.approx(np.linalg.solve(body(), np.ones(6)))


@pytest.mark.parametrize("answer", ["no minimum", "nothing", "false proof"])
def test_what_nnls_answers_is_checked(answer, monkeypatch):
    """A table with four legs; some versions of nnls end before the minimum, and say nothing."""
    import scipy.optimize

    def ended_early(E, e):
        y = {"no minimum": np.array([0.3, 0.1, 0.0, 0.2]), "nothing": np.zeros(4), "false proof": np.ones(4)}[answer]
        return y, 0.0 if answer == "false proof" else float(np.linalg.norm(E @ y - e))

    monkeypatch.setattr(scipy.optimize, "nnls", ended_early)
    T = normals([(x, y, 0.0) for x in (-1, 1) for y in (-1, 1)])
    found, accelerations = by_acceleration_qp(np.eye(6), np.array([0, 0, -G, 1.0, 2.0, 0]), T, np.zeros(4))
    assert found.status == "solved"
    assert np.abs(accelerations).max() < 1e-9 and found.forces.min() >= 0.0 and found.forces.sum() == pytest.approx(G)
