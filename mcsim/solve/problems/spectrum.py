"""The eigenvalues of a problem's matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mcsim.core.errors import SceneError

if TYPE_CHECKING:
    from mcsim.solve.problems.protocols import AProblem

MOST_ROWS = 6000  # of a dense decomposition: some seconds, some hundred megabytes
TOLERANCE = 1e-10  # part of the largest eigenvalue below which one counts as 0


@dataclass(frozen=True, eq=False)
class Spectrum:
    """eigenvalues (n,), ascending, of A + compliance; rank: how many are not 0; condition: the largest over the least
    of these (1 where there is none)."""

    eigenvalues: np.ndarray
    rank: int
    condition: float

    def __repr__(self) -> str:
        return f"<Spectrum: rank {self.rank} of {len(self.eigenvalues)}, condition {self.condition:.3g}>"


def spectrum(problem: AProblem) -> Spectrum:
    if problem.row_count > MOST_ROWS:
        raise SceneError(
            f"Problem.spectrum: {problem.row_count} rows are more than a dense decomposition should have, "
            f"{MOST_ROWS}; scipy.sparse.linalg.eigsh(problem.A) gives some eigenvalues of large ones"
        )
    matrix = problem.A_with_compliance.toarray()
    if not np.abs(matrix).max(initial=0.0) < np.inf:
        raise SceneError("Problem.spectrum: A leaves the range of numbers; choose other units")
    values = np.linalg.eigvalsh(matrix)
    largest = values[-1] if len(values) else 0.0
    real = values[values > TOLERANCE * largest]
    return Spectrum(values, len(real), float(real[-1] / real[0]) if len(real) else 1.0)
