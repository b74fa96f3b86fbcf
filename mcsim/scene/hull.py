"""The convex hull of points as a polyhedron with convex polygons for faces. Qhull (SciPy) finds the triangles.

Qhull splits every flat face into triangles, and rounding leaves some of them slightly tilted. Both would give contacts
false edges, so neighbouring triangles that lie in one plane within FLAT times the hull's size become one face.
"""

from dataclasses import dataclass

import numpy as np

from mcsim.scene.checks import FieldError

MAX_VERTICES = 256
HUGE = 1e50                     # [m], far beyond use; squares and cubes of what is below stay finite
FLAT = 1e-6                     # of the hull's size: what lies so near to a face's plane lies in it


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex polyhedron, in the axes of the points.

    vertices (v, 3) [m], in the order of the points; faces: f arrays of vertex numbers, counter-clockwise from outside;
    face_normals (f, 3), unit, outwards; face_offsets (f,) [m], the least with n·x <= offset for all vertices x;
    edges (e, 2), vertex numbers, the lower first; triangles (t, 3, 3) [m], the exact surface before merging.
    """

    vertices: np.ndarray
    faces: list[np.ndarray]
    face_normals: np.ndarray
    face_offsets: np.ndarray
    edges: np.ndarray
    triangles: np.ndarray


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
    triangles, normals = _triangles(centred, field)
    _check_thickness(centred, normals, size, field)
    faces = _merge(centred, triangles, normals)
    kept = np.unique(np.concatenate(faces))
    if len(kept) > MAX_VERTICES:
        raise FieldError(field, f"make a hull of {len(kept)} vertices, at most {MAX_VERTICES} are allowed; give fewer")
    number = np.full(len(points), -1)
    number[kept] = np.arange(len(kept))
    faces = sorted((_from_lowest(number[face]) for face in faces), key=lambda face: face.tolist())
    vertices = points[kept]
    face_normals = np.array([_newell(centred[kept][face]) for face in faces])
    edges = {(min(a, b), max(a, b)) for face in faces for a, b in zip(face, np.roll(face, -1))}
    return Hull(vertices, faces, face_normals, (face_normals @ vertices.T).max(axis=1),
                np.array(sorted(edges), dtype=np.int32), points[triangles])


def _triangles(points: np.ndarray, field: str) -> tuple[np.ndarray, np.ndarray]:
    """Qhull's triangles (t, 3), counter-clockwise from outside, and their outward unit normals (t, 3)."""
    from scipy.spatial import ConvexHull, QhullError       # here, because it takes long to import

    try:
        hull = ConvexHull(points, qhull_options="Qt")
    except QhullError:
        raise FieldError(field, "are flat: all of them lie in one plane or on one line") from None
    triangles, normals = hull.simplices.astype(np.int64), hull.equations[:, :3]
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inwards = np.einsum("ti,ti->t", np.cross(b - a, c - a), normals) < 0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return triangles, normals


def _check_thickness(points: np.ndarray, normals: np.ndarray, size: float, field: str) -> None:
    heights = normals @ points.T
    thickness = float(np.min(heights.max(axis=1) - heights.min(axis=1)))
    if thickness < 10 * FLAT:
        raise FieldError(field, f"are flat: {thickness * size:.3g} m thick and {size:.3g} m wide")


def _merge(points: np.ndarray, triangles: np.ndarray, normals: np.ndarray) -> list[np.ndarray]:
    """The triangles joined to faces, each a loop of point numbers. Points that only lie on an edge or in a face go."""
    neighbours = _neighbours(triangles)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    region = np.full(len(triangles), -1)
    loops = []
    for seed in np.argsort(-area, kind="stable"):           # the largest triangle knows its plane best
        if region[seed] >= 0:
            continue
        normal, offset = normals[seed], normals[seed] @ a[seed]
        flat = np.abs(points[triangles] @ normal - offset).max(axis=1) < FLAT
        members, waiting = [], [seed]
        region[seed] = len(loops)
        while waiting:
            triangle = waiting.pop()
            members.append(triangle)
            for other in neighbours[triangle]:
                if region[other] < 0 and flat[other]:
                    region[other] = len(loops)
                    waiting.append(other)
        loops.append(_boundary(triangles[members]))
    if any(loop is None for loop in loops):
        return list(triangles)                              # a region that is no disc: leave the triangles as they are
    return _corners_only(loops)


def _neighbours(triangles: np.ndarray) -> list[list[int]]:
    """The three triangles beside each one."""
    across = {}
    for t, (a, b, c) in enumerate(triangles.tolist()):
        across[a, b] = across[b, c] = across[c, a] = t
    return [[across[b, a], across[c, b], across[a, c]] for a, b, c in triangles.tolist()]


def _boundary(triangles: np.ndarray) -> np.ndarray | None:
    """The loop around some triangles; None if there is more than one."""
    edges = {(t[k], t[(k + 1) % 3]) for t in triangles.tolist() for k in range(3)}
    follow = {a: b for a, b in edges if (b, a) not in edges}
    start = min(follow)
    loop = [start]
    while follow[loop[-1]] != start and len(loop) <= len(follow):
        loop.append(follow[loop[-1]])
    outer = sum((b, a) not in edges for a, b in edges)
    return np.array(loop) if len(loop) == len(follow) == outer else None


def _corners_only(loops: list[np.ndarray]) -> list[np.ndarray]:
    """Drop what is in fewer than three faces: it is no corner of the polyhedron."""
    faces_at = np.bincount(np.concatenate(loops))
    loops = [loop[faces_at[loop] >= 3] for loop in loops]
    return [loop for loop in loops if len(loop) >= 3]


def _from_lowest(loop: np.ndarray) -> np.ndarray:
    """The same loop, begun at its lowest number."""
    return np.roll(loop, -int(np.argmin(loop))).astype(np.int32)


def _newell(corners: np.ndarray) -> np.ndarray:
    """The unit normal of a polygon (k, 3): the mean over all corners, so that none of them counts more."""
    spokes = corners - corners.mean(axis=0)
    normal = np.cross(spokes, np.roll(spokes, -1, axis=0)).sum(axis=0)
    return normal / np.linalg.norm(normal)
