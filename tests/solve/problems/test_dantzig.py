"""Dantzig's principal pivoting against all index sets, against Lemke's method, and on hard contact problems."""

import cases
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from problem_oracles import boxed_error, boxed_solution, loaded

from amounts import amount
from mcsim.core.errors import SceneError
from mcsim.solve.problems.dantzig import boxed, residual
from mcsim.solve.problems.lemke import pyramid

INF = np.inf


def solved(A, b, lower, upper, **options):
    A, b, lower, upper = (np.array(values, float) for values in (A, b, lower, upper))
    x, status, pivots = boxed(A, b, lower, upper, **options)
    assert status == "solved" and pivots <= 100 * len(b) + 100
    assert np.all(x >= lower) and np.all(x <= upper) and boxed_error(A, b, lower, upper, x) <= 1e-9
    return x


# ---- known answers ---------------------------------------------------------------------------------------------------


def test_nothing_to_do():
    x, status, pivots = boxed(np.zeros((0, 0)), np.zeros(0), np.zeros(0), np.zeros(0))
    assert x.shape == (0,) and status == "solved" and pivots == 0
    assert solved(np.eye(2), [1, 2], [0, 0], [INF, INF]).tolist() == [0.0, 0.0]


def test_each_kind_of_row():
    """Free, limited, at a bound, fixed."""
    x = solved(np.eye(5) * 2.0, [-2, -8, -8, 8, 5], [-INF, 0, 0, -1, 0.25], [INF, INF, 3, 1, 0.25])
    assert x == pytest.approx([1.0, 4.0, 3.0, -1.0, 0.25], rel=1e-15)


def test_coupled():
    """w = [[2, 1], [1, 2]] x + [-5, -6]: (4/3, 7/3); with x2 <= 2 it is (3/2, 2)."""
    assert solved([[2, 1], [1, 2]], [-5, -6], [0, 0], [INF, INF]) == pytest.approx([4 / 3, 7 / 3], rel=1e-14)
    assert solved([[2, 1], [1, 2]], [-5, -6], [0, 0], [INF, 2]) == pytest.approx([1.5, 2.0], rel=1e-14)


def test_redundant_rows():
    """Four rows that say the same: the impulse is there, however they share it."""
    ones = np.ones((4, 4))
    assert solved(ones, [-2] * 4, [0] * 4, [INF] * 4).sum() == pytest.approx(2.0, rel=1e-14)
    assert solved(ones, [-2] * 4, [-INF] * 4, [INF] * 4).sum() == pytest.approx(2.0, rel=1e-14)
    assert solved(ones, [-2] * 4, [0] * 4, [0.6] * 4).sum() == pytest.approx(2.0, rel=1e-14)
    assert solved(ones, [-2] * 4, [0] * 4, [0.4] * 4) == pytest.approx([0.4] * 4)
    assert solved(ones, [-2, -2, -3, -2], [0] * 4, [INF] * 4) == pytest.approx([0.0, 0.0, 3.0, 0.0])


def test_a_row_that_repeats_others_goes_to_its_bound():
    """Row 2 is held by 0 and 1 until 0 is not held any more."""
    J = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    solved(J @ J.T, [-1.0, -1.0, -1.0, 3.0], [0.0, 0.0, 0.0, -INF], [0.5, 0.4, INF, INF])


@pytest.mark.parametrize(
    "A, b, lower, upper",
    [
        ([[0]], [-1], [0], [INF]),
        ([[1, 1], [1, 1]], [-1, -2], [-INF] * 2, [INF] * 2),
        ([[1, -1], [-1, 1]], [-1, 0.5], [0] * 2, [INF] * 2),
        ([[0, 0], [0, 1]], [1, -1], [-INF, 0], [INF, INF]),
    ],
)
def test_contradictory_rows(A, b, lower, upper):
    """No x satisfies all; it is told, and the others are satisfied."""
    A, b, lower, upper = (np.array(values, float) for values in (A, b, lower, upper))
    assert boxed_solution(A, b, lower, upper) is None
    x, status, _ = boxed(A, b, lower, upper)
    assert status == "contradictory" and np.all(x >= lower) and np.all(x <= upper)
    moved = np.clip(x - (A @ x + b), lower, upper)
    assert np.count_nonzero(np.abs(moved - x) > 1e-9) == 1


def test_almost_contradictory():
    """accuracy decides."""
    A, b = np.ones((2, 2)), np.array([1.0, 1.0 + 1e-7])
    assert boxed(A, b, None, None)[1] == "contradictory"
    assert boxed(A, b, None, None, accuracy=1e-6)[1] == "solved"


def test_rows_without_mass():
    """A = 0: speeds stay as they are; those of the right sign are no contradiction."""
    assert boxed(np.zeros((3, 3)), [1.0, 0.0, -1.0], [0, -INF, -2], [INF, INF, 2])[1] == "solved"
    assert boxed(np.zeros((3, 3)), [1.0, 0.0, -1.0], [0, -INF, -2], [INF, INF, 2])[0].tolist() == [0.0, 0.0, 2.0]
    assert boxed(np.zeros((1, 1)), [1.0], [-INF], [INF])[1] == "contradictory"


def test_pivot_limit():
    case = loaded(cases.stack(4), 0.1)
    for most in (0, 1, 10):
        x, status, pivots = boxed(*case, max_pivots=most)
        assert status == "limit" and pivots == most
        assert np.all(x >= case[2]) and np.all(x <= case[3])


@pytest.mark.parametrize("seed", range(12))
def test_what_stays_where_it_began_takes_no_pivots(seed):
    """Rows that begin inside of their bounds and end there, others at theirs: C is known at once. Where one of them crosses
    its bound the answer is that of taking rows one by one, from the bounds."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(2, 50))
    J = draw.normal(size=(n, n + 3))
    A, x = J @ J.T, draw.normal(size=n)
    held = draw.random(n) < 0.3
    lower = np.where(held, x, x - draw.uniform(0.1, 5.0, n))
    upper = np.where(held, x + 3.0, x + draw.uniform(0.1, 5.0, n))
    b = np.where(held, draw.uniform(0.1, 2.0, n), 0.0) - A @ x  # w of those at their lower bounds, 0 of the others
    guess = np.where(held, x, lower + draw.uniform(0.01, 0.99, n) * (upper - lower))
    found, status, pivots = boxed(A, b, lower, upper, guess=guess)
    assert status == "solved" and pivots == 0 and found == pytest.approx(x, abs=1e-9)
    upper[~held] = x[~held] - 0.05  # beyond reach now, if there are any
    lower[~held] = x[~held] - 6.0
    inside = solved(A, b, lower, upper, guess=0.5 * (lower + upper))
    assert inside == pytest.approx(solved(A, b, lower, upper, guess=lower), abs=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_only_what_crosses_its_bounds_takes_pivots(seed):
    """Of many rows that begin inside some end at a bound: the others are C from the beginning on."""
    draw = np.random.default_rng(seed)
    n, beyond = int(draw.integers(20, 50)), int(draw.integers(1, 4))
    J = draw.normal(size=(n, 2 * n))
    A, x = J @ J.T, draw.normal(size=n)
    lower, upper = x - draw.uniform(5.0, 9.0, n), x + draw.uniform(5.0, 9.0, n)
    b = -A @ x
    upper[:beyond] = x[:beyond] - 0.05
    found, status, pivots = boxed(A, b, lower, upper, guess=0.5 * (lower + upper))
    assert status == "solved" and boxed_error(A, b, lower, upper, found) <= 1e-9
    assert pivots <= 2 * beyond


def test_a_guess_saves_pivots():
    """The solution as the guess; any other guess leads to the same speeds."""
    A, b, lower, upper = loaded(cases.pile(1, 10, 25), 0.1)
    x, _, pivots = boxed(A, b, lower, upper)
    again, status, fewer = boxed(A, b, lower, upper, guess=x)
    assert status == "solved" and fewer <= pivots / 2 and A @ again == pytest.approx(A @ x, abs=1e-9)
    for seed in range(5):
        guess = np.random.default_rng(seed).normal(size=len(b))
        assert A @ solved(A, b, lower, upper, guess=guess) == pytest.approx(A @ x, abs=1e-9)


def test_same_bits_again():
    case = loaded(cases.stack(5, push=1.0), 0.1)
    assert boxed(*case)[0].tobytes() == boxed(*(values.copy() for values in case))[0].tobytes()


def test_input_is_left_alone():
    case = loaded(cases.stack(2), 0.1)
    copies = [values.copy() for values in case]
    boxed(*case)
    assert all(np.array_equal(one, other) for one, other in zip(case, copies))


# ---- against all index sets ------------------------------------------------------------------------------------------

numbers = st.integers(-3, 3)


@st.composite
def problems(draw, most):
    """Of any rank, with bounds of all kinds; whole numbers, so that ties and contradictions happen."""
    n = draw(st.integers(1, most))
    rank = draw(st.integers(0, n))
    J = np.array(draw(st.lists(numbers, min_size=n * rank, max_size=n * rank)), float).reshape(n, rank)
    b = np.array(draw(st.lists(numbers, min_size=n, max_size=n)), float)
    kinds = [(-INF, INF), (0.0, INF), (-INF, 1.0), (-1.0, 1.0), (0.0, 0.5), (0.25, 0.25), (1.0, 2.0)]
    bounds = np.array(draw(st.lists(st.sampled_from(kinds), min_size=n, max_size=n)))
    return J @ J.T, b, bounds[:, 0], bounds[:, 1]


def against_all_index_sets(problem):
    A, *_ = problem
    x, status, _ = boxed(*problem)
    expected = boxed_solution(*problem)
    if expected is None:
        assert status == "contradictory"
    else:
        assert status == "solved" and boxed_error(*problem, x) <= 1e-9
        assert A @ x == pytest.approx(A @ expected, abs=1e-7)


@settings(max_examples=amount(40, 120))
@given(problems(5))
def test_any_bounds(problem):
    against_all_index_sets(problem)


@pytest.mark.slow
@settings(max_examples=amount(133, 400))
@given(problems(7))
def test_any_bounds_of_more(problem):
    against_all_index_sets(problem)


@settings(max_examples=amount(26, 80))
@given(problems(6), st.lists(st.integers(-6, 6), min_size=6, max_size=6))
def test_scaled_rows(problem, exponents):
    """Other units of every row: the same status, the same impulses where they are unique."""
    A, b, lower, upper = problem
    A = A + np.eye(len(b))
    scale = 10.0 ** np.array(exponents[: len(b)], float)
    x = solved(A, b, lower, upper)
    scaled, status, _ = boxed(A * scale[:, None] * scale, b * scale, lower / scale, upper / scale)
    assert status == "solved" and scaled * scale == pytest.approx(x, abs=1e-6)


# ---- contact ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [0.0, 0.1, INF])
@pytest.mark.parametrize("name", cases.CASES)
def test_contact_with_fixed_friction(name, bound):
    solved(*loaded(cases.CASES[name](), bound))


@pytest.mark.parametrize("seed", range(100))
def test_random_contact_as_lemkes(seed):
    """The same problem without contacts, all rows bounded, by Lemke's method: the same speeds."""
    A, b, lower, upper = loaded(cases.random_case(seed), 0.1)
    x = solved(A, b, lower, upper)
    other, status, _ = pyramid(A, b, [], lower, upper)
    size = np.abs(A) @ np.abs(x) + np.abs(b).max()
    assert status == "solved" and np.abs(A @ (x - other) / size).max() <= 1e-6


@pytest.mark.slow
def test_thousands():
    for seed in range(2000):
        for bound in (0.0, 0.1, INF):
            case = loaded(cases.random_case(seed), bound)
            x, status, _ = boxed(*case)
            assert status in ("solved", "inaccurate"), seed
            assert status == "inaccurate" or boxed_error(*case, x) <= 1e-6, seed


def test_contradictions_are_told():
    """Walls that both push out, joints that want two speeds of one point."""
    for make in cases.CONTRADICTORY.values():
        A, b, lower, upper = loaded(make(), 0.0)
        x, status, _ = boxed(A, b, lower, upper)
        assert status == "contradictory" and np.all(x >= lower) and np.all(x <= upper)


def test_six_hundred_rows():
    case = loaded(cases.pile(5, 80, 200), 0.1)
    solved(*case)


def test_large_masses_on_small_ones():
    """25 cubes, 1 kg below, 1000 t on top: the lowest face carries all of them, but for rounding (1e-16), magnified by
    the ratio and by the 25 faces."""
    case = cases.stack(25, ratio=1e6)
    normals = np.arange(100) * 3
    A, b = case["A"][np.ix_(normals, normals)], case["b"][normals]
    x = solved(A, b, np.zeros(100), np.full(100, INF))
    assert x[:4].sum() == pytest.approx(9.81 / 60.0 * (10.0 ** (6.0 * np.arange(25) / 24.0)).sum(), rel=1e-8)


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.ones((2, 3)), np.ones(2), None, None), "A has the shape"),
        ((np.ones(4), np.ones(4), None, None), "pass a square matrix"),
        ((np.eye(2), np.ones(3), None, None), "b has the shape"),
        ((np.eye(2), np.ones(2), [0.0], None), "lower has the shape"),
        ((np.diag([INF, 1.0]), np.ones(2), None, None), r"A\[0, 0\] is inf"),
        ((np.eye(2), [np.nan, 1.0], None, None), r"b\[0\] is nan"),
        ((np.eye(2), np.ones(2), [0.0, 2.0], [1.0, 1.0]), r"lower\[1\] = 2 is above upper\[1\] = 1"),
        ((np.eye(2), np.ones(2), None, [1.0, -INF]), r"upper\[1\] is -inf"),
        ((np.eye(2), np.ones(2), None, [1.0, 1e200]), r"upper\[1\] is 1e[+]200; give inf for no bound"),
        ((np.eye(2), np.ones(2), None, [1.0, np.nan]), r"upper\[1\] is nan"),
        (([[1.0, 2.0], [2.0, 1.0]], np.ones(2), None, None), "A is indefinite"),
        (([[1.0, 0.0], [1.0, 1.0]], np.ones(2), None, None), "A is not symmetric"),
        (([[-1.0]], [1.0], None, None), r"A\[0, 0\] is -1"),
        ((np.eye(2), np.ones(2), None, None, True), "max_pivots is True"),
        ((np.eye(2), np.ones(2), None, None, None, [0.0]), "guess has the shape"),
        ((np.eye(2), np.ones(2), None, None, None, None, np.nan), "accuracy is nan; give a part"),
    ],
)
def test_refuses(arguments, message):
    with pytest.raises(SceneError, match=message):
        boxed(*arguments)


def test_residual_sees_what_is_wrong():
    A, b, lower, upper = loaded(cases.stack(2), 0.1)
    x, _, _ = boxed(A, b, lower, upper)
    assert residual(A, b, lower, upper, x) < 1e-12
    assert residual(A, b, lower, upper, 0.9 * x) > 1e-3
    assert residual(A, b, lower, upper, np.zeros(len(b))) > 1e-3
