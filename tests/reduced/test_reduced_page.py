"""docs/reduced.md: its examples run one after the other, and print what it says."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reduced.md"


def test_examples_run_and_print_what_the_page_says(capsys):
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) >= 5
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
        told = re.findall(r"^# (.*)$", block, re.M)
        assert capsys.readouterr().out.splitlines() == told
    assert names["drive"].S.shape == (6, 1) and abs(names["qdd"][0] - 5.0) < 1e-12
