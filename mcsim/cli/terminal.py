"""What commands share towards a terminal: exit codes, bad input, how figures are told, a progress bar."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from textwrap import fill
from typing import TextIO

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130


class InputError(Exception):
    """What the user typed cannot be done; one line."""


def counted(count: int, one: str, many: str) -> str:
    """1 body, 2 bodies."""
    return f"{count} {one if count == 1 else many}"


def metric(value: float, unit: str, sign: str = "") -> str:
    """A number with a prefix: 0.0021 m is 2.1 mm."""
    size = abs(value)
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")):
        if size >= factor:
            return f"{value / factor:{sign}.3g} {prefix}{unit}"
    return f"{value:{sign}.3g} {unit}" if size else f"0 {unit}"


def one_line(error: object) -> str:
    """An error's message without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__


def width_of(stream: TextIO) -> int | None:
    """Columns of the terminal that a stream writes to; None where it is none, and lines may be as long as they are."""
    return max(20, shutil.get_terminal_size().columns) if stream.isatty() else None


def folded(text: str, stream: TextIO, indent: int = 2) -> str:
    """A line, folded between words where a terminal has no room for it."""
    width = width_of(stream)
    if width is None or len(text) <= width:
        return text
    return fill(text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


@contextmanager
def progress(total: float, verb: str = "simulating", unit: str = "s", whole: bool = False) -> Iterator[Callable[..., None]]:
    """Yields show(done, rate, total=...): a progress bar on a terminal, nothing elsewhere. whole: what is done is told
    in whole units, in which the bar alone is finer."""
    if not sys.stderr.isatty():
        yield lambda done, rate, total=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    told = "{task.fields[told]} / {task.total:.4g} "
    columns = (
        TextColumn(verb),
        BarColumn(),
        TextColumn(told + unit),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, rate="", told="0")
        yield lambda done, rate, total=None: bar.update(
            task,
            completed=done,
            total=total,
            told=f"{int(done)}" if whole else f"{done:.4g}",
            rate="" if rate is None else f"{rate:.2g} × real time",
        )
