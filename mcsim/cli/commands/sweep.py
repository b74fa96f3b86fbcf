"""mcsim sweep: one study at every point of a grid."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from mcsim.cli.files import refuse_other_kinds
from mcsim.cli.options import (
    check_output,
    format_option,
    in_options,
    output,
    refuse_alone,
    theme_option,
    write_output,
)
from mcsim.cli.study_files import read_study
from mcsim.cli.terminal import FAILED, INTERRUPTED, InputError, one_line, progress, width_of
from mcsim.core.errors import SceneError


def sweep(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="A file (.toml) that says scene, grid and measures.")],
    out: Annotated[
        Path | None,
        output("out", "Keep each result in this folder (.npz); what is there already is not run again."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default=False, help="Processes; as many as processors if left out."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            show_default=False,
            help="Run on the cluster of a dask scheduler, as tcp://host:8786, in place of this machine.",
        ),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="With --out: run again what has failed.")] = False,
    plot: Annotated[Path | None, output("plot", "Write a picture (.png, .pdf, .svg).")] = None,
    theme: Annotated[str | None, theme_option("With --plot: light or dark; light if left out.")] = None,
    csv: Annotated[Path | None, output("csv", "Write the table (.csv).")] = None,
    format_: Annotated[str, format_option()] = "text",
) -> None:
    """Run a scene at every point of a grid of parameters, on all processors or on a cluster.

    A run that fails is a row of the table, and the others go on. With --out the same line goes on where it was
    interrupted.
    """
    from mcsim.lab.picture import SUFFIXES
    from mcsim.lab.sweeps import sweep as run_sweep

    check_output("--plot", plot, *SUFFIXES)
    check_output("--csv", csv, ".csv")
    refuse_alone("--theme", theme, "--plot", plot)
    if scheduler is not None and jobs is not None:
        raise InputError("--jobs is of this machine: leave it out with --scheduler, whose workers are as many as they are")
    if retry and not out:
        raise InputError("--retry does nothing without --out: add --out FOLDER, or leave --retry out")
    if study.suffix.lower() != ".toml":
        raise InputError(f"{study}: a study is a .toml file")
    if plot:
        from mcsim.view import require_matplotlib

        require_matplotlib()
    read = read_study(study)
    refuse_other_kinds(read.scene)
    ended = [0, 0]

    try:
        with in_options(("jobs", "retry")), progress(1, "sweeping", "runs", whole=True) as show:

            def tell(done: float, total: float, what: str) -> None:
                ended[:] = int(done), int(total)
                show(done, None, total=total)

            found = run_sweep(
                read.scene, read.grid, scheduler, folder=out, jobs=jobs, retry=retry, progress=tell, **read.keywords
            )
    except (InputError, SceneError) as error:
        raise InputError(f"{study}: {one_line(error).removeprefix('sweep: ')}") from None
    except KeyboardInterrupt:
        kept = "the same line goes on from there" if out else "with --out FOLDER they would be kept"
        print(f"interrupted: {ended[0]} of {ended[1]} runs have ended; {kept}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    print(found.table(width_of(sys.stdout), format_))
    if out:
        print(f"results in {out}: mcsim.Sweep.load reads them in Python")
    for path, write in ((plot, partial(found.plot, theme=theme or "light")), (csv, found.csv)):
        write_output(path, write)
    if len(found.failures) == len(found):
        raise typer.Exit(FAILED)
