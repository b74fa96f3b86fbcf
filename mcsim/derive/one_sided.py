"""The bias of contacts and limits as a function of their error, whose slope jumps where they touch
(docs/theory/stabilization.md).

    C > 0                       b = C / h                           a gap closes and no more
    C <= 0, "baumgarte"         b = max(beta min(C + slop, 0) / h, -push)
    C <= 0, "none"              b = 0

Errors are smooth functions of poses, so the derivative of a bias is the slope here times that of the error, also where
differences would reach across an edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcsim.derive.rows import NORMAL, Layout, Rows
from mcsim.state.fields import ROW_KINDS

ONE_SIDED = (ROW_KINDS.index("limit"), NORMAL)
CLOSE = 1e-9  # to an edge: at it [m, rad]


class OneSidedLaw(NamedTuple):
    """h: substep [s]; beta: 0 under "none"; slop [m] and its part of a contact's size."""

    h: float
    beta: float
    slop: float
    slop_part: float

    def slopes(self, layout: Layout, rows: Rows, change: Rows) -> np.ndarray:
        """(r, 2) the changes of all biases; of one-sided rows by the slope on that side of an edge on which they are."""
        own = np.isin(layout.kind, ONE_SIDED)
        slope = np.where(rows.error > 0.0, 1.0 / self.h, np.where(self._mends(layout, rows), self.beta / self.h, 0.0))
        return np.where(own[:, None], (slope * change.error)[:, None], change.bias)

    def _mends(self, layout: Layout, rows: Rows) -> np.ndarray:
        overlap = rows.error + self._slops(layout, rows)
        return (overlap < 0.0) & (self.beta * overlap / self.h > -rows.push)

    def _slops(self, layout: Layout, rows: Rows) -> np.ndarray:
        return np.where(layout.kind == NORMAL, self.slop + self.slop_part * rows.size, 0.0)

    def at_an_edge(self, layout: Layout, rows: Rows) -> np.ndarray:
        """(r,) bool: rows whose slope jumps just here."""
        overlap = rows.error + self._slops(layout, rows)
        near = np.abs(rows.error) < CLOSE
        if self.beta > 0.0:
            near |= (np.abs(overlap) < CLOSE) | (np.abs(overlap + rows.push * self.h / self.beta) < CLOSE)
        return np.isin(layout.kind, ONE_SIDED) & near
