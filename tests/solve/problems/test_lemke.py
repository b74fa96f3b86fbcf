"""Lemke's method against all index sets, examples with known answers, and the friction pyramid by its definition."""

import cases
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from problem_oracles import lcp_error, lcp_solution, pyramid_error

import mcsim as mc
from amounts import amount
from mcsim.core.errors import SceneError
from mcsim.solve.problems.dantzig import boxed
from mcsim.solve.problems.lemke import friction_pyramid_lcp, lcp, pyramid
from mcsim.solve.problems.polygon import nearest, residuals


def check(M, q, z):
    assert np.all(z >= 0.0) and lcp_error(M, q, z) <= 1e-9


def solved(M, q, **options):
    M, q = np.array(M, float), np.array(q, float)
    z, status, pivots = lcp(M, q, **options)
    assert status == "solved" and pivots <= 50 * len(q) + 100
    check(M, q, z)
    return z


# ---- known answers ---------------------------------------------------------------------------------------------------


def test_nothing_to_do():
    assert solved([[1.0, 2.0], [3.0, 4.0]], [0.0, 1.0]).tolist() == [0.0, 0.0]
    z, status, pivots = lcp(np.zeros((0, 0)), np.zeros(0))
    assert z.shape == (0,) and status == "solved" and pivots == 0


def test_positive_definite():
    """w = [[2, 1], [1, 2]] z + [-5, -6] is zero at z = (4/3, 7/3)."""
    assert solved([[2, 1], [1, 2]], [-5, -6]) == pytest.approx([4 / 3, 7 / 3], rel=1e-14)


def test_where_principal_pivoting_cycles():
    """M. Kostreva's example: least-violated pivots go round for ever; all rows tie at the start."""
    assert solved([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1]) == pytest.approx([1 / 3] * 3, rel=1e-14)


def test_copositive_and_indefinite():
    """Strictly copositive, though indefinite: three solutions, one of them is found."""
    z = solved([[1, 2], [2, 1]], [-1, -1])
    assert min(np.abs(z - known).max() for known in ([1, 0], [0, 1], [1 / 3, 1 / 3])) < 1e-14


def test_a_ray_may_miss_a_solution():
    """w = (z2 - 1, z1 - 1) has z = (1, 1), but v = (1, 0) has v'M v = 0 and v'q < 0: no promise, and a ray."""
    M, q = np.array([[0.0, 1.0], [1.0, 0.0]]), -np.ones(2)
    assert lcp_solution(M, q) == pytest.approx([1, 1])
    assert lcp(M, q, covering=np.ones(2))[1] == "ray"


def test_singular():
    """Two rows that say the same share the impulse in any way."""
    assert solved([[1, 1], [1, 1]], [-1, -1]).sum() == pytest.approx(1.0, rel=1e-14)


def test_beales_linear_program():
    """E. Beale's example (1955), on which the simplex method without a rule for ties cycles; with its dual one LCP."""
    cost = np.array([-0.75, 150.0, -0.02, 6.0])
    limits = np.array([[0.25, -60.0, -0.04, 9.0], [0.5, -90.0, -0.02, 3.0], [0.0, 0.0, 1.0, 0.0]])
    M = np.block([[np.zeros((4, 4)), limits.T], [-limits, np.zeros((3, 3))]])
    z = solved(M, np.concatenate([cost, [0.0, 0.0, 1.0]]))
    assert cost @ z[:4] == pytest.approx(-0.05, rel=1e-12)


@pytest.mark.parametrize(
    "M, q", [([[0]], [-1]), ([[-1, 0], [0, -1]], [-1, -1]), ([[0, 1], [-1, 0]], [-1, -1]), ([[1, -1], [-1, 1]], [-1, 0.5])]
)
def test_ray(M, q):
    """No solution: each says so."""
    M, q = np.array(M, float), np.array(q, float)
    assert lcp_solution(M, q) is None
    assert lcp(M, q)[1] == "ray"


def test_pivot_limit():
    """K. Murty's problem: z = (0, ..., 0, 1), reached in more pivots the larger it is; with one pivot it is not."""
    n = 8
    M = np.eye(n) + 2.0 * np.tril(np.ones((n, n)), -1)
    z = solved(M.T, -np.ones(n))
    assert z == pytest.approx(np.append(np.zeros(n - 1), 1.0))
    for most in range(4):
        z, status, pivots = lcp(np.eye(5) + 0.1, -np.arange(1.0, 6.0), max_pivots=most)
        assert status == "limit" and pivots == most and np.isfinite(z).all()


def test_units_do_not_matter():
    """Rows and columns scaled by 1e-6 to 1e6: the same impulses, scaled."""
    rng = np.random.default_rng(3)
    J = rng.normal(size=(6, 8))
    M, q = J @ J.T, rng.normal(size=6)
    scale = 10.0 ** np.linspace(-6, 6, 6)
    z, status, _ = lcp(M * scale[:, None] * scale, q * scale)
    assert status == "solved" and z * scale == pytest.approx(solved(M, q), rel=1e-9)


def test_same_bits_again():
    case = friction_pyramid_lcp(**cases.wall(2))
    assert lcp(case.M, case.q)[0].tobytes() == lcp(case.M.copy(), case.q.copy())[0].tobytes()


# ---- against all index sets ------------------------------------------------------------------------------------------

numbers = st.integers(-3, 3)


@st.composite
def problems(draw, most, kind):
    n = draw(st.integers(1, most))
    entries = np.array(draw(st.lists(numbers, min_size=n * n, max_size=n * n)), float).reshape(n, n)
    q = np.array(draw(st.lists(numbers, min_size=n, max_size=n)), float)
    if kind == "semidefinite":  # with a skew part, as friction has
        rank = draw(st.integers(0, n))
        return entries[:, :rank] @ entries[:, :rank].T + draw(st.sampled_from([0.0, 1.0])) * (entries - entries.T), q
    if kind == "unique":  # dominant diagonal: a P-matrix
        return entries + np.diag(np.abs(entries).sum(axis=1) + 1.0), q
    return (np.abs(entries) if kind == "positive" else entries), q


@settings(max_examples=amount(20, 60))
@given(problems(6, "semidefinite"))
def test_semidefinite(problem):
    """Solved if and only if there is a solution, with the same symmetric part of M z."""
    M, q = problem
    z, status, _ = lcp(M, q)
    expected = lcp_solution(M, q)
    if expected is None:
        assert status == "ray"
    else:
        assert status == "solved"
        check(M, q, z)
        assert (M + M.T) @ z == pytest.approx((M + M.T) @ expected, abs=1e-7)


@settings(max_examples=amount(13, 40))
@given(problems(8, "unique"))
def test_unique(problem):
    M, q = problem
    assert solved(M, q) == pytest.approx(lcp_solution(M, q), abs=1e-9)


@settings(max_examples=amount(13, 40))
@given(problems(5, "any"))
def test_any_matrix(problem):
    """What is called solved is; where there is no solution nothing is called one."""
    M, q = problem
    z, status, _ = lcp(M, q)
    if status == "solved":
        check(M, q, z)
        assert lcp_solution(M, q) is not None
    else:
        assert status in ("ray", "limit")


@settings(max_examples=amount(13, 40))
@given(problems(6, "positive"))
def test_nonnegative_matrix_with_its_diagonal(problem):
    """Strictly copositive: there always is a solution."""
    M, q = problem
    solved(M + np.eye(len(q)), q)


# ---- contact ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", cases.CASES)
def test_pyramid_by_its_definition(name):
    case = cases.CASES[name]()
    impulses, status, _ = pyramid(**case)
    assert status == "solved" and pyramid_error(case, impulses) <= 1e-9


@pytest.mark.parametrize("seed", range(150))
def test_random_contact(seed):
    case = cases.random_case(seed)
    impulses, status, _ = pyramid(**case)
    assert status == "solved" and pyramid_error(case, impulses) <= 1e-9


@pytest.mark.parametrize("count, ratio", [(16, 1e3), (16, 1e6), (16, 1e-6), (25, 1e3), (25, 1e6)])
def test_tall_stacks(count, ratio):
    """Up to 300 rows, 700 variables, most of them degenerate: single paths cycle or end on false rays here."""
    case = cases.stack(count, ratio=ratio, push=1.0)
    impulses, status, _ = pyramid(**case)
    assert status == "solved" and pyramid_error(case, impulses) <= 1e-9


@pytest.mark.slow
def test_thousands():
    """The few that fail say so: none of 6000 when this was written."""
    failed = 0
    for seed in range(2000):
        case = cases.random_case(seed)
        impulses, status, _ = pyramid(**case)
        failed += status != "solved"
        assert status != "solved" or pyramid_error(case, impulses) <= 1e-6, seed
    assert failed <= 2


def test_contradictions_are_told():
    assert pyramid(**cases.CONTRADICTORY["squeezed"]())[1] == "ray"
    case = cases.CONTRADICTORY["torn"]()
    assert pyramid(**case)[1] == "contradictory"
    problem = friction_pyramid_lcp(**case)
    assert problem.contradiction == pytest.approx(0.25, rel=1e-9)  # half of it on each of the two
    assert friction_pyramid_lcp(**cases.chain(loop=True)).contradiction < 1e-12


def test_unlimited_friction():
    """Stops whatever slides, as mu = 1e6 does; a contact that opens is left alone."""
    for mu in (1e6, np.inf):
        impulses, status, _ = pyramid(np.eye(3) / 2.0, [-1.0, 3.0, -2.0], [mu])
        assert status == "solved" and impulses == pytest.approx([2.0, -6.0, 4.0], rel=1e-9)
        assert pyramid(np.eye(3) / 2.0, [1.0, 0.0, 0.0], [mu])[0].tolist() == [0.0, 0.0, 0.0]
    case = cases.stack(3, np.inf, push=1.0)
    speeds = case["A"] @ pyramid(**case)[0] + case["b"]
    assert np.abs(np.delete(speeds, np.arange(12) * 3)).max() < 1e-12


def test_without_friction_it_is_boxed():
    case = cases.pile(4, 6, 12)
    case["friction"][:] = 0.0
    impulses, status, _ = pyramid(**case)
    normals = np.arange(12) * 3
    x, _, _ = boxed(case["A"][np.ix_(normals, normals)], case["b"][normals], np.zeros(12), None)
    assert status == "solved" and np.all(np.delete(impulses, normals) == 0.0)
    assert case["A"] @ impulses == pytest.approx(case["A"][:, normals] @ x, abs=1e-10)


def test_a_point_mass_slides():
    """m = 2 kg, mu = 0.5, down at 1 m/s, sideways (3, -2) m/s: n = 2, t = (-1, 1): both frictions slide, each alone."""
    impulses, status, _ = pyramid(np.eye(3) / 2.0, [-1.0, 3.0, -2.0], [0.5])
    assert status == "solved" and impulses == pytest.approx([2.0, -1.0, 1.0], rel=1e-14)
    # the square with its corners on the axes: all of it on the larger speed
    impulses, status, _ = pyramid(np.eye(3) / 2.0, [-1.0, 3.0, -2.0], [0.5], directions=4)
    assert status == "solved" and impulses == pytest.approx([2.0, -1.0, 0.0], abs=1e-14)


@pytest.mark.parametrize("directions", [4, 8, 16, 64])
def test_polygon(directions):
    """Friction takes as much power as any impulse in the polygon; its direction is off by pi / directions at most."""
    for seed in range(8):
        speed = 3.0 * np.array([np.cos(0.3 + seed), np.sin(0.3 + seed)])
        impulses, status, _ = pyramid(np.eye(3), [-1.0, *speed], [0.5], directions=directions)
        angles = 2.0 * np.pi * np.arange(directions) / directions
        corners = 0.5 * impulses[0] * np.array([np.cos(angles), np.sin(angles)]).T
        sliding = speed + impulses[1:]
        assert status == "solved" and impulses[0] == pytest.approx(1.0)
        assert sliding @ impulses[1:] == pytest.approx((corners @ sliding).min(), rel=1e-12)
        cosine = -speed @ impulses[1:] / np.linalg.norm(speed) / np.linalg.norm(impulses[1:])
        assert cosine >= np.cos(np.pi / directions) - 1e-12


def test_polygon_on_piles():
    """The conditions of the polygon, by definition, on random contacts with joints."""
    for seed in range(10):
        case = cases.pile(seed, 4, 6, joints=1)
        impulses, status, _ = pyramid(**case, directions=6)
        assert status == "solved"
        speeds = case["A"] @ impulses + case["b"]
        angles = np.pi / 3.0 * np.arange(6)
        sides = np.array([np.cos(angles), np.sin(angles)]).T
        normals = np.array([np.cos(angles + np.pi / 6.0), np.sin(angles + np.pi / 6.0)]).T
        assert np.abs(speeds[18:]).max() < 1e-9
        for c, mu in enumerate(case["friction"]):
            n, t, u = impulses[3 * c], impulses[3 * c + 1 : 3 * c + 3], speeds[3 * c : 3 * c + 3]
            assert abs(min(n, u[0])) < 1e-9
            assert (normals @ t).max() <= mu * n * np.cos(np.pi / 6.0) + 1e-9
            assert u[1:] @ t == pytest.approx(mu * n * (sides @ u[1:]).min(), abs=1e-8)


@pytest.mark.parametrize("directions", [4, 6, 8, 16])
def test_what_a_polygon_leaves_is_measured_by_the_polygon(directions):
    """By the pyramid's residuals every answer with directions was "inaccurate". Impulses that are off are still told."""
    problems = [
        mc.Problem(**{"A": case["A"], "b": case["b"], "friction": case["friction"]})
        for case in (
            {"A": np.eye(3) + 0.1, "b": np.array([-1.0, 0.3, 0.2]), "friction": [0.5]},
            *(cases.pile(seed, 4, 6) for seed in range(4)),
        )
    ]
    problems.append(mc.World(mc.load("pyramid", base=3)).problem())
    problems.append(mc.Problem(np.eye(6), [-1.0, 2.0, 0.5, -1.0, 0.3, 0.2], [np.inf, 0.5]))
    for problem in problems:
        found = mc.solve(problem, "lemke", "pyramid", directions=directions, tolerance=1e-7)
        assert found.converged and found.reason == "converged", found
        if problem.contact_count < 10:
            corners = polygon_corners(directions)
            for off in np.random.default_rng(0).normal(size=(5, problem.row_count)) * 1e-3:
                wrong = found.impulses + off
                assert residuals(problem, corners, wrong, problem.velocities(wrong))[:4].max() > 1e-5
    scalar = mc.Problem(np.eye(3), [-1.0, 3.0, -2.0], [0.5])
    assert mc.solve(scalar, "lemke", "frictionless", directions=directions).converged


def polygon_corners(directions):
    angles = 2.0 * np.pi * np.arange(directions) / directions
    return np.array([np.cos(angles), np.sin(angles)]).T


@pytest.mark.parametrize("directions", [4, 6, 16])
def test_the_nearest_point_of_a_polygon(directions):
    """Against many points of its rim and its inside."""
    rng, corners = np.random.default_rng(1), polygon_corners(directions)
    points, load = rng.normal(size=(200, 2)), rng.uniform(0.0, 2.0, 200)
    found = nearest(corners, load, points)
    part = np.linspace(0.0, 1.0, 200)[:, None, None]
    rim = ((1.0 - part) * corners + part * np.roll(corners, -1, axis=0)).reshape(-1, 2)
    inside = np.linalg.norm(found - points, axis=1) == 0.0
    apothem = np.cos(np.pi / directions)
    assert inside[np.linalg.norm(points, axis=1) < apothem * load].all()
    assert not inside[np.linalg.norm(points, axis=1) > load].any() and inside.any()
    for k in np.flatnonzero(~inside):
        least = np.linalg.norm(load[k] * rim - points[k], axis=1).min()
        assert np.linalg.norm(found[k] - points[k]) == pytest.approx(least, abs=1e-3)


def test_bounded_rows():
    """Motors, limits and loads without any contact: the same as Dantzig's."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        n = int(rng.integers(1, 8))
        J = rng.normal(size=(n, n + 1))
        lower = np.where(rng.random(n) < 0.3, -np.inf, rng.uniform(-1, 0, n))
        upper = np.where(rng.random(n) < 0.3, np.inf, rng.uniform(0, 1, n))
        upper[0] = max(lower[0], -1.0)
        lower[0] = upper[0]
        A, b = J @ J.T, rng.normal(size=n)
        impulses, status, _ = pyramid(A, b, [], lower, upper)
        assert status == "solved" and impulses == pytest.approx(boxed(A, b, lower, upper)[0], abs=1e-9)


def test_matrix_is_copositive():
    rng = np.random.default_rng(1)
    for name in ("corner", "motor", "uneven_pile"):
        for directions in (None, 8):
            M = friction_pyramid_lcp(**cases.CASES[name](), directions=directions).M
            for _ in range(200):
                z = rng.exponential(size=len(M)) * (rng.random(len(M)) < 0.3)
                assert z @ M @ z >= -1e-12 * (z @ np.abs(M) @ z)


# ---- bad input -------------------------------------------------------------------------------------------------------

EYE = np.eye(2)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.ones((2, 3)), np.ones(2)), r"M has the shape \(2, 3\); pass a square matrix"),
        ((EYE, np.ones(3)), r"q has the shape \(3,\); the matrix asks for \(2,\)"),
        ((EYE * np.nan, np.ones(2)), r"M\[0, 0\] is nan"),
        ((EYE, [1.0, np.inf]), r"q\[1\] is inf"),
        ((EYE, [1.0, -1e120]), "q has numbers up to 1e[+]120; choose units"),
        ((EYE, ["a", "b"]), "q is no array of numbers"),
        ((EYE, np.ones(2), -1), "max_pivots is -1; give a whole number from 0"),
        ((EYE, np.ones(2), 2.5), "max_pivots is 2.5"),
        ((EYE, np.ones(2), None, [1.0, 0.0]), r"covering\[1\] is 0; all must be positive"),
    ],
)
def test_lcp_refuses(arguments, message):
    with pytest.raises(SceneError, match=message):
        lcp(*arguments)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.eye(5), np.ones(5), [0.5, 0.5]), "friction has 2 coefficients, which ask for 6 rows, .* there are 5"),
        ((np.eye(3), np.ones(3), [-0.5]), r"friction\[0\] is -0.5"),
        ((np.eye(3), np.ones(3), [np.nan]), r"friction\[0\] is nan"),
        ((np.eye(3), np.ones(3), 0.5), "pass one number a contact"),
        ((np.eye(4), np.ones(4), [0.5], [1.0], [0.0]), r"lower\[0\] = 1 is above upper\[0\] = 0; exchange"),
        ((np.eye(4), np.ones(4), [0.5], [0.0, 1.0]), r"lower has the shape \(2,\); A with 4 rows, 3 of them contacts"),
        ((np.eye(4), np.ones(4), [0.5], [np.nan]), r"lower\[0\] is nan"),
        ((np.eye(4), np.ones(4), [0.5], [np.inf]), r"lower\[0\] is inf; give a number, or -inf"),
        ((np.eye(3), np.ones(3), [0.5], None, None, 5), "directions is 5; give an even number from 4"),
        ((np.diag([1.0, -1.0, 1.0]), np.ones(3), [0.5]), r"A\[1, 1\] is -1"),
        ((np.eye(3) + np.eye(3, k=1), np.ones(3), [0.5]), "A is not symmetric"),
    ],
)
def test_pyramid_refuses(arguments, message):
    with pytest.raises(SceneError, match=message):
        friction_pyramid_lcp(*arguments)
