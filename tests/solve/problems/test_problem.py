"""Problems as things: what goes in, what comes out, what is refused."""

import copy
import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

import mcsim as mc
from mcsim.solve.problems import MODEL_DESCRIPTIONS, SOLVERS, polygon
from mcsim.solve.problems.solution import RESIDUALS

MODELS = tuple(MODEL_DESCRIPTIONS)


def random_factors(seed, contacts=6, others=3, bodies=4):
    """J, M^-1 and b of rows that touch two bodies each; a part of the contacts says the same thing twice."""
    rng = np.random.default_rng(seed)
    jacobian = np.zeros((3 * contacts + others, 6 * bodies))
    for first in [*range(0, 3 * contacts, 3), *range(3 * contacts, len(jacobian))]:
        size = 3 if first < 3 * contacts else 1
        for body in rng.choice(bodies, 2, replace=False):
            jacobian[first : first + size, 6 * body : 6 * body + 6] = rng.normal(size=(size, 6))
    jacobian[3:6] = jacobian[0:3]
    inverse_mass = np.diag(rng.uniform(0.2, 3.0, 6 * bodies))
    return jacobian, inverse_mass, jacobian @ rng.normal(size=6 * bodies)


def random_problem(seed, **keywords):
    jacobian, inverse_mass, b = random_factors(seed)
    return mc.Problem.factored(jacobian, inverse_mass, b, np.full(6, 0.5), **keywords)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(5))
def test_factored_and_whole_matrices_are_the_same_problem(seed, model):
    jacobian, inverse_mass, b = random_factors(seed)
    factored = mc.Problem.factored(jacobian, inverse_mass, b, np.full(6, 0.5))
    whole = mc.Problem(jacobian @ inverse_mass @ jacobian.T, b, np.full(6, 0.5))
    np.testing.assert_allclose(factored.A.toarray(), whole.A.toarray(), atol=1e-12)
    impulses = np.random.default_rng(seed).normal(size=len(b))
    np.testing.assert_allclose(factored.velocities(impulses), whole.A @ impulses + b, atol=1e-12)
    np.testing.assert_allclose(whole.velocities(impulses), whole.A @ impulses + b, atol=1e-12)
    found = [mc.solve(p, "pgs", model, tolerance=1e-11, max_iterations=100_000) for p in (factored, whole)]
    assert all(solution.converged for solution in found)
    np.testing.assert_allclose(found[0].velocities, found[1].velocities, atol=1e-9)


def test_a_block_of_a_whole_matrix_may_have_gaps_in_its_pattern():
    """A contact whose rows couple with other rows each its own way."""
    A = np.diag([2.0, 3.0, 4.0, 5.0])
    A[0, 3] = A[3, 0] = 1.0
    A[1, 2] = A[2, 1] = 0.5
    problem = mc.Problem(csr_array(A), [-1.0, 0.3, 0.1, -2.0], [0.5], [(0.0, np.inf)])
    impulses = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(problem.velocities(impulses), A @ impulses + problem.b, atol=1e-15)


def by_hand(problem, impulses, model):
    """The six residuals, contact by contact in NumPy."""
    u = problem.A @ impulses + problem.compliance * impulses + problem.b
    primal = dual = complementarity = natural = 0.0

    def cone(x, mu):
        n, t = x[0], np.hypot(x[1], x[2])
        if t <= mu * n:
            return x
        if mu * t <= -n:
            return np.zeros(3)
        normal = (n + mu * t) / (1.0 + mu * mu)
        return np.array([normal, *(mu * normal / t * x[1:])])

    D = problem.A.diagonal() + problem.compliance
    for c, mu in enumerate(problem.friction):
        x, w = impulses[3 * c : 3 * c + 3], u[3 * c : 3 * c + 3].copy()
        d = D[3 * c : 3 * c + 3].max()
        if model in ("ncp", "ccp"):
            if model == "ncp":
                w[0] += mu * np.hypot(w[1], w[2])
            primal = max(primal, np.linalg.norm(cone(-w, mu)))  # Moreau: the part of w outside of K*
            dual = max(dual, np.linalg.norm(x - cone(x, mu)))
            complementarity = max(complementarity, abs(x @ w))
            natural = max(natural, np.abs(x - cone(x - w / d, mu)).max())
        else:
            bound = mu * max(x[0], 0.0) if model == "pyramid" else 0.0
            primal = max(primal, -w[0])
            for value, rate, low, high in (
                (x[0], w[0], 0.0, np.inf),
                (x[1], w[1], -bound, bound),
                (x[2], w[2], -bound, bound),
            ):
                dual = max(dual, low - value, value - high)
                natural = max(natural, abs(value - np.clip(value - rate / d, low, high)))
            shift = mu * (abs(w[1]) + abs(w[2])) if model == "pyramid" else 0.0
            complementarity = max(complementarity, abs(x @ (w + [shift, 0.0, 0.0])))
    for i, (low, high) in enumerate(problem.bounds, 3 * problem.contact_count):
        assert low == -np.inf and high == np.inf
        primal, natural = max(primal, abs(u[i])), max(natural, abs(u[i]) / D[i])
    objective = 0.5 * impulses @ (u - problem.b) + problem.b @ impulses
    return primal, dual, complementarity, natural, objective, impulses @ u


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(8))
def test_residuals_are_those_of_the_definition(seed, model):
    problem = random_problem(seed, compliance=np.random.default_rng(seed).uniform(0.0, 0.1, 21))
    impulses = np.random.default_rng(seed + 50).normal(size=21)
    np.testing.assert_allclose(
        list(problem.residuals(impulses, model)), by_hand(problem, impulses, model), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("impulse", [-0.5, 0.0, 0.3, 0.9, 1.0, 2.5])
def test_complementarity_means_the_same_under_every_model(model, impulse):
    """Of an impulse along the normal, |lambda u|, whether the velocity goes in or out; and of a limit the same."""
    contact = mc.Problem(np.eye(3), [-1.0, 0.0, 0.0], [0.5])
    limit = mc.Problem(np.eye(1), [-1.0], bounds=[(0.0, np.inf)])
    for problem, given in ((contact, [impulse, 0.0, 0.0]), (limit, [impulse])):
        found = float(problem.residuals(given, model)["complementarity"])
        assert found == pytest.approx(abs(impulse * (impulse - 1.0)), abs=1e-15)


def test_complementarity_under_a_polygon_is_that_of_the_models():
    """Of the normal and of what friction takes, in one number: here a square whose corners are on the axes."""
    corners = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    problem = mc.Problem(np.eye(3), [-1.0, 0.0, 0.0], [0.5])
    given = np.array([0.9, 0.0, 0.0])
    assert polygon.residuals(problem, corners, given, problem.velocities(given))[2] == pytest.approx(0.09)
    given = np.array([0.9, 0.2, -0.1])
    assert polygon.residuals(problem, corners, given, np.array([0.3, 0.4, -0.7]))[2] == pytest.approx(
        0.9 * 0.3 + 0.2 * 0.4 + 0.1 * 0.7 + 0.5 * 0.9 * 0.7
    )


@pytest.mark.parametrize("seed", range(8))
def test_complementarity_of_friction_is_what_it_takes_less_than_the_most(seed):
    """Along one tangent, exact model and pyramid are one; without friction all models are; 0 where all is as it should."""
    rng = np.random.default_rng(seed)
    load, rate, push, mu = *rng.uniform(0.1, 2.0, 3), rng.uniform(0.1, 1.0)
    held = rng.uniform(-1.0, 1.0) * mu * load
    impulses, u = np.array([load, held, 0.0]), np.array([rate, push, 0.0])
    for mu_now, models, missing in ((mu, ("ncp", "pyramid"), mu * load * push + held * push), (0.0, MODELS, 0.0)):
        given = impulses if mu_now else [load, 0.0, 0.0]
        problem = mc.Problem(np.eye(3), u - given, [mu_now])
        for model in models:
            assert float(problem.residuals(given, model)["complementarity"]) == pytest.approx(load * rate + missing)
    slides = mc.Problem(np.eye(3), [-load, push + mu * load, 0.0], [mu])
    for model in ("ncp", "pyramid"):
        assert float(slides.residuals([load, -mu * load, 0.0], model)["complementarity"]) < 1e-15


@pytest.mark.parametrize(
    "bounds, u, value",
    [
        ((-1.0, 2.0), 3.0, 1.5 * 3.0),
        ((-1.0, 2.0), -3.0, 1.5 * 3.0),
        ((0.0, np.inf), 3.0, 0.5 * 3.0),
        ((0.0, np.inf), -3.0, 0.5 * 3.0),
        ((-np.inf, 2.0), 3.0, 1.5 * 3.0),
        ((-np.inf, 2.0), -3.0, 1.5 * 3.0),
        ((-np.inf, np.inf), 3.0, 0.0),
    ],
)
def test_complementarity_of_a_bounded_row(bounds, u, value):
    problem = mc.Problem(np.eye(1), [u - 0.5], bounds=[bounds])
    assert float(problem.residuals([0.5], "ncp")["complementarity"]) == pytest.approx(value)


@pytest.mark.parametrize("bounds", [(0.0, 2.0), (-1.0, 0.5), (-np.inf, 0.0), (0.0, np.inf), (-np.inf, np.inf)])
@pytest.mark.parametrize("b", [-3.0, 0.2, 4.0])
def test_one_bounded_row_has_its_closed_form(bounds, b):
    found = mc.solve(mc.Problem([[2.0]], [b], bounds=[bounds]), "pgs", tolerance=1e-14)
    assert found.converged
    assert found.impulses[0] == pytest.approx(np.clip(-b / 2.0, *bounds), abs=1e-14)


@pytest.mark.parametrize("slope", [0.2, 0.5, 0.8])
def test_a_point_on_an_incline_sticks_or_slides(slope):
    """Mass 2, a step h of gravity: sticks while tan(slope) <= mu, else slides with g (sin - mu cos); the convex model lets
    it leave the plane with mu times that."""
    mass, kick, mu = 2.0, 9.81 / 60, 0.5
    b = np.array([-kick * np.cos(slope), kick * np.sin(slope), 0.0])
    problem = mc.Problem(np.eye(3) / mass, b, [mu])
    exact = mc.solve(problem, "pgs", "ncp", tolerance=1e-13)
    slides = max(0.0, kick * (np.sin(slope) - mu * np.cos(slope)))
    np.testing.assert_allclose(exact.velocities, [0.0, slides, 0.0], atol=1e-12)
    convex = mc.solve(problem, "pgs", "ccp", tolerance=1e-13, max_iterations=10_000)
    assert convex.velocities[0] == pytest.approx(mu * convex.velocities[1], abs=1e-12)
    assert (convex.velocities[0] > 1e-3) == (slides > 0.0)


def test_a_problem_survives_a_file_a_copy_and_a_pickle(tmp_path):
    for problem in (random_problem(3), mc.Problem(np.eye(3), [-1.0, 0.2, 0.0], [np.inf], warm_start=[1.0, 0.0, 0.0])):
        problem.save(tmp_path / "kept.npz")
        expected = mc.solve(problem, "pgs")
        for other in (mc.Problem.load(tmp_path / "kept.npz"), copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
            found = mc.solve(other, "pgs")
            assert np.array_equal(found.impulses, expected.impulses)
            assert np.array_equal(other.friction, problem.friction) and np.array_equal(other.bounds, problem.bounds)


def test_files_that_are_no_problems_are_named(tmp_path):
    (tmp_path / "text.npz").write_text("nothing")
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    for name in ("text.npz", "other.npz"):
        with pytest.raises(mc.SceneError, match=name):
            mc.Problem.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        mc.Problem.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((np.ones((2, 3)), [0.0, 0.0]), "square"),
        (([[1.0, 0.5], [0.0, 1.0]], [0.0, 0.0]), "symmetric"),
        (([[-1.0]], [0.0]), "negative"),
        (([[np.nan]], [0.0]), r"A\[0, 0\] is nan"),
        ((csr_array(np.diag([1.0, np.inf])), [0.0, 0.0]), r"A\[1, 1\] is inf"),
        ((csr_array([[1.0, 0.5], [0.0, 1.0]]), [0.0, 0.0]), r"symmetric: \[0, 1\] is 0.5, \[1, 0\] is 0"),
        ((csr_array(np.diag([1.0, -2.0])), [0.0, 0.0]), r"A\[1, 1\] is -2"),
        (([[1.0]], [np.nan]), r"b\[0\]"),
        (([[1.0]], [0.0, 1.0]), "shape"),
        ((np.eye(3), np.zeros(3), [-0.1]), r"friction\[0\]"),
        ((np.eye(3), np.zeros(3), [0.1, 0.2]), "6 rows"),
        ((np.eye(3), np.zeros(3), 0.1), "one number a contact"),
        ((np.eye(1), np.zeros(1), (), [(1.0, 0.0)]), r"lower\[0\] = 1 is above upper\[0\] = 0"),
        ((np.eye(1), np.zeros(1), (), [(np.nan, 0.0)]), r"lower\[0\] is nan"),
        ((np.eye(2), np.zeros(2), (), [(0.0, 1.0, 2.0)]), "bounds"),
        (("a", [0.0]), "A"),
    ],
)
def test_bad_problems_are_refused_by_name(arguments, words):
    with pytest.raises(mc.SceneError, match=words):
        mc.Problem(*arguments)


@pytest.mark.parametrize(
    "keywords, words",
    [
        ({"solver": "pqs"}, "pgs"),
        ({"model": "cone"}, "ncp"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"max_iterations": 1.5}, "max_iterations"),
        ({"callback": 3}, "callback"),
        ({"solver": "pgs", "omga": 1.0}, "omega"),
        ({"solver": "pgs", "omega": 2.0}, "omega"),
        ({"bilateral": "no"}, "direct"),
    ],
)
def test_bad_calls_are_refused_by_name(keywords, words):
    with pytest.raises(mc.SceneError, match=words):
        mc.solve(mc.Problem([[1.0]], [0.0]), **keywords)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("bilateral", ["rows", "direct"])
def test_an_empty_problem_is_solved(solver, bilateral):
    for model in SOLVERS[solver][1]:
        found = mc.solve(mc.Problem(np.zeros((0, 0)), []), solver, model, bilateral=bilateral)
        assert found.converged and len(found.impulses) == 0 and found.iterations == 0


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_counts_records_and_stops_when_told(solver):
    seen = []

    def watch(iteration, impulses, residuals):
        seen.append((iteration, float(residuals["natural_map"])))
        return iteration == 2

    problem = random_problem(1)
    for model in SOLVERS[solver][1]:
        seen.clear()
        found = mc.solve(problem, solver, model, tolerance=0.0, max_iterations=50, callback=watch)
        assert len(found.residuals) == len(found.times) == found.iterations + 1
        assert np.all(np.diff(found.times) >= 0.0)
        assert [iteration for iteration, _ in seen] == list(range(len(seen)))
        assert found.iterations <= 50 and (found.reason == "stopped" or found.iterations < 2)
        measured = problem.residuals(found.impulses, model)
        assert found.residual <= max(measured[name] for name in RESIDUALS) * (1 + 1e-9) + 1e-15


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_keeps_to_its_limit_and_says_so(solver):
    found = mc.solve(random_problem(2), solver, SOLVERS[solver][1][0], tolerance=0.0, max_iterations=1)
    assert found.iterations <= 1 and not found.converged and found.reason != "converged"


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "name, problem",
    [
        ("massless, factored", mc.Problem.factored(np.zeros((3, 1)), [[1.0]], [-1.0, 0.0, 0.0], [0.5])),
        ("massless", mc.Problem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], [0.5])),
        ("contradiction", mc.Problem(np.ones((2, 2)), [1.0, -1.0])),
        ("redundant", mc.Problem(np.ones((2, 2)), [1.0, 1.0])),
        ("frictionless contact", mc.Problem(np.eye(3), [-1.0, 2.0, 0.0], [0.0])),
        ("infinite friction", mc.Problem(np.eye(3), [-1.0, 2.0, 0.0], [np.inf])),
    ],
)
def test_hard_cases_end_with_a_stated_result(solver, name, problem):
    for model in SOLVERS[solver][1]:
        found = mc.solve(problem, solver, model)
        assert np.isfinite(found.impulses).all() and np.isfinite(found.velocities).all()
        assert found.converged == (found.reason == "converged")
        assert found.converged == (name not in ("massless", "massless, factored", "contradiction"))
        if name == "infinite friction" and model != "frictionless":
            np.testing.assert_allclose(found.velocities, 0.0, atol=1e-6)


def test_a_callback_that_raises_is_heard():
    def fail(*_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mc.solve(random_problem(0), callback=fail)
    with pytest.raises(TypeError, match="mine"):
        mc.solve(random_problem(0), callback=lambda *_: (_ for _ in ()).throw(TypeError("mine")))


@pytest.mark.parametrize("seed", range(4))
def test_bilateral_rows_directly_are_the_same_problem(seed):
    problem = random_problem(seed)
    found = [mc.solve(problem, "pgs", tolerance=1e-11, max_iterations=100_000, bilateral=how) for how in ("rows", "direct")]
    assert all(solution.converged for solution in found)
    np.testing.assert_allclose(found[0].velocities, found[1].velocities, atol=1e-8)


def test_the_spectrum_tells_rank_and_condition():
    rng = np.random.default_rng(0)
    q, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    values = np.array([0.0, 0.0, 1.0, 2.0, 5.0, 10.0])
    A = q * values @ q.T
    found = mc.Problem(0.5 * (A + A.T), np.zeros(6), bounds=np.tile([-np.inf, np.inf], (6, 1))).spectrum()
    np.testing.assert_allclose(found.eigenvalues, values, atol=1e-12)
    assert found.rank == 4 and found.condition == pytest.approx(10.0)


def test_a_problem_is_drawn(tmp_path):
    random_problem(0).draw(tmp_path / "problem.png")
    assert (tmp_path / "problem.png").stat().st_size > 10_000
    with pytest.raises(mc.SceneError, match="no rows"):
        mc.Problem(np.zeros((0, 0)), []).draw()


def test_residuals_of_what_is_not_finite_are_not_numbers():
    """A solver's iterate that burst must not look like a solution."""
    problem = mc.Problem(np.eye(4), [1.0, 0.0, 0.0, 0.0], [0.5])
    for impulses, velocities in ((np.zeros(4), [1.0, np.nan, 0.0, 0.0]), ([0.0, 0.0, 0.0, np.inf], np.zeros(4))):
        found = problem.system.residuals(3, np.array(impulses), np.array(velocities))
        assert np.isnan(found[:4]).all()
