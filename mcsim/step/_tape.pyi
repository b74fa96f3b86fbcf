from collections.abc import Sequence

import numpy as np

class Tape:
    done: int

    def __init__(
        self,
        targets: Sequence[np.ndarray],
        moved: Sequence[tuple[int, int]],
        values: np.ndarray,
        sources: Sequence[np.ndarray],
        out: Sequence[np.ndarray],
        every: int,
    ) -> None: ...
