"""Shapes as flat faces. Every face has four corners; a triangle repeats its last one.

All faces point outwards (counter-clockwise seen from outside), so that the painter can leave out those that look away.
"""

from dataclasses import dataclass

import numpy as np

from mcsim.core.rotation import matrix

STRIPE = 0.80  # brightness of the darker sectors of round shapes


@dataclass(frozen=True)
class Mesh:
    """vertices (v, 3) in the body's frame [m]; faces (f, 4) vertex numbers; outlined: each face has a drawn edge.

    tone (f,): factor on the body's colour. Round shapes have darker sectors, so that one sees them turn.
    """

    vertices: np.ndarray
    faces: np.ndarray
    tone: np.ndarray
    outlined: bool


def shape_mesh(shape, detail, cell):
    """The mesh of any shape but a plane. detail: facets around a round shape; cell: longest side of a face [m]."""
    facets = shape.facets(detail, cell)
    vertices = facets.vertices @ matrix(shape.orientation).T + shape.position
    tone = np.ones(len(facets.faces)) if facets.dark is None else np.where(facets.dark, STRIPE, 1.0)
    return Mesh(vertices, facets.faces, tone, facets.outlined)


def face_normals(vertices, faces):
    """Unit outward normals (f, 3), from the diagonals, so that a triangle's doubled corner does not matter."""
    normals = np.cross(vertices[faces[:, 2]] - vertices[faces[:, 0]], vertices[faces[:, 3]] - vertices[faces[:, 1]])
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
