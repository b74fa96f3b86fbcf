"""What the modules that a Problem is made of ask of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from mcsim.solve.problems._system import System

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class AProblem(Protocol):
    """A Problem (problem.py)."""

    b: np.ndarray
    friction: np.ndarray
    bounds: np.ndarray
    compliance: np.ndarray
    system: System

    @property
    def row_count(self) -> int: ...
    @property
    def contact_count(self) -> int: ...
    @property
    def A(self) -> csr_array: ...
    @property
    def A_with_compliance(self) -> csr_array: ...
