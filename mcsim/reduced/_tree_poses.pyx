"""The bodies of trees: poses, twists and accelerations that they have by the trees' coordinates, and the way back."""

from mcsim.core._math cimport add, rotate_back
from mcsim.state._inertia cimport gyroscopic_acceleration

include "_kernels.pxi"
include "_readings.pxi"


cdef inline void take_pose(double* q, Vec3 x, Quat turn) noexcept nogil:
    """q of a free joint from the world to the centre of mass."""
    q[0], q[1], q[2] = x.x, x.y, x.z
    q[3], q[4], q[5], q[6] = turn.w, turn.x, turn.y, turn.z


cdef class TreePoses:
    """Of the bodies of a motion's trees."""

    def __init__(self, TreeMotion motion not None):
        self.motion = motion

    cdef void take_poses(self, const Vec3* position, const Quat* orientation, const int8_t* chosen) noexcept nogil:
        """The coordinates of those of the bodies on their own that are chosen from their poses."""
        cdef const Link* link
        cdef Py_ssize_t i
        for i in range(self.motion.tree.count):
            link = &self.motion.tree.links[i]
            if chosen[link.body]:
                take_pose(&self.motion.q[link.q], position[link.body], orientation[link.body])

    cdef void follow(self, const Vec3* position, const Quat* orientation, const Twist* twist) noexcept nogil:
        """Kinematic bodies, whose coordinates are those of their poses."""
        cdef const Link* link
        cdef const Twist* t
        cdef Py_ssize_t i
        cdef Vec3 w
        cdef double* qd
        for i in range(self.motion.tree.count):
            link = &self.motion.tree.links[i]
            if link.prescribed:
                t = &twist[link.body]
                qd = &self.motion.qd[link.v]
                take_pose(&self.motion.q[link.q], position[link.body], orientation[link.body])
                w = rotate_back(orientation[link.body], t.w)
                qd[0], qd[1], qd[2] = t.v.x, t.v.y, t.v.z
                qd[3], qd[4], qd[5] = w.x, w.y, w.z

    cdef void turn_back(self, const Quat* to, Quat* orientation) noexcept nogil:
        """The orientations of the bodies that give_poses(False, ...) is to give, those that they are to keep near to."""
        cdef const Link* link
        cdef Py_ssize_t i, r
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            for i in range(self.motion.tree.first, self.motion.tree.end):
                link = &self.motion.tree.links[i]
                if not link.prescribed:
                    orientation[link.body] = to[link.body]
        self.motion.leave()

    cdef void give_poses(self, bint prescribed, Vec3* position, Quat* orientation) noexcept nogil:
        """Of the bodies; prescribed: of kinematic ones too, which have moved with the tree."""
        cdef Py_ssize_t r
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            give_poses(&self.motion.tree, self.motion.turns, prescribed, position, orientation)
        self.motion.leave()

    cdef void give_twists(self, Twist* twist) noexcept nogil:
        """After look."""
        cdef Py_ssize_t r
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            give_twists(&self.motion.tree, False, twist)
        self.motion.leave()

    cdef void give_shared(self, Py_ssize_t first, Py_ssize_t end, Vec3* shared) noexcept nogil:
        """After look: by bodies of these trees, what all of one has."""
        cdef Wide3 v
        cdef Py_ssize_t i, k
        for k in range(first, end):
            v = self.motion.find_shared(k)
            for i in range(self.motion.trees[k].first_link, self.motion.trees[k].end_link):
                shared[self.motion.tree.links[i].body] = vec3(v.x, v.y, v.z)

    cdef void give_swings(self, Twist* swing) noexcept nogil:
        """After look: the bodies' accelerations, of the centres of mass and angular, at qdd = 0."""
        cdef Wide3 w, v, arm
        cdef LinkState* s
        cdef const LinkState* parent
        cdef Motion a
        cdef Py_ssize_t i, r
        for r in range(self.motion.chosen_count):
            self.motion.enter(r)
            for i in range(self.motion.tree.first, self.motion.tree.end):
                s = &self.motion.tree.states[i + 1]
                parent = &self.motion.tree.states[self.motion.tree.links[i].parent + 1]
                a = moved_out(parent.acceleration, s.arm)
                a.w = w_add(a.w, s.bias.w)
                a.v = w_add(a.v, s.bias.v)
                s.acceleration = a
                w = s.velocity.w
                arm = w_cross(w, s.com)
                v = w_add(w_add(a.v, w_cross(a.w, s.com)), w_cross(w, w_add(s.velocity.v, arm)))
                swing[self.motion.tree.links[i].body].v = vec3(v.x, v.y, v.z)
                swing[self.motion.tree.links[i].body].w = vec3(a.w.x, a.w.y, a.w.z)
        self.motion.leave()

    cdef bint is_lone(self, Py_ssize_t k) noexcept nogil:
        """Whether a tree is one body that nothing holds."""
        return self.motion.trees[k].end_link == self.motion.trees[k].first_link + 1 and self.motion.is_loose(k)

    cdef void give_spins(self, const Bodies* bodies, const int32_t* told, Twist* swing) noexcept nogil:
        """After give_swings: of lone bodies what leave_spins leaves out of a kick is part of how their paths bend."""
        cdef Py_ssize_t k
        cdef int32_t body
        for k in range(self.motion.tree_count):
            if self.is_lone(k) and not told[k]:
                body = self.motion.tree.links[self.motion.trees[k].first_link].body
                swing[body].w = add(swing[body].w, gyroscopic_acceleration(bodies, body))

    cdef void leave_spins(self, double h, const Bodies* bodies, const int32_t* told, Py_ssize_t first,
                          Py_ssize_t end) noexcept nogil:
        """Out of what the last kick of h, at the twists of `bodies`, has made of lone bodies goes what turns their angular
        velocity by itself. told: (trees,) of which it stays; trees [first, end)."""
        cdef const Link* link
        cdef double* qd
        cdef Vec3 a
        cdef Py_ssize_t k
        for k in range(first, end):
            if self.is_lone(k) and not told[k]:
                link = &self.motion.tree.links[self.motion.trees[k].first_link]
                a = rotate_back(bodies.orientation[link.body], gyroscopic_acceleration(bodies, link.body))
                qd = &self.motion.qd[link.v]
                qd[3] -= h * a.x
                qd[4] -= h * a.y
                qd[5] -= h * a.z
