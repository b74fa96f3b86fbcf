"""The convex hull of points as a polyhedron with convex polygons for faces. Qhull (SciPy) finds the triangles.

Qhull splits every flat face into triangles, and rounding leaves some of them slightly tilted. Both would give contacts
false edges, so neighbouring triangles that lie in one plane within FLAT times the hull's size become one face.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mcsim.core._hull_faces import edges_of, face_normals, in_order, is_polyhedron, merged
from mcsim.core.linear import crosses, dots, lengths, product
from mcsim.scene.checks import FieldError

MAX_VERTICES = 256
MOST_CORNERS = 2048  # of Qhull's triangles; with more, merging them would take too long
TOO_MANY = f"make a hull of {{}} vertices, at most {MAX_VERTICES} are allowed; give fewer points"
HUGE = 1e50  # [m], far beyond use; squares and cubes of what is below stay finite
FLAT = 1e-6  # of the hull's size: what lies so near to a face's plane lies in it


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex polyhedron, in the axes of the points.

    vertices (v, 3) [m], in the order of the points; faces: f arrays of vertex numbers, counter-clockwise from outside;
    face_normals (f, 3), unit, outwards; face_offsets (f,) [m], the least with n·x <= offset for all vertices x;
    edges (e, 2), vertex numbers, the lower first; triangles (t, 3, 3) [m], the exact surface before merging;
    thickness [m], the least distance of a face from the corner that is farthest from it.
    """

    vertices: np.ndarray
    faces: list[np.ndarray]
    face_normals: np.ndarray
    face_offsets: np.ndarray
    edges: np.ndarray
    triangles: np.ndarray
    thickness: float


def convex_hull(points: np.ndarray, field: str = "points") -> Hull:
    """The hull of points (n, 3); those inside are dropped. Fewer than 4, or flat ones, raise a FieldError."""
    if len(points) < 4:
        raise FieldError(field, f"must be at least 4, not all in one plane, got {len(points)}")
    if not np.abs(points).max() < HUGE:
        raise FieldError(field, f"must be below {HUGE:g} m")
    centred = points - points.mean(axis=0)
    size = float(np.abs(centred).max())
    if size == 0.0:
        raise FieldError(field, "must not all be in one place")
    centred = centred / size
    surface = _triangles(centred)
    if surface is None:
        raise FieldError(field, "are flat: all of them lie in one plane or on one line")
    corners = _used(surface.triangles, len(points))
    if len(corners) > MOST_CORNERS:
        raise FieldError(field, TOO_MANY.format(len(corners)))
    heights = product(surface.normals, centred[corners].T)
    thickness = float(np.min(heights.max(axis=1) - heights.min(axis=1)))
    if thickness < 10 * FLAT:
        raise FieldError(field, f"are flat: {thickness * size:.3g} m thick and {size:.3g} m wide")
    found = _faces(centred, corners, surface)
    if found is None:
        raise FieldError(field, "are too rough: some are nearly but not quite in one plane or line; round them")
    begin, loops = found
    kept = _used(loops, len(points))
    if len(kept) > MAX_VERTICES:
        raise FieldError(field, TOO_MANY.format(len(kept)))
    number = np.full(len(points), -1, np.int32)
    number[kept] = np.arange(len(kept))
    begin, loops = in_order(begin, number[loops], len(kept))
    loops.flags.writeable = False
    ends = begin.tolist()
    faces = [loops[a:b] for a, b in pairwise(ends)]
    vertices = points[kept]
    normals = face_normals(centred[kept], begin, loops)
    return Hull(
        vertices,
        faces,
        normals,
        product(normals, vertices.T).max(axis=1),
        edges_of(begin, loops),
        points[surface.triangles],
        thickness * size,
    )


def _used(numbers: np.ndarray, count: int) -> np.ndarray:
    """Which of `count` numbers stand there, rising."""
    used = np.zeros(count, bool)
    used[numbers] = True
    return np.flatnonzero(used)


class _Surface(NamedTuple):
    triangles: np.ndarray  # (t, 3) int32 point numbers, counter-clockwise from outside
    neighbours: np.ndarray  # (t, 3) int32 the triangles beside each one
    normals: np.ndarray  # (t, 3) unit, outwards
    largest_first: np.ndarray  # (t,) int64 the largest triangle knows its plane best


def _triangles(points: np.ndarray) -> _Surface | None:
    """Qhull's triangles, None if the points are flat. Those without area may be turned either way."""
    from scipy.spatial import ConvexHull, QhullError  # here, because it takes long to import

    try:
        hull = ConvexHull(points, qhull_options="Qt")
    except QhullError:
        return None
    triangles, normals = hull.simplices.copy(), np.ascontiguousarray(hull.equations[:, :3])
    a, b, c = points[triangles.T]
    twice = crosses(b - a, c - a)
    inwards = dots(twice, normals) < 0
    triangles[inwards] = triangles[inwards][:, ::-1]
    largest_first = np.argsort(-lengths(twice), kind="stable")
    return _Surface(triangles, np.ascontiguousarray(hull.neighbors), normals, largest_first)


def _faces(points: np.ndarray, corners: np.ndarray, surface: _Surface) -> tuple[np.ndarray, np.ndarray] | None:
    """Convex faces that together close, each a loop of point numbers counter-clockwise from outside: where the loops begin,
    and the numbers; None if none do.

    Points that are rough by just FLAT may give loops with small dents, whose sides would cut contacts off. Then the
    hull is taken again of the corners alone; if that does not help, with a smaller tolerance, and in the end with none.
    surface: of all points.
    """
    for flat in (FLAT, FLAT / 10, FLAT / 100, 0.0):
        kept = _apart(points, corners, flat)
        while True:
            found = surface if len(kept) == len(points) else _triangles(points[kept])
            merging = None if found is None else merged(points[kept], *found, flat)
            if merging is None:
                break
            begin, loops = merging[0], kept[merging[1]].astype(np.int32)
            if is_polyhedron(points, begin, loops):
                return begin, loops
            left = _used(loops, len(points))
            if len(left) == len(kept):
                break
            kept = left
    return None


def _apart(points: np.ndarray, corners: np.ndarray, flat: float) -> np.ndarray:
    """The corners without those that are next to an earlier one."""
    from scipy.spatial import cKDTree

    dropped = set()
    for a, b in sorted(cKDTree(points[corners]).query_pairs(flat)):
        if a not in dropped:
            dropped.add(b)
    return np.delete(corners, sorted(dropped))
