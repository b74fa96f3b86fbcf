"""Meshes and height fields as the arrays that contact reads: who is beside whom.

A contact at an edge or a corner of a triangle must know the triangles around it: what looks like an edge from one of
them may be in the middle of a floor. So neighbours are found once, by where their corners are.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

BORDER = -1                     # in `opposite`: nothing is beside this edge
CROWDED = -2                    # in `opposite`: more than two triangles meet there


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


def surface_arrays(shape):
    """The arrays of a Mesh or a HeightField."""
    if shape.type == "height_field":
        none = np.zeros(0, np.int32)
        return SurfaceArrays(np.zeros((0, 3)), none.reshape(0, 3), none.reshape(0, 3), none, none, none,
                             shape.heights, shape.spacing)
    vertices, corners = _welded(shape.vertices, shape.faces)
    opposite, beside, turned = _neighbours(vertices, corners)
    flipped, sheet = _sheets(beside, turned)
    # The reverse of a b c is a c b, whose edges are c a, b c, a b of the first.
    corners[flipped] = corners[flipped][:, [0, 2, 1]]
    opposite[flipped] = opposite[flipped][:, [2, 1, 0]]
    ring_begin, ring = _rings(len(vertices), corners)
    return SurfaceArrays(vertices, corners.astype(np.int32), opposite.astype(np.int32), sheet.astype(np.int32),
                         ring_begin, ring, np.zeros((0, 0)), np.zeros(2))


def _welded(vertices, faces):
    """Vertices that differ, and the triangles (t, 3) between them: without those that have no area or come twice."""
    order = np.lexsort(vertices.T)
    differs = np.concatenate([[True], (vertices[order[1:]] != vertices[order[:-1]]).any(axis=1)])
    number = np.empty(len(vertices), np.int64)
    number[order] = np.cumsum(differs) - 1
    vertices = vertices[order[differs]]
    corners = number[faces]
    a, b, c = (vertices[corners[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([np.sum(e * e, axis=1) for e in (b - a, c - b, a - c)], axis=0)
    corners = corners[area > 1e-12 * longest]
    sides = np.sort(corners, axis=1)
    order = np.lexsort(sides.T)                          # stable: of equal ones the first comes first
    differs = np.concatenate([[True], (sides[order[1:]] != sides[order[:-1]]).any(axis=1)])
    return vertices, corners[np.sort(order[differs])]


def _neighbours(vertices, corners):
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


def _sheets(beside, turned):
    """Which triangles (t,) to reverse so that neighbours are wound alike, and the number of each one's sheet. The first
    of a sheet stays as it is. A sheet with one side only (Moebius') stays as it was wound.

    Every triangle is taken twice, as it is (t) and reversed (n + t): what hangs together is wound alike.
    """
    n = len(beside)
    triangle, k = np.nonzero(beside >= 0)
    other, reverse = beside[triangle, k], turned[triangle, k] * n
    rows = np.concatenate([triangle, triangle + n])
    columns = np.concatenate([other + reverse, other + n - reverse])
    links = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(2 * n, 2 * n))
    label = connected_components(links.tocsr(), directed=False)[1]
    upright, reversed_ = label[:n], label[n:]
    sheet, seed, member = np.unique(np.minimum(upright, reversed_), return_index=True, return_inverse=True)
    return upright != upright[seed][member], member


def _rings(count, corners):
    """Of each vertex the vertices beside it: (v + 1,) begins and the numbers."""
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    key = np.unique(np.concatenate([pairs[:, 0] * count + pairs[:, 1], pairs[:, 1] * count + pairs[:, 0]]))
    begin = np.searchsorted(key, np.arange(count + 1) * count)
    return begin.astype(np.int32), (key % count).astype(np.int32)
