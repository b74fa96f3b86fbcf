"""What mcsim/core/notes.py reads of the kernels' notes."""

from collections.abc import Iterable

import numpy as np

class Noted:
    amounts: np.ndarray
    steps: np.ndarray
    said: tuple[dict[int, str], dict[int, str]]

    def __init__(self, fails: Iterable[bool], room: int) -> None: ...
    def begin_call(self) -> None: ...
    def tell(self, kind: int, who: Iterable[int], text: str) -> None: ...
    def end_step(self) -> bool: ...
