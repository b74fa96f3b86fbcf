"""Live plots on the page, and what they show as a file."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from mcsim.core.extras import require_matplotlib
from mcsim.core.plot_style import Lines, plot_style, theme_of
from mcsim.live.frames import Wanted
from mcsim.live.probes import QUANTITIES, Probes
from mcsim.live.session import Session

FIRST = ("joint_position_max", "energy_error")  # what the two plots show at first
LABELS = {label: name for name, (label, _) in QUANTITIES.items()}
HEIGHT = 190  # [pixels] of a plot
WIDTH = 1.8  # of a line


class Plots:
    """Two plots over time, of all worlds, in a folder of a viser.ViserServer's panel; closed, they cost nothing."""

    def __init__(self, server: Any, session: Session, probes: Probes, wanted: Wanted) -> None:
        self._gui, self._session, self._probes, self._wanted = server.gui, session, probes, wanted
        with self._gui.add_folder("Plots", expand_by_default=False):
            on = self._gui.add_checkbox("Plot", False)
            on.on_update(lambda event: setattr(wanted, "plots", bool(on.value)))
            self._logarithmic = self._gui.add_checkbox("Logarithmic", True)
            self._plots = [self._plot(name) for name in FIRST]
            files = self._gui.add_button_group("Save", ("CSV", "picture"))
            files.on_click(lambda event: self._save(event.client, files.value))
            forget = self._gui.add_button("Begin anew")
            forget.on_click(lambda event: probes.forget())

    def _plot(self, name: str) -> tuple[Any, Any]:
        """-> what chooses the quantity, and the plot."""
        choice = self._gui.add_dropdown("Quantity", tuple(LABELS), initial_value=QUANTITIES[name][0])
        empty = tuple(np.zeros(1) for _ in range(1 + len(self._session.names)))
        scales = {"x": {"time": False}}
        return choice, self._gui.add_uplot(
            empty, self._series(), scales=scales, legend={"show": True}, height=HEIGHT, title=""
        )

    def _series(self) -> tuple[Any, ...]:
        looks = Lines(theme_of("light"), self._session.names)
        lines = [{"label": name, "stroke": looks.color(name), "width": WIDTH, "show": True} for name in self._session.names]
        return ({"label": "t [s]"}, *lines)

    def show(self) -> None:
        """The samples as they are now."""
        if not self._wanted.plots or len(self._probes) < 2:
            return
        for choice, plot in self._plots:
            name, logarithmic = LABELS.get(choice.value, FIRST[0]), bool(self._logarithmic.value)
            times, values = self._probes.series(name, logarithmic)
            if len(values) != len(self._session.names):
                continue
            label, unit = QUANTITIES[name]
            title = f"log₁₀ of {label} [{unit}]" if logarithmic else f"{label} [{unit}]"
            if plot.title != title:
                plot.title = title
            # uPlot has no room on a logarithmic axis for numbers such as 1e-9: decades are plotted.
            plot.data = (times, *(np.log10(array) if logarithmic else array for array in values))

    def _save(self, client: Any, what: Any) -> None:
        """The samples to the page that asked."""
        if client is None or len(self._probes) < 2:
            return
        if what == "CSV":
            client.send_file_download("mcsim.csv", self._probes.table(self._session.names).encode(), save_immediately=True)
            return
        try:
            client.send_file_download("mcsim.png", self.picture(), save_immediately=True)
        except ImportError as error:
            client.add_notification("mcsim", str(error), color="red")

    def picture(self) -> bytes:
        """Both plots as PNG, by Matplotlib."""
        require_matplotlib()
        import matplotlib
        from matplotlib.figure import Figure

        names = self._session.names
        lines = Lines(theme_of("light"), names)
        out = io.BytesIO()
        with matplotlib.rc_context(plot_style()):
            figure = Figure(figsize=(7.0, 5.0), layout="constrained")
            for axes, (choice, _) in zip(figure.subplots(len(self._plots), 1, sharex=True), self._plots):
                name = LABELS.get(choice.value, FIRST[0])
                label, unit = QUANTITIES[name]
                times, values = self._probes.series(name, bool(self._logarithmic.value))
                for world, numbers in zip(names, values):
                    axes.plot(times, numbers, label=world, **lines.line(world))
                if self._logarithmic.value:
                    axes.set_yscale("log")
                axes.set_ylabel(f"{label} [{unit}]")
            axes.set_xlabel("time [s]")
            figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=4)
            figure.savefig(out, format="png", dpi=150)
        return out.getvalue()
