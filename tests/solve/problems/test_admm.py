"""admm, newton, ipm and staggered: against each other and a plain method that shares nothing with them, against closed
forms, and where problems are hard or have no answer."""

import cases
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from mcsim.core.errors import SceneError
from mcsim.solve.problems import SOLVERS

INF = np.inf
EVERY = [(solver, model) for solver in ("admm", "newton", "ipm", "staggered") for model in SOLVERS[solver][1]]
each = pytest.mark.parametrize("solver, model", EVERY)
exact = pytest.mark.parametrize("solver", ["admm", "newton", "ipm", "staggered"])


def random_problem(seed, whole=False, bodies=3, contacts=4, friction=0.5):
    """Contacts, a bilateral row, a limit and a motor on bodies of several masses; full rank."""
    rng = np.random.default_rng(seed)
    n, m = 3 * contacts + 3, 6 * bodies
    inverse_mass = np.diag(np.repeat(10.0 ** rng.uniform(-1.0, 1.0, bodies), 6))
    arguments = {"friction": [friction] * contacts, "bounds": [[-INF, INF], [0.0, INF], [-0.1, 0.2]]}
    problem = mc.Problem.factored(rng.normal(size=(n, m)), inverse_mass, rng.normal(size=n), **arguments)
    return mc.Problem(problem.A.toarray(), problem.b, **arguments) if whole else problem


def problem_of(case):
    return mc.Problem(case["A"], case["b"], case["friction"], np.stack([case["lower"], case["upper"]], axis=1))


# ---- against others --------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("whole", [False, True])
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3, 1.0, INF]))
@settings(max_examples=8, deadline=None, derandomize=True)
def test_velocities_are_those_of_pgs(solver, model, whole, seed, friction):
    problem = random_problem(seed, whole, friction=friction)
    other = mc.solve(problem, "pgs", model, tolerance=1e-12, max_iterations=20_000)
    found = mc.solve(problem, solver, model, tolerance=1e-10, max_iterations=5000)
    assert found.converged and other.converged, (found, other)
    np.testing.assert_allclose(found.velocities, other.velocities, atol=1e-7)
    np.testing.assert_allclose(found.impulses, other.impulses, atol=1e-7)  # A has full rank


@pytest.mark.parametrize("name", cases.CASES)
@each
@pytest.mark.sampled(5)
def test_every_case_ends_with_what_it_says(solver, model, name):
    """The answer is what its residuals say, by formulas of NumPy alone."""
    problem = problem_of(cases.CASES[name]())
    solution = mc.solve(problem, solver, model, tolerance=1e-8, max_iterations=300)
    assert solution.iterations <= 300
    assert np.isfinite(solution.impulses).all() and np.isfinite(solution.velocities).all()
    A = problem.A.toarray()
    size = 1.0 + np.abs(A).max(initial=0.0) * np.abs(solution.impulses).max(initial=0.0)
    np.testing.assert_allclose(solution.velocities, A @ solution.impulses + problem.b, atol=1e-9 * size)
    assert solution.reason in ("converged", "iteration limit", "stalled", "diverged")
    assert solution.converged == (solution.residual <= 1e-8) or solution.reason == "diverged"


@each
@pytest.mark.parametrize("name", ["stack", "repeated", "wall"])
def test_velocities_where_impulses_are_not_unique(solver, model, name):
    """Stacks at rest, whose A is singular. (Where redundant contacts slide, exact velocities are not unique either.)"""
    problem = problem_of(getattr(cases, name)())
    found = mc.solve(problem, solver, model, tolerance=1e-9, max_iterations=2000)
    other = mc.solve(problem, "admm" if solver == "newton" else "newton", model, tolerance=1e-9, max_iterations=2000)
    assert found.converged and other.converged, (found, other)
    np.testing.assert_allclose(found.velocities, other.velocities, atol=1e-6)


# ---- closed forms ----------------------------------------------------------------------------------------------------


def block_on_incline(angle, friction, dt=0.01):
    """A point of mass 1 on a plane at this angle, from rest: rows [normal, down the slope, across]."""
    g = 9.81 * dt
    return mc.Problem(np.eye(3), [-g * np.cos(angle), g * np.sin(angle), 0.0], [friction])


@exact
def test_block_on_an_incline_sticks_or_slides(solver):
    g = 0.0981
    for angle in (0.0, 0.2, 0.4):  # tan 0.4 = 0.423
        solution = mc.solve(block_on_incline(angle, 0.5), solver, "ncp", tolerance=1e-12)
        assert solution.converged
        np.testing.assert_allclose(solution.velocities, 0.0, atol=1e-11)
        np.testing.assert_allclose(solution.impulses, [g * np.cos(angle), -g * np.sin(angle), 0.0], atol=1e-11)
    for angle in (0.6, 1.0):
        solution = mc.solve(block_on_incline(angle, 0.5), solver, "ncp", tolerance=1e-12)
        assert solution.converged
        slip = g * (np.sin(angle) - 0.5 * np.cos(angle))
        np.testing.assert_allclose(solution.velocities, [0.0, slip, 0.0], atol=1e-10)


@pytest.mark.parametrize("solver", ["admm", "newton", "ipm"])
def test_the_convex_model_lifts_a_sliding_block(solver):
    """ccp: u_n = mu |u_t|, and the impulse on the cone: from (1 + mu^2) n = g (cos + mu sin)."""
    g, angle, mu = 0.0981, 0.8, 0.5
    solution = mc.solve(block_on_incline(angle, mu), solver, "ccp", tolerance=1e-12)
    n = g * (np.cos(angle) + mu * np.sin(angle)) / (1.0 + mu * mu)
    np.testing.assert_allclose(solution.impulses, [n, -mu * n, 0.0], atol=1e-10)
    assert solution.velocities[0] == pytest.approx(mu * solution.velocities[1], abs=1e-10)


@exact
def test_friction_opposes_sliding_in_any_direction(solver):
    for turn in np.linspace(0.1, 6.2, 7):
        problem = mc.Problem(np.eye(3), [-1.0, 2.0 * np.cos(turn), 2.0 * np.sin(turn)], [0.5])
        solution = mc.solve(problem, solver, "ncp", tolerance=1e-11)
        np.testing.assert_allclose(solution.impulses, [1.0, -0.5 * np.cos(turn), -0.5 * np.sin(turn)], atol=1e-9)


@exact
def test_pyramid_bounds_each_tangent(solver):
    problem = mc.Problem(np.eye(3), [-1.0, 2.0, 0.3], [0.5])
    found = mc.solve(problem, solver, "pyramid", tolerance=1e-11).impulses
    np.testing.assert_allclose(found, [1.0, -0.5, -0.3], atol=1e-9)


@exact
def test_a_motor_pushes_up_to_its_bound(solver):
    problem = mc.Problem(np.eye(2), [3.0, -0.5], bounds=[[-1.0, 1.0], [-1.0, 1.0]])
    solution = mc.solve(problem, solver, "ncp", tolerance=1e-12)
    np.testing.assert_allclose(solution.impulses, [-1.0, 0.5], atol=1e-11)
    np.testing.assert_allclose(solution.velocities, [2.0, 0.0], atol=1e-11)


@exact
def test_compliance_yields(solver):
    problem = mc.Problem(np.eye(3), [-1.0, 0.0, 0.0], [0.5], compliance=[3.0, 0.0, 0.0])
    assert mc.solve(problem, solver, "ncp", tolerance=1e-12).impulses[0] == pytest.approx(0.25, abs=1e-11)


# ---- mass ratios, units ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["admm", "newton", "ipm"])
@pytest.mark.parametrize("model", ["ncp", "ccp"])
def test_a_ton_on_a_gram(solver, model):
    """Mass ratio 10^6: complementarity of 1e-8 in 100 iterations."""
    problem = problem_of(cases.heavy_on_light(1e6))
    solution = mc.solve(problem, solver, model, tolerance=1e-8, max_iterations=100)
    assert solution.converged, solution
    assert solution.residuals["complementarity"][-1] <= 1e-8


@pytest.mark.parametrize("solver", ["admm", "newton", "ipm"])
def test_a_1000_kg_cube_on_a_1_g_cube_of_a_world(solver):
    scene = mc.Scene()
    material = mc.Material(friction=0.7)
    scene.add_body("floor", kind="static", shape=mc.Plane(normal=(0, 0, 1)), material=material)
    for name, mass, height in (("light", 1e-3, 0.05), ("heavy", 1e3, 0.15)):
        scene.add_body(name, shape=mc.Box((0.05,) * 3), mass=mass, material=material, position=(0, 0, height))
    problem = mc.World(scene, dt=1e-3, substeps=1, sleep=False).problem(relaxed=True)
    solution = mc.solve(problem, solver, "ncp", tolerance=1e-8, max_iterations=100)
    assert solution.converged, solution
    normal = solution.impulses[0 : 3 * problem.contact_count : 3]
    assert normal.sum() == pytest.approx((2 * 1e3 + 1e-3) * 9.81e-3, rel=1e-6)  # both faces


@exact
def test_the_unit_of_length_is_nothing_to_it(solver):
    """Rows in millimetres: the same impulses; iterations by the scaled rows alone."""
    problem = random_problem(5)
    milli = mc.Problem.factored(
        1e3 * problem.jacobian, problem.inverse_mass, 1e3 * problem.b, problem.friction, problem.bounds
    )
    one, other = (mc.solve(p, solver, "ncp", tolerance=1e-9) for p in (problem, milli))
    assert one.converged and other.converged
    np.testing.assert_allclose(other.velocities, 1e3 * one.velocities, atol=1e-5)


# ---- hard problems ---------------------------------------------------------------------------------------------------


@exact
def test_four_coplanar_points_carry_one_body(solver):
    """A is singular; the sum of the impulses is not in doubt."""
    corners = np.array([[x, y, -1.0] for x in (-1.0, 1.0) for y in (-1.0, 1.0)])
    rows = [
        np.concatenate([axis, np.cross(corner, axis)])
        for corner in corners
        for axis in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    ]
    J = np.array(rows)
    problem = mc.Problem.factored(J, np.eye(6), J @ [0.3, 0.1, -1.0, 0.0, 0.0, 0.0], [0.8] * 4)
    solution = mc.solve(problem, solver, "ncp", tolerance=1e-10)
    assert solution.converged
    np.testing.assert_allclose(solution.velocities, 0.0, atol=1e-9)
    np.testing.assert_allclose(J.T @ solution.impulses, [-0.3, -0.1, 1.0, 0.0, 0.0, 0.0], atol=1e-9)


@exact
def test_admm_puts_no_force_into_a_jam(solver):
    """A ball at rest between two walls: no impulse is needed, none is found."""
    row = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
    problem = mc.Problem.factored(np.vstack([row, -row]), np.eye(3), np.zeros(6), [1.0, 1.0])
    assert np.abs(mc.solve(problem, solver, "ncp", tolerance=1e-12).impulses).max() == 0.0


@each
def test_rows_without_mass_have_a_stated_end(solver, model):
    good = mc.solve(mc.Problem(np.zeros((4, 4)), [1.0, 0.0, 0.0, 0.0], [0.5]), solver, model)
    assert good.converged and not good.impulses.any()
    bad = mc.solve(mc.Problem(np.zeros((4, 4)), [-1.0, 0.0, 0.0, 0.0], [0.5]), solver, model, max_iterations=700)
    assert not bad.converged and bad.reason in ("stalled", "iteration limit")
    assert np.isfinite(bad.impulses).all()


@each
def test_rows_that_contradict_each_other(solver, model):
    for bounds in ([[-INF, INF]] * 2, [[0.0, INF]] * 2):
        A = np.ones((2, 2)) if bounds[0][0] == -INF else np.array([[1.0, -1.0], [-1.0, 1.0]])
        b = [1.0, -1.0] if bounds[0][0] == -INF else [-1.0, -1.0]
        solution = mc.solve(mc.Problem(A, b, bounds=bounds), solver, model, tolerance=1e-9, max_iterations=800)
        assert not solution.converged and solution.reason in ("stalled", "iteration limit", "diverged")
        assert np.isfinite(solution.impulses).all()


@each
def test_rows_that_repeat_each_other(solver, model):
    solution = mc.solve(mc.Problem(np.ones((3, 3)), [1.0, 1.0, 1.0]), solver, model, tolerance=1e-10)
    assert solution.converged and solution.impulses.sum() == pytest.approx(-1.0, abs=1e-9)


@each
def test_no_rows(solver, model):
    solution = mc.solve(mc.Problem(np.zeros((0, 0)), []), solver, model)
    assert solution.converged and solution.iterations == 0


@each
@pytest.mark.parametrize("friction", [0.0, INF])
def test_no_friction_and_all_friction(solver, model, friction):
    problem = mc.Problem(np.eye(3) + 0.2, [-1.0, 0.5, 0.7], [friction])
    solution = mc.solve(problem, solver, model, tolerance=1e-11)
    assert solution.converged
    held = friction == INF and model != "frictionless"
    np.testing.assert_allclose(solution.velocities[1:] if held else solution.impulses[1:], 0.0, atol=1e-10)


# ---- the call --------------------------------------------------------------------------------------------------------


@each
def test_a_callback_sees_every_iteration_and_changes_none(solver, model):
    problem, seen = random_problem(1), []
    plain = mc.solve(problem, solver, model, tolerance=1e-9)
    watched = mc.solve(problem, solver, model, tolerance=1e-9, callback=lambda k, x, r: seen.append(k) or False)
    assert seen == list(range(watched.iterations + 1))
    assert watched.impulses.tobytes() == plain.impulses.tobytes()
    stopped = mc.solve(problem, solver, model, tolerance=0.0, callback=lambda k, x, r: k == 2)
    assert stopped.reason == "stopped" and stopped.iterations == 2


@each
def test_residuals_are_those_of_the_problem(solver, model):
    problem, seen = random_problem(2), []
    solution = mc.solve(problem, solver, model, tolerance=1e-9, callback=lambda k, x, r: seen.append(x.copy()) and False)
    assert len(solution.residuals) == len(solution.times) == len(seen)
    assert (np.diff(solution.times) >= 0.0).all()
    for record, impulses in zip(solution.residuals, seen, strict=True):
        other = problem.residuals(impulses, model)
        for name in ("primal", "dual", "complementarity", "natural_map"):
            assert record[name] == pytest.approx(float(other[name]), rel=1e-6, abs=1e-12)


@each
def test_a_solution_as_the_start_takes_no_iteration(solver, model):
    problem = random_problem(3)
    first = mc.solve(problem, solver, model, tolerance=1e-9)
    again = mc.Problem.factored(
        problem.jacobian, problem.inverse_mass, problem.b, problem.friction, problem.bounds, warm_start=first.impulses
    )
    assert mc.solve(again, solver, model, tolerance=1e-8).iterations == 0


@each
def test_the_same_bits_every_time(solver, model):
    problem = problem_of(cases.CASES[next(iter(cases.CASES))]())
    one, other = (mc.solve(problem, solver, model, tolerance=1e-9) for _ in range(2))
    assert one.impulses.tobytes() == other.impulses.tobytes() and one.iterations == other.iterations


@pytest.mark.parametrize(
    "solver, options",
    [
        ("admm", {"rho": 0.0}),
        ("admm", {"eta": -1.0}),
        ("admm", {"over_relaxation": 2.0}),
        ("admm", {"polish": 3}),
        ("newton", {"delta": np.nan}),
        ("ipm", {"polish": "no"}),
        ("ipm", {"rho": 1.0}),
        ("staggered", {"inner_iterations": 0}),
        ("admm", {"omega": 1.0}),
    ],
)
def test_wrong_options_are_named(solver, options):
    with pytest.raises(SceneError, match=next(iter(options))):
        mc.solve(random_problem(0), solver, **options)


def test_admm_without_polish_gets_there_alone():
    solution = mc.solve(random_problem(4), "admm", "ncp", tolerance=1e-9, polish=False)
    assert solution.converged and not any("Newton" in note for note in solution.notes)


def test_stacks_of_a_world():
    """Boxes that fell on each other, from rest: the solver's daily bread."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane(normal=(0, 0, 1)))
    for k in range(12):
        scene.add_body(
            f"box{k}", shape=mc.Box((0.1,) * 3), density=125.0, position=(0.3 * (k % 4), 0.004 * k, 0.11 + 0.22 * (k // 4))
        )
    world = mc.World(scene, dt=1 / 100, substeps=1, sleep=False)
    world.step(30)
    problem = world.problem(relaxed=True)
    assert problem.contact_count >= 40
    for solver in ("admm", "newton", "ipm"):
        solution = mc.solve(problem, solver, "ncp", tolerance=1e-6, max_iterations=500)
        assert solution.converged, solution
