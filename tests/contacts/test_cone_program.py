"""The cone program: its conditions by projections that are written here, its optimum by such steps, how it slides."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount


def drawn(seed, count, freedoms):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * count, freedoms))
    return mc.Problem(J @ J.T, J @ rng.normal(size=freedoms), rng.uniform(0.1, 1.0, count))


def into_cone(x, mu):
    """The nearest point of |x_t| <= mu x_n."""
    n, t = x[0], np.linalg.norm(x[1:])
    if t <= mu * n:
        return x
    if mu * t <= -n:
        return np.zeros(3)
    along = (n + mu * t) / (1.0 + mu**2)
    return np.r_[along, mu * along * x[1:] / t]


@settings(max_examples=amount(10, 80))
@given(seed=st.integers(0, 10**6), count=st.integers(1, 5), freedoms=st.integers(3, 12))
def test_the_conditions_hold(seed, count, freedoms):
    """gamma in its cone, u in the dual one, gamma . u = 0: by projections; u = N gamma + r; redundant contacts too."""
    program = mc.contacts.cone_program(drawn(seed, count, freedoms))
    found = program.solve()
    assert found.solution.converged and max(found.kkt[name] for name in ("primal", "dual", "complementarity")) < 1e-8
    assert found.u == pytest.approx(program.N @ found.gamma + program.r, abs=1e-12)
    for gamma, u, mu in zip(found.gamma.reshape(-1, 3), found.u.reshape(-1, 3), program.mu):
        assert gamma == pytest.approx(into_cone(gamma, mu), abs=1e-8)
        assert u == pytest.approx(into_cone(u, 1.0 / mu), abs=1e-8)  # mu |u_t| <= u_n
        assert gamma @ u == pytest.approx(0.0, abs=1e-7)
        assert gamma == pytest.approx(into_cone(gamma - u, mu), abs=1e-3)
    objective = 0.5 * found.gamma @ program.N @ found.gamma + program.r @ found.gamma
    assert found.kkt["objective"] == pytest.approx(objective, abs=1e-9)
    assert program.objective(found.gamma) == pytest.approx(objective, abs=1e-9)
    assert program.kkt(np.zeros(3 * count))["objective"] == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_projected_gradients_end_at_the_same(seed):
    """As many as it takes of gamma -> P(gamma - (N gamma + r) / L), written here: the same objective and velocities."""
    program = mc.contacts.cone_program(drawn(seed, 3, 6))
    N, r, mu = program.N.toarray(), program.r, program.mu
    steep, gamma = np.linalg.eigvalsh(N)[-1], np.zeros(9)
    for _ in range(20000):
        moved = gamma - (N @ gamma + r) / steep
        gamma = np.concatenate([into_cone(part, m) for part, m in zip(moved.reshape(-1, 3), mu)])
    found = program.solve()
    assert 0.5 * gamma @ N @ gamma + r @ gamma == pytest.approx(found.kkt["objective"], abs=1e-5)
    assert N @ gamma + r == pytest.approx(found.u, abs=1e-3)


def test_a_sliding_cube_lifts():
    """u_n = mu |u_t| while it slides, where Coulomb's law asks for 0; the symbols are the problem's."""
    scene = mc.Scene()
    rough = mc.Material(friction=0.6)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=rough)
    scene.add_body(
        "cube", shape=mc.Box((0.25,) * 3), density=400, position=(0, 0, 0.25), material=rough, velocity=(2, 1, 0)
    )
    problem = mc.World(scene, dt=1 / 60, substeps=1).problem(relaxed=True)
    program = mc.contacts.cone_program(problem)
    found = program.solve()
    u = found.u.reshape(-1, 3)
    assert u[:, 0] == pytest.approx(0.6 * np.hypot(u[:, 1], u[:, 2]), abs=1e-7)
    assert found.v == pytest.approx(problem.velocity(found.gamma))
    rows = program.D.T @ program.M_inverse @ program.D
    assert abs(rows - problem.A).max() < 1e-12 and program.bounds.shape == (0, 2) and program.mu.tolist() == [0.6] * 4
    assert program.D.T @ found.v == pytest.approx(found.u, abs=1e-9)
    given = mc.contacts.cone_program(mc.Problem(problem.A, problem.b, problem.friction))
    assert given.D is None and given.M_inverse is None and given.solve().v is None


def test_limits_are_rows_of_it():
    """A row with bounds keeps them, and one without moves not."""
    problem = mc.Problem(np.eye(2), [-1.0, -1.0], bounds=[(0.0, 0.25), (-np.inf, np.inf)])
    found = mc.contacts.cone_program(problem).solve()
    assert found.gamma == pytest.approx([0.25, 1.0]) and found.u == pytest.approx([-0.75, 0.0], abs=1e-8)
