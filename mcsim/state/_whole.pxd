"""Motions of several bodies as one rigid body of which only some are allowed: M-orthogonal projection on them.

With p the momenta about the centre of mass, Mc the inertia of the whole there, R the rows of what is barred:

    kept = Mc^-1 (p - R' x),     R kept = 0

by Gram and Schmidt on R in the metric of Mc^-1, so that no row need be independent of the others. Rows are not made of
length one in that metric: a root of a mass rounds otherwise where all masses are doubled."""

from libc.stdint cimport int32_t
from libc.string cimport memset
from mcsim.core._math cimport (add, add_scaled, cross, dot, mat_add, mat_vec, norm, perpendicular, scale, sub,
                               vec3)
from mcsim.core._types cimport Mat3, Twist, Vec3
from mcsim.state._inertia cimport about_point, inertia_world, total_mass, turn_of
from mcsim.state._bodies cimport Bodies

ctypedef struct Whole:
    double mass
    Mat3 inertia                         # about the centre of mass, world axes
    Mat3 inverse
    int count                            # of what is barred
    Twist bars[6]                        # R
    Twist moves[6]                       # Mc^-1 r' / (r Mc^-1 r') of each row r


cdef inline Mat3 rigid_motion(const Bodies* bodies, const int32_t* chosen, Py_ssize_t count, Twist* whole, Vec3* center,
                              Vec3* turning) noexcept nogil:
    """The motion of the chosen bodies as one rigid body with the same momenta about the centre of mass; turning: the
    angular one. -> the inertia about it [kg m2]"""
    cdef double mass = total_mass(bodies, chosen, count)
    cdef double m
    cdef Py_ssize_t k
    cdef int i
    cdef Mat3 inertia, total
    cdef Vec3 d, momentum
    cdef const Twist* t
    center[0] = momentum = turning[0] = vec3(0.0, 0.0, 0.0)
    memset(&total, 0, sizeof(Mat3))
    for k in range(count):
        i = chosen[k]
        m = 1.0 / bodies.inv_mass[i]
        center[0] = add_scaled(center[0], m, bodies.position[i])
        momentum = add_scaled(momentum, m, bodies.twist[i].v)
    center[0] = scale(1.0 / mass, center[0])
    whole.v = scale(1.0 / mass, momentum)
    for k in range(count):
        i = chosen[k]
        t = &bodies.twist[i]
        m = 1.0 / bodies.inv_mass[i]
        inertia = inertia_world(bodies, i)
        d = sub(bodies.position[i], center[0])
        turning[0] = add(turning[0], add_scaled(mat_vec(inertia, t.w), m, cross(d, sub(t.v, whole.v))))
        total = mat_add(total, about_point(inertia, m, d))
    whole.w = turn_of(total, turning[0])
    return total


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
    whole.bars[whole.count].v, whole.bars[whole.count].w = force, moment
    whole.moves[whole.count].v, whole.moves[whole.count].w = scale(1.0 / s, move.v), scale(1.0 / s, move.w)
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


cdef inline double keep_allowed(const Whole* whole, Twist* kept) noexcept nogil:
    """What is allowed of the twist with all momenta. -> its kinetic energy [J]"""
    cdef double s
    cdef int i
    for i in range(whole.count):
        s = dot(whole.bars[i].v, kept.v) + dot(whole.bars[i].w, kept.w)
        kept.v = add_scaled(kept.v, -s, whole.moves[i].v)
        kept.w = add_scaled(kept.w, -s, whole.moves[i].w)
    return 0.5 * (whole.mass * dot(kept.v, kept.v) + dot(kept.w, mat_vec(whole.inertia, kept.w)))
