"""The program of the command line: what commands are added to."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import typer

app = typer.Typer(
    name="mcsim",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Simulate rigid bodies: scenes by name or from a file (JSON, URDF, MJCF), recordings, pictures and films.",
    epilog="Start with:  mcsim run ragdolls --seconds 4 --gif ragdolls.gif",
)


def add_command(function: Callable[..., Any]) -> None:
    """A command, whose help has the paragraphs of its docstring, each folded to the terminal."""
    app.command(help=paragraphs(inspect.getdoc(function) or ""))(function)


def paragraphs(text: str) -> str:
    """Text with each paragraph on one line, for the terminal to fold."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)
