"""A study as one picture: panels over time, errors over the step, or errors over what they cost."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.core.plot_style import Lines, Theme, plot_style, theme_of
from mcsim.lab.record import Run
from mcsim.lab.report import ORDERS, ROUNDING, Compared, floor_of, orders, step_text, summary

DOUBT_LABEL = "the reference's own uncertainty"
ROUNDING_LABEL = "rounding, or the reference's uncertainty"
WIDTH, PANEL_HEIGHT = 7.2, 2.15  # inches: two columns of a journal
POINTS = 240  # of a curve: the largest value of each such part of the run
LOWEST, HIGHEST = 1e-17, 1e9  # of what is drawn on a logarithmic axis
SUFFIXES = (".png", ".pdf", ".svg")
KINDS = ("time", "residuals", "convergence", "work")


class Panel(NamedTuple):
    """title, label of its axis, and the array of a Run that it shows, as its column in a file is called. doubt: the array
    of the reference that says below which values tell nothing."""

    title: str
    label: str
    array: str
    relative: bool = False
    doubt: str = ""


PANELS = (
    Panel("Joint drift", "worst joint [m]", "joint_position_max"),
    Panel("Joint drift", "worst joint [rad]", "joint_angle_max"),
    Panel("Velocity drift", "worst joint [m/s]", "velocity_drift"),
    Panel("Energy error", "part of max. kinetic energy", "energy_error", relative=True),
    Panel("Momentum error", "change [kg m/s]", "momentum_error"),
    Panel("Angular momentum error", "change [kg m²/s]", "spin_error"),
    Panel("Distance to the reference", "rms over bodies [m]", "position_distance", doubt="position_doubt"),
    Panel("Overlap", "deepest contact [m]", "penetration"),
)
# Each residual by itself: they are of different units.
RESIDUAL_PANELS = (
    Panel("Natural map", "worst row [N s or N m s]", "residual_natural_map"),
    Panel("Last correction", "worst row [m/s or rad/s]", "residual_velocity"),
    Panel("Primal residual", "worst row [m/s or rad/s]", "residual_primal"),
    Panel("Dual residual", "worst row [N s or N m s]", "residual_dual"),
    Panel("Complementarity", "worst row [J]", "residual_complementarity"),
)
# What is left out first where there are more than fit.
SPARE = ("joint_angle_max", "momentum_error", "velocity_drift")
MOST_PANELS = 5
MOST_TICKS = 5  # of steps that are written at an axis

Summaries = dict[str, list[tuple[Run, dict[str, float]]]]  # method -> its runs and their numbers

# Quantity of `orders` -> title and label of its panel over steps and over costs.
ERRORS = {
    "distance": ("Distance to the reference", "rms over bodies and time [m]"),
    "energy": ("Energy error", "part of max. kinetic energy"),
    "drift": ("Joint drift", "worst joint [m]"),
}
COST_LABELS = {"distance": "distance [m]", "energy": "energy error", "drift": "joint drift [m]"}


def plot(study: Compared, path: str | os.PathLike[str], kind: str | None = None, theme: str = "light") -> None:
    """See Study.plot."""
    require_matplotlib()
    colors = theme_of(theme)
    name = os.fspath(path)
    if Path(path).suffix.lower() not in SUFFIXES:
        raise SceneError(f"{name}: a picture must end in {', '.join(SUFFIXES)}")
    if kind is None:
        kind = "convergence" if len(study.dts) > 1 else "time"
    if kind not in KINDS:
        raise SceneError(f"Study.plot: kind must be one of: {', '.join(KINDS)}; got {kind!r}")
    if kind == "convergence" and len(study.dts) < 2:
        raise SceneError("Study.plot: a convergence picture needs several dt; this study has one")
    if kind == "work" and not any(len(run.step_seconds) for run in study.all_runs()):
        raise SceneError("Study.plot: a work-precision diagram needs timed runs; this study was made with timing=False")
    import matplotlib

    draw = {"time": _over_time, "residuals": _residuals, "convergence": _over_step, "work": _over_work}[kind]
    with matplotlib.rc_context(plot_style(theme)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = draw(study, colors)
        with written_whole(path) as file:
            figure.savefig(file, format=Path(path).suffix.lower()[1:], dpi=220)


def _figure(count: int, columns: int, methods: int) -> Any:
    """A figure with this many panels, and room for a title above and a legend of the methods below them."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = max(1, -(-count // columns))
    figure = Figure(figsize=(WIDTH, PANEL_HEIGHT * rows + 0.3 + 0.16 * (methods // 3 + 1)), layout="constrained")
    FigureCanvasAgg(figure)
    engine: Any = figure.get_layout_engine()
    engine.set(w_pad=0.06, h_pad=0.06, wspace=0.03, hspace=0.05)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.set_axis_off()
    return figure, axes[:count]


def _frame(figure: Any, study: Compared, detail: str) -> None:
    """The title above the panels, and one legend of all below."""
    figure.suptitle(f"{study.scene.replace('_', ' ')}, {study.seconds:g} s{detail}")
    entries = {label: handle for ax in figure.axes for handle, label in zip(*ax.get_legend_handles_labels())}
    if entries:
        last = entries.pop(DOUBT_LABEL, None)
        entries |= {DOUBT_LABEL: last} if last is not None else {}
        figure.legend(
            entries.values(),
            entries.keys(),
            loc="outside lower center",
            ncols=min(3, len(entries)),
            handlelength=3.2,
            columnspacing=1.6,
        )


# ---- over time -------------------------------------------------------------------------------------------------------


def _over_time(study: Compared, theme: Theme) -> Any:
    runs = list(study.runs.values())
    lines = Lines(theme, study.runs)
    panels = _shown(study, runs, PANELS)
    for array in SPARE:
        if len(panels) > MOST_PANELS:
            panels = [panel for panel in panels if panel.array != array]
    timed = any(len(run.step_seconds) for run in runs)
    figure, axes = _figure(len(panels) + timed, 3, len(runs))
    for ax, panel in zip(axes, panels):
        _draw(ax, study, runs, panel, lines, theme)
    if timed:
        _draw_times(axes[-1], runs, lines, theme)
    _frame(figure, study, f" in steps of {step_text(study.dts[-1])} s")
    return figure


def _residuals(study: Compared, theme: Theme) -> Any:
    """The residuals over time that are known of any method, a panel for each."""
    runs = list(study.runs.values())
    lines = Lines(theme, study.runs)
    panels = _shown(study, runs, RESIDUAL_PANELS)
    figure, axes = _figure(len(panels), 2 if len(panels) in (2, 4) else 3, len(runs))
    for ax, panel in zip(axes, panels):
        _draw(ax, study, runs, panel, lines, theme)
    _frame(figure, study, f" in steps of {step_text(study.dts[-1])} s")
    return figure


def _values(run: Run, panel: Panel) -> np.ndarray:
    residual = panel.array.removeprefix("residual_")
    return run.residuals[residual] if residual != panel.array else getattr(run, panel.array)


def _shown(study: Compared, runs: list[Run], panels: tuple[Panel, ...]) -> list[Panel]:
    """Those that have something to show. Rounding is nothing, unless there is nothing else."""
    for least in (ROUNDING, 0.0):
        found = [
            panel
            for panel in panels
            if any(_largest(_values(run, panel)) > least for run in runs)
            and (panel.array != "penetration" or study.touching)
        ]
        if found:
            break
    return found


def _largest(values: np.ndarray) -> float:
    return np.abs(values[np.isfinite(values)]).max(initial=0.0)


def _envelope(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest absolute values of equal parts of the run, at their middles, without the first value, often 0."""
    time, values = time[1:], np.abs(values[1:])
    known = np.isfinite(values)
    time, values = time[known], values[known]
    parts = min(POINTS, len(time))
    if parts == 0:
        return time, values
    begin = np.linspace(0, len(time), parts, endpoint=False).astype(int)
    middle = (begin + np.append(begin[1:], len(time)) - 1) // 2
    return time[middle], np.maximum.reduceat(values, begin)


def _draw(ax: Any, study: Compared, runs: list[Run], panel: Panel, lines: Lines, theme: Theme) -> None:
    """One quantity of all methods, on a logarithmic axis."""
    lows, highs = [], []
    for run in runs:
        time, values = _envelope(run.time, _values(run, panel))
        if panel.relative:
            values = values / study.energy_scale
        values = np.clip(values, LOWEST, HIGHEST)
        ax.plot(time, values, label=run.name, **lines.line(run.name))
        if run.failure and len(time):
            ax.plot(time[-1:], values[-1:], marker="x", markersize=5, color=lines.color(run.name))
        if len(values):
            lows.append(np.quantile(values, 0.02))
            highs.append(values.max())
    ax.set_yscale("log")
    ax.set_title(panel.title)
    ax.set_ylabel(panel.label)
    ax.set_xlabel("time [s]")
    ax.set_xlim(0.0, study.seconds)
    high = max(highs, default=1.0)
    low = max(min(lows, default=LOWEST), LOWEST)
    if panel.doubt and study.reference is not None:
        doubt = getattr(study.reference, panel.doubt)
        time, values = _envelope(study.reference.time, doubt)
        low = min(low, max(float(np.median(values)), LOWEST))
        values = np.maximum(values, low / 10.0)
        ax.fill_between(time, low / 10.0, values, color=theme.shade, linewidth=0, label=DOUBT_LABEL, zorder=0)
    _log_limits(ax, low, high)


def _log_limits(ax: Any, low: float, high: float) -> None:
    """A little air, at least two decades, and ticks that do not crowd."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = np.log10(low), np.log10(high)
    spread = max(2.0 - (high - low), 0.0) / 2.0
    low, high = low - spread - 0.3, high + spread + 0.3
    ax.set_ylim(10.0**low, 10.0**high)
    ax.yaxis.set_major_locator(LogLocator(10.0, numticks=7))
    if high - low > 6.0:
        ax.yaxis.set_minor_locator(NullLocator())
    ax.grid(axis="x", visible=False)


def _draw_times(ax: Any, runs: list[Run], lines: Lines, theme: Theme) -> None:
    """Bars: the median time of a step, with its 5th to 95th percentile."""
    times = [1e6 * run.step_seconds if len(run.step_seconds) else np.full(1, np.nan) for run in runs]
    middles = np.array([np.median(values) for values in times])
    spans = np.array([np.percentile(values, (5, 95)) for values in times])
    place = np.arange(len(runs))
    errors = np.abs(np.stack([middles - spans[:, 0], spans[:, 1] - middles]))
    ax.barh(
        place,
        middles,
        color=[(lines.color(run.name), 0.45) for run in runs],
        edgecolor=[lines.color(run.name) for run in runs],
        linewidth=0.8,
        height=0.66,
        xerr=errors,
        error_kw={"elinewidth": 0.7, "ecolor": theme.text, "capsize": 1.5, "capthick": 0.7},
    )
    reach = np.nanmax(spans[:, 1], initial=0.0)
    for k, value in enumerate(middles):
        if np.isfinite(value):
            ax.text(max(value, spans[k, 1]) + 0.03 * reach, k, f"{value:.3g}", va="center", fontsize=7)
    ax.set_yticks([])
    ax.invert_yaxis()
    ax.set_xlim(0.0, 1.22 * reach)
    ax.grid(axis="y", visible=False)
    ax.set_title("Time a step")
    ax.set_xlabel("median, 5 to 95 % [µs]")


# ---- over the step ---------------------------------------------------------------------------------------------------


def _over_step(study: Compared, theme: Theme) -> Any:
    """Errors over dt, and the distance over what it costs."""
    found = _summaries(study)
    quantities = _told(study, found)
    error = next((quantity for quantity in ("distance", "energy", "drift") if quantity in quantities), None)
    timed = error is not None and any(len(run.step_seconds) for run in study.all_runs())
    count = len(quantities) + timed
    figure, axes = _figure(count, 2 if count in (2, 4) else 3, len(found))
    lines = Lines(theme, found)
    slopes = orders(study)
    for ax, quantity in zip(axes, quantities):
        _draw_errors(ax, study, found, quantity, slopes, lines, theme)
    if timed and error is not None:
        _draw_work(axes[-1], found, error, "What it costs", COST_LABELS[error], lines)
    _frame(figure, study, f" in steps of {step_text(study.dts[0])} to {step_text(study.dts[-1])} s")
    return figure


def _summaries(study: Compared) -> Summaries:
    """Method -> its runs that came to the end, and their numbers."""
    return {name: [(run, summary(study, run)) for run in runs if not run.failure] for name, runs in study.series.items()}


def _told(study: Compared, found: Summaries) -> list[str]:
    """The quantities of which any method has errors that tell something."""
    return [
        quantity
        for quantity in ERRORS
        if any(row[ORDERS[quantity]] > floor_of(study, quantity) for rows in found.values() for _, row in rows)
    ]


def _curve(ax: Any, lines: Lines, name: str, x: list[float], y: list[float]) -> None:
    ax.plot(x, y, marker=lines.marker(name), label=name, **lines.line(name))


def _draw_errors(ax: Any, study: Compared, found: Any, quantity: str, slopes: Any, lines: Lines, theme: Theme) -> None:
    """An error over dt, with the order beside the end of each curve."""
    floor = floor_of(study, quantity)
    ends, seen = [], []
    for name, rows in found.items():
        points = [(run.dt, row[ORDERS[quantity]]) for run, row in rows if LOWEST < row[ORDERS[quantity]] < HIGHEST]
        if not points:
            continue
        _curve(ax, lines, name, *map(list, zip(*points)))
        seen += [value for _, value in points]
        if np.isfinite(slopes[name][quantity]):
            ends.append((points[0][1], f"dt$^{{{slopes[name][quantity]:z.1f}}}$", lines.color(name)))
    title, label = ERRORS[quantity]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title(title)
    ax.set_ylabel(label)
    ax.set_xlabel("dt [s]")
    if min(seen) < floor:
        ax.axhspan(LOWEST * 1e-3, floor, color=theme.shade, linewidth=0, zorder=0, label=ROUNDING_LABEL)
    _log_limits(ax, min(seen), max(seen))
    ax.set_xlim(0.75 * min(study.dts), 1.9 * max(study.dts))
    if len(study.dts) <= MOST_TICKS:
        ax.set_xticks(study.dts, [step_text(dt) for dt in study.dts])
        ax.minorticks_off()
    _write_orders(ax, ends)


def _write_orders(ax: Any, ends: list[tuple[float, str, str]]) -> None:
    """Texts at the right of the panel, at the heights of the curves' ends, but not on top of each other."""
    low, high = np.log10(ax.get_ylim())
    height = -np.inf
    for value, text, color in sorted(ends):
        height = max((np.log10(value) - low) / (high - low), height + 0.065)
        ax.text(0.985, height, text, transform=ax.transAxes, ha="right", va="center", fontsize=7, color=color)


# ---- over what it costs ----------------------------------------------------------------------------------------------


def _over_work(study: Compared, theme: Theme) -> Any:
    """A work-precision diagram: errors over computing time, a point for each step."""
    found = _summaries(study)
    quantities = _told(study, found)
    figure, axes = _figure(len(quantities), max(1, len(quantities)), len(found))
    lines = Lines(theme, found)
    for ax, quantity in zip(axes, quantities):
        _draw_work(ax, found, quantity, *ERRORS[quantity], lines)
        floor = floor_of(study, quantity)
        low, high = ax.get_ylim()
        if low < floor:
            ax.axhspan(LOWEST * 1e-3, floor, color=theme.shade, linewidth=0, zorder=0, label=ROUNDING_LABEL)
            ax.set_ylim(low, high)
    steps = f"{step_text(study.dts[0])} to " if len(study.dts) > 1 else ""
    _frame(figure, study, f" in steps of {steps}{step_text(study.dts[-1])} s")
    return figure


def _draw_work(ax: Any, found: Summaries, quantity: str, title: str, label: str, lines: Lines) -> None:
    """Error over computing time, the median of a step times their number: the method further down and to the left is
    the better one."""
    from matplotlib.ticker import LogLocator, NullFormatter

    seen = []
    for name, rows in found.items():
        points = [
            (float(np.median(run.step_seconds)) * len(run), row[ORDERS[quantity]])
            for run, row in rows
            if len(run.step_seconds) and LOWEST < row[ORDERS[quantity]] < HIGHEST
        ]
        if points:
            _curve(ax, lines, name, *map(list, zip(*points)))
            seen += [value for _, value in points]
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title(title)
    ax.set_ylabel(label)
    ax.set_xlabel("computing time of the run [s]")
    if seen:
        _log_limits(ax, min(seen), max(seen))
    low, high = ax.get_xlim()
    ax.xaxis.set_major_locator(LogLocator(10.0, subs=(1.0, 2.0, 5.0) if high < 50.0 * low else (1.0,), numticks=7))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
