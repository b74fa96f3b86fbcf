"""The convex hull of points as a polyhedron with convex polygons for faces. Qhull (SciPy) finds the triangles.

Qhull splits every flat face into triangles, and rounding leaves some of them slightly tilted. Both would give contacts
false edges, so neighbouring triangles that lie in one plane within FLAT times the hull's size become one face.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcsim.core.linear import dot, dots, length, lengths, product
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
    corners = np.unique(surface.triangles)
    if len(corners) > MOST_CORNERS:
        raise FieldError(field, TOO_MANY.format(len(corners)))
    heights = product(surface.normals, centred[corners].T)
    thickness = float(np.min(heights.max(axis=1) - heights.min(axis=1)))
    if thickness < 10 * FLAT:
        raise FieldError(field, f"are flat: {thickness * size:.3g} m thick and {size:.3g} m wide")
    faces = _faces(centred, corners)
    if faces is None:
        raise FieldError(field, "are too rough: some are nearly but not quite in one plane or line; round them")
    kept = np.unique(np.concatenate(faces))
    if len(kept) > MAX_VERTICES:
        raise FieldError(field, TOO_MANY.format(len(kept)))
    number = np.full(len(points), -1)
    number[kept] = np.arange(len(kept))
    faces = sorted((_from_lowest(number[face]) for face in faces), key=lambda face: face.tolist())
    vertices = points[kept]
    face_normals = np.array([_newell(centred[kept][face]) for face in faces])
    edges = {(min(a, b), max(a, b)) for face in faces for a, b in _sides(face)}
    return Hull(
        vertices,
        faces,
        face_normals,
        product(face_normals, vertices.T).max(axis=1),
        np.array(sorted(edges), dtype=np.int32),
        points[surface.triangles],
        thickness * size,
    )


class _Surface(NamedTuple):
    triangles: np.ndarray  # (t, 3) point numbers, counter-clockwise from outside
    neighbours: np.ndarray  # (t, 3) the triangles beside each one
    normals: np.ndarray  # (t, 3) unit, outwards
    area: np.ndarray  # (t,)


def _triangles(points: np.ndarray) -> _Surface | None:
    """Qhull's triangles, None if the points are flat. Those without area may be turned either way."""
    from scipy.spatial import ConvexHull, QhullError  # here, because it takes long to import

    try:
        hull = ConvexHull(points, qhull_options="Qt")
    except QhullError:
        return None
    triangles, normals = hull.simplices.astype(np.int64), hull.equations[:, :3]
    a, b, c = (points[triangles[:, k]] for k in range(3))
    twice = np.cross(b - a, c - a)
    inwards = dots(twice, normals) < 0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return _Surface(triangles, hull.neighbors, normals, lengths(twice) / 2)


def _faces(points: np.ndarray, corners: np.ndarray) -> list[np.ndarray] | None:
    """Convex faces, each a loop of point numbers counter-clockwise from outside, that together close; None if none do.

    Points that are rough by just FLAT may give loops with small dents, whose sides would cut contacts off. Then the
    hull is taken again of the corners alone; if that does not help, with a smaller tolerance, and in the end with none.
    """
    for flat in (FLAT, FLAT / 10, FLAT / 100, 0.0):
        kept = _apart(points, corners, flat)
        while True:
            surface = _triangles(points[kept])
            loops = None if surface is None else _merge(points[kept], surface, flat)
            if loops is None:
                break
            loops = [kept[loop] for loop in loops]
            if _is_closed(loops) and all(_is_convex(points[loop]) for loop in loops):
                return loops
            left = np.unique(np.concatenate(loops))
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


def _merge(points: np.ndarray, surface: _Surface, flat: float) -> list[np.ndarray] | None:
    """Neighbours in one plane joined to loops, without the points that only lie on an edge or in a face.

    None if a region is no disc.
    """
    triangles = surface.triangles
    done = np.zeros(len(triangles), dtype=bool)
    loops = []
    for seed in np.argsort(-surface.area, kind="stable"):  # the largest triangle knows its plane best
        if done[seed]:
            continue
        normal = surface.normals[seed]
        heights = product(points, normal) - dot(points[triangles[seed, 0]], normal)
        in_plane = np.abs(heights)[triangles].max(axis=1) < flat
        members, waiting = [], [seed]
        done[seed] = True
        while waiting:
            triangle = waiting.pop()
            members.append(triangle)
            for other in surface.neighbours[triangle]:
                if not done[other] and in_plane[other]:
                    done[other] = True
                    waiting.append(other)
        loop = _boundary(triangles[members])
        if loop is None:
            return None
        loops.append(loop if dot(_newell(points[loop]), normal) > 0 else loop[::-1])
    return _corners_only(loops)


def _boundary(triangles: np.ndarray) -> np.ndarray | None:
    """The loop around some triangles, in either direction; None if there is not just one."""
    edges = Counter(frozenset(edge) for triangle in triangles.tolist() for edge in _sides(triangle))
    beside = defaultdict(list)
    for a, b in (sorted(edge) for edge, count in sorted(edges.items(), key=lambda item: sorted(item[0])) if count == 1):
        beside[a].append(b)
        beside[b].append(a)
    if any(len(two) != 2 for two in beside.values()):
        return None
    loop = [min(beside)]
    step = beside[loop[0]][0]
    while step != loop[0]:
        loop.append(step)
        step = next(other for other in beside[step] if other != loop[-2])
    return np.array(loop) if len(loop) == len(beside) else None


def _sides(loop: Sequence[int] | np.ndarray) -> Iterator[tuple[int, int]]:
    """The directed edges of a loop."""
    return zip(loop, [*loop[1:], loop[0]])


def _corners_only(loops: list[np.ndarray]) -> list[np.ndarray]:
    """Drop what is in fewer than three faces: it is no corner of the polyhedron."""
    faces_at = np.bincount(np.concatenate(loops))
    loops = [loop[faces_at[loop] >= 3] for loop in loops]
    return [loop for loop in loops if len(loop) >= 3]


def _is_closed(loops: list[np.ndarray]) -> bool:
    """Whether every edge is in two loops, in opposite directions, and Euler's formula holds."""
    sides = [edge for loop in loops for edge in _sides(loop.tolist())]
    there = set(sides)
    vertices = {a for a, _ in sides}
    return (
        len(there) == len(sides)
        and all((b, a) in there for a, b in there)
        and len(vertices) - len(sides) // 2 + len(loops) == 2
    )


def _is_convex(corners: np.ndarray) -> bool:
    """Whether a polygon (k, 3) turns left at every corner, seen against its normal."""
    sides = np.roll(corners, -1, axis=0) - corners
    return bool((product(np.cross(sides, np.roll(sides, -1, axis=0)), _newell(corners)) > 0).all())


def _from_lowest(loop: np.ndarray) -> np.ndarray:
    """The same loop, begun at its lowest number."""
    return np.roll(loop, -int(np.argmin(loop))).astype(np.int32)


def _newell(corners: np.ndarray) -> np.ndarray:
    """The unit normal of a polygon (k, 3), the mean over all its corners; 0 if it has no area."""
    spokes = corners - corners.mean(axis=0)
    normal = np.cross(spokes, np.roll(spokes, -1, axis=0)).sum(axis=0)
    size = length(normal)
    return normal / size if size > 0.0 else normal
