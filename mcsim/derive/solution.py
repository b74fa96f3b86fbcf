"""The solution of a substep's rows to rounding: the engine's own sweeps find its active set, Newton's method the rest.

    v = u + M^-1 J' lambda,   w = J v + b,   R(lambda, w) = 0

so a step of Newton's method solves G d = -R, G = by_rate A + by_impulse, A = J M^-1 J' (active.py). Rows that say the
same thing twice leave impulses open that no body feels. Those of a box's four corners stay as they are; of others the
least change is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import least
from mcsim.derive.active import Block, Linear, Mode, blocks_of, confirmed, linearized, modes_of
from mcsim.derive.rows import NORMAL, Layout, Rows
from mcsim.solve._si import py_factor_blocks, py_sweep_si
from mcsim.solve.assemble import BLOCK_WIDE, second_rows

# state/_row.pxd, BlockKind.
BLOCK_BOUNDED, BLOCK_BILATERAL, BLOCK_TREE, BLOCK_BORDER, BLOCK_HELD = 0, 1, 4, 6, 7

TAMED = 64.0  # wide/_faces.pxi

FIRST_SWEEPS, MOST_SWEEPS = 64, 1 << 17
NEWTON_ROUNDS = 12
SETS = 8  # active sets that are tried after sweeps
ROUNDING = 1e-12  # of velocities, in parts of the largest: Newton's method has come to its end
SINGULAR = 1e-11  # pivots below this part of the largest are of rows that say the same thing twice


@dataclass
class Solution:
    """What solves the rows of one pass. layout, rows, blocks, modes: of its active set; J (r, 6 n); W (6 n, 6 n): M^-1;
    impulse (r,); v (6 n,): after it; w (r,) = J v + b; mass (r,): 1 / (J M^-1 J' + c); law: the equations; solver: of their
    matrix; p: which of the rows' biases and compliances."""

    layout: Layout
    rows: Rows
    blocks: list[Block]
    modes: list[Mode]
    J: np.ndarray
    W: np.ndarray
    impulse: np.ndarray
    v: np.ndarray
    w: np.ndarray
    mass: np.ndarray
    law: Linear
    solver: LeastSquares
    p: int


class LeastSquares:
    """The least solution of G d = -R, G = by_rate A + by_impulse, where G may be singular, of each part of it that hangs
    together."""

    def __init__(self, law: Linear, A: np.ndarray, mass: np.ndarray, unfelt: np.ndarray | float = 0.0) -> None:
        """mass (r,): by its root impulses and velocities of all rows become comparable. unfelt (r, r): of held_unfelt."""
        root = np.sqrt(np.where(mass > 0.0, mass, 1.0))
        self.scale, self.weight = root, np.where(law.by_rate.any(axis=1), root, 1.0 / root)
        G = self.weight[:, None] * (law.by_rate @ A + law.by_impulse + unfelt) * self.scale
        self.parts = [(own, G[np.ix_(own, own)]) for own in _parts(G)]

    def undetermined(self) -> np.ndarray:
        """Numbers of the rows of the parts that have more rows than their rank: their impulses are not told apart."""
        parts = [own for own, G in self.parts if len(least(G, np.zeros(len(own)), SINGULAR)[1]) < len(own)]
        return np.concatenate(parts) if parts else np.zeros(0, np.intp)

    def __call__(self, R: np.ndarray) -> np.ndarray:
        """d, of one R or of columns."""
        asked, found = -(R.T * self.weight).T, np.zeros_like(R)
        for own, G in self.parts:
            found[own] = least(G, asked[own], SINGULAR)[0]
        return (found.T * self.scale).T


def held_unfelt(layout: Layout, rows: Rows, blocks: list[Block], modes: list[Mode], A: np.ndarray) -> np.ndarray:
    """(r, r) what, added to G, keeps the impulses e of four points of a contact that no body feels as they are, as the
    engine does (wide/_faces.pxi): a part of the mean diagonal times e e' / (e . e). Of their rates these points ask for
    three alone."""
    out = np.zeros_like(A)
    closed = np.zeros(len(rows), bool)
    for block, mode in zip(blocks, modes):
        closed[block.rows] = block.kind == "scalar" and mode.state == "closed"
    for source in np.unique(layout.source[layout.kind == NORMAL]):
        i = np.flatnonzero((layout.kind == NORMAL) & (layout.source == source))
        if len(i) != 4 or not closed[i].all() or rows.compliance[i].any():
            continue
        e = _unfelt(rows.offset[i])
        if e @ e > 0.0:
            out[np.ix_(i, i)] = np.mean(np.diag(A)[i]) / TAMED / (e @ e) * np.outer(e, e)
    return out


def _unfelt(offsets: np.ndarray) -> np.ndarray:
    """(4,) of each point the area of the triangle of the three others, with signs in turn: no force, and no moment."""
    areas = []
    for k in range(4):
        a, b, c = np.delete(offsets, k, axis=0)
        areas.append((-1) ** k * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])))
    return np.array(areas)


def _parts(G: np.ndarray) -> list[np.ndarray]:
    """Numbers of the rows of each part of a matrix that hangs together."""
    from scipy.sparse import csr_array  # here, since importing mcsim should stay light
    from scipy.sparse.csgraph import connected_components

    if not len(G):
        return []
    count, label = connected_components(csr_array(G != 0.0), directed=True, connection="weak")
    return [np.flatnonzero(label == k) for k in range(count)]


def dense_jacobian(layout: Layout, J: np.ndarray, count: int) -> np.ndarray:
    """(r, 6 n) of the parts (r, 2, 2, 6)."""
    out = np.zeros((len(layout), count + 2, 6))
    for pair in range(2):
        for side in range(2):
            out[np.arange(len(layout)), layout.ends[:, pair, side]] += J[:, pair, side]
    return np.ascontiguousarray(out[:, :count]).reshape(len(layout), 6 * count)


def swept(records: np.ndarray, free: np.ndarray, sweeps: int, p: int) -> np.ndarray:
    """Sweeps of the engine over row records, whose impulses change. -> (6 n,) the velocities."""
    twist = np.zeros((1 + len(free) // 6, 6))
    twist[1:] = free.reshape(-1, 6)
    factors = np.zeros((len(records), 2, 6))
    if len(records):
        _sweep_joints(records)
        np.add.at(twist, records["body_a"] + 1, records["impulse"][:, None] * records["inv_mass_jacobian"][:, :6])
        np.add.at(twist, records["body_b"] + 1, records["impulse"][:, None] * records["inv_mass_jacobian"][:, 6:])
        py_factor_blocks(records, factors)
        py_sweep_si(records, factors, twist, p, sweeps)
    return twist[1:].reshape(-1)


def _sweep_joints(records: np.ndarray) -> None:
    """Rows that the step solves directly become such as sweeps take."""
    kind = records["block_kind"]
    kind[kind == BLOCK_TREE] = BLOCK_BILATERAL
    kind[(kind == BLOCK_BORDER) & (records["block"] == 1)] = BLOCK_BILATERAL
    kind[kind == BLOCK_BORDER] = BLOCK_WIDE
    kind[kind == BLOCK_HELD] = BLOCK_BOUNDED


class _Pass:
    """The rows of a pass, at velocities `free` without impulses. still [m/s]: slower slips are none; p: which of the biases
    and compliances."""

    def __init__(self, layout: Layout, rows: Rows, W: np.ndarray, free: np.ndarray, still: float, p: int) -> None:
        self.layout, self.rows, self.W, self.free, self.still, self.p = layout, rows, W, free, still, p
        self.blocks, self.J = blocks_of(layout), dense_jacobian(layout, rows.J, len(free) // 6)
        self.A = self.J @ W @ self.J.T
        diagonal = np.diag(self.A) + rows.compliance[:, p]
        self.mass = np.divide(1.0, diagonal, out=np.zeros(len(rows)), where=diagonal > 0.0)
        self.fastest = float(np.abs(free).max(initial=0.0)) + still

    def velocities(self, impulse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v (6 n,) and w (r,) with these impulses."""
        v = self.free + self.W @ (self.J.T @ impulse)
        return v, self.J @ v + self.rows.bias[:, self.p]

    def with_joints(self, start: np.ndarray) -> np.ndarray:
        """The impulses `start`, with those that hold the rows without bounds in place of theirs."""
        rows = self.rows
        own = np.isneginf(rows.lower) & np.isposinf(rows.upper) & (rows.friction == 0.0)
        i = np.flatnonzero(own)
        if not len(i):
            return start.copy()
        out = np.where(own, 0.0, start)
        law = Linear(np.zeros(len(i)), np.eye(len(i)), np.diag(rows.compliance[i, self.p]), np.zeros(len(i)))
        out[i] = LeastSquares(law, self.A[np.ix_(i, i)], self.mass[i])(self.velocities(out)[1][i])
        return out

    def search(self, impulse: np.ndarray) -> Solution | None:
        """By Newton's method from these impulses, on the active set that they ask for, then on the one that its solution
        asks for, and so on; None where that does not come to an end."""
        for _ in range(SETS):
            _, w = self.velocities(impulse)
            modes = modes_of(self.layout, self.rows, self.blocks, self.mass, w, impulse, self.p, self.still)
            impulse, ended = self._newton(modes, impulse)
            if not np.isfinite(impulse).all():
                return None
            v, w = self.velocities(impulse)
            if ended and self._confirmed(modes, w, impulse):
                law, solver = self._equations(modes, w, impulse)
                parts = self.layout, self.rows, self.blocks, modes, self.J, self.W
                return Solution(*parts, impulse, v, w, self.mass, law, solver, self.p)
        return None

    def _newton(self, modes: list[Mode], impulse: np.ndarray) -> tuple[np.ndarray, bool]:
        """Newton's method on an active set. -> impulses, and whether it has come to its end"""
        for _ in range(NEWTON_ROUNDS):
            law, solver = self._equations(modes, self.velocities(impulse)[1], impulse)
            change = solver(law.value)
            impulse = impulse + change
            moved = float(np.abs(self.W @ (self.J.T @ change)).max(initial=0.0))
            if not moved > ROUNDING * self.fastest or not np.isfinite(impulse).all():
                return impulse, True
        return impulse, False

    def _confirmed(self, modes: list[Mode], w: np.ndarray, impulse: np.ndarray) -> bool:
        return confirmed(self.layout, self.rows, self.blocks, modes, self.mass, w, impulse, self.p, self.still)

    def _equations(self, modes: list[Mode], w: np.ndarray, impulse: np.ndarray) -> tuple[Linear, LeastSquares]:
        law = linearized(self.layout, self.rows, self.blocks, modes, w, impulse, self.p)
        unfelt = held_unfelt(self.layout, self.rows, self.blocks, modes, self.A)
        return law, LeastSquares(law, self.A, self.mass, unfelt)


def solved(
    layout: Layout,
    rows: Rows,
    records: np.ndarray,
    W: np.ndarray,
    free: np.ndarray,
    start: np.ndarray,
    still: float,
    p: int = 0,
) -> Solution:
    """The rows of a pass at the velocities `free`, from the impulses `start` (r,): of what no body feels, that stays.
    records: of the same rows, which are worked in. SimulationError where no active set is found that its own solution
    confirms."""
    rows_pass = _Pass(layout, rows, W, free, still, p)
    second, sweeps = second_rows(records), 0
    impulse = rows_pass.with_joints(start)
    records["share"] = 0.0
    while sweeps <= MOST_SWEEPS:
        if sweeps > 0:
            records["impulse"] = impulse[np.cumsum(~second) - 1]
            swept(records, free, sweeps, p)
            impulse = records["impulse"][~second].copy()
        found = rows_pass.search(impulse)
        if found is not None:
            return found
        sweeps = max(FIRST_SWEEPS, 4 * sweeps)
    raise SimulationError(
        "step_derivatives: no set of rows that hold, slide and are open is found that solves the step: some are at the "
        "edge of it, where the step has no derivative; another state, a little away, has one"
    )
