"""The connectivity graph of a system model, drawn by Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.core.plot_style import BLUE, VERMILLION, Theme, plot_style, theme_of
from mcsim.reduced.links import Link, Loop
from mcsim.reduced.spanning import BASE

FORMATS = (".png", ".svg", ".pdf")
COLUMN, ROW = 1.9, 1.1  # size of a node's cell [inch]
LARGEST = 60.0  # width and height of a picture [inch]; larger graphs are drawn smaller
DPI = 100
NAME_LENGTH = 20  # letters of a name that fit in a cell
LABEL_AT = 0.64  # of the way from parent to child: there children's labels are far from each other
BEND, BEND_MORE = 0.9, 0.5  # how far the bend of a loop's arrow points aside, and the next one's [cells]
CLEAR = {True: (0.15, 0.14), False: (0.08, 0.14)}  # half width and height about a node, base or link [cells]
ENOUGH = 0.35  # distance of a line from a node that needs not be larger [cells]
POINTS = 60  # of a bent arrow


class Look(NamedTuple):
    """theme: the colours; scale: of lines and letters."""

    theme: Theme
    scale: float

    @property
    def tree(self) -> str:
        """Of what is in the tree."""
        return self.theme.colors[BLUE]

    @property
    def loop(self) -> str:
        """Of joints that close loops."""
        return self.theme.colors[VERMILLION]


def draw(links: Sequence[Link], loops: Sequence[Loop], target: str | PathLike[str] | Any, theme: str) -> Any:
    """Draw the connectivity graph to a file (.png, .svg, .pdf) or on Matplotlib axes; answers with the axes.

    The base is a box, links are circles with their numbers and bodies. An arrow runs from the predecessor of a joint to
    its successor: solid if the joint is in the tree (grey if the model added it, a free joint), dashed if it closes a
    loop.
    """
    require_matplotlib()
    colors = theme_of(theme)
    if hasattr(target, "add_patch"):
        _paint(links, loops, target, Look(colors, 1.0))
        return target
    form = Path(target).suffix.lower()
    if form not in FORMATS:
        raise SceneError(f"{fspath(target)}: a graph is drawn to a file whose name ends in {', '.join(FORMATS)}")
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    places = layout(links)
    width = COLUMN * (max(x for x, _ in places.values()) + 1.6)
    height = ROW * (max(y for _, y in places.values()) + 1.3)
    scale = min(1.0, LARGEST / max(width, height))
    with matplotlib.rc_context(plot_style(theme)):
        figure = Figure(figsize=(max(width * scale, 3.0), max(height * scale, 2.0)), dpi=DPI)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0, 0, 1, 1))
        _paint(links, loops, axes, Look(colors, scale))
        with written_whole(target) as file:
            figure.savefig(file, format=form[1:])
    return axes


def layout(links: Sequence[Link]) -> dict[int, np.ndarray]:
    """Number of each node -> (2,) column and row: rows by depth, parents above the middle of their children."""
    depth, column = {BASE: 0}, 0.0
    children: dict[int, list[int]] = {number: [] for number in range(BASE, len(links))}
    for link in links:
        depth[link.number] = depth[link.parent] + 1
        children[link.parent].append(link.number)
    across: dict[int, float] = {}
    for number in [*range(len(links) - 1, -1, -1), BASE]:  # children before parents
        held = children[number]
        if held:
            across[number] = 0.5 * (across[held[0]] + across[held[-1]])
        else:
            across[number] = column
            column -= 1.0
    left = min(across.values())
    return {number: np.array([x - left, depth[number]]) for number, x in across.items()}


def _paint(links: Sequence[Link], loops: Sequence[Loop], axes: Any, look: Look) -> None:
    """The whole graph on the axes."""
    places = layout(links)
    axes.axis("off")
    axes.set_xlim(-0.8, max(x for x, _ in places.values()) + 0.8)
    axes.set_ylim(max(y for _, y in places.values()) + 0.7, -0.6)
    for link in links:
        name, color = ("free", look.theme.rule) if link.joint is None else (link.joint.name, look.tree)
        way = np.linspace(0.0, 1.0, POINTS)[:, None]
        line = (1.0 - way) * places[link.parent] + way * places[link.number]
        _label(axes, line[int(LABEL_AT * POINTS)], name, color, look)
        ends = (link.parent, link.number)
        _arrow(axes, line[::-1] if link.reversed else line, ends[::-1] if link.reversed else ends, color, "-", look)
    between: dict[tuple[int, int], int] = {}
    for loop in loops:
        ends = loop.predecessor, loop.successor
        pair = min(ends), max(ends)
        line = _clearest(places, pair, between.get(pair, 0))
        between[pair] = between.get(pair, 0) + 1
        _label(axes, line[POINTS // 2], loop.joint.name, look.loop, look)
        _arrow(axes, line if ends == pair else line[::-1], ends, look.loop, "--", look)
    _node(axes, places[BASE], "base", "", True, look)
    for link in links:
        _node(axes, places[link.number], str(link.number), link.body, False, look)


def _node(axes: Any, place: np.ndarray, number: str, body: str, base: bool, look: Look) -> None:
    axes.text(
        *place,
        number,
        ha="center",
        va="center",
        fontsize=9 * look.scale,
        color=look.theme.text,
        zorder=4,
        bbox={
            "boxstyle": "square,pad=0.5" if base else "circle,pad=0.35",
            "edgecolor": look.tree,
            "facecolor": look.theme.shade if base else look.theme.background,
            "linewidth": 1.2 * look.scale,
        },
    )
    if body:
        axes.annotate(
            _short(body),
            place,
            (0, -15 * look.scale),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7 * look.scale,
            zorder=5,
            color=look.tree,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": look.theme.background, "edgecolor": "none"},
        )


def _clearest(places: dict[int, np.ndarray], ends: tuple[int, int], before: int) -> np.ndarray:
    """The bent line between two nodes that keeps clear of the others; `before`: how many lines join the two already."""
    others = np.array([place for node, place in places.items() if node not in ends]).reshape(-1, 1, 2)
    lines = [
        _bent(places[ends[0]], places[ends[1]], side * (BEND + BEND_MORE * (before + more)))
        for more in (0, 1)
        for side in (1.0, -1.0)
    ]
    clear = [min(np.hypot(*np.moveaxis(others - line, -1, 0)).min(initial=np.inf), ENOUGH) for line in lines]
    return lines[int(np.argmax(clear))]


def _bent(start: np.ndarray, end: np.ndarray, aside: float) -> np.ndarray:
    """(POINTS, 2): a parabola from start to end whose middle lies half of `aside` off the straight line."""
    along = end - start
    corner = 0.5 * (start + end) + aside * np.array([-along[1], along[0]]) / max(np.hypot(*along), 1e-9)
    way = np.linspace(0.0, 1.0, POINTS)[:, None]
    return (1.0 - way) ** 2 * start + 2.0 * way * (1.0 - way) * corner + way**2 * end


def _arrow(axes: Any, line: np.ndarray, ends: tuple[int, int], color: str, style: str, look: Look) -> None:
    """An arrow along a line between two nodes, as far as it is clear of both."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path as Line

    clear = np.full(len(line), True)
    for node, center in zip(ends, (line[0], line[-1])):
        clear &= np.hypot(*((line - center) / CLEAR[node == BASE]).T) > 1.0
    axes.add_patch(
        FancyArrowPatch(
            path=Line(line[clear]),
            arrowstyle="-|>",
            mutation_scale=12 * look.scale,
            color=color,
            linewidth=1.3 * look.scale,
            linestyle=style,
            zorder=2,
        )
    )


def _label(axes: Any, place: np.ndarray, name: str, color: str, look: Look) -> None:
    axes.text(
        *place,
        _short(name),
        ha="center",
        va="center",
        fontsize=7 * look.scale,
        color=color,
        zorder=3,
        bbox={"boxstyle": "square,pad=0.1", "facecolor": look.theme.background, "edgecolor": "none"},
    )


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"…{name[1 - NAME_LENGTH :]}"
