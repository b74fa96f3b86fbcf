"""A frame: all that a page draws of a session at one moment, copied, so that the worlds can go on meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mcsim.live.in_step import InStep
from mcsim.live.looks import COLORINGS, LINES, Looks
from mcsim.scene import Scene
from mcsim.scene.checks import choose, flag


@dataclass
class Wanted:
    """What a page wants to see: coloring, one of COLORINGS; lines, those of LINES that are on. changes: a number that grows
    whenever anything else is wanted."""

    coloring: str = "body"
    lines: set[str] = field(default_factory=set)
    changes: int = 0

    def switch(self, what: str, on: bool) -> None:
        """Lines on or off."""
        choose(what, LINES, "switch")
        (self.lines.add if flag(on, what) else self.lines.discard)(what)
        self.changes += 1

    def color_by(self, how: str) -> None:
        """Another coloring."""
        self.coloring = choose(how, COLORINGS, "coloring")
        self.changes += 1


@dataclass(frozen=True, eq=False)
class WorldFrame:
    """Of one world: positions (s, 3), orientations (s, 4) of its shapes, bodies (s,) they belong to; colors (n, 3) of
    bodies; lines: by name of LINE_COLORS; centers (n, 3) of mass."""

    scene: Scene
    positions: np.ndarray
    orientations: np.ndarray
    bodies: np.ndarray
    colors: np.ndarray
    lines: dict[str, np.ndarray]
    centers: np.ndarray


@dataclass(frozen=True, eq=False)
class Frame:
    """worlds: WorldFrame of each; version: of the session, others have other shapes; time [s]."""

    version: int
    time: float
    worlds: tuple[WorldFrame, ...]


class Camera:
    """Takes frames of a session, in the thread that owns it."""

    def __init__(self, session: InStep, wanted: Wanted) -> None:
        self._session, self._wanted = session, wanted
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

    def take(self) -> Frame:
        """The session as it is now."""
        session = self._session
        if session.version != self._version:
            self._looks, self._version = [Looks(world) for world in session.worlds], session.version
        frames = []
        for looks in self._looks:
            world = looks.world
            lines: dict[str, np.ndarray] = {}
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
                    world.positions.copy(),
                )
            )
        return Frame(self._version, session.time, tuple(frames))
