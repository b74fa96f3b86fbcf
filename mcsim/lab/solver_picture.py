"""A study of solvers as a picture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.core.plot_style import DASHES, WIDTH as LINE_WIDTH, plot_style, theme_of
from mcsim.lab.picture import LOWEST, SUFFIXES, WIDTH
from mcsim.solve.problems import SOLVERS
from mcsim.solve.problems.residuals import RESIDUALS


def plot(study: Any, path: str | os.PathLike[str], theme: str = "light") -> None:
    """The largest of the four residuals of each solver's best impulses so far, against iterations and time. A solver has
    the same look in every study."""
    require_matplotlib()
    colors = theme_of(theme)
    numbers = {name: number for number, name in enumerate(SOLVERS)}
    import matplotlib
    from matplotlib.figure import Figure

    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise SceneError(f"{os.fspath(path)}: a picture must end in {', '.join(SUFFIXES)}")
    with matplotlib.rc_context(plot_style(theme)):
        figure = Figure(figsize=(WIDTH, 3.6), layout="constrained")
        by_iteration, by_time = figure.subplots(1, 2, sharey=True)
        for name, found in study.solutions.items():
            k = numbers[name]
            worst = np.max([found.residuals[kind] for kind in RESIDUALS], axis=0)
            worst = np.maximum(np.fmin.accumulate(worst), LOWEST)  # of the best so far: that is the answer
            look = {
                "color": colors.colors[k % len(colors.colors)],
                "dashes": DASHES[(k // len(colors.colors) + k) % len(DASHES)],
                "linewidth": LINE_WIDTH,
                "label": name if found.converged else f"{name} ({found.reason})",
            }
            by_iteration.plot(np.arange(1, len(worst) + 1), worst, **look)
            by_time.plot(1e3 * np.maximum(found.times, 1e-6), worst, **look)
        for axes, label in ((by_iteration, "iterations + 1"), (by_time, "time [ms]")):
            axes.set(xscale="log", yscale="log", xlabel=label)
            axes.axhline(study.tolerance, color=colors.rule, linewidth=0.7, zorder=0)
        by_iteration.set_ylabel("largest residual of the best so far [SI units]")
        others = study.problem.row_count - 3 * study.problem.contact_count
        figure.suptitle(
            f"{study.name}: {study.problem.contact_count} contacts, {others} other rows, model {study.model}, "
            f"tolerance {study.tolerance:g}"
        )
        figure.legend(*by_iteration.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        with written_whole(path) as file:
            figure.savefig(file, format=suffix[1:], dpi=200)
