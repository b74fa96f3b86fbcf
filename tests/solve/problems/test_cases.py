"""The generator of contact problems: what it hands out is what it says."""

import cases
import numpy as np
import pytest


@pytest.mark.parametrize("name", [*cases.CASES, *cases.CONTRADICTORY])
def test_form(name):
    """Shapes, symmetry, no negative eigenvalue, the same numbers again."""
    make = {**cases.CASES, **cases.CONTRADICTORY}[name]
    case, again = make(), make()
    assert list(case) == ["A", "b", "friction", "lower", "upper"]
    rows, contacts = len(case["b"]), len(case["friction"])
    assert case["A"].shape == (rows, rows) and case["lower"].shape == case["upper"].shape == (rows - 3 * contacts,)
    assert np.array_equal(case["A"], case["A"].T) and np.isfinite(case["A"]).all() and np.isfinite(case["b"]).all()
    assert np.all(case["friction"] >= 0.0) and np.all(case["lower"] <= case["upper"])
    assert all(np.array_equal(case[key], again[key]) for key in case)
    if rows:
        values = np.linalg.eigvalsh(case["A"])
        assert values[0] >= -1e-12 * values[-1]


def test_a_cube_on_the_floor():
    """Normal rows of a cube's corners: 1 / m + (r x n)' I^-1 (r x n), 1 + 6 (0.25 + 0.25) = 4 per kg, by hand."""
    case = cases.stack(1)
    assert np.diagonal(case["A"])[::3] == pytest.approx([4.0] * 4)
    assert case["b"][::3] == pytest.approx([-9.81 / 60.0] * 4)
    assert case["b"][1::3] == pytest.approx([0.0] * 4)


def test_degenerate_cases_are():
    """Faces on four points and points given several times: A is singular."""
    for case in (cases.stack(2), cases.repeated(), cases.chain(loop=True), cases.jammed()):
        assert np.linalg.matrix_rank(case["A"]) < len(case["b"])
    ratio = cases.stack(4, ratio=1e6)["A"]
    assert np.diagonal(ratio).max() / np.diagonal(ratio).min() > 5e3


def test_random_cases():
    """Of many sizes, each by its number alone."""
    made = [cases.random_case(seed) for seed in range(100)]
    assert len({len(case["b"]) for case in made}) > 10 and max(len(case["b"]) for case in made) <= 60
    assert np.array_equal(made[7]["A"], cases.random_case(7)["A"])
