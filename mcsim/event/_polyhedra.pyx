"""Pairs of features of convex polyhedra, compiled: vertices over faces, edges over edges."""

from libc.math cimport INFINITY, fmax, fmin

import numpy as np

from mcsim.core.linear import lengths

from mcsim.core._math cimport dot, mat_t_vec, mat_vec, norm, sub
from mcsim.core._numbers cimport HUGE as FAR
from mcsim.core._types cimport Vec3
from mcsim.event._features cimport (POINT, TOUCHING, Bodies, Crossing, Frame, Moving, Pairs, Poses, carried, crossing,
                                    edge_frame, meet, numbers, placed, turned, vectors, whole)


cdef class VertexPolyhedron(Pairs):
    """A vertex on b, a convex polyhedron on a: its faces n . x = offset, (k, faces, 3) and (k, faces), padded by faces
    far away. The piece is the face that the vertex is outermost of; where several are as far within TOUCHING (over an
    edge) the one that faces b's shape, whose middle is `toward` (k, 3)."""

    cdef readonly object normals, offsets
    cdef int most
    cdef const Vec3* normal
    cdef const double* offset
    cdef const Vec3* vertex
    cdef const Vec3* toward

    def __init__(self, common, normals, offsets, vertex, toward):
        super().__init__(*common)
        self.most = max((len(part) for part in offsets), default=1)
        self.normals, self.offsets = np.zeros((self.count, self.most, 3)), np.full((self.count, self.most), FAR)
        for k in range(self.count):
            self.normals[k, :len(offsets[k])], self.offsets[k, :len(offsets[k])] = normals[k], offsets[k]
        self.normal, self.offset = vectors(self.normals), numbers(self.offsets)
        self.vertex, self.toward = <const Vec3*> self.keep(vertex, 3), <const Vec3*> self.keep(toward, 3)

    cdef Vec3 own(self, Py_ssize_t k, const Bodies* s, Vec3 local) noexcept nogil:
        """A point of b in a's axes."""
        cdef Py_ssize_t a = self.body[2 * k]
        return mat_t_vec(s.R[a], sub(placed(s, self.body[2 * k + 1], local), s.x[a]))

    cdef double separation(self, Py_ssize_t k, Py_ssize_t face, Vec3 own) noexcept nogil:
        return dot(self.normal[k * self.most + face], own) - self.offset[k * self.most + face]

    cdef Py_ssize_t nearest(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        cdef Vec3 own = self.own(k, s, self.vertex[k])
        cdef Vec3 way = sub(self.own(k, s, self.toward[k]), own)
        cdef double most = -FAR
        cdef double best = -FAR
        cdef double facing
        cdef Py_ssize_t face, found = 0
        for face in range(self.most):
            most = fmax(most, self.separation(k, face, own))
        for face in range(self.most):
            facing = dot(self.normal[k * self.most + face], way)
            if self.separation(k, face, own) >= most - TOUCHING and facing > best:
                best, found = facing, face
        return found

    cdef double others(self, Py_ssize_t k, Py_ssize_t piece, Vec3 own) noexcept nogil:
        """How far beyond any other face the vertex is, less TOUCHING."""
        cdef double most = -FAR
        cdef Py_ssize_t face
        for face in range(self.most):
            if face != piece:
                most = fmax(most, self.separation(k, face, own))
        return most - TOUCHING

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Vec3 own = self.own(k, s, self.vertex[k])
        return fmax(self.separation(k, piece, own), self.others(k, piece, own))

    cdef double over(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return self.others(k, piece, self.own(k, s, self.vertex[k]))

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Frame f
        f.n = turned(s, self.body[2 * k], self.normal[k * self.most + piece])
        f.p = carried(s, self.body[2 * k + 1], self.vertex[k])
        f.form, f.speed = POINT, 0.0
        return f


cdef class EdgeEdge(Pairs):
    """An edge of a polyhedron on a, one on b. They count while the plane across both, n along their cross product,
    keeps the two polyhedra apart (all their vertices on its two sides) better than any face and any other such plane
    does, and the edges meet within their lengths; otherwise faces and vertices do the touching.

    solids: of each pair of polyhedra (body a, body b, faces of a, of b, corners of a, of b), faces as (normals,
    offsets); whose (k,): the pair that the edges belong to, those of one pair one after the other."""

    cdef Py_ssize_t solid_count
    cdef object _solid_bodies, _face_start, _corner_start, _whose, _first, _scratch, _reach
    cdef const Vec3* ends
    cdef const Vec3* middles
    cdef const Vec3* normal
    cdef const double* offset
    cdef const Vec3* corner
    cdef const Py_ssize_t* solid_body       # (solids, 2)
    cdef const Py_ssize_t* face_start       # (2 solids + 1,)
    cdef const Py_ssize_t* corner_start     # (2 solids + 1,)
    cdef const Py_ssize_t* whose            # (k,)
    cdef const Py_ssize_t* first            # (solids + 1,) first edge pair of each pair of solids
    cdef const double* reach                # (solids, 2) of the corners from the centres of mass
    cdef Vec3* scratch

    def __init__(self, common, ends, middles, solids, whose):
        super().__init__(*common)
        self.solid_count = len(solids)
        self.ends, self.middles = <const Vec3*> self.keep(ends, 12), <const Vec3*> self.keep(middles, 6)
        faces = [part for solid in solids for part in solid[2:4]]
        corners = [part for solid in solids for part in solid[4:6]]
        self._solid_bodies = np.array([solid[:2] for solid in solids], np.intp)
        self._face_start = np.cumsum([0] + [len(part[1]) for part in faces]).astype(np.intp)
        self._corner_start = np.cumsum([0] + [len(part) for part in corners]).astype(np.intp)
        self._whose = np.array(whose, np.intp)
        self._first = np.searchsorted(self._whose, np.arange(len(solids) + 1)).astype(np.intp)
        self._reach = np.array([np.max(lengths(part)) for part in corners])
        normals, offsets = (np.concatenate([part[i] for part in faces]) for i in (0, 1))
        points = np.concatenate(corners)
        self._scratch = np.empty((2 * max(len(part) for part in corners), 3))
        arrays = [np.ascontiguousarray(part) for part in (normals, offsets, points)]
        self._kept += arrays
        self.normal, self.offset, self.corner = vectors(arrays[0]), numbers(arrays[1]), vectors(arrays[2])
        self.solid_body, self.whose, self.first = whole(self._solid_bodies), whole(self._whose), whole(self._first)
        self.face_start, self.corner_start = whole(self._face_start), whole(self._corner_start)
        self.reach, self.scratch = numbers(self._reach), <Vec3*> vectors(self._scratch)

    cdef bint apart(self, Py_ssize_t g, const Bodies* s) noexcept nogil:
        """Whether the two cannot come near within the horizon."""
        cdef Py_ssize_t a = self.solid_body[2 * g]
        cdef Py_ssize_t b = self.solid_body[2 * g + 1]
        cdef double both = self.reach[2 * g] + self.reach[2 * g + 1]
        return (norm(sub(s.x[b], s.x[a])) > 1.5 * both
                + (2.0 * self.horizon) * (norm(s.v[a]) + norm(s.v[b])) if self.horizon < INFINITY else False)

    cdef void stand(self, Py_ssize_t g, const Bodies* s) noexcept nogil:
        """The corners of both in the world, a's first."""
        cdef Vec3* out = self.scratch
        cdef Py_ssize_t i, side
        for side in range(2):
            for i in range(self.corner_start[2 * g + side], self.corner_start[2 * g + side + 1]):
                out[0] = placed(s, self.solid_body[2 * g + side], self.corner[i])
                out += 1

    cdef double by_faces(self, Py_ssize_t g, const Bodies* s) noexcept nogil:
        """How far the faces keep the two apart, the corners standing."""
        cdef double best = -FAR
        cdef double low, level
        cdef Py_ssize_t side, face, i, body
        cdef Py_ssize_t na = self.corner_start[2 * g + 1] - self.corner_start[2 * g]
        cdef Py_ssize_t nb = self.corner_start[2 * g + 2] - self.corner_start[2 * g + 1]
        cdef Vec3 n
        cdef const Vec3* other
        for side in range(2):
            body = self.solid_body[2 * g + side]
            other = self.scratch + na if side == 0 else self.scratch
            for face in range(self.face_start[2 * g + side], self.face_start[2 * g + side + 1]):
                n = mat_vec(s.R[body], self.normal[face])
                level = dot(n, s.x[body]) + self.offset[face]
                low = FAR
                for i in range(nb if side == 0 else na):
                    low = fmin(low, dot(n, other[i]) - level)
                best = fmax(best, low)
        return best

    cdef Crossing lines(self, Py_ssize_t k, const Bodies* s, Moving* pa, Moving* pb, Moving* ub) noexcept nogil:
        cdef const Vec3* own = self.ends + 4 * k
        cdef Py_ssize_t a = self.body[2 * k]
        cdef Py_ssize_t b = self.body[2 * k + 1]
        cdef Moving ua = turned(s, a, sub(own[1], own[0]))
        pa[0], pb[0], ub[0] = carried(s, a, own[0]), carried(s, b, own[2]), turned(s, b, sub(own[3], own[2]))
        return crossing(pa[0], ua, pb[0], ub[0], sub(pa.at, placed(s, a, self.middles[2 * k])))

    cdef double across(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        """The gap between the edges of k where their plane keeps the two apart, the corners standing; else FAR."""
        cdef Moving pa, pb, ub
        cdef Crossing c = self.lines(k, s, &pa, &pb, &ub)
        cdef Py_ssize_t g = self.whose[k]
        cdef Py_ssize_t na = self.corner_start[2 * g + 1] - self.corner_start[2 * g]
        cdef Py_ssize_t nb = self.corner_start[2 * g + 2] - self.corner_start[2 * g + 1]
        cdef double gap = dot(c.n.at, sub(pb.at, pa.at))
        cdef double level, high, low, depth = 0.0
        cdef Py_ssize_t i
        if not meet(&c):
            return FAR
        level, high, low = dot(c.n.at, pa.at), -FAR, FAR
        for i in range(na):
            high, low = fmax(high, dot(c.n.at, self.scratch[i]) - level), fmin(low, dot(c.n.at, self.scratch[i]) - level)
        if not high < TOUCHING:
            return FAR
        depth -= low
        level, high, low = dot(c.n.at, pb.at), -FAR, FAR
        for i in range(na, na + nb):
            high, low = fmax(high, level - dot(c.n.at, self.scratch[i])), fmin(low, level - dot(c.n.at, self.scratch[i]))
        if not high < TOUCHING:
            return FAR
        depth -= low
        return gap if gap > -0.5 * depth else FAR                     # else they are the far sides of both

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Py_ssize_t g = self.whose[k]
        cdef double found
        self.stand(g, s)
        found = self.across(k, s)
        return found if found == FAR or found >= self.by_faces(g, s) - TOUCHING else FAR

    cdef double over(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return 1.0 if self.gap(k, piece, s) == FAR else -FAR

    def gaps(self, Poses poses, const Py_ssize_t[::1] piece):
        cdef double[::1] out = np.full(self.count, FAR)
        cdef const Bodies* s = &poses.s
        cdef Py_ssize_t g, k
        cdef double best
        for g in range(self.solid_count):
            if self.apart(g, s):
                continue
            self.stand(g, s)
            best = self.by_faces(g, s)
            for k in range(self.first[g], self.first[g + 1]):
                out[k] = self.across(k, s)
                if out[k] != FAR:
                    best = fmax(best, out[k])
            for k in range(self.first[g], self.first[g + 1]):
                if out[k] < best - TOUCHING:
                    out[k] = FAR
        return np.asarray(out)

    def leaving(self, Poses poses, const Py_ssize_t[::1] piece):
        return np.where(self.gaps(poses, piece) == FAR, 1.0, -FAR)

    def separations(self, Poses poses):
        """(solids,) how far the best of all planes keeps each two polyhedra apart; negative: they overlap (S.
        Gottschalk, M. Lin, D. Manocha, "OBBTree", 1996: faces and pairs of edges are all the planes there are to
        try). Where one is found that keeps them apart the others are not tried."""
        cdef double[::1] out = np.full(self.solid_count, FAR)
        cdef const Bodies* s = &poses.s
        cdef Py_ssize_t g, k
        for g in range(self.solid_count):
            if self.apart(g, s):
                continue
            self.stand(g, s)
            out[g] = self.by_faces(g, s)
            for k in range(self.first[g], self.first[g + 1]):
                if out[g] > 0.0:
                    break
                out[g] = fmax(out[g], self.between_edges(k, s))
        return np.asarray(out)

    cdef double between_edges(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        """How far the plane across both edges keeps the two apart, on whichever side."""
        cdef Moving pa, pb, ub
        cdef Crossing c = self.lines(k, s, &pa, &pb, &ub)
        cdef Py_ssize_t g = self.whose[k]
        cdef Py_ssize_t na = self.corner_start[2 * g + 1] - self.corner_start[2 * g]
        cdef Py_ssize_t nb = self.corner_start[2 * g + 2] - self.corner_start[2 * g + 1]
        cdef double[2] low
        cdef double[2] high
        cdef Py_ssize_t i
        cdef int side
        if c.parallel:
            return -FAR
        low[0] = low[1] = FAR
        high[0] = high[1] = -FAR
        for i in range(na + nb):
            side = i >= na
            low[side] = fmin(low[side], dot(c.n.at, self.scratch[i]))
            high[side] = fmax(high[side], dot(c.n.at, self.scratch[i]))
        return fmax(low[1] - high[0], low[0] - high[1])

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Moving pa, pb, ub
        cdef Crossing c = self.lines(k, s, &pa, &pb, &ub)
        return edge_frame(&c, pb, ub, 0.0)
