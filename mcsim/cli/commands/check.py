"""mcsim check: whether a file is right."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mcsim.cli.files import recording_told
from mcsim.cli.options import (
    given_parameters,
    load_scene,
    set_option,
)
from mcsim.cli.terminal import InputError, counted, folded


def check(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A scene (.json), a robot (.urdf, .xml) or a recording (.npz).")
    ],
    set_: Annotated[
        list[str] | None,
        set_option("A parameter of reading a robot, as in --set inertia=strict. May be given several times."),
    ] = None,
) -> None:
    """Read a file and say whether it is right, and what is in it."""
    if file.suffix.lower() == ".npz" and file.is_file():
        if set_:
            raise InputError(f"--set is of reading a robot; {file} is none: leave it out")
        print(folded(f"ok: {file}: {recording_told(file)}", sys.stdout))
        return
    _refuse_name(file)
    scene = load_scene(file, given_parameters(set_ or []))
    kinds = ("dynamic", "kinematic", "static")
    counts = {kind: sum(body.kind == kind for body in scene.bodies) for kind in kinds}
    bodies = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    shapes = sum(len(body.shapes) for body in scene.bodies)
    print(
        f"ok: {file}: scene {scene.name!r}, {counted(len(scene.bodies), 'body', 'bodies')}"
        f"{f' ({bodies})' if bodies else ''}, {counted(shapes, 'shape', 'shapes')}, "
        f"{counted(len(scene.joints), 'joint', 'joints')}"
    )


def _refuse_name(file: Path) -> None:
    """Ready scenes need no check."""
    from mcsim.scenes import SCENES

    if str(file) in SCENES and not file.exists():
        raise InputError(
            f"{file}: is a ready scene, not a file: mcsim scenes {file} tells about it, mcsim run {file} runs it"
        )
