"""What water with a level surface does to shapes: it bears what they displace, and drags at what is under water.

By Archimedes the pressure of the water is, in sum, a force of density times gravity times the volume V under water,
against gravity, at the centre of that volume. Both follow from the shape's triangles, each cut by the water's surface: with
a point o of that surface, the triangles (a, b, c) under water span tetrahedra of the volumes

    V_t = (a - o) . (b - a) x (c - a) / 6,    V = sum V_t,    V c = sum V_t (a + b + c + o) / 4

to which the cut itself adds none, since o lies in it (divergence theorem, as in scene/mass.py). Round shapes are as their
triangles are, times what makes the whole volume the shape's own; a ball is taken exactly. Each triangle under water has
the drag of `wind.py`, in water.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from mcsim.core.linear import turned
from mcsim.core.rotation import matrices, matrix
from mcsim.scene import Body
from mcsim.scene.mass import polyhedron
from mcsim.scene.shapes import Shape, Sphere
from mcsim.world import _water

DETAIL = 32  # facets around a round shape
_known: WeakKeyDictionary[Shape, Hull] = WeakKeyDictionary()


class Hull(NamedTuple):
    """Of a shape, in the body's frame: triangles (t, 3, 3) [m], by what their volume is to be multiplied, and of a ball,
    which has none, centre and radius (4,) [m]."""

    triangles: np.ndarray
    share: float
    ball: np.ndarray


def hull_of(shape: Shape) -> Hull:
    """Found once of each shape."""
    found = _known.get(shape)
    if found is None:
        found = _known[shape] = _found(shape)
    return found


def _found(shape: Shape) -> Hull:
    if isinstance(shape, Sphere):
        return Hull(np.zeros((0, 3, 3)), 1.0, np.array([*shape.position, shape.radius]))
    vertices, faces = shape.triangles(DETAIL)
    corners = turned(matrix(shape.orientation), vertices) + np.asarray(shape.position)
    triangles = corners[faces]
    return Hull(triangles, shape.volume / polyhedron(triangles, 1.0).mass, np.zeros(4))


def water_wrenches(
    bodies: Iterable[tuple[int, Body]],
    states: tuple[np.ndarray, np.ndarray, np.ndarray],
    gravity: np.ndarray,
    level: float,
    current: np.ndarray,
    density: float,
    drag: float,
) -> tuple[np.ndarray, np.ndarray]:
    """-> numbers of bodies (k,), forces and torques about their centres of mass (k, 6), world axes, a row a shape.

    bodies, states: as of wind_wrenches; gravity (3,) [m/s²]; level [m]: of the surface, against gravity from the origin;
    current (3,) [m/s]; density [kg/m³].
    """
    rows = [(i, body.center_of_mass, hull_of(shape)) for i, body in bodies for shape in body.shapes if not shape.sensor]
    numbers = np.array([i for i, _, _ in rows], np.intp)
    found = np.zeros((len(rows), 6))
    pull = float(np.sqrt((gravity * gravity).sum()))
    if not rows or pull == 0.0:
        return numbers, found
    kept = list({id(hull): hull for _, _, hull in rows}.values())  # each once, for the shapes that share it
    slots = {id(hull): k for k, hull in enumerate(kept)}
    _water.wrenches(
        np.array([slots[id(hull)] for _, _, hull in rows], np.int64),
        np.cumsum([0, *(len(hull.triangles) for hull in kept)], dtype=np.int64),
        np.concatenate([hull.triangles for hull in kept]),
        np.array([hull.share for hull in kept]),
        np.array([hull.ball for hull in kept]),
        np.array([center for _, center, _ in rows]),
        np.ascontiguousarray(states[0][numbers]),
        np.ascontiguousarray(matrices(states[1][numbers])),
        np.ascontiguousarray(states[2][numbers]),
        -gravity / pull,
        level,
        current,
        density * pull,
        0.5 * density * drag,
        found,
    )
    return numbers, found
