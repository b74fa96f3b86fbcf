"""The command line: mcsim run | compare | solvers | scenes | check.

Bad input ends with exit code 2 and one line, a run that fails with 1, Ctrl-C with 130; what was recorded is kept.
"""

import inspect
import json
import math
import os
import re
import sys
import warnings
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from mcsim import __version__
from mcsim.cli.files import kind_of_arrays, recording_told, refuse_other_kinds
from mcsim.cli.job import Job
from mcsim.cli.terminal import (
    BAD_INPUT,
    FAILED,
    INTERRUPTED,
    InputError,
    counted,
    folded,
    one_line,
    progress,
    width_of,
)
from mcsim.cli.words import as_options, refuse_unread
from mcsim.core.errors import SceneError, SimulationError

app = typer.Typer(
    name="mcsim",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Simulate rigid bodies: scenes by name or from a file (JSON, URDF), recordings, pictures and films.",
    epilog="Start with:  mcsim run ragdolls --seconds 4 --gif ragdolls.gif",
)


def _command(function):
    """A command, whose help has the paragraphs of its docstring, each folded to the terminal."""
    app.command(help=_paragraphs(inspect.getdoc(function) or ""))(function)
    return function


def _paragraphs(text):
    """Text with each paragraph on one line, for the terminal to fold."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def number(text: str) -> float:
    """A number, or a fraction such as 1/240."""
    try:
        value = float(Fraction(text.strip())) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError):
        raise typer.BadParameter(f"{text!r} is not a number or a fraction such as 1/240") from None
    if not math.isfinite(value):
        raise typer.BadParameter(f"{text!r} is not finite")
    return value


def positive(text: str) -> float:
    """A number above 0."""
    value = number(text)
    if value <= 0:
        raise typer.BadParameter(f"{text!r} is not positive")
    return value


def typed(text: str) -> Any:
    """A default as a user would type it: help shows it so, and the option's parser reads it."""
    return text


def positives(text: str) -> list[float]:
    """Numbers above 0, with commas between them."""
    return [positive(part) for part in text.split(",")]


def _scene_names(incomplete: str) -> list[str]:
    """The names of ready scenes that begin so: what a shell completes."""
    from mcsim.scenes import SCENES

    return [name for name in SCENES if name.startswith(incomplete)]


def _world(name, text, parser=None, metavar=None):
    return typer.Option(f"--{name}", help=text, parser=parser, metavar=metavar, rich_help_panel="World", show_default=False)


def _world_number(name, text, metavar):
    return _world(name, text, number, metavar)


def _output(name, text):
    return typer.Option(f"--{name}", help=text, metavar="PATH", rich_help_panel="Output", show_default=False)


# ---- run -------------------------------------------------------------------------------------------------------------


@_command
def run(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            autocompletion=_scene_names,
            help="A scene's name (see [bold]mcsim scenes[/]), a .json or a .urdf file.",
        ),
    ],
    seconds: Annotated[float, typer.Option(parser=positive, metavar="S", help="Simulated time in seconds.")] = typed("10"),
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            show_default=False,
            help="A parameter of the scene, as in --set base=50, or of reading a robot, as in --set base=fixed. May be "
            "given several times.",
        ),
    ] = None,
    dt: Annotated[
        float,
        typer.Option(
            parser=positive,
            metavar="S",
            rich_help_panel="World",
            help="Time step in seconds; fractions such as 1/240 are fine.",
        ),
    ] = typed("1/60"),
    coordinates: Annotated[
        str, _world("coordinates", "maximal, or reduced: generalized coordinates of a spanning tree.")
    ] = "maximal",
    substeps: Annotated[int | None, _world("substeps", "Substeps a step.")] = None,
    solver: Annotated[
        str | None,
        _world(
            "solver",
            "si (sequential impulses), pgs (assembled matrix), or one of the laboratory (see [bold]mcsim solvers[/]).",
        ),
    ] = None,
    iterations: Annotated[int | None, _world("iterations", "Sweeps a substep.")] = None,
    contact_model: Annotated[
        str | None, _world("contact-model", "Of a solver of the laboratory: ncp, ccp, pyramid or frictionless.")
    ] = None,
    contact: Annotated[str | None, _world("contact", "rigid, compliant or event.")] = None,
    compliant_law: Annotated[str | None, _world("compliant-law", "Of compliant contact: linear or hunt_crossley.")] = None,
    impacts: Annotated[str | None, _world("impacts", "With --contact event: simultaneous or sequential.")] = None,
    restitution_law: Annotated[str | None, _world("restitution-law", "stronge, newton or poisson.")] = None,
    stop: Annotated[str | None, _world("stop", "What ends the sweeps: iterations or residual.")] = None,
    tolerance: Annotated[float | None, _world_number("tolerance", "Of the residual that ends them.", "X")] = None,
    stabilization: Annotated[
        str | None, _world("stabilization", "none, baumgarte, soft, split_impulse, projection or ggl.")
    ] = None,
    integrator: Annotated[
        str | None,
        _world(
            "integrator",
            "semi_implicit, rk4, rattle or variational; reduced: semi_implicit, rk4 or reference; with "
            "--contact event dopri, heun or euler.",
        ),
    ] = None,
    friction: Annotated[str | None, _world("friction", "cone or pyramid.")] = None,
    friction_points: Annotated[str | None, _world("friction-points", "central or point.")] = None,
    baumgarte: Annotated[float | None, _world_number("baumgarte", "Part of an error removed a substep.", "X")] = None,
    slop: Annotated[
        float | None,
        _world_number("slop", "Overlap that baumgarte leaves, in metres; by default by the sizes of what overlaps.", "M"),
    ] = None,
    hertz: Annotated[float | None, _world_number("hertz", "Stiffness of soft contacts, in hertz.", "HZ")] = None,
    damping_ratio: Annotated[float | None, _world_number("damping-ratio", "Their damping, 1 is critical.", "X")] = None,
    joint_hertz: Annotated[
        float | None, _world_number("joint-hertz", "Stiffness of soft joints and limits, in hertz.", "HZ")
    ] = None,
    joint_damping_ratio: Annotated[
        float | None, _world_number("joint-damping-ratio", "Their damping, 1 is critical.", "X")
    ] = None,
    push_speed: Annotated[
        float | None,
        _world_number("push-speed", "Overlaps are pushed apart no faster, in m/s; by default by their sizes.", "M/S"),
    ] = None,
    restitution_threshold: Annotated[
        float | None,
        _world_number(
            "restitution-threshold",
            "Slower impacts do not bounce, in m/s; by default what gravity gives in three steps.",
            "M/S",
        ),
    ] = None,
    speculative_distance: Annotated[
        float | None,
        _world_number(
            "speculative-distance",
            "Contacts exist from this distance on, in metres; by default by the sizes of what meets.",
            "M",
        ),
    ] = None,
    sleep: Annotated[
        bool | None, typer.Option("--sleep/--no-sleep", rich_help_panel="World", help="Whether bodies at rest fall asleep.")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            rich_help_panel="World",
            help="End with an error where a step could not do something, in place of a note at the end.",
        ),
    ] = False,
    out: Annotated[Path | None, _output("out", "Write a recording (.npz).")] = None,
    png: Annotated[Path | None, _output("png", "Write a picture of the end (.png).")] = None,
    strip: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=20,
            metavar="N",
            rich_help_panel="Output",
            show_default=False,
            help="With --png: so many pictures side by side, from start to end; 1 is the end alone.",
        ),
    ] = None,
    gif: Annotated[Path | None, _output("gif", "Write a film (.gif).")] = None,
    csv: Annotated[
        Path | None,
        _output(
            "csv",
            "Write a table over time (.csv): energies, momentum, worst joint error, deepest penetration, contacts, notes.",
        ),
    ] = None,
    fps: Annotated[
        float,
        typer.Option(
            parser=positive,
            metavar="N",
            rich_help_panel="Output",
            help="Frames a simulated second: of recording, film and table, and of what the summary looks at.",
        ),
    ] = typed("30"),
    speed: Annotated[
        float | None,
        typer.Option(
            parser=positive,
            metavar="X",
            rich_help_panel="Output",
            show_default=False,
            help="With --gif: speed of the film; 0.5 is slow motion, 1 if left out.",
        ),
    ] = None,
) -> None:
    """Simulate a scene, and say what happened.

    The summary gives the time a step took, the largest joint error and the deepest contact at any frame,
    how the energy changed, and what steps could not do (notes). Options of the world that are left out have its own
    defaults; one that the others leave unread is an error.
    """
    options = {
        "substeps": substeps,
        "solver": solver,
        "iterations": iterations,
        "contact_model": contact_model,
        "contact": contact,
        "compliant_law": compliant_law,
        "impacts": impacts,
        "restitution_law": restitution_law,
        "stop": stop,
        "tolerance": tolerance,
        "stabilization": stabilization,
        "integrator": integrator,
        "friction": friction,
        "friction_points": friction_points,
        "baumgarte": baumgarte,
        "slop": slop,
        "hertz": hertz,
        "damping_ratio": damping_ratio,
        "joint_hertz": joint_hertz,
        "joint_damping_ratio": joint_damping_ratio,
        "push_speed": push_speed,
        "restitution_threshold": restitution_threshold,
        "speculative_distance": speculative_distance,
        "sleep": sleep,
        "strict": strict or None,
    }
    _check_output("--out", out, ".npz")
    _check_output("--png", png, ".png")
    _check_output("--gif", gif, ".gif")
    _check_output("--csv", csv, ".csv")
    _refuse_alone("--strip", strip, "--png", png)
    _refuse_alone("--speed", speed, "--gif", gif)
    if png or gif:
        from mcsim.view import require_matplotlib

        require_matplotlib()
    described = _load(scene, _parameters(set_ or []))
    kind = _kind_of_world(coordinates)
    given = {key: value for key, value in options.items() if value is not None}
    with _in_options((*options, "dt")):
        world = kind(described, dt=dt, **given)
    refuse_unread(world, given)
    job = Job(described, dt, seconds, fps, record=bool(out or png or gif), tabulate=csv is not None)
    job.start(world)
    code = job.simulate()
    for line in job.summary():
        print(folded(line, sys.stdout, indent=17))
    sys.stdout.flush()
    job.write(out, png, strip or 1, gif, speed or 1.0, csv)
    if code == FAILED:
        print(folded(f"error: {as_options(job.error, options)}", sys.stderr), file=sys.stderr)
    raise typer.Exit(code)


def _refuse_alone(option, value, other, given):
    """An option that only says how another one is done, without that other one."""
    if value is not None and given is None:
        raise InputError(f"{option} {value:g} does nothing without {other}: add {other} FILE, or leave {option} out")


@contextmanager
def _in_options(keywords):
    """Errors name options where they would name keywords of Python."""
    try:
        yield
    except (SceneError, TypeError) as error:
        told = as_options(one_line(error), keywords)
        raise InputError(told) from None
    except SimulationError as error:
        raise SimulationError(as_options(one_line(error), keywords)) from None


def _kind_of_world(coordinates):
    """World or ReducedWorld."""
    from mcsim.world import ReducedWorld, World

    kinds = {"maximal": World, "reduced": ReducedWorld}
    if coordinates not in kinds:
        raise InputError(f"--coordinates must be one of {', '.join(kinds)}, not {coordinates!r}")
    return kinds[coordinates]


def _parameters(assignments):
    """NAME=VALUE texts as a dict."""
    parameters = {}
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set wants NAME=VALUE, as in --set base=50, not {text!r}")
        name = name.strip().replace("-", "_")
        if name in parameters:
            raise InputError(f"--set gives {name} twice")
        parameters[name] = value.strip()
    return parameters


def _load(name_or_path, parameters):
    from mcsim.scenes import load

    refuse_other_kinds(name_or_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        scene = load(name_or_path, **parameters)
    for warning in caught:
        print(folded(f"warning: {one_line(warning.message)}", sys.stderr), file=sys.stderr)
    return scene


def _check_output(option, path, *suffixes):
    """Whether `path` can be written, before the run and not after it."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{option} {path}: must end in {' or '.join(suffixes)}")
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder")
    if not folder.is_dir():
        raise InputError(f"{option} {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{option} {path}: the folder {folder} cannot be written to")


# ---- compare ---------------------------------------------------------------------------------------------------------


@_command
def compare(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            autocompletion=_scene_names,
            help="A scene's name (see [bold]mcsim scenes[/]), a .json or a .urdf file. The ready studies pendulum, "
            "double_pendulum, chain, four_bar, free_ragdoll and spinning_top know good methods and seconds.",
        ),
    ],
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
        list | None,
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
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            show_default=False,
            help="A parameter of the scene, as in --set count=20. May be given several times.",
        ),
    ] = None,
    substeps: Annotated[int, typer.Option(min=1, metavar="N", help="Substeps a step, of every method.")] = 1,
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
    plot: Annotated[Path | None, _output("plot", "Write a picture (.png, .pdf, .svg).")] = None,
    save: Annotated[Path | None, _output("save", "Write all data (.npz).")] = None,
    csv: Annotated[Path | None, _output("csv", "Write the table (.csv).")] = None,
) -> None:
    """Run a scene by several methods, and say what each keeps, loses and costs.

    Each is measured against a reference run that tightens until it agrees with itself: drift of the joints, energy,
    momentum, overlap, the solver's residual, distance to the reference trajectory, time a step.
    """
    from mcsim.lab import DEFAULT_METHODS, compare as run_study
    from mcsim.lab.picture import SUFFIXES
    from mcsim.lab.studies import STUDIES

    _check_output("--plot", plot, *SUFFIXES)
    _check_output("--save", save, ".npz")
    _check_output("--csv", csv, ".csv")
    if plot:
        from mcsim.view import require_matplotlib

        require_matplotlib()
    ready = STUDIES.get(scene)
    given = _parameters(set_ or [])
    described = _load(scene, ready.with_parameters(given) if ready else given)
    with (
        _in_options(("seconds", "dt", "reference", "substeps", "strict")),
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
            progress=lambda done, total, what: show(done, None, total=total),
        )
    print(study.table(width_of(sys.stdout)))
    for path, write in ((plot, study.plot), (save, study.save), (csv, study.csv)):
        if path:
            write(path)
            print(f"wrote {path} ({path.stat().st_size / 1e6:.2f} MB)")
    if all(run.failure for run in study.all_runs()):
        raise typer.Exit(FAILED)


# ---- solvers ---------------------------------------------------------------------------------------------------------


@_command
def solvers(
    scene: Annotated[
        str,
        typer.Argument(
            metavar="SCENE",
            autocompletion=_scene_names,
            help="A scene's name, a .json or .urdf file, or a problem's file (.npz).",
        ),
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
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            show_default=False,
            help="A parameter of the scene, as in --set base=20. May be given several times.",
        ),
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
    plot: Annotated[Path | None, _output("plot", "Write a picture (.png, .pdf, .svg).")] = None,
    save: Annotated[Path | None, _output("save", "Write the problem (.npz).")] = None,
    csv: Annotated[Path | None, _output("csv", "Write every iteration's residuals (.csv).")] = None,
) -> None:
    """Solve one step's contact problem by all solvers: residual against iterations and time, and how each ended."""
    from mcsim.lab import solvers as run_study
    from mcsim.lab.picture import SUFFIXES

    _check_output("--plot", plot, *SUFFIXES)
    _check_output("--save", save, ".npz")
    _check_output("--csv", csv, ".csv")
    _kind_of_world(coordinates or "maximal")
    if Path(scene).suffix == ".npz" and Path(scene).is_file():
        for option, value in (("--seconds", seconds), ("--dt", dt), ("--set", set_), ("--coordinates", coordinates)):
            if value is not None:
                raise InputError(f"{option} is of a scene that runs first; {scene} is a file of a problem: leave it out")
        if kind_of_arrays(Path(scene)) in ("recording", "comparison"):
            refuse_other_kinds(scene)
        what: Any = scene
        keywords: dict[str, Any] = {}
    else:
        what = _load(scene, _parameters(set_ or []))
        keywords = {"dt": dt or 1 / 60, "coordinates": coordinates or "maximal"}
    with (
        _in_options(("model", "seconds", "dt", "tolerance", "iterations", "warm", "coordinates")),
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
    for path, write in ((plot, study.plot), (save, study.problem.save), (csv, study.csv)):
        if path:
            write(path)
            print(f"wrote {path} ({path.stat().st_size / 1e6:.2f} MB)")
    if not study.solutions:
        raise typer.Exit(FAILED)


# ---- scenes and check ------------------------------------------------------------------------------------------------


@_command
def scenes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            show_default=False,
            autocompletion=_scene_names,
            help="Only this scene, with all that is known about it.",
        ),
    ] = None,
    json_: Annotated[
        bool,
        typer.Option(
            "--json", help="As JSON: name, description, parameters with their defaults; of all scenes a list of them."
        ),
    ] = False,
) -> None:
    """List the ready scenes and their parameters."""
    from mcsim.scenes import SCENES, build, description, parameters

    if name is not None:
        if name not in SCENES:
            build(name)  # raises the error that lists the names
    if json_:
        told = [
            {"name": key, "description": description(key), "parameters": parameters(key)}
            for key in (SCENES if name is None else [name])
        ]
        print(json.dumps(told if name is None else told[0], indent=2))
        return
    if name is not None:
        text = f"{name}: {inspect.getdoc(SCENES[name])}"
        for line in (_paragraphs(text) if sys.stdout.isatty() else text).splitlines():
            print(folded(line, sys.stdout, indent=0))
        print()
        print(folded("parameters: " + (_defaults(parameters(name)) or "none"), sys.stdout))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("scene", "what it shows", "parameters (--set NAME=VALUE)"):
        table.add_column(column, overflow="fold")
    for key in SCENES:
        table.add_row(key, description(key), _defaults(parameters(key)))
    console = Console()
    # A pipe has no width: give every scene its line.
    Console(width=None if console.is_terminal else 400, highlight=False).print(table)


def _defaults(parameters):
    return " ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={str(value).lower()}"
        for key, value in parameters.items()
    )


@_command
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scene (.json), a robot (.urdf) or a recording (.npz).")],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            show_default=False,
            help="A parameter of reading a robot, as in --set inertia=strict. May be given several times.",
        ),
    ] = None,
) -> None:
    """Read a file and say whether it is right, and what is in it."""
    if file.suffix.lower() == ".npz" and file.is_file():
        if set_:
            raise InputError(f"--set is of reading a robot; {file} is none: leave it out")
        print(folded(f"ok: {file}: {recording_told(file)}", sys.stdout))
        return
    _refuse_name(file)
    scene = _load(file, _parameters(set_ or []))
    kinds = ("dynamic", "kinematic", "static")
    counts = {kind: sum(body.kind == kind for body in scene.bodies) for kind in kinds}
    bodies = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    shapes = sum(len(body.shapes) for body in scene.bodies)
    print(
        f"ok: {file}: scene {scene.name!r}, {counted(len(scene.bodies), 'body', 'bodies')}"
        f"{f' ({bodies})' if bodies else ''}, {counted(shapes, 'shape', 'shapes')}, "
        f"{counted(len(scene.joints), 'joint', 'joints')}"
    )


def _refuse_name(file):
    """Ready scenes need no check."""
    from mcsim.scenes import SCENES

    if str(file) in SCENES and not file.exists():
        raise InputError(
            f"{file}: is a ready scene, not a file: mcsim scenes {file} tells about it, mcsim run {file} runs it"
        )


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"mcsim {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and leave.")
    ] = False,
) -> None:
    pass


# ---- main ------------------------------------------------------------------------------------------------------------


def main(arguments=None):
    """Runs the command line and answers with the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that knows no µ is no reason to fail
    try:
        result = app(args=list(arguments) or ["--help"], prog_name="mcsim", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (InputError, SceneError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError):  # mcsim scenes | head
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return _complain(error, BAD_INPUT)
    except SimulationError as error:
        return _complain(error, FAILED)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except MemoryError:
        return _complain(MemoryError("out of memory: take fewer bodies, --seconds or --fps"), FAILED)
    except Exception as error:
        # Typer's complaints (unknown option, missing argument, bad value) share this method and nothing else public.
        if not hasattr(error, "format_message"):
            raise
        return _complain(InputError(error.format_message()), BAD_INPUT)


def _complain(error, code):
    if isinstance(error, OSError) and error.strerror:
        error = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    print(folded(f"error: {one_line(error)}", sys.stderr), file=sys.stderr)
    return code
