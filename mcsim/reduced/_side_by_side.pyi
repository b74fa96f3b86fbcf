"""What rollouts ask of trees side by side."""

import numpy as np

class SideBySide:
    lanes: int

    def fly(
        self,
        first: int,
        end: int,
        steps: int,
        every: int,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        faces: np.ndarray,
        out: dict[str, np.ndarray],
        lost: np.ndarray,
        stopped: np.ndarray,
    ) -> None: ...
