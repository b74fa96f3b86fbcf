"""Where bodies may touch: pairs of features whose distance and its first two derivatives are known in closed form.

A feature is a point with a radius (a sphere, an end of a capsule, with radius 0 a vertex), a plane, a polyhedron's
face, an edge, or a box as a whole for a ball. Of every pair that may touch, at any poses:

    gap      phi [m], negative = overlap
    n        unit normal from a to b;  p: the point of contact
    n', p'   how both move as the features do (p goes along the surfaces, it is not a point of a body)

By them phi' = n . s, s = v_b + w_b x r_b - v_a - w_a x r_a with arms r = p - x, and along any direction e

    d/dt (e . s) = e . (v_b' + w_b' x r_b - v_a' - w_a' x r_a) + e . (w_b x r_b' - w_a x r_a') + e' . s,    r' = p' - v

which for e = n is phi''. All of it in arrays over many pairs at once: balls in free flight should cost little.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mcsim.core.rotation import matrices

TOUCHING = 1e-9             # [m] closer than this, features touch
FAR = 1e300
INSIDE = 1e-9               # part of an edge that is left to its ends, which are vertices


class Poses:
    """Of all bodies: x (n, 3), R (n, 3, 3) of unit quaternions q (n, 4), v (n, 3), w (n, 3)."""

    def __init__(self, x, q, v, w):
        self.x, self.q, self.v, self.w = x, q, v, w

    @cached_property
    def R(self):
        """(n, 3, 3), made when it is first asked for: balls in flight need none."""
        return matrices(self.q)


class Frames(NamedTuple):
    """Of k contacts: normal, point and their rates, (k, 3) each."""

    normal: np.ndarray
    point: np.ndarray
    normal_rate: np.ndarray
    point_rate: np.ndarray


def dot(a, b):
    """Row by row."""
    return np.einsum("...i,...i->...", a, b)


def cross(a, b):
    """Row by row; at this size three times as fast as np.cross."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape))
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


def carried(poses, body, local):
    """Points (k, 3) fixed in bodies, given from the centre of mass in body axes: where they are, and how they move."""
    arm = np.einsum("kij,kj->ki", poses.R[body], local)
    return poses.x[body] + arm, poses.v[body] + cross(poses.w[body], arm)


def placed(poses, body, local):
    """Where points (k, 3) fixed in bodies are; local: None where they are the centres of mass."""
    return poses.x[body] if local is None else poses.x[body] + np.einsum("kij,kj->ki", poses.R[body], local)


def off_center(points):
    """The points, or None if they are all at the centres of mass."""
    return points if np.any(points) else None


def turned(poses, body, local):
    """The same of directions."""
    direction = np.einsum("kij,kj->ki", poses.R[body], local)
    return direction, cross(poses.w[body], direction)


def unit(d, d_rate):
    """Unit vectors along d, their rates, and the lengths."""
    length = np.sqrt(dot(d, d))
    n = d / length[:, None]
    return n, (d_rate - n * dot(n, d_rate)[:, None]) / length[:, None], length


class Pairs:
    """Pairs of one kind. bodies (k, 2), shapes (k, 2): numbers of a and b; friction, restitution (k,). A pair may touch
    in several ways: `piece` says by which (the face of a polyhedron)."""

    def __init__(self, bodies, shapes, friction, restitution):
        self.bodies = np.array(bodies, np.intp).reshape(-1, 2)
        self.a, self.b = self.bodies.T
        self.shapes = np.array(shapes, np.intp).reshape(-1, 2)
        self.friction, self.restitution = np.array(friction, float), np.array(restitution, float)
        self.count = len(self.bodies)

    def only(self, chosen):
        """The same of some of the pairs, by their numbers (m,)."""
        other = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, list):
                setattr(other, name, [None if part is None else part[chosen] for part in value])
            elif isinstance(value, np.ndarray):
                setattr(other, name, value[chosen])
        other.count = len(other.bodies)
        return other

    def pieces(self, poses) -> np.ndarray:
        """(k,) by which each would touch now."""
        return self._only_piece

    @cached_property
    def _only_piece(self):
        return np.zeros(self.count, np.intp)

    def gaps(self, poses, piece) -> np.ndarray:
        """(k,) phi [m]"""
        raise NotImplementedError

    def leaving(self, poses, piece) -> np.ndarray:
        """(k,) [m] how far beyond the piece the point is; negative: over it. Contacts end when this is positive."""
        return np.full(self.count, -FAR)

    def frames(self, i, poses, piece) -> Frames:
        """Of the pairs i (m,) at their pieces (m,)."""
        raise NotImplementedError


class PointPlane(Pairs):
    """A point with a radius on b, a plane on a: n . x = offset in a's axes from its centre of mass."""

    def __init__(self, common, normal, offset, point, radius):
        super().__init__(*common)
        self.normal, self.offset = np.array(normal, float), np.array(offset, float)
        self.point, self.radius = np.array(point, float), np.array(radius, float)
        self._arm = off_center(self.point)

    def gaps(self, poses, piece):
        center = placed(poses, self.b, self._arm)
        normal = np.einsum("kij,kj->ki", poses.R[self.a], self.normal)
        return dot(normal, center - poses.x[self.a]) - self.offset - self.radius

    def frames(self, i, poses, piece):
        center, rate = carried(poses, self.b[i], self.point[i])
        normal, turn = turned(poses, self.a[i], self.normal[i])
        radius = self.radius[i, None]
        return Frames(normal, center - radius * normal, turn, rate - radius * turn)


class PointPoint(Pairs):
    """Two points with radii."""

    def __init__(self, common, points, radii):
        super().__init__(*common)
        self.points, self.radii = np.array(points, float).reshape(-1, 2, 3), np.array(radii, float).reshape(-1, 2)
        self._arms, self._reach = [off_center(self.points[:, k]) for k in (0, 1)], self.radii.sum(axis=1)

    def gaps(self, poses, piece):
        d = placed(poses, self.b, self._arms[1]) - placed(poses, self.a, self._arms[0])
        return np.sqrt(dot(d, d)) - self._reach

    def frames(self, i, poses, piece):
        (pa, va), (pb, vb) = (carried(poses, body[i], self.points[i, k]) for k, body in ((0, self.a), (1, self.b)))
        normal, turn, _ = unit(pb - pa, vb - va)
        radius = self.radii[i, 1, None]
        return Frames(normal, pb - radius * normal, turn, vb - radius * turn)


class PointSegment(Pairs):
    """A point with a radius on b, a segment with a radius on a: from -half to half along a unit axis about its
    centre."""

    def __init__(self, common, center, axis, half, point, radii):
        super().__init__(*common)
        self.center, self.axis, self.half = (np.array(part, float) for part in (center, axis, half))
        self.point, self.radii = np.array(point, float), np.array(radii, float).reshape(-1, 2)

    def _arm(self, i, poses):
        """From the nearest point of the segment to the point, its rate, and both points' own."""
        pb, vb = carried(poses, self.b[i], self.point[i])
        middle, vm = carried(poses, self.a[i], self.center[i])
        axis, turn = turned(poses, self.a[i], self.axis[i])
        along = dot(pb - middle, axis)
        inside = np.abs(along) < self.half[i]
        rate = np.where(inside, dot(vb - vm, axis) + dot(pb - middle, turn), 0.0)
        along = np.clip(along, -self.half[i], self.half[i])
        foot, foot_rate = middle + along[:, None] * axis, vm + along[:, None] * turn + rate[:, None] * axis
        return pb - foot, vb - foot_rate, pb, vb

    def gaps(self, poses, piece):
        arm = self._arm(np.arange(self.count), poses)[0]
        return np.sqrt(dot(arm, arm)) - self.radii.sum(axis=1)

    def frames(self, i, poses, piece):
        arm, rate, pb, vb = self._arm(i, poses)
        normal, turn, _ = unit(arm, rate)
        radius = self.radii[i, 1, None]
        return Frames(normal, pb - radius * normal, turn, vb - radius * turn)


class BallBox(Pairs):
    """A ball on b, a box on a: faces, edges and corners as one smooth function of the ball's centre outside the box. A
    centre inside it is overlap by more than the radius, which no event leaves behind."""

    def __init__(self, common, center, turn, half, point, radius):
        super().__init__(*common)
        self.center, self.turn, self.half = (np.array(part, float) for part in (center, turn, half))
        self.point, self.radius = np.array(point, float), np.array(radius, float)

    def _arm(self, i, poses):
        """From the box to the ball's centre, its rate, the centre and its velocity."""
        pb, vb = carried(poses, self.b[i], self.point[i])
        middle, vm = carried(poses, self.a[i], self.center[i])
        axes = poses.R[self.a[i]] @ self.turn[i]                          # columns: the box's axes in the world
        own = np.einsum("kij,ki->kj", axes, pb - middle)
        w = poses.w[self.a[i]]
        rate = np.einsum("kij,ki->kj", axes, vb - vm - cross(w, pb - middle))
        outside = np.abs(own) > self.half[i]
        arm = np.einsum("kij,kj->ki", axes, own - np.clip(own, -self.half[i], self.half[i]))
        arm_rate = np.einsum("kij,kj->ki", axes, np.where(outside, rate, 0.0)) + cross(w, arm)
        return arm, arm_rate, pb, vb

    def gaps(self, poses, piece):
        arm = self._arm(np.arange(self.count), poses)[0]
        return np.sqrt(dot(arm, arm)) - self.radius

    def frames(self, i, poses, piece):
        arm, rate, pb, vb = self._arm(i, poses)
        normal, turn, _ = unit(arm, rate)
        radius = self.radius[i, None]
        return Frames(normal, pb - radius * normal, turn, vb - radius * turn)


class VertexPolyhedron(Pairs):
    """A vertex on b, a convex polyhedron on a: its faces n . x = offset, (k, faces, 3) and (k, faces), padded by faces
    far away. The piece is the face that the vertex is outermost of; where several are as far within TOUCHING (over an
    edge) the one that faces b's shape, whose middle is `toward` (k, 3)."""

    def __init__(self, common, normals, offsets, vertex, toward):
        super().__init__(*common)
        most = max((len(part) for part in offsets), default=1)
        self.normals, self.offsets = np.zeros((self.count, most, 3)), np.full((self.count, most), FAR)
        for k in range(self.count):
            self.normals[k, :len(offsets[k])], self.offsets[k, :len(offsets[k])] = normals[k], offsets[k]
        self.vertex, self.toward = np.array(vertex, float), np.array(toward, float)

    def _own(self, i, poses, local):
        """Points on b in a's axes."""
        point, _ = carried(poses, self.b[i], local)
        return np.einsum("kij,ki->kj", poses.R[self.a[i]], point - poses.x[self.a[i]])

    def _separations(self, poses):
        """(k, faces)"""
        own = self._own(np.arange(self.count), poses, self.vertex)
        return np.einsum("kfj,kj->kf", self.normals, own) - self.offsets, own

    def pieces(self, poses):
        separations, own = self._separations(poses)
        middle = self._own(np.arange(self.count), poses, self.toward)
        facing = np.einsum("kfj,kj->kf", self.normals, middle - own)
        near = separations >= np.max(separations, axis=1)[:, None] - TOUCHING
        return np.argmax(np.where(near, facing, -FAR), axis=1)

    def gaps(self, poses, piece):
        separations, _ = self._separations(poses)
        k = np.arange(self.count)
        own = separations[k, piece]
        separations[k, piece] = -FAR
        return np.maximum(own, np.max(separations, axis=1) - TOUCHING)

    def leaving(self, poses, piece):
        separations, _ = self._separations(poses)
        separations[np.arange(self.count), piece] = -FAR
        return np.max(separations, axis=1) - TOUCHING

    def frames(self, i, poses, piece):
        point, rate = carried(poses, self.b[i], self.vertex[i])
        normal, turn = turned(poses, self.a[i], self.normals[i, piece])
        return Frames(normal, point, turn, rate)


class EdgeEdge(Pairs):
    """An edge of a polyhedron on a, one on b. They count while the plane across both, n along their cross product,
    keeps the two polyhedra apart (all their vertices, `corners`, on its two sides) better than any face and any other
    such plane does, and the edges meet within their lengths; otherwise faces and vertices do the touching.

    solids: of each pair of polyhedra (body a, body b, faces of a, of b, corners of a, of b), faces as (normals,
    offsets); whose (k,): the pair that the edges belong to."""

    def __init__(self, common, ends, middles, corners, solids, whose):
        super().__init__(*common)
        self.solids, self.whose = solids, whose
        self.ends = np.array(ends, float).reshape(-1, 2, 2, 3)              # (k, side, end, 3)
        self.middles = np.array(middles, float).reshape(-1, 2, 3)
        self.corners = corners                                              # ((k, most, 3), (k, most, 3)), padded

    def _lines(self, i, poses):
        """Starts, directions and their rates of both edges; normal and its rate."""
        lines = []
        for side, body in ((0, self.a[i]), (1, self.b[i])):
            start, end = self.ends[i, side, 0], self.ends[i, side, 1]
            lines.append((*carried(poses, body, start), *turned(poses, body, end - start)))
        (pa, va, ua, ta), (pb, vb, ub, tb) = lines
        c, c_rate = cross(ua, ub), cross(ta, ub) + cross(ua, tb)
        size = np.sqrt(dot(c, c)) / np.sqrt(dot(ua, ua) * dot(ub, ub))
        parallel = size < 1e-6
        c = np.where(parallel[:, None], np.array([1.0, 0.0, 0.0]), c)
        outward = pa - carried(poses, self.a[i], self.middles[i, 0])[0]
        sign = np.where(dot(c, outward) < 0.0, -1.0, 1.0)[:, None]
        n, n_rate, _ = unit(sign * c, sign * c_rate)
        return lines, n, n_rate, parallel

    @staticmethod
    def _feet(lines, n, n_rate):
        """Where on a's edge and b's edge, in parts of them, the nearest points are; and their rates."""
        (pa, va, ua, ta), (pb, vb, ub, tb) = lines
        # (pb + s_b ub - pa - s_a ua) is along n: its products with the normals of either edge in the plane vanish.
        feet, rates = [], []
        for p, v, u, t, other, other_rate, sign in ((pb - pa, vb - va, ua, ta, ub, tb, 1.0),
                                                    (pb - pa, vb - va, ub, tb, ua, ta, -1.0)):
            across, across_rate = cross(n, other), cross(n_rate, other) + cross(n, other_rate)
            top, bottom = dot(p, across), dot(u, across)
            foot = sign * top / bottom
            rate = (sign * (dot(v, across) + dot(p, across_rate))
                    - foot * (dot(t, across) + dot(u, across_rate))) / bottom
            feet.append(foot)
            rates.append(rate)
        return feet, rates

    def gaps(self, poses, piece):
        i = np.arange(self.count)
        lines, n, n_rate, parallel = self._lines(i, poses)
        (pa, _, _, _), (pb, _, _, _) = lines
        gap = dot(n, pb - pa)
        with np.errstate(divide="ignore", invalid="ignore"):
            feet, _ = self._feet(lines, n, n_rate)
        met, depth = ~parallel, np.zeros(self.count)
        for foot in feet:
            met &= (foot > INSIDE) & (foot < 1.0 - INSIDE)
        for side, body, start, sign in ((0, self.a, pa, 1.0), (1, self.b, pb, -1.0)):
            own = np.einsum("kij,kcj->kci", poses.R[body], self.corners[side]) + poses.x[body][:, None]
            beyond = sign * np.einsum("ki,kci->kc", n, own - start[:, None])
            met &= np.max(beyond, axis=1) < TOUCHING
            depth -= np.min(beyond, axis=1)
        met &= gap > -0.5 * depth                    # else they are the far sides of both
        if np.any(met):
            best = self._face_separations(poses, self.whose[met])
            np.maximum.at(best, self.whose[met], gap[met])
            met[met] = gap[met] >= best[self.whose[met]] - TOUCHING
        return np.where(met, gap, FAR)

    def _face_separations(self, poses, whose):
        """(solids,) how far the faces of the polyhedra keep them apart, of those asked for; negative: none does."""
        found = np.full(len(self.solids), -FAR)
        for g in np.unique(whose).tolist():
            a, b, *data = self.solids[g]
            for base, tip, (normals, offsets), corners in ((a, b, data[0], data[3]), (b, a, data[1], data[2])):
                own = (corners @ poses.R[tip].T + poses.x[tip] - poses.x[base]) @ poses.R[base]
                found[g] = max(found[g], float(np.max(np.min(normals @ own.T, axis=1) - offsets)))
        return found

    def separations(self, poses) -> np.ndarray:
        """(solids,) how far the best of all planes keeps each two polyhedra apart; negative: they overlap (S.
        Gottschalk, M. Lin, D. Manocha, "OBBTree", 1996: faces and pairs of edges are all the planes there are to
        try)."""
        i = np.arange(self.count)
        _, n, _, parallel = self._lines(i, poses)
        ends = [np.einsum("ki,kci->kc", n, np.einsum("kij,kcj->kci", poses.R[body], self.corners[side])
                          + poses.x[body][:, None]) for side, body in ((0, self.a), (1, self.b))]
        either = np.maximum(np.min(ends[1], axis=1) - np.max(ends[0], axis=1),
                            np.min(ends[0], axis=1) - np.max(ends[1], axis=1))
        best = self._face_separations(poses, self.whose)
        np.maximum.at(best, self.whose, np.where(parallel, -FAR, either))
        return best

    def leaving(self, poses, piece):
        return np.where(self.gaps(poses, piece) == FAR, 1.0, -FAR)

    def frames(self, i, poses, piece):
        lines, n, n_rate, _ = self._lines(i, poses)
        feet, rates = self._feet(lines, n, n_rate)
        _, (pb, vb, ub, tb) = lines
        foot, rate = feet[1][:, None], rates[1][:, None]
        return Frames(n, pb + foot * ub, n_rate, vb + foot * tb + rate * ub)
