from typing import Any

import numpy as np

MODELS: tuple[str, ...]
CONVEX: dict[str, int]

class System:
    row_count: int
    contact_count: int
    block_count: int
    width: int
    factored: bool
    def __init__(
        self,
        begin: Any,
        column: Any,
        value: Any,
        response: Any,
        b: Any,
        compliance: Any,
        friction: Any,
        lower: Any,
        upper: Any,
        width: int,
    ) -> None: ...
    def with_b(self, b: np.ndarray) -> System: ...
    @property
    def local_blocks(self) -> np.ndarray: ...
    def rates(self, impulse: np.ndarray) -> tuple[np.ndarray, np.ndarray]: ...
    def residuals(self, model: int, impulse: np.ndarray, u: np.ndarray) -> np.ndarray: ...
    def project(self, model: int, impulse: np.ndarray) -> None: ...

def blocks(
    contacts: int, width: int, begin: np.ndarray, column: np.ndarray, value: np.ndarray, response: Any = ...
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]: ...
