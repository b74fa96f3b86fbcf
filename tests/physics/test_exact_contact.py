"""The models of contact on cases with closed forms, at any step: what each gets right, and what it gets wrong."""

import copy
from functools import cache

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.solve.problems import SOLVERS

EXACT = [name for name, (_, models, _) in SOLVERS.items() if "ncp" in models]
MU, G = 0.4, 9.81


def cube(velocity=(0.0, 0.0, 0.0), **keywords):
    """1 kg, 0.2 m, on a plane."""
    scene = mc.Scene()
    rough = mc.Material(friction=MU)
    scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static", material=rough)
    scene.add_body(
        "cube",
        shape=mc.Box(half_extents=(0.1, 0.1, 0.1)),
        mass=1.0,
        position=(0, 0, 0.1),
        velocity=velocity,
        material=rough,
    )
    return mc.World(scene, substeps=1, stabilization="baumgarte", sleep=False, **keywords)


def dragged(world, seconds=1.0):
    """Pulled along x by 20 t [N] at its centre. -> way [m], highest lift [m], steps whose problem was not solved"""
    lift, unsolved = 0.0, 0
    for k in range(round(seconds / world.dt)):
        world.apply_force("cube", (20.0 * (k + 0.5) * world.dt, 0.0, 0.0))
        world.step()
        lift = max(lift, world.positions[1, 2] - 0.1)
        unsolved += bool(world.stats.notes)
    return world.positions[1, 0], lift, unsolved


def steps_of(dt, pulls):
    """The closed form of the step: semi-implicit Euler of a block under Coulomb friction. -> way [m]"""
    x = v = 0.0
    for pull in pulls:
        v += dt * pull
        v -= np.sign(v) * min(abs(v), dt * MU * G)
        x += dt * v
    return x


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.sampled(2)
def test_a_dragged_cube_follows_the_closed_form_and_stays_down(solver, dt):
    way, lift, unsolved = dragged(cube(dt=dt, solver=solver, contact_model="ncp", tolerance=1e-9, iterations=5000))
    late = MU * G / 20.0  # when the pull exceeds the friction
    exact = 10.0 / 3.0 * (1.0 - late) ** 3
    speed = 10.0 * (1.0 - late) ** 2
    assert lift < (1e-5 if unsolved else 1e-6)
    assert abs(way - exact - 0.5 * dt * speed) < 1e-4 + dt**2 * 10.0  # first order of the step: h/2 v
    assert abs(way - steps_of(dt, [20.0 * (k + 0.5) * dt for k in range(round(1.0 / dt))])) < (1e-4 if unsolved else 1e-6)
    assert unsolved == 0 or solver not in ("admm", "newton", "nncg")


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
@pytest.mark.sampled(2)
def test_a_sliding_cube_stops_on_its_line_where_it_should(solver, dt):
    world = cube((2.0, 1.0, 0.0), dt=dt, solver=solver, contact_model="ncp", tolerance=1e-9)
    lift = 0.0
    for _ in range(round(1.0 / dt)):
        world.step()
        lift = max(lift, world.positions[1, 2] - 0.1)
    speed, brake = np.sqrt(5.0), MU * G
    way = np.hypot(*world.positions[1, :2])
    assert lift < 1e-6
    assert world.positions[1, 0] == pytest.approx(2.0 * world.positions[1, 1], abs=1e-7)  # no drift aside
    assert abs(way - 0.5 * speed**2 / brake + 0.5 * dt * speed) < 1e-4 + dt**2 * brake
    assert np.abs(world.velocities[1]).max() < 1e-6


def test_the_convex_model_lifts_what_slides_and_more_at_long_steps():
    lifts = [
        dragged(cube(dt=dt, solver="pgs", contact_model="ccp", tolerance=1e-9, speculative_distance=0.04))[1]
        for dt in (1 / 60, 1 / 120, 1 / 240)
    ]
    assert lifts[0] > 0.03
    assert lifts[0] / lifts[1] == pytest.approx(2.0, rel=0.2)
    assert lifts[1] / lifts[2] == pytest.approx(2.0, rel=0.2)


def test_the_pyramid_turns_what_slides_aslant():
    world = cube((2.0, 1.0, 0.0), dt=1 / 240, solver="pgs", contact_model="pyramid", tolerance=1e-9)
    world.step(240)
    aside = abs(world.positions[1, 0] - 2.0 * world.positions[1, 1]) / np.sqrt(5.0)
    assert aside > 0.1


@pytest.mark.parametrize("solver", EXACT)
def test_the_problem_is_that_of_the_step_to_come(solver):
    """Solved by hand it gives the velocities that the step then has."""
    scene = mc.scenes.pyramid(base=3)
    world = mc.World(
        scene,
        dt=1 / 120,
        substeps=1,
        stabilization="baumgarte",
        solver=solver,
        contact_model="ncp",
        tolerance=1e-10,
        iterations=20_000,
    )
    world.step(5)
    problem = world.problem()
    assert problem.contact_count == 36 and problem.row_count == 108
    found = mc.solve(problem, solver, "ncp", tolerance=1e-10, max_iterations=20_000)
    world.step()
    np.testing.assert_allclose(problem.velocity(found.impulses).reshape(-1, 6)[:, :3], world.velocities, atol=1e-7)


def test_asking_for_the_problem_changes_nothing():
    world = mc.World(mc.load("ragdolls", count=2))
    world.step(90)
    other = copy.deepcopy(world)
    for relaxed in (False, True):
        problem = world.problem(relaxed)
    assert problem.source["kind"][0] == "normal"
    assert world.state_hash() == other.state_hash()
    world.step(5)
    other.step(5)
    assert world.state_hash() == other.state_hash()


def test_the_problem_of_joints_is_that_of_jacobian_and_delassus():
    world = mc.World(mc.load("chain", n=5), friction_points="point")
    world.step(20)
    problem = world.problem()
    assert problem.contact_count == 0
    np.testing.assert_allclose(problem.jacobian.toarray(), world.jacobian().toarray(), atol=1e-12)
    np.testing.assert_allclose(problem.A.toarray(), world.delassus().toarray(), atol=1e-12)


def test_gears_are_one_row_over_four_bodies():
    scene = mc.Scene(gravity=(0, 0, 0))
    for k, x in enumerate((0.0, 1.0)):
        scene.add_body(f"wheel{k}", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(x, 0, 0))
        scene.add_joint(mc.HingeJoint(None, f"wheel{k}", anchor=(x, 0, 0), axis=(0, 0, 1), name=f"axle{k}"))
    scene.add_joint(mc.GearJoint("axle0", "axle1", ratio=2.0))
    world = mc.World(scene, solver="pgs", contact_model="ncp", tolerance=1e-10)
    world.set_velocity("wheel0", angular_velocity=(0, 0, 3.0))
    problem = world.problem()
    assert problem.row_count == 11
    world.step()
    rates = [world.joint(f"axle{k}").velocity for k in range(2)]
    assert rates[0] + 2.0 * rates[1] == pytest.approx(0.0, abs=1e-6)


def test_what_is_not_solved_is_said():
    world = mc.World(mc.scenes.pyramid(base=4), solver="pgs", contact_model="ncp", iterations=3)
    world.step()
    notes = world.stats.notes
    assert any("pgs: iteration limit" in text for _, _, text in notes)
    assert set(world.stats.residuals) >= {"primal", "dual", "complementarity", "natural_map"}


@pytest.mark.parametrize("steps", [20, pytest.param(120, marks=pytest.mark.slow)])
def test_joints_directly_hold_exactly_under_any_solver(steps):
    """A chain of ten on a floor: rows alone leave the joints to the solver's tolerance."""
    world = mc.World(mc.load("chain", n=10), solver="pgs", contact_model="ncp", joint_solver="tree", dt=1 / 240)
    assert world.settings["joint_solver"] == "tree"
    world.step(steps)
    assert world.joint_errors()[:, 0].max() < 1e-3


@pytest.mark.parametrize(
    "keywords, words",
    [
        ({"contact_model": "ncp"}, "laboratory"),
        ({"solver": "pgs", "contact_model": "cone"}, "ncp"),
        ({"solver": "pgs", "contact_model": "ncp", "integrator": "rk4"}, "semi_implicit"),
        ({"solver": "pgs", "contact_model": "ncp", "stop": "never"}, "residual"),
        ({"solver": "pgs", "contact_model": "ncp", "tolerance": -1.0}, "tolerance"),
    ],
)
def test_wrong_keywords_are_named(keywords, words):
    with pytest.raises(mc.SceneError, match=words):
        mc.World(mc.scenes.pyramid(base=2), **keywords)


@pytest.mark.parametrize("name, parameters", [("ragdolls", {"count": 1}), ("four_bar", {})])
def test_the_reduced_problem_is_over_the_trees_velocities(name, parameters):
    world = mc.ReducedWorld(mc.load(name, **parameters), dt=1 / 240)
    world.step(150)
    problem = world.problem()
    assert problem.jacobian.shape[1] == len(world.qd)
    np.testing.assert_allclose(
        problem.A.toarray(),
        (problem.jacobian @ problem.inverse_mass @ problem.jacobian.T).toarray(),
        atol=1e-9 * abs(problem.A).max(),
    )
    before = world.state_hash()
    world.problem()
    assert world.state_hash() == before


def test_a_loop_in_generalized_coordinates_is_closed_by_a_solver_of_the_laboratory():
    worlds = [
        mc.ReducedWorld(mc.load("four_bar"), dt=1 / 240, **keywords)
        for keywords in ({}, {"solver": "pgs", "tolerance": 1e-10, "iterations": 10_000})
    ]
    for world in worlds:
        world.step(48)
    np.testing.assert_allclose(worlds[1].positions, worlds[0].positions, atol=1e-6)


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"solver": "pgs"},
        {"stabilization": "baumgarte"},
        {"joint_solver": "rows"},
        {"friction_points": "point"},
        {"solver": "pgs", "contact_model": "ncp"},
    ],
)
def test_a_residual_may_end_the_sweeps(keywords):
    """The natural map ends them, the other residuals follow, and fewer sweeps are made where less is asked."""

    def made(tolerance):
        world = mc.World(mc.scenes.pyramid(base=4), sleep=False, stop="residual", tolerance=tolerance, **keywords)
        return sum(world.step() or world.stats.iterations for _ in range(20)), world.stats

    (few, _), (many, tight) = made(1e-1), made(1e-5)
    assert few < many
    assert tight.residuals["natural_map"] <= 1e-5
    assert set(tight.residuals) >= {"primal", "dual", "complementarity", "natural_map", "velocity"}
    assert tight.residuals["primal"] < 1e-5 and tight.residuals["dual"] < 1e-5 and tight.residuals["complementarity"] < 1e-3


def test_residuals_of_a_step_that_is_over_are_unknown():
    world = mc.World(mc.scenes.pyramid(base=2))
    world.step(2)
    first, second = world.stats, world.stats
    known = first.residuals["primal"]
    world.step()
    assert first.residuals["primal"] == known
    assert np.isnan(second.residuals["primal"]) and second.residuals["natural_map"] >= 0.0


@cache
def linkage(**keywords):
    world = mc.World(mc.load("four_bar"), dt=1 / 240, substeps=1, sleep=False, **keywords)
    world.step(amount(24, 48))
    return world


@pytest.mark.parametrize("solver", EXACT)
@pytest.mark.parametrize("joint_solver", ["rows", "tree"])
@pytest.mark.sampled(2)
def test_a_linkage_whose_rows_repeat_each_other_is_not_locked(solver, joint_solver):
    """A planar four-bar in space has three redundant rows; drifted by an angle a they agree to a alone, and exact solvers
    answered with impulses of 1 / a^2."""
    world = linkage(solver=solver, contact_model="ncp", joint_solver=joint_solver)
    plain = linkage(solver="pgs", iterations=1000)
    assert np.abs(world.positions - plain.positions).max() < 2e-3
    assert world.joint_errors()[:, 0].max() < 1e-3
