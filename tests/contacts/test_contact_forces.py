"""Forces of contacts in three ways: against every set of closed contacts tried by itself, bounded least squares, and each
other; when they are unique; what certifies them; bad input."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import lsq_linear

import mcsim as mc
from amounts import amount

G = 9.81
contacts = mc.contacts


def drawn(seed, freedoms, count, redundant, joints=0):
    """A system at random, contacts of which some say the same: H, f, T, drift, K, k."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(freedoms, freedoms))
    T = rng.normal(size=(freedoms, count))
    drift = rng.normal(size=count)
    for i in range(min(redundant, count - 1)):  # a copy, another size, at the same rate
        T[:, -1 - i], drift[-1 - i] = 2.0 * T[:, 0], 2.0 * drift[0]
    return (
        root @ root.T + np.eye(freedoms),
        rng.normal(size=freedoms),
        T,
        drift,
        rng.normal(size=(joints, freedoms)),
        rng.normal(size=joints),
    )


def by_enumeration(M, d):
    """zeta' of the complementarity problem, by every set of closed contacts; None if there is no solution."""
    count = len(d)
    for size in range(count + 1):
        for own in combinations(range(count), size):
            own, z = list(own), np.zeros(count)
            if own:
                z[own] = np.linalg.lstsq(M[np.ix_(own, own)], -d[own], rcond=1e-11)[0]
            w = M @ z + d
            if z.min(initial=0.0) > -1e-9 and w.min(initial=0.0) > -1e-9 and np.abs(w[own]).max(initial=0.0) < 1e-9:
                return w
    return None


def all_ways(H, f, T, drift, K, k):
    equations = contacts.Equations(H, f, T, drift, K=K, k=k)
    return equations, [equations.by_lcp(), equations.by_force_qp(), equations.by_acceleration_qp()]


@settings(max_examples=amount(30, 300))
@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 6), st.integers(0, 2), st.integers(0, 1))
def test_the_three_ways_are_the_enumerated_answer(seed, freedoms, count, redundant, joints):
    """The same T lambda, zeta' and a to rounding, with a certificate; all unsolvable or none."""
    H, f, T, drift, K, k = drawn(seed, freedoms, count, redundant, min(joints, freedoms - 1))
    equations, answers = all_ways(H, f, T, drift, K, k)
    expected = by_enumeration(equations.M, equations.d)
    assert [answer.solved for answer in answers] == [expected is not None] * 3
    size = 1.0 + np.abs(equations.d).max()
    for answer in answers:
        if expected is None:
            y = answer.certificate.ray
            assert y.min() >= 0.0 and y @ equations.d < 0.0
            assert np.abs(equations.M @ y).max() < 1e-6 * np.abs(equations.M).max()
            continue
        assert answer.accelerations == pytest.approx(expected, abs=1e-7 * size)
        assert answer.a == pytest.approx(answers[0].a, abs=1e-7 * size)
        assert max(answer.certificate[:4]) < 1e-6 * size * (1.0 + answer.forces.max())
        assert H @ answer.a == pytest.approx(f + T @ answer.forces + K.T @ answer.joint_forces, abs=1e-6 * size)
        assert K @ answer.a == pytest.approx(k, abs=1e-9 * size)
        assert np.array_equal(answer.active, expected < 1e-7 * size) or np.abs(expected).min() < 1e-5


@settings(max_examples=amount(20, 200))
@given(st.integers(0, 10**6), st.integers(2, 8), st.integers(1, 10))
def test_forces_are_those_of_bounded_least_squares(seed, freedoms, count):
    """Without drift the force program is min |L^-1 (f + T lambda)|, lambda >= 0: another solver of another kind."""
    H, f, T, _, _, _ = drawn(seed, freedoms, count, count // 3)
    inverse = np.linalg.inv(np.linalg.cholesky(H))
    expected = lsq_linear(inverse @ T, -inverse @ f, bounds=(0.0, np.inf), method="bvls", tol=1e-14)
    a = np.linalg.solve(H, f + T @ expected.x)
    for answer in all_ways(H, f, T, np.zeros(count), None, None)[1]:
        assert answer.a == pytest.approx(a, abs=1e-7)


def test_functions_of_arrays_are_the_methods():
    H, f, T, drift, K, k = drawn(4, 5, 4, 1, 1)
    equations, answers = all_ways(H, f, T, drift, K, k)
    for answer, alone in zip(
        answers,
        (
            contacts.by_lcp(equations.M, equations.d),
            contacts.by_force_qp(equations.M, equations.d),
            contacts.by_acceleration_qp(H, f, T, drift, K, k),
        ),
    ):
        assert alone.forces == pytest.approx(answer.forces, abs=1e-12)
        assert alone.accelerations == pytest.approx(answer.accelerations, abs=1e-12)
    assert alone.a == pytest.approx(answers[0].a, abs=1e-9)
    assert alone.joint_forces == pytest.approx(answers[0].joint_forces, abs=1e-9)


# ---- unique forces ---------------------------------------------------------------------------------------------------


def beam(places, load):
    """A beam that may rise and turn, on supports at `places`, its weight of 1 N at x = load: M, d."""
    T = np.array([np.ones(len(places)), places])
    f = np.array([-1.0, -load])
    return T.T @ T, T.T @ f


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "places, load, unique",
    [
        ([-1.0, 1.0], 0.3, True),
        ([-1.0, 0.0, 1.0], 0.3, False),
        ([-1.0, 0.0, 1.0], -1.0, True),  # all on the outermost: the others could only give what they do not have
        ([-1.0, -1.0, 1.0], -1.0, False),
        ([-1.0, 0.0, 1.0, 2.0], 2.0, True),
    ],
)
def test_a_beam_on_supports(places, load, unique):
    """M is singular wherever there are more than two, but the forces are unique if the load is on the last one."""
    for solve in (contacts.by_lcp, contacts.by_force_qp):
        answer = solve(*beam(places, load))
        assert answer.unique is unique and answer.active.all()
        assert answer.forces.sum() == pytest.approx(1.0)


@settings(max_examples=amount(40, 300))
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 6))
def test_unique_is_what_other_answers_say(seed, freedoms, count):
    """Of small whole numbers, so that forces and gaps at rest are often zero: the answers that are the farthest apart, by
    linear programs over all lambda >= 0 with the same T lambda."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(seed)
    T = rng.integers(-1, 2, (freedoms, count)).astype(float)
    weights = np.where(rng.random(count) < 0.5, 0.0, rng.integers(1, 3, count))
    answer = contacts.by_lcp(T.T @ T, -T.T @ (T @ weights))  # weights are one answer, with zeta' = 0
    assert answer.solved and answer.accelerations == pytest.approx(np.zeros(count), abs=1e-9)
    spread = 0.0
    for i in range(count):
        ends = []
        for sign in (1.0, -1.0):
            found = linprog(sign * np.eye(count)[i], A_eq=T, b_eq=T @ weights)
            ends.append(np.inf if found.status == 3 else sign * found.fun)
        spread = max(spread, ends[1] - ends[0])
    assert answer.unique is (spread < 1e-6)


def test_forces_that_share_the_load_are_not_unique():
    """Of an answer that no pivots end in: all four legs bear, none is idle."""
    M, d = np.ones((4, 4)), -np.ones(4)
    answer = contacts.ContactForces("solved", np.full(4, 0.25), np.zeros(4), M, d)
    assert answer.active.all() and not answer.unique
    assert contacts.ContactForces("unsolvable", np.zeros(4), np.zeros(4), M, d).unique is False


# ---- closed forms ----------------------------------------------------------------------------------------------------


def test_a_rod_on_its_end():
    """A thin rod let go from rest at an angle to a smooth floor: lambda = m g / (1 + 3 cos² angle), its end at rest."""
    mass, length, angle = 1.5, 1.2, 0.7
    inertia = mass * length**2 / 12.0
    H = contacts.body_inertia([mass], [np.diag([inertia, inertia, 1e-3])])
    center = 0.5 * length * np.array([np.cos(angle), 0.0, np.sin(angle)])
    T = contacts.contact_rows([(0, 0, 0)], [(0, 0, 1)], [(-1, 0)], [center])
    f = np.array([0, 0, -mass * G, 0, 0, 0])
    for answer in all_ways(H, f, T, None, None, None)[1]:
        assert answer.forces == pytest.approx([mass * G / (1.0 + 3.0 * np.cos(angle) ** 2)], rel=1e-12)
        assert answer.unique and answer.active.all()


def test_a_wedge_and_a_block():
    """A block of m on a smooth wedge of M on a smooth floor: N = m M g cos / (M + m sin²), the wedge moves off."""
    m, M, angle = 2.0, 5.0, 0.5
    H = contacts.body_inertia([M, m], [np.eye(3)] * 2)
    n = np.array([np.sin(angle), 0.0, np.cos(angle)])
    points, normals = [(0, 0, 0), (0.1, 0, 0.5)], [(0, 0, 1), n]
    T = contacts.contact_rows(points, normals, [(-1, 0), (0, 1)], [(0, 0, 0.3), np.array(points[1]) + 0.2 * n])
    T[[3, 4, 5, 9, 10, 11]] = 0.0  # neither turns
    f = np.zeros(12)
    f[2], f[8] = -M * G, -m * G
    N = m * M * G * np.cos(angle) / (M + m * np.sin(angle) ** 2)
    for answer in all_ways(H, f, T, None, None, None)[1]:
        assert answer.forces == pytest.approx([M * G + N * np.cos(angle), N], rel=1e-12)
        assert answer.a[0] == pytest.approx(-N * np.sin(angle) / M)


def test_contacts_that_close_or_open():
    """One that opens has no force, whatever pushes it; one that closes must be struck first."""
    equations = contacts.Equations(np.eye(2), [-1.0, -1.0], np.eye(2), v=[0.5, 0.0])
    assert equations.opening.tolist() == [True, False] and equations.current.tolist() == [False, True]
    answer = equations.by_lcp()
    assert answer.forces == pytest.approx([0.0, 1.0]) and answer.accelerations == pytest.approx([-1.0, 0.0])
    assert answer.active.tolist() == [False, True] and answer.certificate.primal == 0.0
    closing = contacts.Equations(np.eye(2), [-1.0, -1.0], np.eye(2), v=[-0.5, 0.0])
    assert closing.closing.tolist() == [True, False]
    for solve in (closing.by_lcp, closing.by_force_qp, closing.by_acceleration_qp, closing.with_friction):
        with pytest.raises(mc.SceneError, match=r"contact 0 closes at 0.5 m/s, .*strike it first"):
            solve()
    assert closing.impact(0.0).rates == pytest.approx([0.0, 0.0])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "pull, mu, force", [(3.0, 0.5, 3.0), (30.0, 0.5, 0.5 * 4 * G), (3.0, np.inf, 3.0), (3.0, 0.0, 0.0)]
)
def test_a_point_that_is_pulled(pull, mu, force):
    """Coulomb's friction of a point mass on a floor: the pull, at most mu m g."""
    H, f = 4.0 * np.eye(3), np.array([-pull, 0.0, -4 * G])
    axes = contacts.contact_axes((0, 0, 1))
    equations = contacts.Equations(H, f, axes[:1].T, friction=mu, tangents=axes[1:].T)
    found = equations.with_friction()
    assert found.status == "solved"
    assert found.forces[0] @ axes == pytest.approx([force, 0, 4 * G], rel=1e-9, abs=1e-9)
    assert found.a == pytest.approx([(force - pull) / 4.0, 0, 0], abs=1e-9)


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: contacts.by_lcp(np.ones((2, 3)), [1, 2]), "M has the shape (2, 3); pass a square matrix"),
        (lambda: contacts.by_lcp([[1, 2], [0, 1]], [1, 2]), "M is not symmetric"),
        (lambda: contacts.by_force_qp(np.eye(2), [1.0]), "d has the shape (1,); M asks for (2,)"),
        (lambda: contacts.by_force_qp(np.eye(1), [np.nan]), "d[0] is nan"),
        (lambda: contacts.by_acceleration_qp(-np.eye(2), [0, 0], np.eye(2)), "negative diagonal"),
        (lambda: contacts.Equations([[1, 2], [2, 1]], [0, 0], np.eye(2)), "H is not positive definite"),
        (lambda: contacts.Equations(np.eye(2), [0, 0], np.ones((3, 1))), "T has the shape (3, 1); give (2, any)"),
        (lambda: contacts.Equations(np.eye(2), [0, 0], np.eye(2), K=np.eye(3)), "K has the shape (3, 3); give (any, 2)"),
        (lambda: contacts.Equations(np.eye(2), [0, 0], np.eye(2), friction=-1), "friction[0] is -1"),
        (lambda: contacts.Equations(np.eye(2), [0, 0], np.eye(2), friction=[1]), "friction has 1 coefficients"),
        (lambda: contacts.Equations(np.eye(2), [0, 0], np.eye(2), still=-1), "still"),
        (lambda: contacts.Equations(np.eye(2), [0, 0], np.eye(2), friction=1).with_friction(), "no tangents"),
        (lambda: contacts.Equations(np.eye(2), [0, 0], np.eye(2)).impact(0.5, 1.0), "friction needs tangents"),
        (lambda: contacts.equations(mc.Scene()), "must be a World or a ReducedWorld, got Scene"),
        (lambda: contacts.equations(mc.World(mc.Scene()), touching=-1), "touching must not be negative"),
        (lambda: contacts.contact_rows([(0, 0, 0)], [(0, 0, 2)], [(-1, 0)], [(0, 0, 1)]), "normal has the length 2"),
        (lambda: contacts.contact_rows([(0, 0, 0)], [(0, 0, 1)], [(-1, 1)], [(0, 0, 1)]), "bodies must be from -1"),
        (lambda: contacts.contact_rows([(0, 0, 0)], [], [(-1, 0)], [(0, 0, 1)]), "normals has the shape"),
        (lambda: contacts.contact_rows([(0, 0, 0)], [(0, 0, 1)], [(-1, 0.5)], [(0, 0, 1)]), "whole numbers"),
        (lambda: contacts.body_inertia([0.0], [np.eye(3)]), "masses[0] is 0"),
        (lambda: contacts.cone_program(mc.Scene()), "must be a Problem, got Scene"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(mc.SceneError) as refused:
        call()
    assert message in str(refused.value) and "\n" not in str(refused.value)


def test_no_contacts():
    answer = contacts.Equations(np.eye(2), [1.0, 2.0], np.zeros((2, 0))).by_lcp()
    assert answer.solved and answer.unique and answer.a == pytest.approx([1.0, 2.0]) and answer.forces.shape == (0,)
