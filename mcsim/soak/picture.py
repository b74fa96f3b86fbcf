"""The curves of a soak as one picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcsim.core.extras import require_matplotlib
from mcsim.core.files import written_whole
from mcsim.core.plot_style import THEMES, plot_style
from mcsim.soak.result import MOST_GROWTH, Soaked

SIZE = (7.2, 5.6)  # inches


def save_picture(path: Path, found: list[Soaked], dpi: int = 110) -> None:
    """Memory and objects since the end of the warm-up, energy, and the time of a step, over simulated hours; a curve a
    scene."""
    require_matplotlib()
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(plot_style("light")):
        figure = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        panels: Any = figure.subplots(2, 2, sharex=True).ravel()
        titles = ("Memory since the warm-up [MB]", "Objects since the warm-up", "Highest energy [J]", "Mean step [us]")
        for panel, title in zip(panels, titles):
            panel.set_title(title)
        for one, color in zip(found, THEMES["light"].colors):
            if not len(one.rows):
                continue
            hours, warm = one.column("simulated [h]"), one.warm
            look: dict[str, Any] = {"color": color, "label": one.name, "linewidth": 1.0}
            for panel, name in zip(panels, ("memory [MB]", "objects")):
                values = one.column(name)
                panel.plot(hours[warm], values[warm] - values[warm][0], **look)
            panels[2].plot(hours, one.column("highest energy [J]"), **look)
            panels[3].plot(hours, one.column("mean step [us]"), **look)
        panels[0].axhline(MOST_GROWTH, color=THEMES["light"].rule, linestyle="--", linewidth=0.8)
        panels[3].set_yscale("log")
        for panel in panels[2:]:
            panel.set_xlabel("simulated time [h]")
        panels[2].legend(fontsize="small", ncols=2)
        with written_whole(path, "picture") as file:
            figure.savefig(file, format="png", dpi=dpi)
