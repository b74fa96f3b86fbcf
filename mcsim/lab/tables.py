"""Tables as text: in columns of plain text, as Markdown, and for LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import wrap
from typing import NamedTuple

import numpy as np

NARROWEST = 80  # columns of text


class Table(NamedTuple):
    """head: [heading, unit] of each column. body: rows of cells, the first of a row to the left, the others to the right.
    keys: how many columns say which row it is."""

    head: list[list[str]]
    body: list[list[str]]
    keys: int = 1


class Report(NamedTuple):
    """A title, tables, and notes, which stand below the first table."""

    title: str
    tables: list[Table]
    notes: list[str]


class Text(str):
    """Text that shows itself as it is, also at a prompt."""

    def __repr__(self) -> str:
        return str(self)


def number_text(value: float) -> str:
    if np.isnan(value):
        return "–"
    if value == 0.0 or 0.1 <= abs(value) < 999.5:
        return f"{value:.3g}"
    return f"{value:.1e}"


# ---- plain text ------------------------------------------------------------------------------------------------------


def plain(report: Report, width: int | None = None) -> Text:
    """Columns that have no room within `width` characters go on below the others."""
    first, *others = report.tables
    rows = aligned(first.head, first.body, width, first.keys)
    notes_width = width or max(NARROWEST, *map(len, rows))
    notes = [line for note in report.notes for line in folded(note, notes_width)]
    lines = [*folded(report.title, width), "", *rows, "", *notes]
    for table in others:
        lines += ["", *aligned(table.head, table.body)]
    return Text("\n".join(lines))


def folded(text: str, width: int | None) -> list[str]:
    """A line, or the lines that it takes within `width` characters."""
    return wrap(text, width, subsequent_indent="  ") if width else [text]


def aligned(
    head: list[list[str]], body: list[list[str]], width: int | None = None, keys: int = 1, left: int = 1
) -> list[str]:
    """Columns, the first `left` of them to the left, the others to the right; two lines of heading, the same words once.
    Columns for which `width` has no room go on below, after the first `keys` of them once more."""
    whole = _columns(head, body, left)
    if width is None or max(map(len, whole)) <= width or len(head) <= keys + 1:
        return whole
    most = next(
        (
            k
            for k in range(len(head) - 1, keys + 1, -1)
            if max(map(len, _columns(head[:k], [row[:k] for row in body], left))) <= width
        ),
        keys + 1,
    )
    first = _columns(head[:most], [row[:most] for row in body], left)
    return [*first, "", *aligned(head[:keys] + head[most:], [row[:keys] + row[most:] for row in body], width, keys, left)]


def _columns(head: list[list[str]], body: list[list[str]], left: int) -> list[str]:
    first, second = ([part[k] for part in head] for k in (0, 1))
    words = [list(_wrapped(text)) for text in first]
    depth = max(map(len, words))
    lines = [[[""] * (depth - len(word)) + word for word in words][i] for i in range(len(words))]
    rows = [[column[k] for column in lines] for k in range(depth)] + ([second] if any(second) else []) + body
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    text = [
        "  ".join(
            cell.ljust(width) if i < left else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
    heading = depth + bool(any(second))
    return [*text[:heading], "-" * max(map(len, text)), *text[heading:]]


def _wrapped(text: str) -> list[str]:
    """A heading in two lines, the first word above the rest."""
    first, _, rest = text.partition(" ")
    return [first, rest] if rest and len(text) > 8 and "order" not in text else [text]


# ---- Markdown --------------------------------------------------------------------------------------------------------


def markdown(report: Report, width: int | None = None) -> Text:
    """Tables of GitHub's Markdown; notes as a list. A line is as long as it is: width has no meaning here."""
    first, *others = report.tables
    lines = [_marked(report.title), "", *_piped(first), "", *(f"- {_marked(note)}" for note in report.notes)]
    for table in others:
        lines += ["", *_piped(table)]
    return Text("\n".join(lines))


def _piped(table: Table) -> list[str]:
    head = [f"{heading} [{unit}]" if unit else heading for heading, unit in table.head]
    rule = [":---", *["---:"] * (len(head) - 1)]
    rows = [[_marked(cell) for cell in row] for row in (head, *table.body)]
    return ["| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:])]


def _marked(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>|~#&])", r"\\\1", " ".join(text.split()))


# ---- LaTeX -----------------------------------------------------------------------------------------------------------

LATEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # behind the end of a row, this and a star would be an argument of it
    "*": "{*}",
    "–": "--",
    "−": "$-$",
    "²": "$^2$",
    "³": "$^3$",
    "µ": r"$\mu$",
    "·": r"$\cdot$",
    "×": r"$\times$",
} | {character: "\\" + character for character in "&%$#_{}"}


def latex(report: Report, width: int | None = None) -> Text:
    """Tabulars with the rules of the package booktabs, the title above as a comment, the notes below in small type."""
    first, *others = report.tables
    lines = [f"% {' '.join(report.title.split())}", "% needs \\usepackage{booktabs}", *_tabular(first)]
    lines += ["\\par\\smallskip", "{\\footnotesize\\noindent"]
    lines += [rf"{_escaped(note)}\par" for note in report.notes] + ["}"]
    for table in others:
        lines += ["\\smallskip", *_tabular(table)]
    return Text("\n".join(lines))


def _tabular(table: Table) -> list[str]:
    """Headings of one line or two, units below them."""
    words = [list(_wrapped(heading)) for heading, _ in table.head]
    depth = max(map(len, words))
    heads = [["" if i < depth - len(word) else word[i - depth + len(word)] for word in words] for i in range(depth)]
    if any(unit for _, unit in table.head):
        heads.append([unit for _, unit in table.head])
    return [
        rf"\begin{{tabular}}{{l{'r' * (len(words) - 1)}}}",
        r"\toprule",
        *(_line(row) for row in heads),
        r"\midrule",
        *(_line(row) for row in table.body),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _line(cells: list[str]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(text: str) -> str:
    """Powers of ten as such."""
    number = re.fullmatch(r"(-?[\d.]+)e([+-]\d+)", text)
    return rf"${number[1]}\times10^{{{int(number[2])}}}$" if number else _escaped(text)


def _escaped(text: str) -> str:
    """Text in which no character means anything to LaTeX."""
    return "".join(LATEX.get(character, character) for character in " ".join(text.split()))


FORMATS: dict[str, Callable[[Report, int | None], Text]] = {"text": plain, "markdown": markdown, "latex": latex}
