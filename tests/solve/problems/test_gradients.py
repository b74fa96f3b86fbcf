"""nncg, apgd, bb and jacobi: held against pgs at its most exact, an independent cone solver, closed forms; what is
hard or has no solution."""

import cases
import numpy as np
import pytest
from scipy.optimize import minimize

import mcsim as mc
from mcsim.core.errors import SceneError
from mcsim.solve.problems import SOLVERS, convex
from mcsim.solve.problems._sweeps import shared_local
from mcsim.solve.problems._system import CONVEX
from mcsim.solve.problems.solution import RESIDUALS

GRADIENTS = ("apgd", "bb")
ALL = ("nncg", "apgd", "bb", "jacobi")
PAIRS = [
    (solver, model) for solver in ALL for model in ("ncp", "ccp", "pyramid", "frictionless") if model in SOLVERS[solver][1]
]
EASY = {
    "cube": lambda: cases.stack(1),
    "stack": lambda: cases.stack(2),
    "wall": lambda: cases.wall(2),
    "sliding": cases.sliding,
    "corner": cases.corner,
    "pile": lambda: cases.pile(4, 5, 7),
    "jointed": lambda: cases.pile(5, 4, 5, joints=2),
    "slippery": lambda: cases.stack(2, friction=0.0, push=1.0),
    "sticky": lambda: cases.stack(2, friction=np.inf, push=1.0),
}

# Four points that slide may share the load in many ways, and friction's torque with it: not one velocity.
MANY = {("ncp", "sliding"), ("pyramid", "sliding")}


def problem_of(case, **keywords):
    return mc.Problem(case["A"], case["b"], case["friction"], np.column_stack([case["lower"], case["upper"]]), **keywords)


def exactly(problem, model):
    found = mc.solve(problem, "pgs", model, tolerance=1e-12, max_iterations=100_000)
    if found.residual > 1e-10:
        pytest.skip(f"pgs came to {found.residual:.1e} only")
    return found


# ---- what they find --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EASY)
@pytest.mark.parametrize("solver, model", PAIRS)
def test_velocities_are_those_of_pgs(solver, model, name):
    problem = problem_of(EASY[name]())
    reference = exactly(problem, model)
    found = mc.solve(problem, solver, model, tolerance=1e-9, max_iterations=50_000)
    assert found.converged, found
    assert all(found.final[residual] <= 1e-9 for residual in RESIDUALS)
    if (model, name) not in MANY:
        np.testing.assert_allclose(found.velocities, reference.velocities, atol=1e-7)
    np.testing.assert_allclose(found.velocities, problem.A @ found.impulses + problem.b, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_factored_problems_have_the_same_answers(seed):
    """J and M^-1 in place of A; with compliance, and limits among the rows."""
    rng = np.random.default_rng(seed)
    jacobian = rng.normal(size=(15, 12)) * (rng.random((15, 12)) < 0.6)
    mass = rng.normal(size=(12, 12))
    inverse_mass = mass @ mass.T / 12 + 0.1 * np.eye(12)
    common = dict(
        b=jacobian @ rng.normal(size=12),
        friction=[0.3, 0.0, 0.8, np.inf],
        bounds=[(0.0, np.inf), (-0.1, 0.2), (-np.inf, np.inf)],
        compliance=rng.uniform(0.0, 0.1, 15),
    )
    factored = mc.Problem.factored(jacobian, inverse_mass, **common)
    A = jacobian @ inverse_mass @ jacobian.T
    whole = mc.Problem(0.5 * (A + A.T), **common)
    for solver in ALL:
        found = [mc.solve(p, solver, "ccp", tolerance=1e-9, max_iterations=30_000) for p in (factored, whole)]
        assert all(solution.converged for solution in found), (solver, found)
        np.testing.assert_allclose(found[0].velocities, found[1].velocities, atol=1e-7)


def cone_program(case):
    """The least 1/2 l' A l + b' l over the cones and bounds, and A l + b there, by Clarabel."""
    clarabel = pytest.importorskip("clarabel")
    from scipy.sparse import csc_matrix

    A, b, mu = case["A"], case["b"], case["friction"]
    n, count = len(b), len(mu)
    rows, sides, cones = [], [], []
    for i in range(count):
        rows.append(-np.eye(n)[3 * i])
        cones.append(clarabel.NonnegativeConeT(1))
        if mu[i] < np.inf:
            rows += [-mu[i] * np.eye(n)[3 * i], -np.eye(n)[3 * i + 1], -np.eye(n)[3 * i + 2]]
            cones.append(clarabel.SecondOrderConeT(3))
    sides += [0.0] * len(rows)
    for i in range(3 * count, n):
        for sign, bound in ((1.0, case["upper"][i - 3 * count]), (-1.0, -case["lower"][i - 3 * count])):
            if np.isfinite(bound):
                rows.append(sign * np.eye(n)[i])
                sides.append(bound)
                cones.append(clarabel.NonnegativeConeT(1))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    found = clarabel.DefaultSolver(
        csc_matrix(np.triu(A)), b, csc_matrix(np.array(rows)), np.array(sides), cones, settings
    ).solve()
    x = np.array(found.x)
    return 0.5 * x @ A @ x + b @ x, A @ x + b


@pytest.mark.parametrize(
    "make",
    [
        lambda: cases.stack(3, push=1.0),
        lambda: cases.wall(3),
        lambda: cases.pile(3, 6, 10),
        lambda: cases.chain(3),
        cases.corner,
    ],
    ids=["stack", "wall", "pile", "chain", "corner"],
)
def test_the_convex_objective_is_that_of_an_independent_cone_solver(make):
    case = make()
    least, velocities = cone_program(case)
    for solver in ("nncg", *GRADIENTS):
        found = mc.solve(problem_of(case), solver, "ccp", tolerance=1e-8, max_iterations=20_000)
        assert found.final["objective"] == pytest.approx(least, abs=1e-6 * max(1.0, abs(least)))
        assert found.converged or (solver == "bb" and found.residual < 1e-5)
        if found.converged:
            np.testing.assert_allclose(found.velocities, velocities, atol=2e-5)


def test_the_nearest_point_of_a_pyramid():
    """x = P_K(y) by its conditions: x in K, x - y in K*, orthogonal."""
    rng = np.random.default_rng(5)
    friction = np.concatenate([np.zeros(20), rng.uniform(0.0, 3.0, 200)])
    y = rng.normal(size=(220, 3))
    y[::7, 1] = y[::7, 2]
    x = y.copy()
    mc.Problem(np.eye(660), np.zeros(660), friction).system.project(CONVEX["pyramid"], x.reshape(-1))
    slack = x - y
    assert np.all(x[:, 0] >= 0.0) and np.all(np.abs(x[:, 1:]).max(1) <= friction * x[:, 0] * (1.0 + 1e-15))
    assert np.all(slack[:, 0] >= friction * np.abs(slack[:, 1:]).sum(1) - 1e-14)
    np.testing.assert_allclose((x * slack).sum(1), 0.0, atol=1e-14)


@pytest.mark.parametrize("name", ["stack", "wall", "corner", "pile", "jointed", "sticky"])
@pytest.mark.parametrize("solver", ["nncg", *GRADIENTS])
def test_the_pyramid_is_that_of_pivots(solver, name):
    """The shift's fixed point is the linear complementarity problem's answer."""
    problem = problem_of(EASY[name]())
    exact = mc.solve(problem, "lemke", "pyramid", tolerance=1e-9)
    found = mc.solve(problem, solver, "pyramid", tolerance=1e-9, max_iterations=20_000)
    assert exact.converged and found.converged
    np.testing.assert_allclose(found.velocities, exact.velocities, atol=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_frictionless_objective_is_that_of_scipy(seed):
    case = cases.pile(seed, 5, 8)
    normal = np.arange(0, 3 * len(case["friction"]), 3)
    A, b = case["A"][np.ix_(normal, normal)], case["b"][normal]
    reference = minimize(
        lambda x: 0.5 * x @ A @ x + b @ x,
        np.zeros(len(b)),
        jac=lambda x: A @ x + b,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * len(b),
        options={"ftol": 1e-16, "gtol": 1e-11, "maxiter": 10_000},
    )
    # The tangential rows have velocities, but no say.
    for solver in ALL:
        found = mc.solve(problem_of(case), solver, "frictionless", tolerance=1e-7, max_iterations=20_000)
        assert np.all(found.impulses.reshape(-1, 3)[:, 1:] == 0.0)
        assert found.final["objective"] == pytest.approx(reference.fun, abs=1e-6)


@pytest.mark.parametrize("solver", ALL)
def test_what_slides_is_lifted_by_the_convex_model_and_by_no_other(solver):
    case = cases.sliding(speed=2.0, angle=0.6, friction=0.4)
    found = {
        model: mc.solve(problem_of(case), solver, model, tolerance=1e-9, max_iterations=20_000) for model in ("ncp", "ccp")
    }
    u = {model: solution.velocities.reshape(-1, 3) for model, solution in found.items()}
    slip = np.hypot(u["ccp"][:, 1], u["ccp"][:, 2])
    assert slip.min() > 0.1
    assert u["ccp"][:, 0].max() > 0.01
    bears = found["ccp"].impulses[0::3] > 1e-6
    np.testing.assert_allclose(u["ccp"][bears, 0], 0.4 * slip[bears], rtol=1e-3)
    assert np.abs(u["ncp"][:, 0].min()) < 1e-8
    assert np.hypot(u["ncp"][:, 1], u["ncp"][:, 2]).min() > 0.1


# ---- how they get there ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pyramid():
    world = mc.World(mc.scenes.pyramid(base=8), sleep=False)
    world.step(30)
    return world.problem()


@pytest.mark.parametrize("model", ["ncp", "ccp", "pyramid"])
def test_a_pyramid_takes_a_fifth_of_the_iterations_of_pgs(pyramid, model):
    sweeps = mc.solve(pyramid, "pgs", model, tolerance=1e-4, max_iterations=10_000)
    assert sweeps.converged
    # An iteration of nncg has two sweeps.
    for solver, most in (("nncg", sweeps.iterations // 10), ("apgd", sweeps.iterations // 4)):
        if model in SOLVERS[solver][1]:
            found = mc.solve(pyramid, solver, model, tolerance=1e-4, max_iterations=10_000)
            assert found.converged and found.iterations <= most, (solver, found, sweeps)
            np.testing.assert_allclose(found.velocities, sweeps.velocities, atol=1e-4)


@pytest.mark.parametrize("solver", ALL)
def test_the_record_is_of_the_impulses_of_its_iteration(pyramid, solver):
    """What the callback gets is measured anew: gradients carried along are those of the impulses."""
    seen = []

    def look(iteration, impulses, residuals):
        again = pyramid.residuals(impulses, "ncp")
        seen.append(max(abs(again[name] - residuals[name]) for name in RESIDUALS))
        return iteration == 40

    found = mc.solve(pyramid, solver, "ncp", tolerance=0.0, callback=look)
    assert found.reason == "stopped" and len(seen) == 41
    assert max(seen) < 1e-9


@pytest.mark.parametrize("name", ["pile", "stack", "wall"])
def test_jacobi_goes_down_in_every_iteration(name):
    """From zero, by steps of the split masses."""
    found = mc.solve(problem_of(EASY[name]()), "jacobi", "ccp", tolerance=0.0, max_iterations=300)
    objective = found.residuals["objective"]
    assert np.all(np.diff(objective) <= 1e-12 * np.abs(objective).max())
    assert objective[-1] < objective[0]


def test_split_masses_bound_the_matrix():
    """A <= the blocks of the split masses, as quadratic forms; of J and M^-1 as of A."""
    rng = np.random.default_rng(3)
    jacobian = np.zeros((21, 18))
    for first in range(0, 18, 3):
        for body in rng.choice(3, 2, replace=False):
            jacobian[first : first + 3, 6 * body : 6 * body + 6] = rng.normal(size=(3, 6))
    jacobian[18:, :6] = rng.normal(size=(3, 6))
    inverse_mass = np.zeros((18, 18))
    for body in range(3):
        part = rng.normal(size=(6, 6))
        inverse_mass[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = part @ part.T
    A = jacobian @ inverse_mass @ jacobian.T
    A = 0.5 * (A + A.T)
    for problem in (
        mc.Problem.factored(jacobian, inverse_mass, np.zeros(21), [0.5] * 6),
        mc.Problem(A, np.zeros(21), [0.5] * 6),
    ):
        local = shared_local(problem.system).reshape(-1, 3, 3)
        bound = np.zeros((21, 21))
        for block in range(6):
            bound[3 * block : 3 * block + 3, 3 * block : 3 * block + 3] = local[block]
        bound[range(18, 21), range(18, 21)] = local[6:, 0, 0]
        assert np.linalg.eigvalsh(bound - A).min() > -1e-9
        assert np.linalg.eigvalsh(0.3 * bound - A).min() < 0.0


def test_jacobi_does_not_ask_for_the_order():
    case = cases.pile(6, 5, 8)
    count = len(case["friction"])
    order = np.random.default_rng(0).permutation(count)
    rows = (3 * order[:, None] + np.arange(3)).ravel()
    turned = mc.Problem(case["A"][np.ix_(rows, rows)], case["b"][rows], case["friction"][order])
    found = [mc.solve(p, "jacobi", "ncp", tolerance=0.0, max_iterations=50) for p in (problem_of(case), turned)]
    np.testing.assert_allclose(found[0].residuals["natural_map"], found[1].residuals["natural_map"], rtol=1e-6, atol=1e-12)


def uneven(ratio=1e4):
    """Two bodies of unequal mass, each on the floor by itself."""
    light, heavy = (cases.stack(1, push=1.0) for _ in range(2))
    n = len(light["b"])
    A = np.zeros((2 * n, 2 * n))
    A[:n, :n], A[n:, n:] = light["A"], heavy["A"] / ratio
    return mc.Problem(A, *(np.concatenate([light[name], heavy[name]]) for name in ("b", "friction")))


@pytest.mark.parametrize("solver", GRADIENTS)
def test_scales_make_up_for_unequal_masses(solver):
    with_scales, without = (
        mc.solve(uneven(), solver, "ncp", tolerance=1e-6, max_iterations=20_000, scaled=scaled) for scaled in (True, False)
    )
    assert with_scales.converged
    assert with_scales.iterations < without.iterations / 3


@pytest.mark.parametrize(
    "options",
    [
        dict(beta="fletcher_reeves"),
        dict(order="forward"),
        dict(order="backward"),
        dict(beta="fletcher_reeves", order="forward", omega=0.9),
    ],
)
def test_nncg_converges_by_all_its_ways(options):
    problem = problem_of(EASY["wall"]())
    found = mc.solve(problem, "nncg", "ncp", tolerance=1e-8, max_iterations=5000, **options)
    assert found.converged
    np.testing.assert_allclose(found.velocities, exactly(problem, "ncp").velocities, atol=1e-6)


# ---- what is hard ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver, model", PAIRS)
def test_problems_without_answers_are_said_to_be_so(solver, model):
    for make in cases.CONTRADICTORY.values():
        found = mc.solve(problem_of(make()), solver, model, tolerance=1e-8, max_iterations=300)
        assert not found.converged and found.reason in ("iteration limit", "diverged")
        assert np.isfinite(found.impulses).all() and np.isfinite(found.velocities).all()


@pytest.mark.parametrize("solver, model", PAIRS)
def test_nothing_and_what_nothing_moves(solver, model):
    empty = mc.solve(mc.Problem(np.zeros((0, 0)), []), solver, model)
    assert empty.converged and empty.iterations == 0
    opening = mc.solve(mc.Problem(np.zeros((4, 4)), [1.0, 0.0, 0.0, 0.0], [0.5]), solver, model)
    assert opening.converged
    closing = mc.solve(mc.Problem(np.zeros((4, 4)), [-1.0, 0.2, 0.0, 1.0], [0.5]), solver, model, max_iterations=20)
    assert closing.reason == "iteration limit" and np.all(closing.impulses == 0.0)


@pytest.mark.parametrize("solver, model", PAIRS)
def test_rows_that_others_repeat_share_the_load(solver, model):
    problem = problem_of(cases.repeated(3, 0.5))
    found = mc.solve(problem, solver, model, tolerance=1e-7, max_iterations=50_000)
    assert found.converged
    np.testing.assert_allclose(found.velocities, exactly(problem, model).velocities, atol=1e-5)


@pytest.mark.parametrize("solver, model", PAIRS)
def test_every_case_ends_in_numbers(solver, model):
    for name, make in cases.CASES.items():
        problem = problem_of(make())
        found = mc.solve(problem, solver, model, tolerance=1e-8, max_iterations=60)
        assert np.isfinite(found.impulses).all() and np.isfinite(found.velocities).all(), name
        assert found.iterations <= 60 and found.reason in ("converged", "iteration limit"), name
        assert found.residual <= max(found.residuals[0][residual] for residual in RESIDUALS)


@pytest.mark.parametrize("solver, model", [("nncg", "pyramid"), ("apgd", "pyramid"), ("bb", "ncp"), ("bb", "pyramid")])
def test_much_friction_in_a_tangle_is_solved_by_a_shift_that_slows_down(solver, model, monkeypatch):
    """Where one that always follows at once leads nowhere."""
    problem = problem_of(cases.stack(3, 5.0, push=5.0))
    found = mc.solve(problem, solver, model, tolerance=1e-7, max_iterations=5000)
    assert found.converged
    monkeypatch.setattr(convex, "SETTLED", np.inf)
    assert not mc.solve(problem, solver, model, tolerance=1e-7, max_iterations=5000).converged


@pytest.mark.parametrize(
    "solver, options, message",
    [
        ("nncg", dict(beta="polak"), "exact, fletcher_reeves"),
        ("nncg", dict(order="random"), "forward, backward, symmetric"),
        ("nncg", dict(omega=2.0), "between 0 and 2"),
        ("jacobi", dict(omega=0.0), "between 0 and 2"),
        ("apgd", dict(omega=1.0), "has no option 'omega'; it takes scaled"),
    ],
)
def test_wrong_options_are_refused(solver, options, message):
    with pytest.raises(SceneError, match=message):
        mc.solve(problem_of(cases.stack(1)), solver, **options)
