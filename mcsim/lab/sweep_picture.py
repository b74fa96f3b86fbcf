"""A sweep as a picture: results over a parameter."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.core.plot_style import Lines, plot_style, theme_of
from mcsim.lab.grids import canonical, varied
from mcsim.lab.picture import SUFFIXES, WIDTH
from mcsim.lab.report import step_text
from mcsim.scene.checks import choose, items, listing, show

MOST_PANELS = 6
COLUMNS = 2
PANEL_HEIGHT = 2.3  # inches
MOST_IN_LEGEND = 12
LEGEND_WIDTH, LEGEND_MARK = 110, 10  # characters that fit below the panels, and those that a line's mark takes
FAR = 100.0  # how many times the smallest value the largest must be for a logarithmic axis


class Swept(Protocol):
    """What is read here: a Sweep, which is above, since its own methods call what is here."""

    name: str
    parameters: list[dict[str, Any]]
    failures: dict[int, str]
    units: dict[str, str]

    def __len__(self) -> int: ...
    def array(self, name: str) -> np.ndarray: ...
    def numeric(self) -> list[str]: ...


def plot(sweep: Swept, path: str | os.PathLike[str], x: str | None, y: Any, theme: str) -> None:
    """See Sweep.plot."""
    require_matplotlib()
    colors = theme_of(theme)
    import matplotlib
    from matplotlib.figure import Figure

    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise SceneError(f"{os.fspath(path)}: a picture must end in {', '.join(SUFFIXES)}")
    x, names = _over(sweep, x), _shown(sweep, y)
    groups = _groups(sweep, x)
    lines = Lines(colors, groups)
    at = [given.get(x) for given in sweep.parameters]
    kinds = None if all(map(_is_number, at)) else list(dict.fromkeys(map(_label, at)))
    places = np.array(at if kinds is None else [kinds.index(_label(value)) for value in at], float)
    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    with matplotlib.rc_context(plot_style(theme)):
        figure = Figure(figsize=(WIDTH, 0.7 + PANEL_HEIGHT * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, name in zip(panels, names):
            values = sweep.array(name).astype(float)
            for group, (label, numbers) in groups.items():
                order = np.array(numbers)[np.argsort(places[numbers], kind="stable")]
                look = lines.line(group) | ({"linestyle": "none"} if kinds else {})
                panel.plot(places[order], values[order], marker=lines.marker(group), label=label, **look)
            panel.set(xlabel=_named(sweep, x), ylabel=_named(sweep, name))
            if kinds is not None:
                panel.set_xticks(range(len(kinds)), kinds)
            elif _spans(places):
                panel.set_xscale("log")
            if _spans(values):
                panel.set_yscale("log")
        for panel in panels[len(names) :]:
            panel.remove()
        failed = f", {len(sweep.failures)} failed" if sweep.failures else ""
        figure.suptitle(f"{sweep.name}: {len(sweep)} run{'' if len(sweep) == 1 else 's'}{failed}")
        if 1 < len(groups) <= MOST_IN_LEGEND:
            widest = max(len(label) for label, _ in groups.values())
            side_by_side = max(1, LEGEND_WIDTH // (widest + LEGEND_MARK))
            figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=side_by_side)
        with written_whole(path) as file:
            figure.savefig(file, format=suffix[1:], dpi=200)


def _over(sweep: Swept, x: str | None) -> str:
    """The parameter along the axis."""
    names = list(dict.fromkeys(name for given in sweep.parameters for name in given))
    if x is not None:
        return choose(x, names, "x")
    several = varied(sweep.parameters)[0]
    numbers = [name for name in several if all(_is_number(given.get(name)) for given in sweep.parameters)]
    found = [*numbers, *several, *names]
    if not found:
        raise SceneError("a picture shows results over a parameter, and the study has none")
    return found[0]


def _shown(sweep: Swept, y: Any) -> list[str]:
    """The results, a panel each."""
    there = sweep.numeric()
    if y is None:
        if not there:
            raise SceneError("there is nothing to draw: no run has a result that is a single number")
        return there[:MOST_PANELS]
    wanted = [y] if isinstance(y, str) else items(y, "names of results", "y")
    for name in wanted:
        if name not in there:
            raise SceneError(f"y must be results that are single numbers: {listing(there)}; got {show(name)}")
    return wanted


def _groups(sweep: Swept, x: str) -> dict[str, tuple[str, list[int]]]:
    """The runs of each line, by what they have in common, with a label that says it."""
    others = [name for name in varied(sweep.parameters)[0] if name != x]
    groups: dict[str, tuple[str, list[int]]] = {}
    for i, given in enumerate(sweep.parameters):
        common = {name: given[name] for name in others if name in given}
        label = ", ".join(f"{name} {_label(value, name)}" for name, value in common.items())
        groups.setdefault(canonical(common), (label, []))[1].append(i)
    return groups


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _label(value: Any, name: str = "") -> str:
    """A parameter's value, in a picture."""
    if isinstance(value, float):
        return step_text(value) if name == "dt" and value > 0.0 else f"{value:.5g}"
    return value if isinstance(value, str) else canonical(value)


def _named(sweep: Swept, name: str) -> str:
    unit = sweep.units.get(name, "")
    return f"{name} [{unit}]" if unit else name


def _spans(values: np.ndarray) -> bool:
    """Whether values are all positive and far apart."""
    known = values[np.isfinite(values)]
    return len(known) > 1 and bool(known.min() > 0.0) and bool(known.max() >= FAR * known.min())
