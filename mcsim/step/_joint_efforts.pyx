"""The forces along joints' coordinates that a world's user has given, among the forces on its bodies.

While a step is made, and while somebody asks what acts, `force` of the bodies is the user's forces and these, at the poses
at which follow() was called last: so whatever reads forces knows of them, and nothing else does.

    begun = begin()     the user's forces are kept, these are added
    follow()            these anew at the present poses
    foresee(ahead)      these anew where the bodies will be in that time, for who takes one force for a whole substep
    end(begun)          the user's forces alone
"""

from libc.string cimport memcpy

import numpy as np

from mcsim.constraints._efforts cimport add_effort, effort_on_b
from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._math cimport add_scaled, quat_exp, quat_mul, scale


cdef class JointEfforts:
    """arrays: of the world's bodies and joints."""

    def __init__(self, StateArrays arrays not None):
        self.arrays = arrays

    def take(self, values, places, free):
        """values (m,): worked in. places: [(number of a joint, where its forces begin)], numbers from `joints` on being
        those of `free`: JOINT_DTYPE, of bodies that no joint of the scene holds."""
        joints = self.arrays.joint_count
        place_of = np.full(joints + len(free) + 1, -1, np.int32)
        for i, (joint, _) in enumerate(places):
            place_of[joint] = i
        pairs = np.append(np.array(places, np.int32).reshape(-1, 2), [[0, 0]], axis=0).astype(np.int32)
        given, own = np.zeros((self.arrays.room + 1, 6)), np.append(free, np.zeros(1, free.dtype))
        position, orientation = (np.zeros((self.arrays.room + 1, size)) for size in (3, 4))
        orientation[:, 0] = 1.0
        self.kept = pairs, place_of, given, own, position, orientation
        self.position, self.orientation = <Vec3*>doubles(position) + 1, <Quat*>doubles(orientation) + 1
        self.values, self.value, self.size = values, doubles(values), len(values)
        self.places, self.count, self.place_of = <const EffortPlace*>records(pairs), len(places), integers(place_of)
        self.free, self.given = <Joint*>records(own), <Twist*>doubles(given)

    cdef const Joint* joint_of(self, const EffortPlace* place) noexcept nogil:
        if place.joint < self.arrays.joint_count:
            return &self.arrays.joints[place.joint]
        return &self.free[place.joint - self.arrays.joint_count]

    cdef bint acts(self, const EffortPlace* place) noexcept nogil:
        """Whether a joint is whole and has any."""
        cdef const Joint* joint = self.joint_of(place)
        cdef int i
        for i in range(0 if joint.broken else joint.axis_count):
            if self.value[place.begin + i] != 0.0:
                return True
        return False

    cdef bint begin(self) noexcept nogil:
        """-> whether end() is to be called: there are any, and nobody has begun before"""
        cdef bint any = False
        cdef Py_ssize_t i
        for i in range(0 if self.acting else self.size):
            any = any or self.value[i] != 0.0
        if any:
            self.acting = True
            memcpy(self.given, self.arrays.bodies.force, self.arrays.bodies.count * sizeof(Twist))
            self.follow()
        return any

    cdef void follow(self) noexcept nogil:
        if self.acting:
            self.add(&self.arrays.bodies)

    cdef void foresee(self, double ahead) noexcept nogil:
        cdef Bodies poses = self.arrays.bodies
        cdef Py_ssize_t i
        if not self.acting:
            return
        for i in range(poses.count):
            self.position[i] = add_scaled(poses.position[i], ahead, poses.twist[i].v)
            self.orientation[i] = quat_mul(quat_exp(scale(ahead, poses.twist[i].w)), poses.orientation[i])
        poses.position, poses.orientation = self.position, self.orientation
        self.add(&poses)

    cdef void add(self, const Bodies* poses) noexcept nogil:
        """The forces that there are with bodies at these poses, beside the user's."""
        cdef Py_ssize_t i
        memcpy(self.arrays.bodies.force, self.given, self.arrays.bodies.count * sizeof(Twist))
        for i in range(self.count):
            if self.acts(&self.places[i]):
                add_effort(self.joint_of(&self.places[i]), poses, self.value + self.places[i].begin,
                           self.arrays.bodies.force)

    cdef void end(self, bint begun) noexcept nogil:
        if begun:
            self.acting = False
            memcpy(self.arrays.bodies.force, self.given, self.arrays.bodies.count * sizeof(Twist))

    cdef void carry(self, const int32_t* joints, Py_ssize_t count, double h) noexcept nogil:
        """Into what these joints carried in a substep: they pass their forces on from one body to the other."""
        cdef const EffortPlace* place
        cdef Joint* joint
        cdef Twist wrench
        cdef Py_ssize_t i
        for i in range(count if self.acting else 0):
            if self.place_of[joints[i]] < 0:
                continue
            place = &self.places[self.place_of[joints[i]]]
            if self.acts(place):
                joint = &self.arrays.joints[joints[i]]
                wrench = effort_on_b(joint, &self.arrays.bodies, self.value + place.begin)
                joint.wrench_impulse.v = add_scaled(joint.wrench_impulse.v, h, wrench.v)
                joint.wrench_impulse.w = add_scaled(joint.wrench_impulse.w, h, wrench.w)
