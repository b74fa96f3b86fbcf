"""What a ball of some radius adds to a convex solid that it sweeps: mass and pictures of rounded shapes.
docs/theory/rounded.md

Of a polyhedron these are Steiner's parts: a prism on each face, a sector of a cylinder along each edge, a sector of a ball
about each corner. Of a solid of revolution they are what the curve of its half plane becomes.
"""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import pi
from typing import NamedTuple

import numpy as np

from mcsim.core.linear import dots, lengths, product
from mcsim.core.trig import arcsin, arctan2, cos, sin
from mcsim.scene.checks import FieldError, not_negative
from mcsim.scene.hull import HUGE
from mcsim.scene.mass import MassProperties
from mcsim.scene.shapes._facets import Facets, revolved


def radius_of_ball(rounding: float) -> float:
    """A rounding that shapes take: a number from 0 on, so small that its powers are numbers."""
    radius = not_negative(rounding, "rounding")
    if radius >= HUGE:
        raise FieldError("rounding", f"must be below {HUGE:g} m, got {radius:g}")
    return radius


# ---- polyhedra -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """A convex polyhedron: vertices (v, 3) [m]; loops: f arrays of vertex numbers, counter-clockwise seen from outside;
    normals (f, 3), unit, outwards."""

    vertices: np.ndarray
    loops: Sequence[np.ndarray]
    normals: np.ndarray

    def left_faces(self) -> dict[tuple[int, int], int]:
        """Directed edge -> the face on its left, which has it in its loop."""
        return {
            (a, b): face for face, loop in enumerate(self.loops) for a, b in zip(loop.tolist(), np.roll(loop, -1).tolist())
        }


class _Moments:
    """Volume [m³], and the first (3,) and second (3, 3) moments of a solid that is put together."""

    def __init__(self) -> None:
        self.volume, self.first, self.second = 0.0, np.zeros(3), np.zeros((3, 3))

    def add(self, volume: np.ndarray, place: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
        """Parts of volumes (k,) about places (k, 3), with first moments (k, 3) about these and the sum (3, 3) of the
        second ones."""
        along = product(place.T, first)
        self.volume += float(volume.sum())
        self.first += (volume[:, None] * place + first).sum(axis=0)
        self.second += product((volume[:, None] * place).T, place) + along + along.T + second

    def solid(self, origin: np.ndarray) -> MassProperties:
        """What they make at a density of 1; they were taken about the origin."""
        center = self.first / self.volume
        second = self.second - self.volume * np.outer(center, center)
        inertia = np.trace(second) * np.eye(3) - second
        return MassProperties(self.volume, origin + center, (inertia + inertia.T) / 2)


def rounded_polyhedron(core: MassProperties, polyhedron: Polyhedron, radius: float) -> MassProperties:
    """A polyhedron, whose own mass properties at a density of 1 are `core`, swept by a ball, at a density of 1."""
    place = polyhedron.vertices - core.center
    found = _Moments()
    found.volume = core.mass
    found.second += 0.5 * np.trace(core.inertia) * np.eye(3) - core.inertia
    _add_prisms(found, place, polyhedron, radius)
    left = polyhedron.left_faces()
    edges = np.array([edge for edge in sorted(left) if edge[0] < edge[1]])
    n1, n2 = (polyhedron.normals[[left[a, b] for a, b in order]] for order in (edges.tolist(), edges[:, ::-1].tolist()))
    arcs = _Arcs.between(n1, n2)
    _add_edges(found, place, edges, arcs, radius)
    _add_corners(found, place, polyhedron, edges, arcs, radius)
    return found.solid(core.center)


def _add_prisms(found: _Moments, place: np.ndarray, polyhedron: Polyhedron, radius: float) -> None:
    """On each face a prism of the height r: of its triangles, with corners a, b, c, s = a + b + c and the area A,
    ∫ p = A s / 3 and ∫ p pᵀ = A / 12 (a aᵀ + b bᵀ + c cᵀ + s sᵀ)."""
    loops, r = polyhedron.loops, radius
    fans = [(loop[0], loop[k], loop[k + 1], i) for i, loop in enumerate(loops) for k in range(1, len(loop) - 1)]
    numbers = np.array(fans)
    corners, normal = place[numbers[:, :3]], polyhedron.normals[numbers[:, 3]]
    area = 0.5 * dots(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), normal)
    middle = corners.sum(axis=1) / 3
    spokes = corners - middle[:, None]
    flat = product((np.repeat(area, 3)[:, None] * spokes.reshape(-1, 3)).T, spokes.reshape(-1, 3)) / 12
    upright = product((r * r * r / 3 * area[:, None] * normal).T, normal)
    found.add(r * area, middle, r * r / 2 * area[:, None] * normal, r * flat + upright)


class _Arcs(NamedTuple):
    """Of arcs on the unit sphere, of all points m between two of them: angle (e,) [rad], ∫ m (e, 3), and the unit vectors
    to the middle and across, with the integrals of the squares of m's parts along them, (e, 2, 3) and (e, 2)."""

    angle: np.ndarray
    whole: np.ndarray
    axes: np.ndarray
    squares: np.ndarray

    @staticmethod
    def between(n1: np.ndarray, n2: np.ndarray) -> _Arcs:
        sine, cosine = lengths(np.cross(n1, n2)), dots(n1, n2)
        angle = arctan2(sine, cosine)
        axes = np.stack([n1 + n2, n2 - n1], axis=1)
        size = lengths(axes)
        axes = axes / np.where(size > 0.0, size, 1.0)[..., None]
        whole = size[:, 1, None] * axes[:, 0]  # 2 sin(angle / 2)
        return _Arcs(angle, whole, axes, 0.5 * np.stack([angle + sine, angle - sine], axis=1))


def _add_edges(found: _Moments, place: np.ndarray, edges: np.ndarray, arcs: _Arcs, radius: float) -> None:
    """Along each edge a sector of a cylinder: points q + s u + t m with the edge's middle q and direction u, m on the arc
    between the normals of its two faces, t from 0 to r."""
    along = place[edges[:, 1]] - place[edges[:, 0]]
    size, r = lengths(along), radius
    volume = size * arcs.angle * r * r / 2
    second = product((volume[:, None] * along).T, along) / 12
    for k in range(2):
        weight = size * arcs.squares[:, k] * r * r * r * r / 4
        second += product((weight[:, None] * arcs.axes[:, k]).T, arcs.axes[:, k])
    found.add(volume, 0.5 * (place[edges[:, 0]] + place[edges[:, 1]]), size[:, None] * r * r * r / 3 * arcs.whole, second)


def _add_corners(
    found: _Moments, place: np.ndarray, polyhedron: Polyhedron, edges: np.ndarray, arcs: _Arcs, radius: float
) -> None:
    """About each corner the sector of a ball whose directions are the corner's normals. Its solid angle Ω is 2π less the
    angles of the faces there. With d the unit vectors along the edges from the corner, which are the normals of the
    sector's flat sides, Gauss's theorem has

        ∫ m dΩ = -½ Σ angle d,    ∫ m mᵀ dΩ = Ω/3 - ⅓ Σ (∫ m) dᵀ  over the edges' arcs."""
    r, count = radius, len(place)
    solid_angle, first, second = np.full(count, 2 * pi), np.zeros((count, 3)), np.zeros((3, 3))
    for loop in polyhedron.loops:
        to, back = place[np.roll(loop, -1)] - place[loop], place[np.roll(loop, 1)] - place[loop]
        solid_angle[loop] -= arctan2(lengths(np.cross(to, back)), dots(to, back))
    for one, other in ((0, 1), (1, 0)):
        d = place[edges[:, other]] - place[edges[:, one]]
        d = d / lengths(d)[:, None]
        np.add.at(first, edges[:, one], -0.5 * arcs.angle[:, None] * d)
        second -= product(arcs.whole.T, d) / 3
    second += solid_angle.sum() / 3 * np.eye(3)
    cube = r * r * r
    found.add(cube / 3 * solid_angle, place, cube * r / 4 * first, cube * r * r / 5 * (second + second.T) / 2)


def polyhedron_facets(polyhedron: Polyhedron, radius: float, detail: int) -> Facets:
    """A polyhedron that a ball sweeps, in flat faces: an edge in some detail / 8 strips, a power of two of them, and a
    corner in triangles as wide."""
    levels = ((detail - 1) // 8).bit_length()
    left = polyhedron.left_faces()
    corners: list[np.ndarray] = []  # (k, 4, 3) of faces
    for loop, normal in zip(polyhedron.loops, polyhedron.normals):
        k = np.arange(1, len(loop) - 1, 2)
        numbers = np.stack([np.zeros_like(k), k, k + 1, np.minimum(k + 2, len(loop) - 1)], axis=1)
        corners.append((polyhedron.vertices[loop] + radius * normal)[numbers])
    for (a, b), face in left.items():
        if a < b:
            arc = radius * _halved(polyhedron.normals[[[left[b, a], face]]], levels)
            ends = [polyhedron.vertices[end] + arc for end in (a, b)]
            corners.append(np.stack([ends[0][:, 0], ends[1][:, 0], ends[1][:, 1], ends[0][:, 1]], axis=1))
    for corner, vertex in enumerate(polyhedron.vertices):
        ball = vertex + radius * _halved(_fan(polyhedron, left, corner), levels)
        corners.append(ball[:, [0, 1, 2, 2]])
    found = np.concatenate(corners)
    return Facets(found.reshape(-1, 3), np.arange(4 * len(found)).reshape(-1, 4))


def _fan(polyhedron: Polyhedron, left: dict[tuple[int, int], int], corner: int) -> np.ndarray:
    """The directions of a corner's normals, as triangles (k, 3, 3) of directions, counter-clockwise seen from outside."""
    begin = face = next(face for (a, _), face in left.items() if a == corner)
    around: list[int] = []
    while not around or face != begin:
        around.append(face)
        loop = polyhedron.loops[face].tolist()
        face = left[corner, loop[loop.index(corner) - 1]]
    normals = polyhedron.normals[around]
    if len(around) == 3:
        return normals[None]
    middle = np.broadcast_to(normals.sum(axis=0) / lengths(normals.sum(axis=0)), normals.shape)
    return np.stack([middle, normals, np.roll(normals, -1, axis=0)], axis=1)


def _halved(sides: np.ndarray, levels: int) -> np.ndarray:
    """Arcs (k, 2, 3) or triangles (k, 3, 3) of directions, each cut at the middles of its sides so many times: what two of
    them share is cut alike."""
    for _ in range(levels):
        middles = sides + np.roll(sides, -1, axis=1)
        middles /= lengths(middles)[..., None]
        if sides.shape[1] == 2:
            sides = np.stack([sides[:, 0], middles[:, 0], middles[:, 0], sides[:, 1]], axis=1).reshape(-1, 2, 3)
        else:
            (a, b, c), (ab, bc, ca) = np.moveaxis(sides, 1, 0), np.moveaxis(middles, 1, 0)
            sides = np.stack([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], axis=1).reshape(-1, 3, 3)
    return sides


# ---- solids of revolution about z ------------------------------------------------------------------------------------


class _Turned:
    """∫ R² dz, ∫ z R² dz, ∫ z² R² dz and ∫ R⁴ dz of a solid whose radius at the height z is R."""

    def __init__(self) -> None:
        self.sums = np.zeros(4)

    def straight(self, below: float, r0: float, above: float, r1: float) -> None:
        """From the radius r0 at one height to r1 at another: R = r0 (1 - u) + r1 u, z = below + L u."""
        size = above - below
        square = (r0 * r0 + r0 * r1 + r1 * r1) / 3
        once = r0 * r0 / 12 + r0 * r1 / 6 + r1 * r1 / 4
        twice = r0 * r0 / 30 + r0 * r1 / 10 + r1 * r1 / 5
        s0, s1 = r0 * r0, r1 * r1
        fourth = (s0 * s0 + s0 * r0 * r1 + s0 * s1 + r0 * r1 * s1 + s1 * s1) / 5
        self._add(below, size, square, size * once, size * size * twice, fourth)

    def arc(self, middle: float, out: float, radius: float, low: float, high: float) -> None:
        """A circle's arc about the height `middle`, `out` from the axis: R = out + q, q² = radius² - s², s = z - middle
        from `low` to `high`."""
        upper, lower = (_arc_integrals(radius, s) for s in (high, low))
        q1, q2, q3, q4, s0, s1, s2, sq1, sq2, ssq1, ssq2 = (x - y for x, y in zip(upper, lower))
        a = out
        square = a * a * s0 + 2 * a * q1 + q2
        once = a * a * s1 + 2 * a * sq1 + sq2
        twice = a * a * s2 + 2 * a * ssq1 + ssq2
        fourth = a * a * a * a * s0 + 4 * a * a * a * q1 + 6 * a * a * q2 + 4 * a * q3 + q4
        self._add(middle, 1.0, square, once, twice, fourth)

    def _add(self, height: float, factor: float, square: float, once: float, twice: float, fourth: float) -> None:
        """Integrals with z from the height: moved to the origin."""
        moved = (square, height * square + once, height * height * square + 2 * height * once + twice, fourth)
        self.sums += factor * np.array(moved)

    def solid(self, density: float) -> MassProperties:
        """m = ρ π ∫ R², I_zz = ρ π / 2 ∫ R⁴, I_xx = I_zz / 2 + ρ π ∫ z² R² - m c²."""
        square, once, twice, fourth = (float(pi * density * x) for x in self.sums)
        center, about = once / square, 0.5 * fourth
        across = 0.5 * about + twice - square * center * center
        return MassProperties(square, np.array([0.0, 0.0, center]), np.diag([across, across, about]))


def _arc_integrals(r: float, s: float) -> tuple[float, ...]:
    """Of q, q², q³, q⁴, 1, s, s², s q, s q², s² q, s² q² over s, with q = sqrt(r² - s²), from 0 on."""
    q = float(np.sqrt(max((r - s) * (r + s), 0.0)))
    q1 = 0.5 * (s * q + r * r * float(arcsin(min(max(s / r, -1.0), 1.0))))
    square, s2, cube = r * r, s * s, q * q * q
    return (
        q1,
        square * s - s2 * s / 3,
        (s * cube + 3 * square * q1) / 4,
        square * square * s - 2 * square * s2 * s / 3 + s2 * s2 * s / 5,
        s,
        s2 / 2,
        s2 * s / 3,
        -cube / 3,
        square * s2 / 2 - s2 * s2 / 4,
        (square * q1 - s * cube) / 4,
        square * s2 * s / 3 - s2 * s2 * s / 5,
    )


def rounded_cylinder(radius: float, half_length: float, rounding: float, density: float) -> MassProperties:
    turned = _Turned()
    turned.straight(-half_length, radius + rounding, half_length, radius + rounding)
    turned.arc(half_length, radius, rounding, 0.0, rounding)
    turned.arc(-half_length, radius, rounding, -rounding, 0.0)
    return turned.solid(density)


def rounded_cone(radius: float, half_length: float, rounding: float, density: float) -> MassProperties:
    """Its side has the normal (H, radius) / l in the half plane through the axis."""
    ruling = float(np.sqrt(radius * radius + 4 * half_length * half_length))
    out, up = 2 * half_length / ruling * rounding, radius / ruling * rounding
    turned = _Turned()
    turned.arc(-half_length, radius, rounding, -rounding, up)
    turned.straight(up - half_length, radius + out, up + half_length, out)
    turned.arc(half_length, 0.0, rounding, up, rounding)
    return turned.solid(density)


def revolved_facets(
    out: Sequence[float], up: Sequence[float], rounding: float, turns: Sequence[float], detail: int
) -> Facets:
    """The corners (out, up) of a half plane through z, from the lowest on, each rounded between two of the angles `turns`
    of the normals of its sides over the half plane's first axis [rad]; turned about z."""
    angles = [np.linspace(a, b, max(detail // 4, 2) + 1) for a, b in pairwise(turns)]
    radii = np.concatenate([[0.0], *(x + rounding * cos(angle) for x, angle in zip(out, angles)), [0.0]])
    arcs = [z + rounding * sin(angle) for z, angle in zip(up, angles)]
    heights = np.concatenate([arcs[0][:1], *arcs, arcs[-1][-1:]])
    return revolved(np.maximum(radii, 0.0), heights, detail, 4)
