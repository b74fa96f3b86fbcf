"""What a World asks of the forces along its joints' coordinates."""

from typing import Any

import numpy as np

class JointEfforts:
    values: np.ndarray
    plan: Any  # ForcePlan
    make: Any  # functools.partial

    def take(self, values: np.ndarray, places: list[tuple[int, int]], free: np.ndarray) -> None: ...
