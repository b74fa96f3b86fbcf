"""The motion of an articulation as one rigid body, which keeps the momenta that are conserved, and its motion beside that:
their energies, and the one made slower or faster without the other."""

from libc.math cimport sqrt

from mcsim.constraints._joint_frames cimport JointFrames
from mcsim.core._arrays cimport integers
from mcsim.core._math cimport add, add_scaled, cross, dot, inverse_symmetric, is_zero, mat_vec, scale, sub, vec3
from mcsim.solve._tree cimport Node, row_count_of
from mcsim.state._inertia cimport centre_velocity, energy_beside, total_mass, turn_of
from mcsim.state._row cimport JointRow, JointRows, Row
from mcsim.state._rows cimport copy_jacobian, row_rate
from mcsim.state._whole cimport Whole, bar, bar_weights, keep_allowed, rigid_motion

# What has less than this part of the kinetic energy is small against it.
cdef double SMALL = 1e-6


cdef class WholeMotion:
    """rows: those of its joints; members, driven: int32, the bodies that articulations name."""

    def __init__(self, FlightRows rows not None, members not None, driven not None):
        self.rows, self.tree, self.kept = rows, rows.tree, (members, driven)
        self.member, self.driven = integers(members), integers(driven)

    cdef void attach(self, Bodies* bodies, const Joint* joints, const Settings* settings) noexcept:
        self.bodies, self.joints, self.settings = bodies, joints, settings

    cdef Vec3 velocity_of(self, const Articulation* a) noexcept nogil:
        """What motion is seen from, that it be the same in every frame: the centre of mass, or what holds it."""
        return centre_velocity(self.bodies, self.member + a.member, 0 if a.held else a.member_end - a.member)

    cdef double kinetic(self, const Articulation* a) noexcept nogil:
        """Against `velocity_of` [J]."""
        cdef Vec3 v = self.velocity_of(a)
        cdef double energy = 0.0
        cdef Py_ssize_t i, k
        for k in range(a.member, a.member_end):
            i = self.member[k]
            energy += energy_beside(self.bodies, i, self.bodies.twist[i], self.bodies.orientation[i], v)
        return energy

    cdef double kicked(self, const Articulation* a, double h) noexcept nogil:
        """The kinetic energy of bodies at rest after a kick by gravity and the user's forces over the time h [J]."""
        cdef double energy = 0.0
        cdef Py_ssize_t k
        cdef int i
        cdef Vec3 v, w
        for k in range(a.member, a.member_end):
            i = self.member[k]
            v = add_scaled(scale(self.bodies.gravity_scale[i], self.settings.gravity), self.bodies.inv_mass[i],
                           self.bodies.force[i].v)
            w = mat_vec(self.bodies.inv_inertia_world[i], self.bodies.force[i].w)
            energy += dot(v, v) / self.bodies.inv_mass[i] + dot(w, self.bodies.force[i].w)
        return 0.5 * h * h * energy

    cdef Mat3 find_whole(self, const Articulation* a, Twist* whole, Vec3* center, Vec3* turning) noexcept nogil:
        return rigid_motion(self.bodies, self.member + a.member, a.member_end - a.member, whole, center, turning)

    cdef double find_kept(self, const Articulation* a, Twist* kept, Vec3* center) noexcept nogil:
        """The motion as one rigid body that moves no joint and has the momenta that are conserved, at the centre of mass
        (state/_whole.pxd). Of what hangs on nothing these are all; of what is held, those along motions of the whole that
        what holds it allows and on which weights do no work and have no moment: about the vertical through a ball joint,
        along a level rail. What moves it from outside leaves none. -> its kinetic energy [J]"""
        cdef Whole whole
        cdef Row block[6]
        cdef double rates[6]
        cdef JointFrames f
        cdef JointRow row
        cdef const Joint* joint
        cdef Vec3 turning, force, moment
        cdef int i, j, n, body
        cdef Py_ssize_t k
        whole.inertia = self.find_whole(a, kept, center, &turning)
        whole.inverse = inverse_symmetric(whole.inertia)
        whole.mass = total_mass(self.bodies, self.member + a.member, a.member_end - a.member)
        whole.count = 0
        if self.is_driven(a):
            kept.v = kept.w = vec3(0.0, 0.0, 0.0)
            return 0.0
        if a.held:
            bar_weights(&whole, self.settings.gravity)
        for k in range(a.node, a.node_end if a.held else a.node):
            j = self.tree.nodes[k].joint
            if j < 0:
                continue
            joint = &self.joints[j]
            if self.bodies.inv_mass[joint.body_a] > 0.0 and self.bodies.inv_mass[joint.body_b] > 0.0:
                continue
            n = self.rows.measure(j, 0.0, &f, block, rates)
            for i in range(n):
                copy_jacobian(&block[i], &row)
                if self.bodies.inv_mass[joint.body_b] > 0.0:
                    body, force, moment = joint.body_b, row.linear, row.angular_b
                else:
                    body, force, moment = joint.body_a, row.linear, row.angular_a
                bar(&whole, force, add(moment, cross(sub(self.bodies.position[body], center[0]), force)))
        return keep_allowed(&whole, kept)

    cdef void restore(self, const Articulation* a, Vec3 velocity, Vec3 turning) noexcept nogil:
        """Of what hangs on nothing both momenta as they were, the centre of mass's velocity and the angular momentum about
        it: what Newton's method and rounding leave of them goes into a motion of the whole, which moves no joint."""
        cdef Py_ssize_t k
        cdef int i
        cdef Twist whole
        cdef Twist* t
        cdef Vec3 center, found, v, w
        cdef Mat3 inertia
        if a.held:
            return
        inertia = self.find_whole(a, &whole, &center, &found)
        v = sub(velocity, whole.v)
        w = turn_of(inertia, sub(turning, found))
        for k in range(a.member, a.member_end):
            i = self.member[k]
            t = &self.bodies.twist[i]
            t.v = add(add(t.v, v), cross(w, sub(self.bodies.position[i], center)))
            t.w = add(t.w, w)

    cdef void stretch(self, const Articulation* a, double s, Twist kept, Vec3 center) noexcept nogil:
        """s times the motion beside that of a rigid whole with this twist at its centre of mass."""
        cdef Py_ssize_t k
        cdef Twist* t
        cdef Vec3 v
        for k in range(a.member, a.member_end):
            t = &self.bodies.twist[self.member[k]]
            v = add(kept.v, cross(kept.w, sub(self.bodies.position[self.member[k]], center)))
            t.v = add_scaled(v, s, sub(t.v, v))
            t.w = add_scaled(kept.w, s, sub(t.w, kept.w))

    cdef void give_back(self, const Articulation* a, double energy, double kinetic, double h) noexcept nogil:
        """Energy [J] into the motion as it is, T, beside that with the momenta that are conserved:
        s^2 T = T + energy. Where T is small against what forces make of bodies at rest in the time h, or against what all
        have, what lacks is rounding, and so is the direction of that motion: a part of it is given. What was
        gained is taken whole, which can but slow it."""
        cdef Twist kept
        cdef Vec3 center
        cdef double beside = kinetic - self.find_kept(a, &kept, &center)
        if beside > 0.0:
            if energy > 0.0:
                energy *= beside / (beside + self.kicked(a, h) + SMALL * kinetic)
            self.stretch(a, sqrt(max(1.0 + energy / beside, 0.0)), kept, center)

    cdef bint is_driven(self, const Articulation* a) noexcept nogil:
        """Whether a kinematic body at its joints moves."""
        cdef const Twist* t
        cdef Py_ssize_t k
        for k in range(a.driven, a.driven_end):
            t = &self.bodies.twist[self.driven[k]]
            if not (is_zero(t.v) and is_zero(t.w)):
                return True
        return False

    cdef double driven_work(self, const Articulation* a) noexcept nogil:
        """What kinematic bodies did on it by its joints in a piece, as its rows are written [J]."""
        cdef const JointRows* rows = &self.tree.rows
        cdef const Node* node
        cdef Twist still
        cdef double work = 0.0
        cdef Py_ssize_t k
        cdef int i
        still.v = still.w = vec3(0.0, 0.0, 0.0)
        for k in range(a.node if a.driven < a.driven_end else a.node_end, a.node_end):
            node = &self.tree.nodes[k]
            for i in range(node.row, node.row + row_count_of(node)):
                work -= 2.0 * rows.impulse[i] * row_rate(&rows.row[i], self.driver(node.body_a, &still),
                                                         self.driver(node.body_b, &still))
        return work

    cdef const Twist* driver(self, int i, const Twist* still) noexcept nogil:
        return still if self.bodies.inv_mass[i] > 0.0 else &self.bodies.twist[i]
