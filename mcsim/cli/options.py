"""What the options of several commands share: how their values are read, what is refused, what errors name."""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mcsim.cli.files import refuse_other_kinds
from mcsim.cli.terminal import InputError, folded, one_line
from mcsim.cli.words import as_options
from mcsim.core.errors import SceneError, SimulationError

if TYPE_CHECKING:
    from mcsim.scene import Scene
    from mcsim.world import World


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


def scene_names(incomplete: str) -> list[str]:
    """The names of ready scenes that begin so: what a shell completes."""
    from mcsim.scenes import SCENES

    return [name for name in SCENES if name.startswith(incomplete)]


def scene_argument(text: str = "A scene's name (see [bold]mcsim scenes[/]), a .json, .urdf or .xml (MJCF) file.") -> Any:
    return typer.Argument(metavar="SCENE", autocompletion=scene_names, help=text)


def set_option(text: str = "A parameter of the scene, as in --set count=20. May be given several times.") -> Any:
    return typer.Option("--set", metavar="NAME=VALUE", show_default=False, help=text)


def floor_option() -> Any:
    return typer.Option("--floor", help="Add a floor, a plane that the lowest point of the scene touches.")


def world_option(name: str, text: str, parser: Callable[[str], Any] | None = None, metavar: str | None = None) -> Any:
    return typer.Option(f"--{name}", help=text, parser=parser, metavar=metavar, rich_help_panel="World", show_default=False)


def world_number(name: str, text: str, metavar: str | None) -> Any:
    return world_option(name, text, number, metavar)


def themed(text: str) -> str:
    """The name of a theme."""
    from mcsim.core.plot_style import THEMES

    return _one_of(text, THEMES)


def kind_of_plot(text: str) -> str:
    """The name of a kind of picture that a study has."""
    from mcsim.lab.picture import KINDS

    return _one_of(text, KINDS)


def format_of_table(text: str) -> str:
    """The name of a format of tables."""
    from mcsim.lab.tables import FORMATS

    return _one_of(text, FORMATS)


def _one_of(text: str, names: Iterable[str]) -> str:
    if text not in names:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(names)}")
    return text


def format_option() -> Any:
    return typer.Option(
        "--format",
        parser=format_of_table,
        metavar="NAME",
        rich_help_panel="Output",
        help="Of the table that is printed: text, markdown or latex (for booktabs).",
    )


def theme_option(text: str) -> Any:
    return typer.Option("--theme", parser=themed, metavar="NAME", rich_help_panel="Output", show_default=False, help=text)


def output(name: str, text: str) -> Any:
    return typer.Option(f"--{name}", help=text, metavar="PATH", rich_help_panel="Output", show_default=False)


def refuse_alone(option: str, value: float | str | None, other: str, given: Any) -> None:
    """An option that only says how another one is done, without that other one."""
    if value is not None and not given:
        told = value if isinstance(value, str) else f"{value:g}"
        raise InputError(f"{option} {told} does nothing without {other}: add {other} FILE, or leave {option} out")


@contextmanager
def in_options(keywords: Iterable[str]) -> Iterator[None]:
    """Errors name options where they would name keywords of Python."""
    try:
        yield
    except (SceneError, TypeError) as error:
        told = as_options(one_line(error), keywords)
        raise InputError(told) from None
    except SimulationError as error:
        raise SimulationError(as_options(one_line(error), keywords)) from None


def kind_of_world(coordinates: str) -> type[World]:
    """World or ReducedWorld."""
    from mcsim.world import ReducedWorld, World

    kinds = {"maximal": World, "reduced": ReducedWorld}
    if coordinates not in kinds:
        raise InputError(f"--coordinates must be one of {', '.join(kinds)}, not {coordinates!r}")
    return kinds[coordinates]


def given_parameters(assignments: Iterable[str]) -> dict[str, str]:
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


def load_scene(name_or_path: str | Path, parameters: Mapping[str, Any], floor: bool = False) -> Scene:
    from mcsim.scenes import load, with_floor

    refuse_other_kinds(name_or_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        scene = load(name_or_path, **parameters)
    for warning in caught:
        print(folded(f"warning: {one_line(warning.message)}", sys.stderr), file=sys.stderr)
    return with_floor(scene) if floor else scene


def write_output(path: Path | None, write: Callable[[Path], Any]) -> None:
    """Writes what is wanted, and says so."""
    if path:
        write(path)
        print(f"wrote {path} ({path.stat().st_size / 1e6:.2f} MB)")


def check_output(option: str, path: Path | None, *suffixes: str) -> None:
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
