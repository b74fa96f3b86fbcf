"""The connectivity graph of a system model, drawn by Matplotlib."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.reduced.spanning import BASE

if TYPE_CHECKING:
    from mcsim.reduced.system import System

FORMATS = (".png", ".svg", ".pdf")
COLUMN, ROW = 1.7, 1.1          # size of a node's cell [inch]
LARGEST = 60.0                  # width and height of a picture [inch]; larger graphs are drawn smaller
DPI = 100
TREE, LOOP, FREE, BASE_FILL, LINK_FILL = "#1f3b57", "#c0392b", "#8a97a5", "#d9d9d9", "#e8f0f8"
NAME_LENGTH = 18                # letters of a name that fit in a cell


def draw(system: System, target: str | PathLike[str] | Any) -> Any:
    """Draw the connectivity graph to a file (.png, .svg, .pdf) or on Matplotlib axes; answers with the axes.

    The base is a box, links are circles with their numbers and bodies. An arrow runs from the predecessor of a joint to
    its successor: solid if the joint is in the tree (grey if the model added it, a free joint), dashed if it closes a
    loop.
    """
    require_matplotlib()
    if hasattr(target, "add_patch"):
        _paint(system, target, 1.0)
        return target
    form = Path(target).suffix.lower()
    if form not in FORMATS:
        raise SceneError(f"{fspath(target)}: a graph is drawn to a file whose name ends in {', '.join(FORMATS)}")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    places = layout(system)
    width = COLUMN * (max(x for x, _ in places.values()) + 1.6)
    height = ROW * (max(y for _, y in places.values()) + 1.8)
    scale = min(1.0, LARGEST / max(width, height))
    figure = Figure(figsize=(max(width * scale, 3.0), max(height * scale, 2.0)), dpi=DPI)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    _paint(system, axes, scale)
    with written_whole(target) as file:
        figure.savefig(file, format=form[1:])
    return axes


def layout(system: System) -> dict[int, tuple[float, float]]:
    """Number of each node -> (column, row): rows by depth, parents above the middle of their children."""
    depth, column, places = {BASE: 0}, 0.0, {}
    for link in system.links:
        depth[link.number] = depth[link.parent] + 1
    across: dict[int, float] = {}
    for number in [*range(len(system.links) - 1, -1, -1), BASE]:        # children before parents
        children = system.children(number)
        if len(children) == 0:
            across[number] = column
            column -= 1.0
        else:
            across[number] = 0.5 * (across[children[0]] + across[children[-1]])
    left = min(across.values())
    for number, x in across.items():
        places[number] = x - left, float(depth[number])
    return places


def _paint(system: System, axes: Any, scale: float) -> None:
    """The whole graph on the axes; scale: of lines and letters."""
    places = layout(system)
    axes.axis("off")
    axes.set_xlim(-0.8, max(x for x, _ in places.values()) + 0.8)
    axes.set_ylim(max(y for _, y in places.values()) + 0.9, -0.9)
    for link in system.links:
        added = link.joint is None
        _arrow(axes, places, link.parent, link.number, link.reversed, "free" if added else link.joint.name,
               FREE if added else TREE, 0.0, scale)
    between: dict[tuple[int, int], int] = {}
    for loop in system.loops:
        pair = min(loop.predecessor, loop.successor), max(loop.predecessor, loop.successor)
        between[pair] = between.get(pair, 0) + 1
        _arrow(axes, places, loop.predecessor, loop.successor, False, loop.joint.name, LOOP,
               0.2 + 0.12 * between[pair], scale)
    _node(axes, places[BASE], "base", "", True, scale)
    for link in system.links:
        _node(axes, places[link.number], str(link.number), link.body, False, scale)


def _node(axes: Any, place: tuple[float, float], number: str, body: str, base: bool, scale: float) -> None:
    axes.text(*place, number, ha="center", va="center", fontsize=9 * scale, zorder=4,
              bbox={"boxstyle": "square,pad=0.5" if base else "circle,pad=0.35", "edgecolor": TREE,
                    "facecolor": BASE_FILL if base else LINK_FILL, "linewidth": 1.2 * scale})
    if body:
        axes.annotate(_short(body), place, (0, -15 * scale), textcoords="offset points", ha="center", va="top",
                      fontsize=7 * scale, zorder=5, color=TREE,
                      bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"})


def _arrow(axes: Any, places: dict, start: int, end: int, backward: bool, name: str, color: str, bend: float,
           scale: float) -> None:
    """An arrow with the joint's name beside its middle; bend: 0 straight, else part of its length."""
    (x0, y0), (x1, y1) = (places[end], places[start]) if backward else (places[start], places[end])
    loop = bend != 0.0
    axes.annotate("", (x1, y1), (x0, y0), zorder=2, arrowprops={
        "arrowstyle": "-|>", "color": color, "linewidth": 1.3 * scale, "linestyle": "--" if loop else "-",
        "shrinkA": 12 * scale, "shrinkB": 12 * scale, "connectionstyle": f"arc3,rad={bend:g}"})
    # The middle of Matplotlib's arc3 lies half its bend aside.
    middle = 0.5 * (x0 + x1) + 0.5 * bend * (y1 - y0), 0.5 * (y0 + y1) - 0.5 * bend * (x1 - x0)
    axes.text(*middle, _short(name), ha="center", va="center", fontsize=7 * scale, color=color, zorder=3,
              bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"})


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"…{name[1 - NAME_LENGTH:]}"
