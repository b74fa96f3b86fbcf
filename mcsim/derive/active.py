"""The active set of a substep's rows: which hold, which slide, which are open, and the equations that they then obey.

With w = J v + b, r rows obey R(lambda, w) = 0, of which each block has its own:

    closed   w + c lambda = 0                        joints, springs, contacts and limits that press, drives within bounds
    bound    lambda - bound = 0                      drives and friction of joints that give what they can
    open     lambda = 0                              contacts and limits that do not press
    stick    w = 0                                   friction within its cone or limit surface
    slide    lambda + mu N w / |w| = 0               friction on it (friction.py)

Where the set does not change, these are smooth, and their solution is differentiated by the implicit function theorem
(F. de Avila Belbute-Peres et al., "End-to-end differentiable physics for learning and control", 2018; K. Werling et al.,
"Fast and feature-complete differentiable physics for articulated rigid bodies with contact", 2021).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcsim.derive import friction
from mcsim.derive.rows import Layout, Rows
from mcsim.state.fields import ROW_KINDS

# state/_row.pxd, BlockKind: those whose impulses follow normals.
BLOCK_CONE, BLOCK_FRICTION = 2, 3

FRICTION, TWIST, ROLLING = (ROW_KINDS.index(name) for name in ("friction", "twist", "rolling"))

STATES = ("closed", "open", "bound", "stick", "slide", "pivot", "no spin", "idle")


class Block(NamedTuple):
    """Rows that have one law together. rows: their numbers; normals: those of the rows that they hang on."""

    kind: str  # "scalar", "cone", "surface" or "friction"
    rows: np.ndarray
    normals: np.ndarray


class Mode(NamedTuple):
    """What a block does: one of STATES, and which bound (-1, 1), or which point it turns about."""

    state: str
    which: int = 0


class Linear(NamedTuple):
    """R of all rows, dR = by_rate dw + by_impulse dlambda + …: value (r,), by_rate, by_impulse (r, r), by_friction (r,): by
    a factor on the coefficient of each row."""

    value: np.ndarray
    by_rate: np.ndarray
    by_impulse: np.ndarray
    by_friction: np.ndarray


def blocks_of(layout: Layout) -> list[Block]:
    """In the order of the rows."""
    blocks, i = [], 0
    none = np.zeros(0, np.intp)
    while i < len(layout):
        kind, size = layout.block_kind[i], max(int(layout.block[i]), 1)
        rows = np.arange(i, i + size)
        if kind == BLOCK_CONE:
            blocks.append(Block("surface" if size == 3 else "cone", rows, layout.normals(i)))
        elif kind == BLOCK_FRICTION:
            blocks.append(Block("friction", rows, layout.normals(i)))
        else:
            blocks.extend(Block("scalar", rows[k : k + 1], none) for k in range(size))
        i += size
    return blocks


def levers(layout: Layout, rows: Rows, block: Block) -> np.ndarray:
    """By which single rows of friction weigh the normals that they hang on."""
    return rows.lever[block.normals] if layout.kind[block.rows[0]] == TWIST else np.ones(len(block.normals))


def coulomb(layout: Layout, rows: Rows, block: Block) -> np.ndarray:
    """(normals,) that part of the bound which Coulomb's friction gives a single row, by the normals' impulses."""
    mu = rows.friction[block.normals]
    if layout.kind[block.rows[0]] != TWIST:
        return mu
    return mu * np.sqrt((rows.offset[block.normals] ** 2).sum(axis=1)) if layout.central else np.zeros_like(mu)


def linearized(
    layout: Layout, rows: Rows, blocks: list[Block], modes: list[Mode], w: np.ndarray, impulse: np.ndarray, p: int
) -> Linear:
    """The equations of the active set at w and the impulses; p: which bias and compliance."""
    r = len(rows)
    value, by_rate, by_impulse, by_friction = np.zeros(r), np.zeros((r, r)), np.zeros((r, r)), np.zeros(r)
    for block, mode in zip(blocks, modes):
        i = block.rows
        if mode.state == "closed":
            value[i] = w[i] + rows.compliance[i, p] * impulse[i]
            by_rate[i, i], by_impulse[i, i] = 1.0, rows.compliance[i, p]
        elif mode.state in ("open", "idle"):
            value[i] = impulse[i]
            by_impulse[i, i] = 1.0
        elif mode.state == "stick":
            value[i] = w[i]
            by_rate[i, i] = 1.0
        elif block.kind == "scalar":
            value[i] = impulse[i] - (rows.lower if mode.which < 0 else rows.upper)[i]
            by_impulse[i, i] = 1.0
        elif block.kind == "friction":
            slope = mode.which * rows.friction[i[0]] * levers(layout, rows, block)
            value[i] = impulse[i] - slope @ impulse[block.normals]
            by_impulse[i, i] = 1.0
            by_impulse[i, block.normals] -= slope
            by_friction[i] = -mode.which * coulomb(layout, rows, block) @ impulse[block.normals]
        else:
            law = sliding(layout, rows, block, mode, w, impulse)
            value[i] = law.value
            by_rate[np.ix_(i, i)], by_impulse[np.ix_(i, i)] = law.by_slip, law.by_impulse
            by_impulse[np.ix_(i, block.normals)] += law.by_load
            by_friction[i] = law.by_friction
        if layout.kind[i[0]] == ROLLING:
            by_friction[i] = 0.0
    return Linear(value, by_rate, by_impulse, by_friction)


def sliding(layout: Layout, rows: Rows, block: Block, mode: Mode, w: np.ndarray, impulse: np.ndarray) -> friction.Sliding:
    """The law of a block that slides."""
    i, n = block.rows, block.normals
    mu, loads = rows.friction[i[0]], impulse[n]
    if block.kind == "cone":
        return friction.cone(impulse[i], w[i], mu, loads)
    pivot = mode.which if mode.state == "pivot" else None
    spins = mode.state != "no spin"
    return friction.surface(impulse[i], w[i], mu, rows.lever[i[2]], loads, rows.offset[n], pivot, spins)


def changed_by_rows(
    layout: Layout,
    rows: Rows,
    blocks: list[Block],
    modes: list[Mode],
    w: np.ndarray,
    impulse: np.ndarray,
    change: Rows,
    p: int,
) -> np.ndarray:
    """(r,) by how much R changes with the numbers of the rows, at the same w and impulses."""
    out = np.zeros(len(rows))
    for block, mode in zip(blocks, modes):
        i = block.rows
        if mode.state == "closed":
            out[i] = change.compliance[i, p] * impulse[i]
        elif mode.state == "bound" and block.kind == "scalar":
            out[i] = -(change.lower if mode.which < 0 else change.upper)[i]
        elif mode.state == "bound":
            lever = levers(layout, change, block) if layout.kind[i[0]] == TWIST else np.zeros(len(block.normals))
            out[i] = -mode.which * rows.friction[i[0]] * lever @ impulse[block.normals]
        elif block.kind == "surface" and mode.state in ("slide", "pivot", "no spin"):
            law = sliding(layout, rows, block, mode, w, impulse)
            out[i] = np.einsum("ank,nk->a", law.by_offset, np.nan_to_num(change.offset[block.normals]))
    return out


# ---- which set it is -------------------------------------------------------------------------------------------------


def modes_of(
    layout: Layout,
    rows: Rows,
    blocks: list[Block],
    mass: np.ndarray,
    w: np.ndarray,
    impulse: np.ndarray,
    p: int,
    still: float,
) -> list[Mode]:
    """By the natural map: what a further solve of each block alone would find. mass (r,): 1 / (J M^-1 J' + c); still
    [m/s]: slower slips are none."""
    modes = []
    for block in blocks:
        i = block.rows
        goal = impulse[i] - mass[i] * (w[i] + rows.compliance[i, p] * impulse[i])
        if block.kind == "scalar":
            modes.append(_scalar_mode(float(goal[0]), float(rows.lower[i[0]]), float(rows.upper[i[0]])))
            continue
        loads = _loads(impulse, block)
        mu = float(rows.friction[i[0]])
        if block.kind == "friction":
            most = mu * float(levers(layout, rows, block) @ loads)
            modes.append(
                Mode("idle")
                if not most > 0.0
                else Mode("stick")
                if abs(goal[0]) < most
                else Mode("bound", int(np.sign(goal[0])))
            )
        elif block.kind == "cone":
            most = mu * float(loads.sum())
            slow = np.sqrt(w[i] @ w[i]) <= still
            modes.append(
                Mode("idle") if not most > 0.0 else Mode("stick" if slow or goal @ goal < most * most else "slide")
            )
        else:
            modes.append(_surface_mode(rows, block, w[i], loads, mu, still))
    return modes


def confirmed(
    layout: Layout,
    rows: Rows,
    blocks: list[Block],
    modes: list[Mode],
    mass: np.ndarray,
    w: np.ndarray,
    impulse: np.ndarray,
    p: int,
    still: float,
) -> bool:
    """Whether a solution of an active set obeys the inequalities that go with it, velocities to within `still`."""
    for block, mode in zip(blocks, modes):
        i = block.rows
        slack = still * mass[i]
        if block.kind == "scalar":
            within = bool(rows.lower[i] - slack <= impulse[i] <= rows.upper[i] + slack)
            rate = float((w[i] + rows.compliance[i, p] * impulse[i])[0])
            side = -1 if mode.state == "open" else mode.which
            fixed = rows.lower[i[0]] == rows.upper[i[0]]
            if not within or (mode.state != "closed" and not fixed and -side * rate < -still):
                return False
            continue
        loads = np.maximum(impulse[block.normals], 0.0)
        mu = float(rows.friction[i[0]])
        if mode.state == "stick" and block.kind != "surface":
            most = mu * float(levers(layout, rows, block) @ loads if block.kind == "friction" else loads.sum())
            if np.sqrt(impulse[i] @ impulse[i]) > most + slack.max():
                return False
        against = mode.state == "bound" and mode.which * w[i[0]] > still
        stands = mode.state == "slide" and block.kind == "cone" and not np.sqrt(w[i] @ w[i]) > still
        other = block.kind == "surface" and mode != _surface_mode(rows, block, w[i], _loads(impulse, block), mu, still)
        if against or stands or other:
            return False
    return True


def _loads(impulse: np.ndarray, block: Block) -> np.ndarray:
    """Of the normals that press, of which those that press by rounding alone do not."""
    loads = impulse[block.normals]
    return np.where(loads > 1e-12 * np.abs(loads).max(initial=0.0), loads, 0.0)


def _scalar_mode(goal: float, lower: float, upper: float) -> Mode:
    if lower == upper:
        return Mode("bound", 1)
    if goal <= lower:
        return Mode("open") if lower == 0.0 else Mode("bound", -1)
    return Mode("bound", 1) if goal >= upper else Mode("closed")


def _surface_mode(rows: Rows, block: Block, s: np.ndarray, loads: np.ndarray, mu: float, still: float) -> Mode:
    """Of a limit surface: by which of its points slip."""
    torsional = float(rows.lever[block.rows[2]])
    if not loads.sum() > 0.0 or not (mu > 0.0 or torsional > 0.0):
        return Mode("idle")
    offsets = rows.offset[block.normals]
    slip = np.sqrt((friction.slips(s, offsets) ** 2).sum(axis=1))
    loaded = loads > 0.0
    spread = offsets[loaded] - offsets[loaded][0]
    at_a_place = float(np.abs(spread).max(initial=0.0)) <= 1e-9
    if not np.any(slip[loaded] > still) and (not at_a_place or torsional > 0.0):
        return Mode("stick")
    slow = np.flatnonzero(loaded & (slip <= still))
    if len(slow):
        return Mode("pivot", int(slow[0]))
    reach = float(np.sqrt((offsets[loaded] ** 2).sum(axis=1)).max(initial=0.0)) or 1.0
    return Mode("no spin") if torsional > 0.0 and abs(s[2]) * reach <= still else Mode("slide")
