"""Families of scenes against an independent truth: a sweep, its tables, and the page docs/accuracy.md.

    python benchmarks/truth.py                        all families, 200 draws of each
    python benchmarks/truth.py --minutes 30           the same time for each, until it is over
    python benchmarks/truth.py --family chain --family bob --count 1000 --seed 1
    python benchmarks/truth.py --count 0              the page and its pictures anew, from the tables

Every second draw is from the domain in which a family's bounds are stated, the others from all that is tried. Families
stand in benchmarks/families; tests/test_families.py draws from the same records.
"""

import csv
import math
import platform
import time
from itertools import islice
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

import mcsim as mc
from common import machine
from families import FAMILIES
from families.family import Choice, Whole
from truth_page import write_page

ROOT = Path(__file__).resolve().parent.parent
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "truth", ROOT / "docs" / "accuracy.md"
app = typer.Typer(add_completion=False)


def chosen(name):
    if name not in FAMILIES:
        raise typer.BadParameter(f"there is no family {name!r}; there are: {', '.join(FAMILIES)}")
    return name


@app.command(help=__doc__.splitlines()[0])
def main(
    family: Annotated[list[str] | None, typer.Option(help="of these only", show_default=False)] = None,
    count: Annotated[int, typer.Option(min=0, help="most draws of each family")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="other draws")] = 0,
    minutes: Annotated[float, typer.Option(min=0.0, help="stop after these; families have the same time")] = math.inf,
    results: Annotated[Path, typer.Option(help="folder of the tables")] = RESULTS,
    page: Annotated[Path, typer.Option(help="the page; pictures go into a folder of its name")] = PAGE,
):
    names = [chosen(name) for name in family or FAMILIES]
    if count:
        results.mkdir(parents=True, exist_ok=True)
        for name, rows in sweep(names, count, seed, 60 * minutes).items():
            if rows:
                write_rows(results / f"{name}.csv", FAMILIES[name], rows, seed)
    tables = {
        name: read_rows(results / f"{name}.csv", FAMILIES[name]) for name in FAMILIES if (results / f"{name}.csv").exists()
    }
    write_page(page, tables, names)
    print(f"wrote {page}")


def draws(family, seed):
    """From the domain and from everything, in turn."""
    inside, everywhere = family.draws(family.narrowed(family.domain), seed), family.draws(family.ranges, seed)
    while True:
        yield next(inside)
        yield next(everywhere)


def sweep(names, count, seed, seconds):
    """-> {family: [(parameters, errors)]}. Next is always the family that has used the least time of the processor;
    what a draw is and what it gives does not depend on that, only how many there are. Ctrl-C ends it early."""
    streams = {name: islice(draws(FAMILIES[name], seed), count) for name in names}
    used, rows = dict.fromkeys(names, 0.0), {name: [] for name in names}
    begin = time.perf_counter()
    with Progress(
        TextColumn("{task.description:16}"),
        BarColumn(),
        TextColumn("{task.completed:g} of {task.total:g} draws"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("", total=count * len(names))
        try:
            while streams and time.perf_counter() - begin < seconds:
                name = min(streams, key=used.get)
                parameters = next(streams[name], None)
                if parameters is None:
                    del streams[name]
                    continue
                bar.update(task, description=name)
                start = time.process_time()
                rows[name].append((parameters, FAMILIES[name].measure(parameters)))
                used[name] += time.process_time() - start
                bar.advance(task)
        except KeyboardInterrupt:
            print("interrupted: what there is is written")
    for name in names:
        failed = sum(FAMILIES[name].excess(errors) > 1 for _, errors in rows[name])
        print(f"{name:16} {len(rows[name]):5} draws, {failed:4} beyond a bound, {used[name]:7.1f} s")
    return rows


# ---- tables ----------------------------------------------------------------------------------------------------------


def write_rows(path, family, rows, seed):
    """A line a draw, below two lines: machine, versions and date; seed, and what is measured in which unit."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(
            f"# {machine()}; {platform.system()}, Python {platform.python_version()}, NumPy {np.__version__}, "
            f"mcsim {mc.__version__}; {time.strftime('%Y-%m-%d')}\n# seed={seed}; "
            + "; ".join(f"{name} [{error.unit or '-'}]: {error.what}" for name, error in family.errors.items())
            + "\n"
        )
        writer = csv.writer(file)
        writer.writerow([*family.ranges, *(f"error_{name}" for name in family.errors)])
        for parameters, errors in rows:
            writer.writerow(
                [*(parameters[name] for name in family.ranges), *(f"{errors[name]:.4g}" for name in family.errors)]
            )


def read_rows(path, family):
    """-> [(parameters, errors)]; a table of other parameters or errors than the family has now is refused."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = file.read().splitlines()[2:]
    reader = csv.DictReader(lines)
    wanted = [*family.ranges, *(f"error_{name}" for name in family.errors)]
    if reader.fieldnames != wanted:
        raise ValueError(f"{path} has columns {reader.fieldnames}, the family {wanted}: sweep it again")
    return [
        (
            {name: typed(part, row[name]) for name, part in family.ranges.items()},
            {name: float(row[f"error_{name}"]) for name in family.errors},
        )
        for row in reader
    ]


def typed(part, text):
    """A parameter as its range has it."""
    if isinstance(part, Choice):
        return next(value for value in part if str(value) == text)
    return int(text) if isinstance(part, Whole) else float(text)


if __name__ == "__main__":
    app()
