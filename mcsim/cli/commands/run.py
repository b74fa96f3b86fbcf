"""mcsim run: one scene, by one method."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mcsim.cli.job import Job
from mcsim.cli.options import (
    check_output,
    floor_option,
    given_parameters,
    in_options,
    kind_of_world,
    load_scene,
    output,
    positive,
    scene_argument,
    set_option,
    typed,
    world_number,
    world_option,
)
from mcsim.cli.outputs import CameraOption, Gif, Glb, Html, Outputs, Png, Show, Speed, Strip, ThemeOption
from mcsim.cli.terminal import FAILED, folded
from mcsim.cli.words import as_options, refuse_unread


def run(
    scene: Annotated[
        str,
        scene_argument(),
    ],
    seconds: Annotated[float, typer.Option(parser=positive, metavar="S", help="Simulated time in seconds.")] = typed("10"),
    set_: Annotated[
        list[str] | None,
        set_option(
            "A parameter of the scene, as in --set base=50, or of reading a robot, as in --set base=fixed. May be "
            "given several times."
        ),
    ] = None,
    floor: Annotated[bool, floor_option()] = False,
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
        str, world_option("coordinates", "maximal, or reduced: generalized coordinates of a spanning tree.")
    ] = "maximal",
    substeps: Annotated[int | None, world_option("substeps", "Substeps a step.")] = None,
    solver: Annotated[
        str | None,
        world_option(
            "solver",
            "si (sequential impulses), pgs (assembled matrix), or one of the laboratory (see [bold]mcsim solvers[/]).",
        ),
    ] = None,
    iterations: Annotated[int | None, world_option("iterations", "Sweeps a substep.")] = None,
    contact_model: Annotated[
        str | None, world_option("contact-model", "Of a solver of the laboratory: ncp, ccp, pyramid or frictionless.")
    ] = None,
    contact: Annotated[str | None, world_option("contact", "rigid, compliant or event.")] = None,
    compliant_law: Annotated[
        str | None, world_option("compliant-law", "Of compliant contact: linear or hunt_crossley.")
    ] = None,
    impacts: Annotated[str | None, world_option("impacts", "With --contact event: simultaneous or sequential.")] = None,
    restitution_law: Annotated[str | None, world_option("restitution-law", "stronge, newton or poisson.")] = None,
    stop: Annotated[str | None, world_option("stop", "What ends the sweeps: iterations or residual.")] = None,
    tolerance: Annotated[float | None, world_number("tolerance", "Of the residual that ends them.", "X")] = None,
    stabilization: Annotated[
        str | None, world_option("stabilization", "none, baumgarte, soft, split_impulse, projection or ggl.")
    ] = None,
    integrator: Annotated[
        str | None,
        world_option(
            "integrator",
            "semi_implicit, rk4, rattle or variational; reduced: semi_implicit, rk4 or reference; with "
            "--contact event dopri, heun or euler.",
        ),
    ] = None,
    friction: Annotated[str | None, world_option("friction", "cone or pyramid.")] = None,
    friction_points: Annotated[str | None, world_option("friction-points", "central or point.")] = None,
    baumgarte: Annotated[float | None, world_number("baumgarte", "Part of an error removed a substep.", "X")] = None,
    slop: Annotated[
        float | None,
        world_number("slop", "Overlap that baumgarte leaves, in metres; by default by the sizes of what overlaps.", "M"),
    ] = None,
    hertz: Annotated[float | None, world_number("hertz", "Stiffness of soft contacts, in hertz.", "HZ")] = None,
    damping_ratio: Annotated[float | None, world_number("damping-ratio", "Their damping, 1 is critical.", "X")] = None,
    joint_hertz: Annotated[
        float | None, world_number("joint-hertz", "Stiffness of soft joints and limits, in hertz.", "HZ")
    ] = None,
    joint_damping_ratio: Annotated[
        float | None, world_number("joint-damping-ratio", "Their damping, 1 is critical.", "X")
    ] = None,
    push_speed: Annotated[
        float | None,
        world_number("push-speed", "Overlaps are pushed apart no faster, in m/s; by default by their sizes.", "M/S"),
    ] = None,
    restitution_threshold: Annotated[
        float | None,
        world_number(
            "restitution-threshold",
            "Slower impacts do not bounce, in m/s; by default what gravity gives in three steps.",
            "M/S",
        ),
    ] = None,
    speculative_distance: Annotated[
        float | None,
        world_number(
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
    out: Annotated[Path | None, output("out", "Write a recording (.npz).")] = None,
    png: Png = None,
    strip: Strip = None,
    gif: Gif = None,
    html: Html = None,
    glb: Glb = None,
    csv: Annotated[
        Path | None,
        output(
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
    speed: Speed = None,
    camera: CameraOption = None,
    show: Show = None,
    theme: ThemeOption = None,
) -> None:
    """Simulate a scene, and say what happened.

    The summary gives the time a step took, the largest joint error and the deepest contact at any frame,
    how the energy changed, and what steps could not do (notes). Options of the world that are left out have its own
    defaults; one that the others leave unread is an error.
    """
    options: dict[str, Any] = {
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
    check_output("--out", out, ".npz")
    check_output("--csv", csv, ".csv")
    shown = Outputs(png, strip, gif, speed, html, glb, camera, show, theme)
    shown.check()
    described = load_scene(scene, given_parameters(set_ or []), floor)
    kind = kind_of_world(coordinates)
    given = {key: value for key, value in options.items() if value is not None}
    with in_options((*options, "dt")):
        world = kind(described, dt=dt, **given)
    refuse_unread(world, given)
    record = bool(out or shown.wanted())
    job = Job(described, dt, seconds, fps, record, tabulate=csv is not None, contacts=shown.with_contacts())
    job.start(world)
    code = job.simulate()
    for line in job.summary():
        print(folded(line, sys.stdout, indent=17))
    sys.stdout.flush()
    job.write(out, csv, shown)
    if code == FAILED:
        print(folded(f"error: {as_options(job.error, options)}", sys.stderr), file=sys.stderr)
    raise typer.Exit(code)
