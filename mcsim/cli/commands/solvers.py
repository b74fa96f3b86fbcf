"""mcsim solvers: one contact problem, by all solvers."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from mcsim.cli.files import kind_of_arrays, refuse_other_kinds
from mcsim.cli.options import (
    check_output,
    given_parameters,
    in_options,
    kind_of_world,
    load_scene,
    output,
    positive,
    refuse_alone,
    scene_argument,
    set_option,
    theme_option,
    typed,
    write_output,
)
from mcsim.cli.terminal import FAILED, InputError, progress, width_of


def solvers(
    scene: Annotated[
        str,
        scene_argument("A scene's name, a .json, .urdf or .xml (MJCF) file, or a problem's file (.npz)."),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SOLVER", show_default=False, help="Those to run, by default all that solve the model."),
    ] = None,
    model: Annotated[str, typer.Option(help="Of contact: ncp (exact), ccp (convex), pyramid or frictionless.")] = "ncp",
    seconds: Annotated[
        float | None,
        typer.Option(
            parser=positive,
            metavar="S",
            show_default=False,
            help="Simulated time in seconds after which the problem is taken; 1 if left out.",
        ),
    ] = None,
    dt: Annotated[
        float | None,
        typer.Option(
            parser=positive,
            metavar="S",
            show_default=False,
            help="Time step of the scene until then, in seconds; 1/60 if left out.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        set_option("A parameter of the scene, as in --set base=20. May be given several times."),
    ] = None,
    coordinates: Annotated[
        str | None,
        typer.Option(show_default=False, help="Of the scene until then: maximal, or reduced; maximal if left out."),
    ] = None,
    tolerance: Annotated[float, typer.Option(parser=positive, metavar="X", help="Of each residual.")] = typed("1e-8"),
    iterations: Annotated[int | None, typer.Option(min=0, metavar="N", help="At most.", show_default=False)] = None,
    limit: Annotated[float, typer.Option(parser=positive, metavar="S", help="Time for each solver.")] = typed("10"),
    warm: Annotated[bool, typer.Option("--warm", help="Begin with the step's own impulses, not with none.")] = False,
    direct: Annotated[
        bool, typer.Option("--direct", help="Joints by a sparse factorization, the solver for the rest.")
    ] = False,
    plot: Annotated[Path | None, output("plot", "Write a picture (.png, .pdf, .svg).")] = None,
    theme: Annotated[str | None, theme_option("With --plot: light or dark; light if left out.")] = None,
    save: Annotated[Path | None, output("save", "Write the problem (.npz).")] = None,
    csv: Annotated[Path | None, output("csv", "Write every iteration's residuals (.csv).")] = None,
) -> None:
    """Solve one step's contact problem by all solvers: residual against iterations and time, and how each ended."""
    from mcsim.lab import solvers as run_study
    from mcsim.lab.picture import SUFFIXES

    check_output("--plot", plot, *SUFFIXES)
    refuse_alone("--theme", theme, "--plot", plot)
    check_output("--save", save, ".npz")
    check_output("--csv", csv, ".csv")
    kind_of_world(coordinates or "maximal")
    if Path(scene).suffix == ".npz" and Path(scene).is_file():
        for option, value in (("--seconds", seconds), ("--dt", dt), ("--set", set_), ("--coordinates", coordinates)):
            if value is not None:
                raise InputError(f"{option} is of a scene that runs first; {scene} is a file of a problem: leave it out")
        if kind_of_arrays(Path(scene)) in ("recording", "comparison"):
            refuse_other_kinds(scene)
        what: Any = scene
        keywords: dict[str, Any] = {}
    else:
        what = load_scene(scene, given_parameters(set_ or []))
        keywords = {"dt": dt or 1 / 60, "coordinates": coordinates or "maximal"}
    with (
        in_options(("model", "seconds", "dt", "tolerance", "iterations", "warm", "coordinates")),
        progress(1, "solving", "solvers", whole=True) as show,
    ):
        study = run_study(
            what,
            names or None,
            model,
            seconds=seconds or 1.0,
            tolerance=tolerance,
            max_iterations=iterations,
            time_limit=limit,
            warm=warm,
            bilateral="direct" if direct else "rows",
            progress=lambda done, total, name: show(done, None, total=total),
            **keywords,
        )
    print(study.table(width_of(sys.stdout)))
    for path, write in ((plot, partial(study.plot, theme=theme or "light")), (save, study.problem.save), (csv, study.csv)):
        write_output(path, write)
    if not study.solutions:
        raise typer.Exit(FAILED)
