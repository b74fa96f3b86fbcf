"""How many steps are due: real time, slower or faster, with catching up that is bounded."""

import math

CATCH_UP = 0.1  # [s] of the wall's time that a tick may catch up with
SLOWEST, FASTEST = 0.01, 10.0  # simulated seconds a second


class Clock:
    """Simulated seconds that are owed to the wall's. dropped [s]: those that nobody will simulate any more, because the
    steps took longer than the time that they stand for."""

    def __init__(self) -> None:
        self.dropped = 0.0
        self._owed = 0.0
        self._last: float | None = None

    def restart(self) -> None:
        """Nothing is owed, and time counts from the next call of `due`."""
        self._owed, self._last = 0.0, None

    def due(self, now: float, dt: float, speed: float = 1.0) -> int:
        """Steps of dt [s] that are due at the wall's time `now` [s], at `speed` simulated seconds a second: no more than
        catch up with CATCH_UP, the rest is dropped."""
        elapsed = 0.0 if self._last is None else max(0.0, now - self._last)
        self._last = now
        self._owed += elapsed * speed
        steps = math.floor(self._owed / dt + 1e-9)
        most = max(1, math.ceil(CATCH_UP * speed / dt))
        self._owed -= steps * dt
        if steps > most:
            self.miss((steps - most) * dt)
            steps = most
        return steps

    def miss(self, seconds: float) -> None:
        """So much [s] that was due is not simulated."""
        self.dropped += seconds
