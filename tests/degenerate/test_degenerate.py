"""Scenes at the edge of what numbers can do: finite and bounded in energy, or refused by name, in worlds of each kind."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

import degenerate  # noqa: E402

PAIRS = [(case, world) for case in degenerate.CASES for world in degenerate.WORLDS]


@pytest.mark.sampled(13)
@pytest.mark.parametrize("case, world", PAIRS)
def test_what_becomes_of_it(case, world):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = degenerate.run(degenerate.CASES[case], degenerate.WORLDS[world])
    if found.outcome == "refused":
        scene_names = ("Box", "ConvexHull", "body", "joint")
        assert any(name in found.message for name in scene_names) and "\n" not in found.message, found.message
    else:
        assert np.isfinite(found.rise), found.outcome
        assert found.rise <= degenerate.KNOWN.get((case, world), degenerate.BOUND), found


def test_what_is_known_to_fall_short_stands_on_the_page():
    """The page is written by benchmarks/degenerate.py --page: a row for each scene, a column for each world."""
    page = degenerate.PAGE.read_text(encoding="utf-8")
    rows = page.partition(degenerate.BEGIN)[2].partition(degenerate.END)[0].strip().splitlines()
    assert [row.split("|")[1].strip() for row in rows[2:]] == [case.words for case in degenerate.CASES.values()]
    bold = {
        (case, world)
        for case, row in zip(degenerate.CASES, rows[2:], strict=True)
        for world, cell in zip(degenerate.WORLDS, row.split("|")[2:-1], strict=True)
        if "**" in cell
    }
    assert bold == set(degenerate.KNOWN)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda: mc.Sphere(0.0), "radius must be positive"),
        (lambda: mc.Capsule(0.0, 1.0), "radius must be positive"),
        (lambda: mc.Cylinder(0.1, 0.0), "half_length must be positive"),
        (lambda: mc.World(degenerate.touching(), dt=0.0), "dt must be positive"),
        (lambda: mc.World(degenerate.touching(), dt=float("inf")), "dt must be finite"),
    ],
)
def test_what_has_no_size_is_refused_at_the_door(wrong, words):
    with pytest.raises(mc.SceneError, match=words):
        wrong()
