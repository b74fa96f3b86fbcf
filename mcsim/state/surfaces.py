"""Meshes and height fields as the arrays that contact reads: who is beside whom.

A contact at an edge or a corner of a triangle must know the triangles around it: what looks like an edge from one of
them may be in the middle of a floor. So neighbours are found once, by where their corners are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcsim.core._forest import group_numbers
from mcsim.core.linear import lengths
from mcsim.scene.shapes import HeightField, Mesh

BORDER = -1  # in `opposite`: nothing is beside this edge
CROWDED = -2  # in `opposite`: more than two triangles meet there


class SurfaceArrays(NamedTuple):
    """One surface in its shape's frame. A mesh has no heights, a height field nothing but heights and spacing.

    vertices (v, 3) [m], no two at one place; corners (t, 3) vertex numbers of each triangle, wound alike in a sheet;
    opposite (t, 3): for the edge from corner k to k + 1 the third corner of the triangle beside it, BORDER or CROWDED;
    sheet (t,): number of the connected part; ring_begin (v + 1,), ring: the vertices that share an edge with each one.
    """

    vertices: np.ndarray
    corners: np.ndarray
    opposite: np.ndarray
    sheet: np.ndarray
    ring_begin: np.ndarray
    ring: np.ndarray
    heights: np.ndarray
    spacing: np.ndarray


def surface_arrays(shape: Mesh | HeightField) -> SurfaceArrays:
    """The arrays of a Mesh or a HeightField."""
    if isinstance(shape, HeightField):
        none = np.zeros(0, np.int32)
        return SurfaceArrays(
            np.zeros((0, 3)), none.reshape(0, 3), none.reshape(0, 3), none, none, none, shape.heights, shape.spacing
        )
    vertices, corners = _welded(shape.vertices, shape.faces)
    opposite, beside, turned = _neighbours(vertices, corners)
    flipped, sheet = _sheets(beside, turned)
    # The reverse of a b c is a c b, whose edges are c a, b c, a b of the first.
    corners[flipped] = corners[flipped][:, [0, 2, 1]]
    opposite[flipped] = opposite[flipped][:, [2, 1, 0]]
    ring_begin, ring = _rings(len(vertices), corners)
    return SurfaceArrays(
        vertices,
        corners.astype(np.int32),
        opposite.astype(np.int32),
        sheet.astype(np.int32),
        ring_begin,
        ring,
        np.zeros((0, 0)),
        np.zeros(2),
    )


def _welded(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices that differ, and the triangles (t, 3) between them: without those that have no area or come twice."""
    order, differs = _gathered(vertices + 0.0)  # -0.0 is 0.0
    number = np.empty(len(vertices), np.int64)
    number[order] = np.cumsum(differs) - 1
    vertices = vertices[order[differs]]
    corners = number[faces]
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    area = lengths(np.cross(b - a, c - a))
    longest = np.max([np.sum(e * e, axis=1) for e in (b - a, c - b, a - c)], axis=0)
    corners = corners[area > 1e-12 * longest]
    order, differs = _gathered(np.sort(corners, axis=1))
    return vertices, corners[np.sort(order[differs])]


def _gathered(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order of rows (n, 3) of 64-bit numbers in which equal ones stand together, the first first, and where another
    than the one before begins. Sorted by a hash of their bits; by all three numbers if that should fail."""
    bits = np.ascontiguousarray(rows).view(np.uint64)
    key = bits[:, 0] * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ key >> np.uint64(29)) * np.uint64(0xBF58476D1CE4E5B9) + bits[:, 1]
    key = (key ^ key >> np.uint64(32)) * np.uint64(0x94D049BB133111EB) + bits[:, 2]
    key = (key ^ key >> np.uint64(31)) * np.uint64(0x9E3779B97F4A7C15)
    order = np.argsort(key, kind="stable")
    differs = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    if np.any(differs & (key[order[1:]] == key[order[:-1]])):
        order = np.lexsort(rows.T)
        differs = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    return order, np.concatenate([[True], differs])


def _neighbours(vertices: np.ndarray, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each edge of each triangle (t, 3): the corner opposite in the triangle beside it, BORDER or CROWDED; that
    triangle, -1 where it is not one; and whether it is wound the other way."""
    start, end = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    key = np.minimum(start, end) * len(vertices) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.concatenate([[True], key[order[1:]] != key[order[:-1]]]))
    count = np.diff(np.append(first, len(key)))
    opposite = np.full(len(key), CROWDED)
    beside = np.full(len(key), -1)
    turned = np.zeros(len(key), bool)
    opposite[order[first[count == 1]]] = BORDER
    one, other = order[first[count == 2]], order[first[count == 2] + 1]
    across = np.roll(corners, -2, axis=1).ravel()
    opposite[one], opposite[other] = across[other], across[one]
    beside[one], beside[other] = other // 3, one // 3
    turned[one] = turned[other] = start[one] == start[other]
    return opposite.reshape(-1, 3), beside.reshape(-1, 3), turned.reshape(-1, 3)


def _sheets(beside: np.ndarray, turned: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which triangles (t,) to reverse so that neighbours are wound alike, and the number of each one's sheet. The first
    of a sheet stays as it is. A sheet with one side only (Moebius') stays as it was wound.

    Every triangle is taken twice, as it is (t) and reversed (n + t): what hangs together is wound alike.
    """
    n = len(beside)
    if not turned.any():
        triangle, k = np.nonzero(beside >= 0)
        return np.zeros(n, bool), group_numbers(np.stack([triangle, beside[triangle, k]], axis=1), n)
    triangle, k = np.nonzero(beside >= 0)
    other, reverse = beside[triangle, k], turned[triangle, k] * n
    rows = np.concatenate([triangle, triangle + n])
    columns = np.concatenate([other + reverse, other + n - reverse])
    label = group_numbers(np.stack([rows, columns], axis=1), 2 * n)
    upright, reversed_ = label[:n], label[n:]
    _sheet, seed, member = np.unique(np.minimum(upright, reversed_), return_index=True, return_inverse=True)
    return upright != upright[seed][member], member


def _rings(count: int, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each vertex the vertices beside it: (v + 1,) begins and the numbers."""
    from scipy.sparse import coo_array

    start, end = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    table = coo_array(
        (np.ones(2 * len(start), np.int8), (np.append(start, end), np.append(end, start))), shape=(count, count)
    ).tocsr()
    table.sum_duplicates()
    return table.indptr.astype(np.int32), table.indices.astype(np.int32)
