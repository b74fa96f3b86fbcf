"""The page's panel: buttons, switches and numbers, each of which asks for one command or changes what is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.live.commands import SETTINGS, THROWN
from mcsim.live.frames import Frame, Wanted
from mcsim.live.looks import COLORINGS, LINES
from mcsim.live.page import Page
from mcsim.live.session import Session

SPEEDS = {"1/100": 0.01, "1/30": 1 / 30, "1/10": 0.1, "1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "5": 5.0, "10": 10.0}
MICE = {"drag": "grab", "kick": "kick", "freeze": "freeze", "delete": "delete"}
SWITCHES = {
    "joints": "Joints and their axes",
    "contacts": "Contact forces",
    "inertia": "Boxes of mass and inertia",
    "boxes": "Boxes of the broad phase",
}
HINT = (
    "Drag a body with the left button; turn the camera beside it. A click tells about a body, or about a joint or contact "
    "that is marked."
)
BAR = 18  # letters of the longest bar
THROW_FROM = 0.35  # of the way from the camera to what it looks at


class Panel:
    """Built once on a viser.ViserServer; every value that a page sends goes through `ask`."""

    def __init__(self, server: Any, session: Session, page: Page, wanted: Wanted, ask: Callable[..., None]) -> None:
        self._gui, self._session, self._page, self._wanted, self._ask = server.gui, session, page, wanted, ask
        self._playing()
        self._showing()
        self._mouse()
        self._changing()

    # ---- parts -------------------------------------------------------------------------------------------------------

    def _button(self, label: str, name: str, icon: str | None = None, **values: Any) -> Any:
        button = self._gui.add_button(label, icon=icon)
        button.on_click(lambda event: self._ask(event.client, name, **values))
        return button

    def _playing(self) -> None:
        self.status = self._gui.add_markdown("")
        self.play = self._gui.add_button("Play", icon="player-play", color="green")
        self.play.on_click(lambda event: self._ask(event.client, "pause" if self._session.playing else "play"))
        row = self._gui.add_button_group("Step", ("◀ Back", "Step", "Forth ▶", "Reset"))
        names = {"◀ Back": "back", "Step": "step", "Forth ▶": "forth", "Reset": "reset"}
        row.on_click(lambda event: self._ask(event.client, names.get(str(row.value), "")))
        speed = self._gui.add_dropdown("Speed", tuple(SPEEDS), initial_value="1", hint="simulated seconds a second")
        speed.on_update(lambda event: self._ask(event.client, "speed", factor=SPEEDS.get(speed.value)))
        self.history = self._gui.add_slider("History", 0, 1, 1, 0, hint="states that can be gone back to, exactly")
        self.history.on_update(self._went)

    def _went(self, event: Any) -> None:
        """The slider of the history; where the session itself moves it nobody is behind the event."""
        if event.client is not None:
            self._ask(event.client, "go_to", place=self.history.value)

    def _showing(self) -> None:
        with self._gui.add_folder("Show"):
            coloring = self._gui.add_dropdown("Colours", COLORINGS, initial_value=COLORINGS[0])
            coloring.on_update(lambda event: self._told(event, self._wanted.color_by, coloring.value))
            for what in LINES:
                self._switch(what)
            if len(self._session.worlds) > 1:
                layout = self._gui.add_dropdown("Worlds", ("side by side", "ghosts"), initial_value="side by side")
                layout.on_update(lambda event: setattr(self._page, "ghosts", layout.value == "ghosts"))
            self.follows = self._gui.add_checkbox("Camera follows what was clicked", False)

    def _switch(self, what: str) -> None:
        box = self._gui.add_checkbox(SWITCHES[what], False)
        box.on_update(lambda event: self._told(event, self._wanted.switch, what, box.value))

    def _mouse(self) -> None:
        with self._gui.add_folder("Mouse"):
            self._gui.add_markdown(HINT)
            mouse = self._gui.add_button_group("On a body", tuple(MICE))
            mouse.on_click(lambda event: setattr(self._page, "mouse", MICE.get(str(mouse.value), "grab")))
            throw = self._gui.add_button_group("Throw in", THROWN, hint="from the camera to where it looks")
            self._throw_speed = self._gui.add_slider("Speed [m/s]", 0.0, 50.0, 0.5, 8.0)
            self._throw_size = self._gui.add_slider("Size [m]", 0.05, 3.0, 0.05, 0.4)
            throw.on_click(lambda event: self._throw(event.client, throw.value))
            self.selected = self._gui.add_markdown("")
        with self._gui.add_folder("Cost of a step", expand_by_default=False):
            cost = self._gui.add_checkbox("Measure the stages", False)
            cost.on_update(lambda event: self._wanted.measure(cost.value))
            self.costs = self._gui.add_markdown("")

    def _throw(self, client: Any, what: Any) -> None:
        """From near the camera, towards what it looks at."""
        if client is None:
            return
        eye, aim = np.asarray(client.camera.position, float), np.asarray(client.camera.look_at, float)
        way = aim - eye
        distance = float(np.linalg.norm(way)) or 1.0
        velocity = float(self._throw_speed.value) * way / distance
        place = eye + THROW_FROM * way - self._page.offsets[0]
        self._ask(client, "throw", what=what, position=place, velocity=velocity, size=self._throw_size.value)

    def _changing(self) -> None:
        worlds = self._session.worlds
        scene = worlds[0].scene
        with self._gui.add_folder("Change", expand_by_default=False):
            gravity = self._gui.add_vector3("Gravity", tuple(float(x) for x in scene.gravity), step=0.1)
            gravity.on_update(lambda event: event.client and self._ask(event.client, "gravity", value=gravity.value))
            friction = self._gui.add_slider("Friction of all", 0.0, 2.0, 0.05, 0.6)
            friction.on_update(lambda event: event.client and self._ask(event.client, "friction", value=friction.value))
            name = self._gui.add_dropdown("Keyword", SETTINGS, initial_value="iterations")
            value = self._gui.add_text("Value", "", hint="a number, a name, yes, no; nothing: the default")
            which = ("all worlds", *self._session.names)
            world = self._gui.add_dropdown("Of", which) if len(worlds) > 1 else None
            apply = self._gui.add_button("Change it")

            def change(event: Any) -> None:
                number = None if world is None or world.value == which[0] else which.index(world.value) - 1
                self._ask(event.client, "setting", name=name.value, value=plain(str(value.value)), world=number)

            apply.on_click(change)

    def _told(self, event: Any, change: Callable[..., None], *values: Any) -> None:
        """Change what is shown; what is wrong is said."""
        try:
            change(*values)
        except SceneError as error:
            self._session.say(str(error))

    # ---- what follows the session ------------------------------------------------------------------------------------

    def tell(self, frame: Frame) -> None:
        """About what was clicked, and what steps cost."""
        self.selected.content = frame.details
        self.costs.content = bars(self._session.names, frame.costs)

    def show(self, rate: float, frames: float) -> None:
        """The session as it is now. rate: simulated seconds a second; frames: sent a second."""
        session = self._session
        lines = [f"**{session.time:.3f} s** · {rate:.2f} × real time · {frames:.0f} frames a second"]
        if session.clock.dropped > 0.0:
            lines.append(f"dropped {session.clock.dropped:.2f} s: the steps take longer than they stand for")
        if len(session.worlds) > 1:
            lines += [
                f"{k + 1}: {name}{f' — stopped: {failure}' if failure else ''}"
                for k, (name, failure) in enumerate(zip(session.names, session.failures))
            ]
        self.status.content = "  \n".join(lines)
        self.play.label = "Pause" if session.playing else "Play"
        self.play.icon = "player-pause" if session.playing else "player-play"
        last = max(len(session.history) - 1, 1)
        if self.history.max != last:
            self.history.max = last
        place = min(max(session.history.place, 0), last)
        if self.history.value != place:
            self.history.value = place


def bars(names: list[str], costs: tuple[dict[str, float], ...]) -> str:
    """Markdown of the times of a step's stages, as bars, of each world."""
    lines = []
    largest = max((seconds for stages in costs for seconds in stages.values()), default=0.0) or 1.0
    for name, stages in zip(names, costs):
        lines += [f"**{name}**: {1000.0 * sum(stages.values()):.3f} ms", "", "stage|ms|", "---|---|---"]
        for stage, seconds in stages.items():
            bar = "█" * max(round(BAR * seconds / largest), 0) or "▏"
            lines.append(f"{stage}|{1000.0 * seconds:.3f}|{bar}")
        lines.append("")
    return "\n".join(lines)


def plain(text: str) -> Any:
    """A value as it is typed: a number, yes, no, a name; None where nothing is."""
    text = text.strip()
    words = {"": None, "none": None, "yes": True, "true": True, "no": False, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text
