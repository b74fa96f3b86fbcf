"""Motions of several bodies as one rigid body of which only some are allowed: M-orthogonal projection on them.

With p the momenta about the centre of mass, Mc the inertia of the whole there, R the rows of what is barred:

    kept = Mc^-1 (p - R' x),     R kept = 0

by Gram and Schmidt on R in the metric of Mc^-1, so that no row need be independent of the others."""

from libc.math cimport sqrt
from mcsim.core._math cimport add_scaled, cross, dot, mat_vec, norm, perpendicular, scale, vec3
from mcsim.core._types cimport Mat3, Twist, Vec3

ctypedef struct Whole:
    double mass
    Mat3 inverse                         # of the inertia about the centre of mass, world axes
    int count                            # of what is barred
    Twist bars[6]                        # R
    Twist moves[6]                       # Mc^-1 R'


cdef inline void bar(Whole* whole, Vec3 force, Vec3 moment) noexcept nogil:
    """No motion along the row (force, moment about the centre of mass) any more. A row of which less than 1e-14 is left, in
    squares of the metric, is implied by those before."""
    cdef double all = dot(force, force) / whole.mass + dot(moment, mat_vec(whole.inverse, moment))
    cdef double s
    cdef int i
    cdef Twist move
    for i in range(whole.count):
        s = dot(force, whole.moves[i].v) + dot(moment, whole.moves[i].w)
        force = add_scaled(force, -s, whole.bars[i].v)
        moment = add_scaled(moment, -s, whole.bars[i].w)
    move.v = scale(1.0 / whole.mass, force)
    move.w = mat_vec(whole.inverse, moment)
    s = dot(force, move.v) + dot(moment, move.w)
    if whole.count == 6 or not s > 1e-14 * all:
        return
    s = 1.0 / sqrt(s)
    whole.bars[whole.count].v, whole.bars[whole.count].w = scale(s, force), scale(s, moment)
    whole.moves[whole.count].v, whole.moves[whole.count].w = scale(s, move.v), scale(s, move.w)
    whole.count += 1


cdef inline void bar_weights(Whole* whole, Vec3 gravity) noexcept nogil:
    """No motion by which weights do work, or which turns them against the whole."""
    cdef Vec3 nothing = vec3(0.0, 0.0, 0.0)
    cdef Vec3 up, side
    if not dot(gravity, gravity) > 0.0:
        return
    up = scale(1.0 / norm(gravity), gravity)
    side = perpendicular(up)
    bar(whole, up, nothing)
    bar(whole, nothing, side)
    bar(whole, nothing, cross(up, side))


cdef inline double keep_allowed(const Whole* whole, Twist* kept, Vec3 turning) noexcept nogil:
    """What is allowed of the twist with all momenta, of which `turning` is the angular one. -> its kinetic energy [J]"""
    cdef Vec3 velocity = kept.v
    cdef double s
    cdef int i
    for i in range(whole.count):
        s = dot(whole.bars[i].v, kept.v) + dot(whole.bars[i].w, kept.w)
        kept.v = add_scaled(kept.v, -s, whole.moves[i].v)
        kept.w = add_scaled(kept.w, -s, whole.moves[i].w)
    return 0.5 * (whole.mass * dot(kept.v, velocity) + dot(kept.w, turning))
