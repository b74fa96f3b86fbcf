"""mcsim scenes: the ready scenes."""

import inspect
import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from mcsim.cli.app import paragraphs
from mcsim.cli.options import (
    scene_names,
)
from mcsim.cli.terminal import folded


def scenes(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            show_default=False,
            autocompletion=scene_names,
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
        for line in (paragraphs(text) if sys.stdout.isatty() else text).splitlines():
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


def _defaults(parameters: Mapping[str, Any]) -> str:
    return " ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={str(value).lower()}"
        for key, value in parameters.items()
    )
