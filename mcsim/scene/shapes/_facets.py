"""Shapes as flat faces, for pictures: what several of them are made of.

Every face has four corners; a triangle repeats its last one. Faces point outwards, counter-clockwise seen from outside.
"""

from dataclasses import dataclass

import numpy as np

from mcsim.core.trig import cos, sin

WELDED = 1e-9  # of the largest coordinate: vertices that are as near as that are one


@dataclass(frozen=True)
class Facets:
    """vertices (v, 3) in the shape's frame [m]; faces (f, 4) vertex numbers; outlined: each face has a drawn edge.

    dark (f,): sectors of round shapes that are drawn darker, so that one sees them turn; None: no face is.
    """

    vertices: np.ndarray
    faces: np.ndarray
    outlined: bool = False
    dark: np.ndarray | None = None


def lattice(rows: int, columns: int, flipped: bool = False) -> np.ndarray:
    """The faces (f, 4) of a rows x columns sheet of vertices."""
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    faces = np.stack([corner, corner + columns, corner + columns + 1, corner + 1], axis=1)
    return faces[:, ::-1] if flipped else faces


def revolved(radii: np.ndarray, heights: np.ndarray, detail: int, sectors: int) -> Facets:
    """The surface of revolution about z through (radius, height) [m], from the lowest to the highest; every second of so
    many sectors is darker, 0: none."""
    angles = np.linspace(0.0, 2 * np.pi, detail, endpoint=False)
    rings = np.stack(
        [
            radii[:, None] * cos(angles),
            radii[:, None] * sin(angles),
            np.broadcast_to(heights[:, None], (len(radii), detail)),
        ],
        axis=2,
    )
    lower = (np.arange(len(radii) - 1)[:, None] * detail + np.arange(detail)).ravel()
    turn = np.where(np.arange(len(lower)) % detail == detail - 1, 1 - detail, 1)
    faces = np.stack([lower, lower + turn, lower + turn + detail, lower + detail], axis=1)
    around = np.arange(len(faces)) % detail * sectors // detail
    return Facets(rings.reshape(-1, 3), faces, dark=around % 2 == 1)


def halved(facets: Facets) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (v, 3), each place once, and triangles (t, 3) int32 of the faces, without those that have two corners at one
    place: so the faces of a solid make a closed surface, also where many of them meet in a pole."""
    vertices = facets.vertices
    rounded = np.round(vertices / (WELDED * np.abs(vertices).max())).astype(np.int64)
    _, first, number = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # in the order in which they stand in the faces
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    corners = place[number.reshape(-1)][facets.faces]
    triangles = corners[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
    a, b, c = triangles.T
    return vertices[first[order]], triangles[(a != b) & (b != c) & (c != a)]


def sheet(vertices: np.ndarray, faces: np.ndarray) -> Facets:
    """Triangles that one sees from either side: each stands here once each way."""
    return Facets(vertices, np.concatenate([faces[:, [0, 1, 2, 2]], faces[:, [0, 2, 1, 1]]]))
