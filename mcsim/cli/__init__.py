"""The command line: mcsim run | compare | solvers | scenes | check.

Bad input ends with exit code 2 and one line, a run that fails with 1, Ctrl-C with 130; what was recorded is kept.
"""

import inspect
import math
import os
import sys
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from mcsim import __version__
from mcsim.cli.job import Job
from mcsim.cli.terminal import BAD_INPUT, FAILED, INTERRUPTED, InputError, counted, one_line, progress
from mcsim.core.errors import SceneError, SimulationError

app = typer.Typer(
    name="mcsim", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich",
    help="Simulate rigid bodies: scenes by name or from a file (JSON, URDF), recordings, pictures and films.",
    epilog="Start with:  mcsim run ragdolls --seconds 4 --gif ragdolls.gif",
)


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


def _world(name, text, parser=None, metavar=None):
    return typer.Option(f"--{name}", help=text, parser=parser, metavar=metavar, rich_help_panel="World",
                        show_default=False)


def _world_number(name, text, metavar):
    return _world(name, text, number, metavar)


def _output(name, text):
    return typer.Option(f"--{name}", help=text, metavar="PATH", rich_help_panel="Output", show_default=False)


# ---- run -------------------------------------------------------------------------------------------------------------

@app.command()
def run(
    scene: Annotated[str, typer.Argument(
        metavar="SCENE", help="A scene's name (see [bold]mcsim scenes[/]), a .json or a .urdf file.")],
    seconds: Annotated[float, typer.Option(parser=positive, metavar="S", help="Simulated time in seconds.")] = typed("10"),
    set_: Annotated[list[str] | None, typer.Option(
        "--set", metavar="NAME=VALUE", show_default=False,
        help="A parameter of the scene, as in --set base=50, or of reading a robot, as in --set base=fixed. May be "
             "given several times.")] = None,
    dt: Annotated[float, typer.Option(
        parser=positive, metavar="S", rich_help_panel="World",
        help="Time step in seconds; fractions such as 1/240 are fine.")] = typed("1/60"),
    coordinates: Annotated[str, _world(
        "coordinates", "maximal, or reduced: generalized coordinates of a spanning tree.")] = "maximal",
    substeps: Annotated[int | None, _world("substeps", "Substeps a step.")] = None,
    solver: Annotated[str | None, _world("solver", "si (sequential impulses), pgs (assembled matrix), or one of "
                                           "the laboratory (see [bold]mcsim solvers[/]).")] = None,
    iterations: Annotated[int | None, _world("iterations", "Sweeps a substep.")] = None,
    contact_model: Annotated[str | None, _world(
        "contact-model", "Of a solver of the laboratory: ncp, ccp, pyramid or frictionless.")] = None,
    contact: Annotated[str | None, _world("contact", "rigid, compliant or event.")] = None,
    compliant_law: Annotated[str | None, _world("compliant-law", "Of compliant contact: linear or hunt_crossley.")] = None,
    impacts: Annotated[str | None, _world("impacts", "With --contact event: simultaneous or sequential.")] = None,
    restitution_law: Annotated[str | None, _world("restitution-law", "stronge, newton or poisson.")] = None,
    stop: Annotated[str | None, _world("stop", "What ends the sweeps: iterations or residual.")] = None,
    tolerance: Annotated[float | None, _world_number("tolerance", "Of the residual that ends them.", "X")] = None,
    stabilization: Annotated[str | None, _world(
        "stabilization", "none, baumgarte, soft, split_impulse, projection or ggl.")] = None,
    integrator: Annotated[str | None, _world(
        "integrator", "semi_implicit, rk4, rattle or variational; reduced: semi_implicit, rk4 or reference; with "
        "--contact event dopri, heun or euler.")] = None,
    friction: Annotated[str | None, _world("friction", "cone or pyramid.")] = None,
    friction_points: Annotated[str | None, _world("friction-points", "central or point.")] = None,
    baumgarte: Annotated[float | None, _world_number("baumgarte", "Part of an error removed a substep.", "X")] = None,
    slop: Annotated[float | None, _world_number(
        "slop", "Overlap that baumgarte leaves, in metres; by default by the sizes of what overlaps.", "M")] = None,
    hertz: Annotated[float | None, _world_number("hertz", "Stiffness of soft contacts, in hertz.", "HZ")] = None,
    damping_ratio: Annotated[float | None, _world_number(
        "damping-ratio", "Their damping, 1 is critical.", "X")] = None,
    joint_hertz: Annotated[float | None, _world_number(
        "joint-hertz", "Stiffness of soft joints and limits, in hertz.", "HZ")] = None,
    joint_damping_ratio: Annotated[float | None, _world_number(
        "joint-damping-ratio", "Their damping, 1 is critical.", "X")] = None,
    push_speed: Annotated[float | None, _world_number(
        "push-speed", "Overlaps are pushed apart no faster, in m/s; by default by their sizes.", "M/S")] = None,
    restitution_threshold: Annotated[float | None, _world_number(
        "restitution-threshold", "Slower impacts do not bounce, in m/s; by default what gravity gives in three steps.",
        "M/S")] = None,
    speculative_distance: Annotated[float | None, _world_number(
        "speculative-distance", "Contacts exist from this distance on, in metres; by default by the sizes of what meets.",
        "M")] = None,
    sleep: Annotated[bool | None, typer.Option(
        "--sleep/--no-sleep", rich_help_panel="World", help="Whether bodies at rest fall asleep.")] = None,
    strict: Annotated[bool, typer.Option(
        "--strict", rich_help_panel="World", help="End with an error where a step could not do something, in place of a "
        "note at the end.")] = False,
    out: Annotated[Path | None, _output("out", "Write a recording (.npz).")] = None,
    png: Annotated[Path | None, _output("png", "Write a picture of the end (.png).")] = None,
    strip: Annotated[int, typer.Option(min=1, max=20, metavar="N", rich_help_panel="Output",
                                       help="Pictures side by side in the .png, from start to end.")] = 1,
    gif: Annotated[Path | None, _output("gif", "Write a film (.gif).")] = None,
    fps: Annotated[float, typer.Option(parser=positive, metavar="N", rich_help_panel="Output",
                                       help="Frames a simulated second, of recording and film.")] = typed("30"),
    speed: Annotated[float, typer.Option(parser=positive, metavar="X", rich_help_panel="Output",
                                         help="Speed of the film; 0.5 is slow motion.")] = typed("1"),
) -> None:
    """Simulate a scene, and say what happened.

    The summary gives the time a step took, the largest joint error and the deepest contact at any frame,
    how the energy changed, and what steps could not do. Options of the world that are left out have its own defaults.
    """
    options = {
        "substeps": substeps, "solver": solver, "iterations": iterations,
        "contact_model": contact_model, "contact": contact, "compliant_law": compliant_law, "impacts": impacts,
        "restitution_law": restitution_law, "stop": stop, "tolerance": tolerance, "stabilization": stabilization,
        "integrator": integrator, "friction": friction, "friction_points": friction_points, "baumgarte": baumgarte,
        "slop": slop, "hertz": hertz, "damping_ratio": damping_ratio, "joint_hertz": joint_hertz,
        "joint_damping_ratio": joint_damping_ratio, "push_speed": push_speed,
        "restitution_threshold": restitution_threshold, "speculative_distance": speculative_distance, "sleep": sleep,
        "strict": strict or None,
    }
    _check_output("--out", out, ".npz")
    _check_output("--png", png, ".png")
    _check_output("--gif", gif, ".gif")
    if png or gif:
        from mcsim.view import require_matplotlib

        require_matplotlib()
    described = _load(scene, _parameters(set_ or []))
    kind = _kind_of_world(coordinates)
    given = {key: value for key, value in options.items() if value is not None}
    world = kind(described, dt=dt, **given)
    job = Job(described, dt, seconds, fps, record=bool(out or png or gif))
    job.start(world)
    code = job.simulate()
    for line in job.summary():
        print(line)
    sys.stdout.flush()
    job.write(out, png, strip, gif, speed)
    if code == FAILED:
        print(f"error: {job.error}", file=sys.stderr)
    raise typer.Exit(code)


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

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        scene = load(name_or_path, **parameters)
    for warning in caught:
        print(f"warning: {one_line(warning.message)}", file=sys.stderr)
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

@app.command()
def compare(
    scene: Annotated[str, typer.Argument(
        metavar="SCENE", help="A scene's name (see [bold]mcsim scenes[/]), a .json or a .urdf file. The ready studies "
        "pendulum, double_pendulum, chain, four_bar, free_ragdoll and spinning_top know good methods and seconds.")],
    methods: Annotated[list[str] | None, typer.Argument(
        metavar="METHODS", show_default=False,
        help="maximal:SOLVER+STABILIZATION\\[@INTEGRATOR] or reduced:ALGORITHM\\[@INTEGRATOR], as in "
             "maximal:si+baumgarte maximal:tree+soft@rattle reduced:aba.")] = None,
    seconds: Annotated[float | None, typer.Option(
        parser=positive, metavar="S", show_default=False,
        help="Simulated time in seconds; 10 if no study knows.")] = None,
    dt: Annotated[list | None, typer.Option(
        parser=positives, metavar="S,...", show_default=False,
        help="Time step in seconds, 1/240 if no study knows. Several, as in 1/60,1/240,1/1000, make a convergence "
             "study.")] = None,
    set_: Annotated[list[str] | None, typer.Option(
        "--set", metavar="NAME=VALUE", show_default=False,
        help="A parameter of the scene, as in --set n=20. May be given several times.")] = None,
    substeps: Annotated[int, typer.Option(min=1, metavar="N", help="Substeps a step, of every method.")] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="A method ends where one of its steps could not do something, in "
                                         "place of a note below the table.")] = False,
    reference: Annotated[str, typer.Option(
        metavar="METHOD", help="What the methods are measured against: a method whose step is halved until it agrees "
        "with itself, auto, or none.")] = "auto",
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
    described = _load(scene, (dict(ready.parameters) if ready else {}) | _parameters(set_ or []))
    with progress(1, "comparing", "runs") as show:
        study = run_study(
            described, methods or (ready.methods if ready else DEFAULT_METHODS),
            seconds or (ready.seconds if ready else 10.0), dt or (ready.dt if ready else 1 / 240),
            None if reference == "none" else reference, substeps=substeps, strict=strict,
            progress=lambda done, total, what: show(done, None, total=total))
    print(study.table())
    for path, write in ((plot, study.plot), (save, study.save), (csv, study.csv)):
        if path:
            write(path)
            print(f"wrote {path} ({path.stat().st_size / 1e6:.2f} MB)")
    if all(run.failure for run in study.all_runs()):
        raise typer.Exit(FAILED)


# ---- solvers ---------------------------------------------------------------------------------------------------------

@app.command()
def solvers(
    scene: Annotated[str, typer.Argument(
        metavar="SCENE", help="A scene's name, a .json or .urdf file, or a problem's file (.npz).")],
    names: Annotated[list[str] | None, typer.Argument(
        metavar="[SOLVER]...", show_default=False, help="Those to run, by default all that solve the model.")] = None,
    model: Annotated[str, typer.Option(help="Of contact: ncp (exact), ccp (convex), pyramid or frictionless.")] = "ncp",
    seconds: Annotated[float, typer.Option(parser=positive, metavar="S",
                                             help="After which the problem is taken.")] = typed("1"),
    dt: Annotated[float, typer.Option(parser=positive, metavar="S", help="Step of the scene until then.")] = typed("1/60"),
    set_: Annotated[list[str] | None, typer.Option(
        "--set", metavar="NAME=VALUE", show_default=False,
        help="A parameter of the scene, as in --set base=20. May be given several times.")] = None,
    coordinates: Annotated[str, typer.Option(help="maximal or reduced.")] = "maximal",
    tolerance: Annotated[float, typer.Option(parser=positive, metavar="X", help="Of each residual.")] = typed("1e-8"),
    iterations: Annotated[int | None, typer.Option(min=0, metavar="N", help="At most.", show_default=False)] = None,
    limit: Annotated[float, typer.Option(parser=positive, metavar="S", help="Time for each solver.")] = typed("10"),
    warm: Annotated[bool, typer.Option("--warm", help="Begin with the step's own impulses, not with none.")] = False,
    direct: Annotated[bool, typer.Option("--direct",
                                         help="Joints by a sparse factorization, the solver for the rest.")] = False,
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
    _kind_of_world(coordinates)
    if Path(scene).suffix == ".npz":
        what: Any = scene
        keywords: dict[str, Any] = {}
    else:
        what, keywords = _load(scene, _parameters(set_ or [])), {"dt": dt, "coordinates": coordinates}
    with progress(1, "solving", "solvers") as show:
        study = run_study(what, names or None, model, seconds=seconds, tolerance=tolerance, max_iterations=iterations,
                          time_limit=limit, warm=warm, bilateral="direct" if direct else "rows",
                          progress=lambda done, total, name: show(done, None, total=total), **keywords)
    print(study.table())
    for path, write in ((plot, study.plot), (save, study.problem.save), (csv, study.csv)):
        if path:
            write(path)
            print(f"wrote {path} ({path.stat().st_size / 1e6:.2f} MB)")
    if not study.solutions:
        raise typer.Exit(FAILED)


# ---- scenes and check ------------------------------------------------------------------------------------------------

@app.command()
def scenes(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", show_default=False,
                                               help="Only this scene, with all that is known about it.")] = None,
) -> None:
    """List the ready scenes and their parameters."""
    from mcsim.scenes import SCENES, build, description, parameters

    if name is not None:
        if name not in SCENES:
            build(name)                                    # raises the error that lists the names
        print(f"{name}: {inspect.getdoc(SCENES[name])}")
        print()
        print("parameters: " + (_defaults(parameters(name)) or "none"))
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
    return " ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={str(value).lower()}"
                    for key, value in parameters.items())


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scene (.json) or a robot (.urdf).")],
    set_: Annotated[list[str] | None, typer.Option(
        "--set", metavar="NAME=VALUE", show_default=False,
        help="A parameter of reading a robot, as in --set inertia=strict. May be given several times.")] = None,
) -> None:
    """Read a file and say whether it is right, and what is in it."""
    scene = _load(file, _parameters(set_ or []))
    kinds = ("dynamic", "kinematic", "static")
    counts = {kind: sum(body.kind == kind for body in scene.bodies) for kind in kinds}
    bodies = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    shapes = sum(len(body.shapes) for body in scene.bodies)
    print(f"ok: {file}: scene {scene.name!r}, {counted(len(scene.bodies), 'body', 'bodies')}"
          f"{f' ({bodies})' if bodies else ''}, {counted(shapes, 'shape', 'shapes')}, "
          f"{counted(len(scene.joints), 'joint', 'joints')}")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"mcsim {__version__}")
        raise typer.Exit()


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_show_version,
                                                help="Show the version and leave.")] = False) -> None:
    pass


# ---- main ------------------------------------------------------------------------------------------------------------

def main(arguments=None):
    """Runs the command line and answers with the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")           # a terminal that knows no µ is no reason to fail
    try:
        result = app(args=arguments or ["--help"], prog_name="mcsim", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (InputError, SceneError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError):             # mcsim scenes | head
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
    print(f"error: {one_line(error)}", file=sys.stderr)
    return code

