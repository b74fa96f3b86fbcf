"""A problem as a picture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.solve.problems.spectrum import MOST_ROWS, spectrum

if TYPE_CHECKING:
    from mcsim.solve.problems.protocols import AProblem


def draw(problem: AProblem, path: str | os.PathLike[str] | None) -> Any:
    """The pattern of A; its eigenvalues; b by kind of row. -> figure"""
    require_matplotlib()
    from matplotlib.figure import Figure

    if problem.row_count == 0:
        raise SceneError("Problem.draw: there are no rows to draw")
    figure = Figure(figsize=(12.0, 4.2), layout="constrained")
    pattern, values, rates = figure.subplots(1, 3)
    matrix = problem.A.tocoo()
    pattern.scatter(matrix.col, matrix.row, s=max(0.05, 4e4 / problem.row_count**2), marker="s", linewidths=0, color="0.2")
    pattern.axhline(3 * problem.contact_count - 0.5, color="tab:red", linewidth=0.8)
    pattern.set(
        title=f"A: {problem.row_count} rows, {matrix.nnz} entries",
        xlabel="row",
        ylabel="row",
        aspect="equal",
        xlim=(-0.5, problem.row_count - 0.5),
        ylim=(problem.row_count - 0.5, -0.5),
    )
    if problem.row_count <= MOST_ROWS:
        found = spectrum(problem)
        floor = 1e-18 * max(found.eigenvalues[-1], 1e-300)
        values.semilogy(np.maximum(found.eigenvalues[::-1], floor), ".", markersize=3)
        values.axvline(found.rank - 0.5, color="tab:red", linewidth=0.8)
        values.set(title=f"eigenvalues: rank {found.rank}, condition {found.condition:.2e}", xlabel="number", ylabel="1/kg")
    else:
        values.set_axis_off()
        values.text(0.5, 0.5, f"more than {MOST_ROWS} rows:\nno eigenvalues", ha="center", va="center")
    contacts = problem.b[: 3 * problem.contact_count].reshape(-1, 3)
    rates.plot(contacts[:, 0], ".", markersize=3, label="normal")
    rates.plot(np.hypot(contacts[:, 1], contacts[:, 2]), ".", markersize=3, label="tangential")
    if problem.row_count > contacts.size:
        rates.plot(problem.b[contacts.size :], ".", markersize=3, label="other rows")
    rates.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
    rates.legend()
    rates.set(title="b: velocities without impulses", xlabel="contact, or row", ylabel="m/s, rad/s")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
