"""Tables as text, Markdown and LaTeX: the same cells in each, the notes below, and characters that mean nothing."""

import re

import numpy as np
import pytest

import mcsim as mc
from mcsim.lab.report import number_text, step_text, summary
from mcsim.lab.tables import FORMATS, Report, Table, latex, markdown, plain

ODD = "a_b|c*d & 50% $#{}~^\\<[x]>\nend"


@pytest.fixture(scope="module")
def study():
    """Two methods, one under an odd name, one that fails, and several steps."""
    methods = {ODD: "maximal:tree+soft", "rattle": "maximal:tree+soft@rattle"}
    return mc.compare(mc.scenes.chain(n=5), methods, 1.0, [0.5, 1 / 60, 1 / 120], reference=None)


def cells(study):
    """Each row's numbers as text, the columns that every method has."""
    return [
        [
            step_text(run.dt),
            *(number_text(summary(study, run)[key]) for key in ("joint_drift_m", "energy_error_j", "step_us")),
        ]
        for run in study.all_runs()
    ]


def split_markdown(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def unmarked(text):
    return re.sub(r"\\(.)", r"\1", text)


def test_markdown(study):
    lines = study.table(format="markdown").splitlines()
    assert lines[0].startswith("chain: 5 bodies") and lines[1] == ""
    rows = [split_markdown(line) for line in lines[2 : 4 + len(study.all_runs())]]
    head = [unmarked(cell) for cell in rows[0]]
    assert len({len(row) for row in rows}) == 1 and set(rows[1][1:]) == {"---:"}
    assert head[:3] == ["method", "dt [s]", "joint drift [m]"] and "energy error [J]" in head
    columns = [head.index(name) for name in ("dt [s]", "joint drift [m]", "energy error [J]", "time a step [µs]")]
    assert [[row[k] for k in columns] for row in rows[2:]] == cells(study)
    assert [unmarked(row[0]) for row in rows[2:]] == [" ".join(run.name.split()) for run in study.all_runs()]
    notes = [line for line in lines if line.startswith("- ")]
    assert any(line.startswith("- failed: rattle at dt 1/2 s") for line in notes) and len(notes) >= 2
    assert any(split_markdown(line)[0] == "order in dt of" for line in lines[len(rows) + 2 :] if line.startswith("|"))


def test_latex(study):
    """As many cells in each row, powers of ten as such, no character left that means something else."""
    text = study.table(format="latex")
    first, rest = text.split(r"\end{tabular}", 1)
    columns = len(re.search(r"\\begin\{tabular\}\{l(r+)\}", first)[1]) + 1
    rows = [line for line in first.splitlines() if line.endswith(r" \\")]
    parts = [re.split(r"(?<!\\)&", row.removesuffix(r"\\")) for row in rows]
    assert {len(row) for row in parts} == {columns}
    body = [[cell.strip() for cell in row] for row in parts[3:]]
    assert [re.sub(r"\$(.*)\\times10\^\{(.*)\}\$", r"\1e\2", row[2]) for row in body] == [
        re.sub(r"e([+-])0?", lambda m: "e" + m[1].replace("+", ""), row[1]) for row in cells(study)
    ]
    assert body[0][0] == (
        r"a\_b\textbar{}c{*}d \& 50\% \$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}\textless{}{[}x]"
        r"\textgreater{} end"
    )
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert first.count(rule) == rest.count(rule) == 1
    assert r"failed: rattle at dt 1/2 s" in rest and r"order in dt of & distance" in rest
    for line in text.splitlines()[2:]:
        assert not re.search(r"(?<!\\)[%#]", line) and len(re.findall(r"(?<!\\)\$", line)) % 2 == 0
        assert len(re.findall(r"(?<!\\)\{", line)) == len(re.findall(r"(?<!\\)\}", line)) or line in ("{", "}", LAST)
    assert text.isascii()


LAST = r"{\footnotesize\noindent"


def test_text_is_the_default(study):
    assert study.table() == study.table(format="text") and study.table(60) == study.table(60, "text")
    assert max(map(len, study.table(90).replace(ODD, "").splitlines())) <= 90
    with pytest.raises(mc.SceneError, match="format must be one of: text, markdown, latex; got 'html'"):
        study.table(format="html")


def test_nothing_is_lost_in_any_format():
    report = Report("title", [Table([["method", ""], ["value", "m"]], [["one", "1.5e-12"], ["two", "–"]])], ["note: below"])
    assert markdown(report).splitlines() == [
        "title",
        "",
        r"| method | value \[m\] |",
        "| :--- | ---: |",
        "| one | 1.5e-12 |",
        "| two | – |",
        "",
        "- note: below",
    ]
    assert plain(report).splitlines()[-1] == latex(report).splitlines()[-2].removesuffix(r"\par") == "note: below"
    assert r"one & $1.5\times10^{-12}$ \\" in latex(report) and r"two & -- \\" in latex(report)
    assert set(FORMATS) == {"text", "markdown", "latex"} and np.all(
        [repr(f(report)) == f(report) for f in FORMATS.values()]
    )
