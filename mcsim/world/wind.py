"""What wind does to the faces of shapes: drag along it, and lift across it.

A face of area A with the outward normal n, over which the air goes with u = wind - (v + w x r), the velocity of the face's
centroid taken off, is met where u.n < 0. With its area across the wind A' = -A u.n / |u|, the density rho of the air and
the coefficients C_d, C_l, the force on the face, at its centroid, is

    F = 1/2 rho A' |u| (C_d u + C_l |u| l),     l = -n + (n.u) u / |u|^2

l is what the face's push has across the wind: at right angles to u, of the length of the sine between n and u, so that a
face that meets the wind squarely has no lift. Faces in the lee have no force, so those of a closed body add up to its area
across the wind. A sphere has all of it at its centre, with A' = pi r^2 and no lift. Source: any text on aerodynamics for
the quadratic law; E. Catto, Box3D (b3Shape_ApplyWind), for the sum over faces.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from mcsim.core.linear import lengths, turned
from mcsim.core.rotation import matrices, matrix
from mcsim.scene import Body
from mcsim.scene.shapes import Shape, Sphere
from mcsim.world import _wind

PI = 3.141592653589793  # as a number, since a library's differs in no bit
DETAIL = 24  # facets around a round shape: its area across the wind is within 2 %
_known: WeakKeyDictionary[Shape, Faces] = WeakKeyDictionary()


class Faces(NamedTuple):
    """Of a shape, in the body's frame: centroids, normals (f, 3) [m], areas (f,) [m²]; a normal of zeros: a sphere, whose
    area is the same from everywhere."""

    centroids: np.ndarray
    normals: np.ndarray
    areas: np.ndarray


def faces_of(shape: Shape) -> Faces:
    """Found once of each shape."""
    found = _known.get(shape)
    if found is None:
        found = _known[shape] = _found(shape)
    return found


def _found(shape: Shape) -> Faces:
    if isinstance(shape, Sphere):
        return Faces(np.array([shape.position]), np.zeros((1, 3)), np.array([PI * shape.radius * shape.radius]))
    vertices, triangles = shape.triangles(DETAIL)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    sizes = lengths(across)
    kept = sizes > 0.0
    a, b, c, across, sizes = a[kept], b[kept], c[kept], across[kept], sizes[kept]
    turn = matrix(shape.orientation)
    centroids = turned(turn, (a + b + c) / 3.0) + np.asarray(shape.position)
    return Faces(centroids, turned(turn, across / sizes[:, None]), 0.5 * sizes)


def wind_wrenches(
    bodies: Iterable[tuple[int, Body]],
    states: tuple[np.ndarray, np.ndarray, np.ndarray],
    wind: np.ndarray,
    drag: float,
    lift: float,
    density: float,
) -> tuple[np.ndarray, np.ndarray]:
    """-> numbers of bodies (k,), forces and torques about their centres of mass (k, 6), world axes, a row a shape.

    bodies: (number, description) of those that feel the wind; states: centres of mass (n, 3), orientations (n, 4), twists
    (n, 6) of all; wind (3,) [m/s]; density [kg/m³].
    """
    rows = [(i, body.center_of_mass, faces_of(shape)) for i, body in bodies for shape in body.shapes if not shape.sensor]
    numbers = np.array([i for i, _, _ in rows], np.intp)
    found = np.zeros((len(rows), 6))
    if not rows:
        return numbers, found
    kept = list({id(faces): faces for _, _, faces in rows}.values())  # each once, for the shapes that share it
    slots = {id(faces): k for k, faces in enumerate(kept)}
    _wind.wrenches(
        np.array([slots[id(faces)] for _, _, faces in rows], np.int64),
        np.cumsum([0, *(len(faces.areas) for faces in kept)], dtype=np.int64),
        np.concatenate([faces.centroids for faces in kept]),
        np.concatenate([faces.normals for faces in kept]),
        np.concatenate([faces.areas for faces in kept]),
        np.array([center for _, center, _ in rows]),
        np.ascontiguousarray(matrices(states[1][numbers])),
        np.ascontiguousarray(states[2][numbers]),
        wind,
        0.5 * density * drag,
        0.5 * density * lift,
        found,
    )
    return numbers, found
