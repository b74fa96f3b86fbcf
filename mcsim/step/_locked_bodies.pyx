"""Locks of bodies on their own, as a constraint set that has no rows: they are in the bodies' inverse masses.

A lock against the world along world axes on a body that no other joint holds, P the projection on what it leaves free: all
that acts on the body moves it by P / m, and turns it by (P I P)^+ (state/_inertia.pxd). So contacts and forces are solved
with the lock in them, exactly and at no cost. What the lock itself asks for, that its error is gone at the end of the drift
and nothing moves along it from then on, is written into the velocities, which nothing else changes there:

    (1 - P) v = -C / h  before the drift, at most as fast as joints close,      (1 - P) v = 0  after it

Everywhere else (other integrators, stabilizations and joints, `world.rows`) a lock is a joint with rows
(constraints/_lock.pxd): the same motion, as tests hold the one to the other.

The force of the lock is what all else gave its body in the last step, less what the body has of it.
"""

from libc.stdint cimport int32_t
from mcsim.constraints._islands cimport add_load
from mcsim.constraints._joint_frames cimport JointFrames
from mcsim.constraints._parts cimport point_frames
from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add, add_scaled, cross, mat_column, mat_vec, quat_matrix, quat_mul, scale, sub, vec3
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._inertia cimport LOCKED_TURNS, refresh_inertia, spin_momentum
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold

import numpy as np

from mcsim.state.fields import JOINT_TYPES

LOCK = JOINT_TYPES.index("lock")


def locks_alone(joints, sizes, dynamic):
    """(k,) numbers of the joints that are locks of a body on its own against the world, along world axes at its centre of
    mass. joints: (j,) JOINT_DTYPE; sizes: (j,) rows of each joint's own; dynamic: (n,) bool of bodies."""
    ends = np.stack([joints["body_a"], joints["body_b"]], axis=1)
    held = np.bincount(ends[(ends >= 0) & (sizes > 0)[:, None]], minlength=len(dynamic))
    body = joints["body_b"]
    chosen = (joints["type"] == LOCK) & (joints["body_a"] < 0) & (sizes > 0) & (joints["breakable"] == 0)
    chosen &= (joints["basis_a"] == (1.0, 0.0, 0.0, 0.0)).all(axis=1)
    chosen &= (joints["locks"] & 7 == 0) | (np.abs(joints["anchor_b"]).max(axis=1) <= CENTRED * joints["length"])
    return np.flatnonzero(chosen & (held[body] == 1) & dynamic[body]).astype(np.int32)


# Of a body's size: a point so near its centre of mass is that.
CENTRED = 1e-12


cdef inline Vec3 chosen(Vec3 x, int axes) noexcept nogil:
    """Its numbers along these axes, else 0."""
    return vec3(x.x if axes & 1 else 0.0, x.y if axes & 2 else 0.0, x.z if axes & 4 else 0.0)


cdef inline Vec3 way_off(const Joint* joint, const Bodies* bodies) noexcept nogil:
    """C of the axes along which it does not slide."""
    cdef JointFrames f
    point_frames(&f, joint, bodies)
    return f.offset


cdef inline Vec3 angle_off(const Joint* joint, const Bodies* bodies, int turns) noexcept nogil:
    """C of the axes about which it does not turn, small angles; of a single one there is none."""
    cdef Quat q = quat_mul(bodies.orientation[joint.body_b], joint.basis_b)
    cdef Mat3 r
    cdef Vec3 axis
    cdef int k
    if turns == 7:
        return scale(2.0 if q.w >= 0.0 else -2.0, vec3(q.x, q.y, q.z))
    for k in range(3):
        if turns == 7 ^ 1 << k:
            r = quat_matrix(q)
            axis = vec3(k == 0, k == 1, k == 2)
            return cross(axis, mat_column(r, k))
    return vec3(0.0, 0.0, 0.0)


cdef inline Vec3 closing(Vec3 off, int axes, double h, double most) noexcept nogil:
    """-off / h along these axes, at most so fast."""
    return chosen(vec3(min(max(-off.x / h, -most), most), min(max(-off.y / h, -most), most),
                       min(max(-off.z / h, -most), most)), axes)


cdef inline void slide_at(Twist* twist, Vec3 v, int axes) noexcept nogil:
    """Its velocity along these axes is v, by an impulse along them."""
    twist.v = add(chosen(twist.v, 7 ^ axes), v)


cdef inline void turn_at(const Bodies* bodies, int32_t i, Vec3 w, int axes) noexcept nogil:
    """Its angular velocity about these axes is w, by an impulse about them: the spin momentum about the others stays."""
    cdef Vec3 now = chosen(bodies.twist[i].w, axes)
    cdef Vec3 change
    if now.x == w.x and now.y == w.y and now.z == w.z:
        return
    change = spin_momentum(bodies, i, bodies.orientation[i], sub(bodies.twist[i].w, w))
    bodies.twist[i].w = add(w, mat_vec(bodies.inv_inertia_world[i], change))


cdef class LockedBodies(ConstraintSet):
    """numbers: of locks_alone()."""

    def __init__(self, StepContext context not None, numbers):
        self.context = context
        places = np.full(max(context.bodies.count, 1), -1, np.int32)
        for k in range(len(numbers)):
            places[context.joints[numbers[k]].body_b] = k
        self.kept = numbers, places, np.zeros((len(numbers), 6)), np.zeros((len(numbers), 6)), np.zeros((len(numbers), 3))
        self.number, self.place, self.count = integers(self.kept[0]), integers(self.kept[1]), len(numbers)
        self.start, self.load = <Twist*>doubles(self.kept[2]), <Twist*>doubles(self.kept[3])
        self.place_before = <Vec3*>doubles(self.kept[4])
        self.folded = False

    cdef bint awake(self, const Joint* joint) noexcept nogil:
        return self.context.bodies.island[joint.body_b] < 0

    cdef void begin_step(self) noexcept nogil:
        """The bodies' velocities and spin momenta."""
        cdef const Bodies* bodies = self.context.bodies
        cdef Py_ssize_t k
        cdef int32_t i
        for k in range(self.count):
            i = self.context.joints[self.number[k]].body_b
            self.place_before[k] = bodies.position[i]
            self.start[k].v = bodies.twist[i].v
            self.start[k].w = spin_momentum(bodies, i, bodies.orientation[i], bodies.twist[i].w)

    cdef void claim(self) noexcept nogil:
        cdef Joint* joint
        cdef Py_ssize_t k
        for k in range(0 if self.folded else self.count):
            joint = &self.context.joints[self.number[k]]
            joint.folded = 1
            self.context.bodies.locks[joint.body_b] = joint.locks
            if joint.locks & LOCKED_TURNS and self.awake(joint):
                refresh_inertia(self.context.bodies, joint.body_b)
        self.folded = True

    cdef void unfold(self) noexcept nogil:
        """All are joints with rows, until they are claimed again."""
        cdef Joint* joint
        cdef Py_ssize_t k
        for k in range(self.count):
            joint = &self.context.joints[self.number[k]]
            joint.folded = 0
            self.context.bodies.locks[joint.body_b] = 0
            if joint.locks & LOCKED_TURNS and self.awake(joint):
                refresh_inertia(self.context.bodies, joint.body_b)
        self.folded = False

    cdef void warm_start(self) noexcept nogil:
        cdef Bodies* bodies = self.context.bodies
        cdef double h = self.context.settings.h
        cdef const Joint* joint
        cdef Vec3 off
        cdef Py_ssize_t k
        for k in range(self.count):
            joint = &self.context.joints[self.number[k]]
            if not self.awake(joint):
                continue
            if joint.locks & 7:
                off = way_off(joint, bodies)
                slide_at(&bodies.twist[joint.body_b], closing(off, joint.locks & 7, h, joint.push[0]), joint.locks & 7)
            if joint.locks & LOCKED_TURNS:
                off = angle_off(joint, bodies, joint.locks >> 3)
                turn_at(bodies, joint.body_b, closing(off, joint.locks >> 3, h, joint.push[1]), joint.locks >> 3)

    cdef void begin_relax(self) noexcept nogil:
        cdef const Joint* joint
        cdef Vec3 still = vec3(0.0, 0.0, 0.0)
        cdef Py_ssize_t k
        for k in range(self.count):
            joint = &self.context.joints[self.number[k]]
            if self.awake(joint):
                slide_at(&self.context.bodies.twist[joint.body_b], still, joint.locks & 7)
                turn_at(self.context.bodies, joint.body_b, still, joint.locks >> 3)

    cdef void store(self) noexcept nogil:
        """The locks' wrenches of a substep, the mean of the step's."""
        cdef const Manifold* m
        cdef Py_ssize_t k, n
        for k in range(self.count):
            if self.awake(&self.context.joints[self.number[k]]):
                self.load[k] = self.unlocked_load(&self.context.joints[self.number[k]])
        for n in range(self.context.store.manifold_count):
            m = &self.context.store.manifolds[n]
            self.bear(m, m.body_a)
            self.bear(m, m.body_b)
        for k in range(self.count):
            if self.awake(&self.context.joints[self.number[k]]):
                self.write_wrench(&self.context.joints[self.number[k]], k)

    cdef Twist unlocked_load(self, const Joint* joint) noexcept nogil:
        """What gravity and forces gave its body in the step [N s, N m s]."""
        cdef const Bodies* bodies = self.context.bodies
        cdef double dt = self.context.settings.dt
        cdef int32_t i = joint.body_b
        cdef Twist load
        load.v = scale(dt, add_scaled(bodies.force[i].v, bodies.gravity_scale[i] / bodies.inv_mass[i],
                                      self.context.settings.gravity))
        load.w = scale(dt, bodies.force[i].w)
        return load

    cdef void bear(self, const Manifold* m, int32_t i) noexcept nogil:
        """And what a contact gave it, whose points are where they were as the step began."""
        cdef const Bodies* bodies = self.context.bodies
        cdef Twist* load
        cdef Vec3 before
        if i < 0 or self.place[i] < 0 or bodies.island[i] >= 0:
            return
        load = &self.load[self.place[i]]
        before = load.v
        add_load(load, bodies, i, m, self.context.store.resisted() != NULL, self.context.settings.substeps)
        load.w = add(load.w, cross(sub(bodies.position[i], self.place_before[self.place[i]]), sub(load.v, before)))

    cdef void write_wrench(self, Joint* joint, Py_ssize_t k) noexcept nogil:
        cdef const Bodies* bodies = self.context.bodies
        cdef int32_t i = joint.body_b
        cdef double part = 1.0 / self.context.settings.substeps
        cdef Vec3 force = scale(1.0 / bodies.inv_mass[i], sub(bodies.twist[i].v, self.start[k].v))
        cdef Vec3 torque = sub(spin_momentum(bodies, i, bodies.orientation[i], bodies.twist[i].w), self.start[k].w)
        joint.wrench_impulse.v = chosen(scale(part, sub(force, self.load[k].v)), joint.locks & 7)
        joint.wrench_impulse.w = chosen(scale(part, sub(torque, self.load[k].w)), joint.locks >> 3)
