"""What the joints of trees carry."""

from libc.string cimport memcpy

from mcsim.core._math cimport add, cross, neg, rotate, scale, sub, vec3

include "_kernels.pxi"


cdef class TreeForces:
    """Of the joints of a motion's trees."""

    def __init__(self, TreeMotion motion not None):
        self.motion = motion

    cdef void begin_carry(self) noexcept nogil:
        """The joints' own forces, to which rows between links are added."""
        memcpy(self.motion.trial, self.motion.tau, self.motion.tree.nv * sizeof(double))

    cdef void carry(self, const double* forces) noexcept nogil:
        """Forces across the joints at the present state, which is placed and factored, under these and `forces`."""
        cdef Py_ssize_t r
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            move(&self.motion.tree, <const Wide*>self.motion.q, <const Wide*>self.motion.qd)
            accelerate(&self.motion.tree, <const Wide*>self.motion.trial, <const Wide*>forces, <Wide*>self.motion.qdd)
            move(&self.motion.tree, <const Wide*>self.motion.q, <const Wide*>self.motion.qd)
            inverse_dynamics(&self.motion.tree, <const Wide*>self.motion.qdd, <const Wide*>forces,
                             <Wide*>self.motion.nothing)
        self.motion.leave()

    cdef void give_wrench(self, Py_ssize_t link, double h, const Bodies* bodies, Joint* joint) noexcept nogil:
        """After carry: h times what a link's joint puts on its successor, about its point there."""
        cdef const LinkState* s = &self.motion.tree.states[link + 1]
        cdef Vec3 f = vec3(s.force.f.x, s.force.f.y, s.force.f.z)
        cdef Vec3 n = vec3(s.force.n.x, s.force.n.y, s.force.n.z)
        cdef Vec3 point
        if self.motion.tree.links[link].reversed:
            point = add(bodies.position[joint.body_b], rotate(bodies.orientation[joint.body_b], joint.anchor_b))
            n = add(n, cross(sub(vec3(s.position.x, s.position.y, s.position.z), point), f))
            f, n = neg(f), neg(n)
        joint.wrench_impulse.v = scale(h, f)
        joint.wrench_impulse.w = scale(h, n)
