"""The ring of past states: back and forth, to the bit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mcsim.world import World
from mcsim.world.capabilities import CHANGEABLE
from mcsim.world.snapshots import Snapshot

MOST_STATES = 900
MOST_BYTES = 256 * 2**20


@dataclass(frozen=True, eq=False)
class State:
    """All worlds at one moment: the worlds that there were, which are others once they were rebuilt, their snapshots, those
    of their keywords that may change, and why those stopped that could not go on."""

    worlds: tuple[World, ...]
    snapshots: tuple[Snapshot, ...]
    settings: tuple[dict[str, Any], ...]
    failures: tuple[str, ...]

    @classmethod
    def of(cls, worlds: Sequence[World], failures: Sequence[str]) -> State:
        """The present one."""
        snapshots = tuple(world.snapshot() for world in worlds)
        return cls(tuple(worlds), snapshots, tuple(_changeable(world) for world in worlds), tuple(failures))

    def restore(self, settings: bool = True) -> None:
        """Bring its worlds back to it. settings: and their keywords, too."""
        for world, snapshot, then in zip(self.worlds, self.snapshots, self.settings):
            if settings and then != (now := _changeable(world)):
                world.change_settings(**{name: then.get(name) for name in {*then, *now} if then.get(name) != now.get(name)})
            world.restore(snapshot)

    @property
    def time(self) -> float:
        """[s]"""
        return self.snapshots[0].time

    @property
    def nbytes(self) -> int:
        """Bytes that the snapshots take."""
        return sum(snapshot.nbytes for snapshot in self.snapshots)


def _changeable(world: World) -> dict[str, Any]:
    """The keywords that were given to it, of those that may change."""
    return {name: value for name, value in world.settings.given.items() if name in CHANGEABLE and value is not None}


class History:
    """The last states, at most `states` of them and `size` bytes; the oldest go. place: number of the one that was kept
    or gone to last."""

    def __init__(self, states: int = MOST_STATES, size: int = MOST_BYTES) -> None:
        self._most, self._size = states, size
        self._states: list[State] = []
        self._bytes = 0
        self.place = -1

    def __len__(self) -> int:
        return len(self._states)

    @property
    def times(self) -> list[float]:
        """Of all states [s]."""
        return [state.time for state in self._states]

    def keep(self, state: State) -> None:
        """A state that follows the present place: those after it are forgotten."""
        for gone in self._states[self.place + 1 :]:
            self._bytes -= gone.nbytes
        del self._states[self.place + 1 :]
        self._states.append(state)
        self._bytes += state.nbytes
        while len(self._states) > 1 and (len(self._states) > self._most or self._bytes > self._size):
            self._bytes -= self._states.pop(0).nbytes
        self.place = len(self._states) - 1

    def go_to(self, place: int) -> State:
        """The state at a place, the nearest one that there is, whose worlds are brought to it."""
        place = min(max(place, 0), len(self._states) - 1)
        self._states[place].restore()
        self.place = place
        return self._states[place]
