"""mcsim compare: one scene, by several methods."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from mcsim.cli.options import (
    check_output,
    format_option,
    given_parameters,
    in_options,
    kind_of_plot,
    load_scene,
    output,
    positive,
    positives,
    refuse_alone,
    scene_argument,
    set_option,
    theme_option,
    write_output,
)
from mcsim.cli.suites import refuse_with_suite, run_suite, suite_option
from mcsim.cli.terminal import FAILED, InputError, progress, width_of


def compare(
    scene: Annotated[
        str | None,
        scene_argument(
            "A scene's name (see [bold]mcsim scenes[/]), a .json, .urdf or .xml (MJCF) file. The ready studies pendulum, "
            "double_pendulum, chain, four_bar, free_ragdoll and spinning_top know good methods and seconds. "
            "With --suite there is none."
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="METHODS",
            show_default=False,
            help="maximal:SOLVER+STABILIZATION\\[@INTEGRATOR] or reduced:ALGORITHM\\[@INTEGRATOR], as in "
            "maximal:si+baumgarte maximal:tree+soft@rattle reduced:aba.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            parser=positive, metavar="S", show_default=False, help="Simulated time in seconds; 10 if no study knows."
        ),
    ] = None,
    dt: Annotated[
        list | None,  # type: ignore[type-arg]  # list[float] would be an option to be given several times
        typer.Option(
            parser=positives,
            metavar="S,...",
            show_default=False,
            help="Time step in seconds, 1/240 if no study knows. Several, as in 1/60,1/240,1/1000, make a convergence "
            "study.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        set_option(),
    ] = None,
    substeps: Annotated[int, typer.Option(min=1, metavar="N", help="Substeps a step, of every method.")] = 1,
    residuals: Annotated[
        bool,
        typer.Option(
            "--residuals",
            help="Find primal, dual and complementarity residuals after every step, also where the solver does not.",
        ),
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="A method ends where one of its steps could not do something, in place of a note below the table.",
        ),
    ] = False,
    reference: Annotated[
        str,
        typer.Option(
            metavar="METHOD",
            help="What the methods are measured against: a method whose step is halved until it agrees "
            "with itself, auto, or none.",
        ),
    ] = "auto",
    plot: Annotated[Path | None, output("plot", "Write a picture (.png, .pdf, .svg).")] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            parser=kind_of_plot,
            metavar="NAME",
            rich_help_panel="Output",
            show_default=False,
            help="With --plot: time, residuals, convergence or work (errors over computing time); convergence of several "
            "steps, else time, if left out.",
        ),
    ] = None,
    theme: Annotated[str | None, theme_option("With --plot: light or dark; light if left out.")] = None,
    save: Annotated[Path | None, output("save", "Write all data (.npz).")] = None,
    csv: Annotated[Path | None, output("csv", "Write the table (.csv).")] = None,
    suite: Annotated[str | None, suite_option()] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="With --suite: only until the first time at which each value is known.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="With --suite: to the last time that is published, of the pendulum 2,000 s.")
    ] = False,
    format_: Annotated[str, format_option()] = "text",
    series: Annotated[
        Path | None, output("series", "Write all runs over time (.csv), a line for each method, step and time.")
    ] = None,
) -> None:
    """Run a scene by several methods, and say what each keeps, loses and costs.

    Each is measured against a reference run that tightens until it agrees with itself: drift of the joints, energy,
    momentum, overlap, the solver's residual, distance to the reference trajectory, time a step.
    With --suite, mechanisms whose motion is known are run by each method, and measured against what is known.
    """
    if suite is not None:
        refuse_with_suite(
            seconds=seconds,
            set=set_,
            reference=reference != "auto",
            residuals=residuals,
            plot=plot,
            kind=kind,
            theme=theme,
            save=save,
            series=series,
            format=format_ != "text",
        )
        run_suite(suite, [*([scene] if scene else []), *(methods or [])], dt, (quick, full), substeps, strict, csv)
        return
    if scene is None:
        raise InputError("Missing argument 'SCENE': a scene, or --suite NAME")
    if quick:
        raise InputError("--quick does nothing without --suite: add --suite NAME, or leave --quick out")
    if full:
        raise InputError("--full does nothing without --suite: add --suite NAME, or leave --full out")
    from mcsim.lab import DEFAULT_METHODS, compare as run_study
    from mcsim.lab.picture import SUFFIXES
    from mcsim.lab.studies import STUDIES

    check_output("--plot", plot, *SUFFIXES)
    refuse_alone("--theme", theme, "--plot", plot)
    refuse_alone("--kind", kind, "--plot", plot)
    if kind == "convergence" and len(dt or [0]) < 2:
        raise InputError("--kind convergence needs several steps: add --dt 1/60,1/240, or choose --kind time or work")
    check_output("--save", save, ".npz")
    check_output("--csv", csv, ".csv")
    check_output("--series", series, ".csv")
    if plot:
        from mcsim.view import require_matplotlib

        require_matplotlib()
    ready = STUDIES.get(scene)
    given = given_parameters(set_ or [])
    described = load_scene(scene, ready.with_parameters(given) if ready else given)
    with (
        in_options(("seconds", "dt", "reference", "substeps", "strict")),
        progress(1, "comparing", "runs", whole=True) as show,
    ):
        study = run_study(
            described,
            methods or (ready.methods if ready else DEFAULT_METHODS),
            seconds or (ready.seconds if ready else 10.0),
            dt or (ready.dt if ready else 1 / 240),
            None if reference == "none" else reference,
            substeps=substeps,
            strict=strict,
            residuals=residuals,
            progress=lambda done, total, what: show(done, None, total=total),
        )
    print(study.table(width_of(sys.stdout), format_))
    for path, write in (
        (plot, partial(study.plot, kind=kind, theme=theme or "light")),
        (save, study.save),
        (csv, study.csv),
        (series, study.series_csv),
    ):
        write_output(path, write)
    if all(run.failure for run in study.all_runs()):
        raise typer.Exit(FAILED)
