"""A study of solvers as a picture."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.lab.picture import COLORS, DASHES, LOWEST, STYLE, SUFFIXES, WIDTH
from mcsim.solve.problems.residuals import RESIDUALS


def plot(study: Any, path: str | os.PathLike[str]) -> None:
    """The largest of the four residuals of each solver's best impulses so far, against iterations and time."""
    require_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise SceneError(f"{os.fspath(path)}: a picture must end in {', '.join(SUFFIXES)}")
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, 3.4), layout="constrained")
        by_iteration, by_time = figure.subplots(1, 2, sharey=True)
        for k, (name, found) in enumerate(study.solutions.items()):
            worst = np.max([found.residuals[kind] for kind in RESIDUALS], axis=0)
            worst = np.maximum(np.fmin.accumulate(worst), LOWEST)  # of the best so far: that is the answer
            look = {
                "color": COLORS[k % len(COLORS)],
                "dashes": DASHES[(k // len(COLORS) + k) % len(DASHES)],
                "linewidth": 1.1,
                "label": name if found.converged else f"{name} ({found.reason})",
            }
            by_iteration.plot(np.arange(1, len(worst) + 1), worst, **look)
            by_time.plot(1e3 * np.maximum(found.times, 1e-6), worst, **look)
        for axes, label in ((by_iteration, "iterations + 1"), (by_time, "time, ms")):
            axes.set(xscale="log", yscale="log", xlabel=label)
            axes.axhline(study.tolerance, color="0.6", linewidth=0.7, zorder=0)
        by_iteration.set_ylabel("largest residual of the best so far, SI units")
        figure.suptitle(
            f"{study.name}: {study.problem.contact_count} contacts, "
            f"{study.problem.row_count - 3 * study.problem.contact_count} other rows, model {study.model}"
        )
        figure.legend(*by_iteration.get_legend_handles_labels(), loc="outside right upper", fontsize=7, frameon=False)
        with written_whole(path) as file:
            figure.savefig(file, format=suffix[1:], dpi=200)
