"""The convex hull of points as a polyhedron with convex polygons for faces. Qhull (SciPy) finds the triangles.

Qhull splits every flat face into triangles, and rounding leaves some of them slightly tilted. Both would give contacts
false edges, so neighbouring triangles that lie in one plane within FLAT times the hull's size become one face.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mcsim.core.linear import dot, dots, lengths, product
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
    faces = _faces(centred, corners, surface)
    if faces is None:
        raise FieldError(field, "are too rough: some are nearly but not quite in one plane or line; round them")
    kept = np.unique(np.concatenate(faces))
    if len(kept) > MAX_VERTICES:
        raise FieldError(field, TOO_MANY.format(len(kept)))
    number = np.full(len(points), -1)
    number[kept] = np.arange(len(kept))
    ordered = sorted(_from_lowest(number[face].tolist()) for face in faces)
    faces = [np.array(face, np.int32) for face in ordered]
    vertices = points[kept]
    face_normals = _newells(centred[kept], faces)
    edges = {(a, b) if a < b else (b, a) for face in ordered for a, b in _sides(face)}
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


def _faces(points: np.ndarray, corners: np.ndarray, surface: _Surface) -> list[np.ndarray] | None:
    """Convex faces, each a loop of point numbers counter-clockwise from outside, that together close; None if none do.

    Points that are rough by just FLAT may give loops with small dents, whose sides would cut contacts off. Then the
    hull is taken again of the corners alone; if that does not help, with a smaller tolerance, and in the end with none.
    surface: of all points.
    """
    for flat in (FLAT, FLAT / 10, FLAT / 100, 0.0):
        kept = _apart(points, corners, flat)
        while True:
            found = surface if len(kept) == len(points) else _triangles(points[kept])
            loops = None if found is None else _merge(points[kept], found, flat)
            if loops is None:
                break
            loops = [kept[loop] for loop in loops]
            if _is_closed(loops) and _are_convex(points, loops):
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
    alone = _stand_alone(points, surface, flat)
    ends = np.sort(triangles, axis=1)  # as _boundary has a triangle
    outwards = (dots(_newells(points, list(ends)), surface.normals) > 0).tolist()
    done = np.zeros(len(triangles), dtype=bool)
    loops = []
    for seed in np.argsort(-surface.area, kind="stable").tolist():  # the largest triangle knows its plane best
        if done[seed]:
            continue
        if alone[seed]:
            done[seed] = True
            loops.append(ends[seed] if outwards[seed] else ends[seed][::-1])
            continue
        normal = surface.normals[seed]
        in_plane = np.abs(_heights(points, surface, seed))[triangles].max(axis=1) < flat
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


def _heights(points: np.ndarray, surface: _Surface, triangle: int) -> np.ndarray:
    """(n,) of the points over a triangle's plane."""
    normal = surface.normals[triangle]
    return product(points, normal) - dot(points[surface.triangles[triangle, 0]], normal)


def _stand_alone(points: np.ndarray, surface: _Surface, flat: float) -> list[bool]:
    """Of each triangle, whether none of its neighbours lies in its plane."""
    normals, base = surface.normals, dots(points[surface.triangles[:, 0]], surface.normals)
    corners = points[surface.triangles[surface.neighbours]].reshape(len(normals), 9, 3)
    heights = np.abs(dots(corners, np.repeat(normals[:, None], 9, axis=1)) - base[:, None])
    return np.all(heights.reshape(-1, 3, 3).max(axis=2) >= flat, axis=1).tolist()


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


def _by_length(loops: list[np.ndarray]) -> Iterator[tuple[list[int], np.ndarray]]:
    """Loops of equally many corners side by side: their places in the list, and (k, corners) point numbers."""
    places = defaultdict(list)
    for i, loop in enumerate(loops):
        places[len(loop)].append(i)
    for alike in places.values():
        yield alike, np.array([loops[i] for i in alike])


def _are_convex(points: np.ndarray, loops: list[np.ndarray]) -> bool:
    """Whether polygons turn left at every corner, seen against their normals."""
    normals = _newells(points, loops)
    for places, numbers in _by_length(loops):
        corners = points[numbers]
        sides = np.roll(corners, -1, axis=1) - corners
        turns = np.cross(sides, np.roll(sides, -1, axis=1))
        if not (dots(turns, np.repeat(normals[places][:, None], numbers.shape[1], axis=1)) > 0).all():
            return False
    return True


def _from_lowest(loop: list[int]) -> list[int]:
    """The same loop, begun at its lowest number."""
    begin = loop.index(min(loop))
    return loop[begin:] + loop[:begin]


def _newell(corners: np.ndarray) -> np.ndarray:
    """The unit normal of a polygon (k, 3), the mean over all its corners; 0 if it has no area."""
    return _newells(corners, [np.arange(len(corners))])[0]


def _newells(points: np.ndarray, loops: list[np.ndarray]) -> np.ndarray:
    """(l, 3) the same of loops of point numbers."""
    normals = np.empty((len(loops), 3))
    for places, numbers in _by_length(loops):
        corners = points[numbers]
        spokes = corners - corners.mean(axis=1, keepdims=True)
        sums = np.cross(spokes, np.roll(spokes, -1, axis=1)).sum(axis=1)
        sizes = lengths(sums)[:, None]
        normals[places] = np.divide(sums, sizes, out=sums, where=sizes > 0.0)
    return normals
