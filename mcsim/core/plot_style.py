"""One style for every plot of the package: fonts, sizes, lines and colours, on a light and on a dark ground.

A method has one look wherever it is drawn: the colour tells the stabilization, or the integrator where that is not the
usual one, or reduced coordinates; the dashes tell the solver, or the integrator. So a plot can be read without colours too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from mcsim.core.errors import SceneError


class Theme(NamedTuple):
    """background, text: of a plot; grid: its lines; rule: lines that mark a value; shade: of a region; colors: the
    cycle."""

    background: str
    text: str
    grid: str
    rule: str
    shade: str
    colors: tuple[str, ...]


# Colours that people with any colour vision tell apart (M. Okabe, K. Ito, Color Universal Design, 2008), and a grey; on
# the dark ground the same hues, lighter.
THEMES = {
    "light": Theme(
        "#ffffff",
        "#202020",
        "#e6e6e6",
        "#8c8c8c",
        "#d9d9d9",
        ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f"),
    ),
    "dark": Theme(
        "#16181c",
        "#e4e6ea",
        "#30343b",
        "#8a9099",
        "#3a3f47",
        ("#3f9fe0", "#ff7f3f", "#1fc496", "#e69ac6", "#f2b42e", "#9bd6f7", "#ffffff", "#969ca6"),
    ),
}
BLUE, VERMILLION, GREEN, PINK, ORANGE, SKY, INK, GREY = range(8)
# On and off, in widths of the line.
DASHES = ((), (5, 1.5), (1.5, 1.2), (6, 1.5, 1.5, 1.5), (9, 2), (3, 1, 1, 1, 1, 1))
MARKERS = "osD^vP*X"
WIDTH = 1.1  # points, of a line

# Part of a method's name -> number of its colour, and of its dashes.
STABILIZATIONS = {
    "none": GREY,
    "baumgarte": VERMILLION,
    "soft": BLUE,
    "split_impulse": SKY,
    "projection": INK,
    "ggl": ORANGE,
}
INTEGRATORS = {"rattle": (GREEN, 3), "variational": (SKY, 4), "rk4": (INK, 5)}
REDUCED, REDUCED_INTEGRATORS = PINK, {"rk4": 5, "reference": 2, "radau": 3, "bdf": 4}
SOLVERS = {"tree": 0, "si": 1, "rows": 1, "pgs": 2}
OTHER_SOLVER = 3


def theme_of(name: str) -> Theme:
    """The theme of that name. SceneError if there is none."""
    if not isinstance(name, str) or name not in THEMES:
        raise SceneError(f"theme must be one of: {', '.join(THEMES)}; got {name!r}")
    return THEMES[name]


def plot_style(theme: str = "light") -> dict[Any, Any]:
    """The style of the package's plots as settings of Matplotlib, for plots of one's own: `plt.style.use(plot_style())`,
    or `with plt.rc_context(plot_style("dark")):`. theme: "light" or "dark"."""
    from cycler import cycler

    colors = theme_of(theme)
    return {
        "font.size": 8,
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "mathtext.fontset": "dejavusans",
        "axes.titlesize": 8.5,
        "axes.labelsize": 8,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7.5,
        "figure.titlesize": 9.5,
        "legend.frameon": False,
        "lines.linewidth": WIDTH,
        "lines.markersize": 3.6,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.minor.width": 0.4,
        "ytick.minor.width": 0.4,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titleweight": "bold",
        "figure.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.linewidth": 0.5,
        "grid.color": colors.grid,
        "axes.prop_cycle": cycler(color=colors.colors),
        "figure.facecolor": colors.background,
        "axes.facecolor": colors.background,
        "text.color": colors.text,
        "axes.labelcolor": colors.text,
        "axes.titlecolor": colors.text,
        "axes.edgecolor": colors.text,
        "xtick.color": colors.text,
        "ytick.color": colors.text,
        "pdf.fonttype": 42,  # letters stay letters
        "svg.hashsalt": "mcsim",  # the same plot is the same file
    }


class Lines:
    """How the lines of a plot look, by their names: methods as mcsim.compare calls them, or any others."""

    def __init__(self, theme: Theme, names: Iterable[str]) -> None:
        self._theme = theme
        self._looks: dict[str, tuple[int, int]] = {}
        known = {name: look_of(name) for name in names}
        taken = {look[0] for look in known.values() if look is not None}
        free = [color for color in range(len(theme.colors)) if color not in taken] or [*range(len(theme.colors))]
        others = 0
        for name, look in known.items():
            if look is None:  # somebody's own name: what is left
                look = free[others % len(free)], others % len(DASHES)
                others += 1
            color, dashes = look
            turn = 0
            while look in self._looks.values() and turn < len(DASHES):  # the colour stays, so the dashes give way
                turn += 1
                look = color, (dashes + turn) % len(DASHES)
            self._looks[name] = look

    def color(self, name: str) -> str:
        """Its colour."""
        return self._theme.colors[self._looks[name][0]]

    def marker(self, name: str) -> str:
        """The marker of its points."""
        color, dashes = self._looks[name]
        return MARKERS[(color + dashes) % len(MARKERS)]

    def line(self, name: str) -> dict[str, Any]:
        """Keywords of Axes.plot."""
        dashes = DASHES[self._looks[name][1]]
        return {"color": self.color(name), "linewidth": WIDTH, "linestyle": (0, dashes) if dashes else "-"}


def look_of(name: str) -> tuple[int, int] | None:
    """Numbers of the colour and of the dashes that a method has in every plot; None if the name is not one of a method."""
    coordinates, colon, rest = name.partition(":")
    rest, _, integrator = rest.partition("@")
    solver, _, stabilization = rest.partition("+")
    if coordinates == "reduced" and colon:
        return REDUCED, REDUCED_INTEGRATORS.get(integrator, 0 if solver == "aba" else OTHER_SOLVER)
    if coordinates == "maximal" and colon:
        dashes = SOLVERS.get(solver, OTHER_SOLVER)
        return INTEGRATORS.get(integrator, (STABILIZATIONS.get(stabilization or "soft", GREY), dashes))
    return None
