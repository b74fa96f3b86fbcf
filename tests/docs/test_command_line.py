"""The command line's page: each of its lines is one that mcsim understands."""

import re

import pytest

import mcsim as mc
from markdown_pages import ROOT, blocks
from mcsim.cli import main

PAGE = (ROOT / "docs" / "api" / "command_line.md").read_text(encoding="utf-8")
BLOCK = next(block.text for block in blocks(PAGE) if block.text.startswith("mcsim "))
LINES = [line for line in BLOCK.splitlines() if line.startswith("mcsim ")]  # the others go on with the one before


@pytest.mark.parametrize("line", LINES)
def test_examples_parse(line, tmp_path, monkeypatch):
    """What they name is made smaller here."""
    monkeypatch.chdir(tmp_path)
    mc.load("pendulum").save("my.json")
    (tmp_path / "study.toml").write_text('scene = "one"\nseconds = 0.1\n[grid]\ndt = [0.02]\n', encoding="utf-8")
    words = re.split(r"  +", line)[0].split()[1:]
    words = [re.sub("^base=.*", "base=3", word) for word in words if word not in ("--gif", "my.gif")]
    if words[0] in ("run", "compare"):
        if "--seconds" in words:
            at = words.index("--seconds")
            del words[at : at + 2]
        words += ["--seconds", "0.02" if words[0] == "run" else "0.2"]
    if words[0] == "view":  # it would go on until Ctrl-C
        words += ["--help"]
    if words[0] == "play":  # likewise, of a recording that is there
        assert main(["run", "pendulum", "--seconds", "0.02", "--out", "recording.npz"]) == 0
        words += ["--html", "recording.html"]
    if words[0] == "fuzz":
        words += ["--runs", "1", "--operations", "3"]
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    if words[0] == "replay":
        with mc.record_calls("calls.jsonl", world := mc.World(mc.load("pendulum"))):
            world.step()
    if words[0] == "soak":
        words = ["soak", "--hours", "0.001", "--scene", "pile"]
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert main(words) == 0
