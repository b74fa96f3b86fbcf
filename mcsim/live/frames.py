"""A frame: all that a page draws of a session at one moment, copied, so that the worlds can go on meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from mcsim.live.details import NEAR, Selection, nearest, told
from mcsim.live.in_step import InStep
from mcsim.live.looks import COLORINGS, LINES, Looks, Marks
from mcsim.live.probes import Probes, costs
from mcsim.scene import Scene
from mcsim.scene.checks import choose, flag

TOLD_EVERY = 0.25  # [s] between two looks at what is selected


@dataclass
class Wanted:
    """What a page wants to see: coloring, one of COLORINGS; lines, those of LINES that are on; plots: whether numbers are
    sampled; costs: whether times of stages are; selected: what is told about. changes: a number that grows whenever
    anything else is wanted."""

    coloring: str = "body"
    lines: set[str] = field(default_factory=set)
    plots: bool = False
    costs: bool = False
    selected: Selection | None = None
    changes: int = 0

    def switch(self, what: str, on: bool) -> None:
        """Lines on or off."""
        choose(what, LINES, "switch")
        (self.lines.add if flag(on, what) else self.lines.discard)(what)
        self.changes += 1

    def measure(self, on: bool) -> None:
        """Times of stages or not."""
        self.costs = bool(on)
        self.changes += 1

    def select(self, chosen: Selection | None) -> None:
        """Tell about something else."""
        self.selected = chosen
        self.changes += 1

    def color_by(self, how: str) -> None:
        """Another coloring."""
        self.coloring = choose(how, COLORINGS, "coloring")
        self.changes += 1


@dataclass(frozen=True, eq=False)
class WorldFrame:
    """Of one world: positions (s, 3), orientations (s, 4) of its shapes, bodies (s,) they belong to; colors (n, 3) of
    bodies; lines: by name of LINE_COLORS; marks: by "joint" and "contact", of those whose lines are on; centers (n, 3) of
    mass; size [m]: of a usual body."""

    scene: Scene
    positions: np.ndarray
    orientations: np.ndarray
    bodies: np.ndarray
    colors: np.ndarray
    lines: dict[str, np.ndarray]
    marks: dict[str, Marks]
    centers: np.ndarray
    size: float

    def picked(self, number: int, body: str, origin: np.ndarray, direction: np.ndarray) -> Selection:
        """What a click on a body selects, in this world of a number: of the joints and contacts that are shown the one that
        is near to the ray, or else the body."""
        found, best = Selection(number, "body", body), NEAR * self.size
        for kind, marks in self.marks.items():
            k, distance = nearest(marks.positions, origin, direction)
            if distance < best:
                best, found = distance, Selection(number, kind, *marks.names[k])
        return found


@dataclass(frozen=True, eq=False)
class Frame:
    """worlds: WorldFrame of each; version: of the session, others have other shapes; time [s]. details: Markdown about what
    is selected; costs: for each world the seconds of a step's stages."""

    version: int
    time: float
    worlds: tuple[WorldFrame, ...]
    details: str
    costs: tuple[dict[str, float], ...]


class Camera:
    """Takes frames of a session, in the thread that owns it."""

    def __init__(self, session: InStep, wanted: Wanted) -> None:
        self._session, self._wanted = session, wanted
        self.probes = Probes()
        self._details, self._told = "", -1.0
        self._looks: list[Looks] = []
        self._version = -1
        self._taken = (-1, -1)

    def take_new(self) -> Frame | None:
        """The session as it is now; None where nothing is another than in the last frame."""
        now = self._session.changes, self._wanted.changes
        if now == self._taken:
            return None
        self._taken = now
        return self.take()

    def probe(self) -> None:
        """A sample for the plots, if they are wanted."""
        if self._wanted.plots:
            self.probes.take(self._session)

    def _tell(self) -> str:
        """About what is selected, a few times a second: rows are made anew for it."""
        chosen, now = self._wanted.selected, time.perf_counter()
        if chosen is None or chosen.world >= len(self._session.worlds):
            return ""
        if now - self._told >= TOLD_EVERY or not self._session.playing:
            self._details, self._told = told(self._session.worlds[chosen.world], chosen), now
        return self._details

    def take(self) -> Frame:
        """The session as it is now."""
        session = self._session
        if any(looks.scene is not looks.world.scene for looks in self._looks):
            session.version += 1  # a function of the user's has changed bodies or joints
        if session.version != self._version:
            self._looks, self._version = [Looks(world) for world in session.worlds], session.version
        frames = []
        for looks in self._looks:
            world = looks.world
            lines: dict[str, np.ndarray] = {}
            looks.marks = {}
            for what in sorted(self._wanted.lines.copy()):
                lines |= looks.lines(what)
            if session.hand is not None:
                lines["hand"] = np.array([[session.hand.point(world), session.hand.target]])
            frames.append(
                WorldFrame(
                    looks.scene,
                    *world.shape_poses(),
                    world.shape_bodies,
                    looks.coloring(self._wanted.coloring),
                    lines,
                    looks.marks,
                    world.positions.copy(),
                    looks.size,
                )
            )
        spent = tuple(costs(world) for world in session.worlds) if self._wanted.costs else ()
        return Frame(self._version, session.time, tuple(frames), self._tell(), spent)
