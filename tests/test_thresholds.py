"""docs/thresholds.md has every threshold of the kernels, as the sources have it, and each is told there."""

import re
import sys
from pathlib import Path

import pytest

import mcsim as mc

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "benchmarks"
sys.path.append(str(FOLDER))  # the scripts' shared modules

import thresholds as script  # noqa: E402
import thresholds_page  # noqa: E402
from thresholds_sources import NO_THRESHOLDS, SOURCES, scan, thresholds  # noqa: E402

FOUND = thresholds()


def test_the_page_is_that_of_the_sources():
    """Else: python benchmarks/thresholds.py --page"""
    page = thresholds_page.PAGE.read_text(encoding="utf-8")
    made = page.split(thresholds_page.BEGIN)[1].split(thresholds_page.END)[0]
    assert made.strip() == thresholds_page.body(FOUND, script.read_csv(script.RESULTS)).strip()


def test_each_has_a_comment():
    assert not [one.key for one in FOUND if len(one.comment) < 5]


def test_each_has_a_number_and_one_place():
    assert len({one.key for one in FOUND}) == len(FOUND)
    assert all(one.number == one.number for one in FOUND)


def test_what_is_none_is_there():
    """Names that are said to be no thresholds still stand in their files."""
    for file, names in NO_THRESHOLDS.items():
        text = (ROOT / "mcsim" / file).read_text(encoding="utf-8")
        assert not [name for name in names.split() if name != "all" and not re.search(rf"\b(MC_)?{name}\b", text)], file


def test_measured_thresholds_are_there():
    known = {(one.file, one.name) for one in FOUND}
    assert not [
        (result.file, result.name) for result in script.read_csv(script.RESULTS) if (result.file, result.name) not in known
    ]


@pytest.mark.parametrize("suffix", SOURCES)
def test_every_form_is_found(tmp_path, suffix):
    path = tmp_path / f"_a{suffix}"
    path.write_text(
        "# [m] How far.\ncdef double FAR = 1e-3\n\n# Of rounds.\ncdef enum:\n    ROUNDS = 4\n    MORE = 5    "
        "# and more\n\n"
        'cdef extern from *:\n    """\n    /* Part of\n       it. */\n    #define MC_PART 0.5\n    """\n',
        encoding="utf-8",
    )
    found = {one.name: (one.value, one.unit, one.comment) for one in scan(path, tmp_path)}
    expected = {
        "ROUNDS": ("4", "count", "Of rounds."),
        "MORE": ("5", "count", "and more"),
        "PART": ("0.5", "1", "Part of it."),
    }
    assert found == expected | ({} if suffix == ".pxd" else {"FAR": ("1e-3", "m", "[m] How far.")})


def test_copies_read_the_environment(tmp_path):
    """What is compiled for a measurement: all three forms, and nothing else of the file changes."""
    path = tmp_path / "_a.pyx"
    path.write_text(
        "cdef double FAR = 1e-3   # far\n\ncdef enum:\n    ROUNDS = 4    # some\n    KEPT = 2 * ROUNDS\n\n"
        'cdef extern from *:\n    """\n    #define MC_PART 0.5    /* of it */\n    """\n',
        encoding="utf-8",
    )
    ones = scan(path, tmp_path)
    assert script.fixed(path.read_text(encoding="utf-8")) == {"ROUNDS"}
    script.adjustable(path, [one for one in ones if one.name != "ROUNDS"])
    text = path.read_text(encoding="utf-8")
    assert "    ROUNDS = 4    # some\n    KEPT = 2 * ROUNDS\n" in text
    assert "cdef double FAR = mcsim_set__a_pyx_far\n" in text and "#define MC_PART mcsim_set__a_pyx_part\n" in text
    assert text.count("getenv") == 2


def test_differences_are_told():
    one = next(one for one in FOUND if not one.counts)
    same = {"positions": [0.0, 1.0], "joint_error": 0.0, "penetration": 0.0, "energy": 1.0, "sweeps": 5, "notes": 0}
    base = {"a": same, "b": same, "c": same}
    found = {"a": same, "b": same | {"positions": [0.0, 1.5], "sweeps": 3}, "c": {"failed": "so"}}
    result = script.difference(one, 2.0, base, found)
    assert (result.changed, result.scenes, result.moved, result.moved_in) == (2, 3, 0.5, "b")
    assert (result.sweeps, result.failed) == (-2, "c")
    assert "2 scenes differ, by up to 0.5 in b, -2 sweeps" in thresholds_page.effect(result)
    result = script.difference(one, 2.0, base, {"process": {"failed": "status -11"}})
    assert (result.changed, result.failed) == (3, "the process, status -11")


def test_solvers_and_worlds_are_run_where_they_read_it():
    parts = {one.room if one.room != "solve" else one.file: script.parts(one) for one in FOUND}
    assert parts["collide"] == parts["step"] == ("worlds",)
    assert parts["solve/problems/_ipm.pyx"] == ("solvers",)
    assert parts["solve/problems/_dantzig.pyx"] == parts["solve/_pivots.pxd"] == parts["core"] == ("worlds", "solvers")


@pytest.mark.slow
def test_a_server_runs_the_panel_again_and_again(tmp_path):
    """Each time in a process of its own: what one says of its environment the next does not see."""
    with script.serving(Path(mc.__file__).parent.parent) as server:
        first = script.panel(server, tmp_path / "first.json", {"MCSIM_SET_NOTHING": 1.0}, "solvers")
        assert script.panel(server, tmp_path / "second.json", {}, "solvers") == first
        assert script.panel(server, tmp_path / "nowhere" / "third.json", {}, "solvers")["process"]["failed"] == "status 1"
    assert "lemke pyramid" in first
