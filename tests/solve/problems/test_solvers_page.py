"""docs/solvers.md: its examples run one after the other, and print what it says."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "solvers.md"


def test_the_examples_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```\n(?:```\n(.*?)```)?", PAGE.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 4
    names = {}
    for code, expected in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, names)
        assert out.getvalue() == expected
    assert (tmp_path / "solvers.png").stat().st_size > 10_000
