"""mcsim compare --suite: mechanisms whose motion is known, by each method, in one table."""

import sys
from pathlib import Path
from typing import Any

import typer

from mcsim.cli.options import check_output, in_options, write_output
from mcsim.cli.terminal import FAILED, InputError, progress, width_of


def suite_option() -> Any:
    return typer.Option(
        "--suite",
        metavar="NAME",
        show_default=False,
        help="A suite in place of a scene: mechanisms, those of the literature against the published values. What is given "
        "beside it are methods; --dt is one step of all its entries.",
    )


def refuse_with_suite(**given: Any) -> None:
    """What a suite knows by itself, or does not make."""
    for name, value in given.items():
        if value:
            raise InputError(f"--{name} does not go with --suite: its entries say what is run; leave it out")


def run_suite(
    name: str,
    methods: list[str],
    dt: list[float] | None,
    lengths: tuple[bool, bool],
    substeps: int,
    strict: bool,
    csv: Path | None,
) -> None:
    """Run it, print its table, and write it if wanted. lengths: whether quick, and whether full."""
    from mcsim.lab.suites import SUITE_METHODS, run

    check_output("--csv", csv, ".csv")
    if dt is not None and len(dt) > 1:
        raise InputError("--dt with --suite is one step, not several")
    with in_options(("dt", "substeps", "strict", "suite", "full")), progress(1, "comparing", "runs", whole=True) as show:
        result = run(
            name,
            methods or SUITE_METHODS,
            dt=dt[0] if dt else None,
            quick=lengths[0],
            full=lengths[1],
            substeps=substeps,
            strict=strict,
            progress=lambda done, total, what: show(done, None, total=total),
        )
    print(result.table(width_of(sys.stdout)))
    write_output(csv, result.csv)
    if all(outcome.failure for outcome in result.outcomes):
        raise typer.Exit(FAILED)
