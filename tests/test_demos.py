"""The demos run, in their short versions, and keep what they promise (each main() checks its end state)."""

from pathlib import Path

import pytest

from scripts import script_at

DEMOS = Path(__file__).resolve().parent.parent / "demos"
SHORT = {
    "stack": {"seconds": 3.0},
    "ragdolls": {"count": 4, "seconds": 6.0},
    "chain": {"links": 20, "seconds": 1.5},
    "pendulum_drift": {"seconds": 8.0},
    "chapter_3": {},
    "swing_up": {},
    "identify": {"seconds": 0.4},
}


def test_all_demos_are_tested():
    assert {path.stem for path in DEMOS.glob("*.py")} == set(SHORT)


def loaded(name):
    return script_at(DEMOS / f"{name}.py")


def test_chapter_3_of_a_humanoid(capsys):
    """A robot of 45 links from its URDF file, whose mimicking fingers are gears."""
    description = pytest.importorskip("jvrc_description")
    assert loaded("chapter_3").main(urdf=description.urdf_path)
    assert "System of 'jvrc1': 45 links" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(SHORT))
def test_demo(name, tmp_path, capsys):
    demo = loaded(name)
    assert demo.main(**SHORT[name], png=str(tmp_path / "end.png"))
    assert (tmp_path / "end.png").read_bytes().startswith(b"\x89PNG")
    assert "wrote" in capsys.readouterr().out
