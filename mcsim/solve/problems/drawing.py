"""A problem as a picture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.plot_style import VERMILLION, plot_style, theme_of
from mcsim.solve.problems.spectrum import MOST_ROWS, spectrum

if TYPE_CHECKING:
    from mcsim.solve.problems.protocols import AProblem


def draw(problem: AProblem, path: str | os.PathLike[str] | None, theme: str) -> Any:
    """The pattern of A; its eigenvalues; b by kind of row. -> figure"""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    theme_of(theme)
    if problem.row_count == 0:
        raise SceneError("Problem.draw: there are no rows to draw")
    with matplotlib.rc_context(plot_style(theme)):
        figure = Figure(figsize=(9.0, 3.3), layout="constrained")
        pattern, values, rates = figure.subplots(1, 3)
        _draw_pattern(pattern, problem, theme)
        _draw_spectrum(values, problem, theme)
        _draw_rates(rates, problem, theme)
        if path is not None:
            figure.savefig(path, dpi=200)
    return figure


def _draw_pattern(axes: Any, problem: AProblem, theme: str) -> None:
    """Where A has entries; the line is between contacts and other rows."""
    colors, matrix, count = theme_of(theme), problem.A.tocoo(), problem.row_count
    axes.scatter(matrix.col, matrix.row, s=max(0.05, 2.2e4 / count**2), marker="s", linewidths=0, color=colors.text)
    axes.axhline(3 * problem.contact_count - 0.5, color=colors.colors[VERMILLION], linewidth=0.8)
    axes.grid(visible=False)
    axes.set(
        title=f"A: {count} rows, {matrix.nnz} entries",
        xlabel="row",
        ylabel="row",
        aspect="equal",
        xlim=(-0.5, count - 0.5),
        ylim=(count - 0.5, -0.5),
    )


def _draw_spectrum(axes: Any, problem: AProblem, theme: str) -> None:
    """The eigenvalues of A; the line is at its rank."""
    if problem.row_count > MOST_ROWS:
        axes.set_axis_off()
        axes.text(0.5, 0.5, f"more than {MOST_ROWS} rows:\nno eigenvalues", ha="center", va="center")
        return
    found = spectrum(problem)
    floor = 1e-18 * max(found.eigenvalues[-1], 1e-300)
    axes.semilogy(np.maximum(found.eigenvalues[::-1], floor), ".")
    axes.axvline(found.rank - 0.5, color=theme_of(theme).colors[VERMILLION], linewidth=0.8)
    axes.set(title=f"Eigenvalues: rank {found.rank}, condition {found.condition:.2e}", xlabel="number", ylabel="[1/kg]")


def _draw_rates(axes: Any, problem: AProblem, theme: str) -> None:
    """The rows' velocities without impulses."""
    contacts = problem.b[: 3 * problem.contact_count].reshape(-1, 3)
    axes.plot(contacts[:, 0], "o", label="normal")
    axes.plot(np.hypot(contacts[:, 1], contacts[:, 2]), "^", label="tangential")
    if problem.row_count > contacts.size:
        axes.plot(problem.b[contacts.size :], "s", label="other rows")
    axes.axhline(0.0, color=theme_of(theme).rule, linewidth=0.8, zorder=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend()
    axes.set(title="b: velocities without impulses", xlabel="contact, or row", ylabel="[m/s, rad/s]")
