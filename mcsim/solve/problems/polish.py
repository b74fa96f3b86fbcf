"""Newton steps as the end of other methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mcsim.solve.problems._newton import Newton
    from mcsim.solve.problems.solution import Progress


def newton_steps(
    newton: Newton, progress: Progress, impulses: np.ndarray, velocities: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Up to `most` steps of `_newton.pyx` from these impulses. -> impulses, velocities, how many"""
    before = progress.iterations
    newton.begin(impulses, velocities)
    stuck = False
    while progress.going and not stuck and progress.iterations - before < most:
        impulses, velocities, stuck = newton.run(progress, 1 if progress.callback else most)
    return impulses, velocities, progress.iterations - before
