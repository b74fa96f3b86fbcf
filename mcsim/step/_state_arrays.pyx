"""The arrays of one world's bodies and joints as C pointers, their backup, and what is read off them."""

from libc.float cimport DBL_EPSILON
from libc.math cimport fabs, isfinite
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from mcsim.constraints._coordinates cimport measure_joints, spring_energy
from mcsim.constraints._joints cimport joint_errors
from mcsim.constraints._joint_lists cimport TurningJoint
from mcsim.core._arrays cimport doubles, integers, long_integers, records
from mcsim.core._noted cimport NOTE_COARSE
from mcsim.core._math cimport mat_vec, quat_normalized, rotate, rotate_back
from mcsim.core._touched cimport Touched, untouch
from mcsim.core._types cimport NOT_FINITE, OK, Mat3, Quat, Twist, Vec3
from mcsim.integrate._euler cimport update_inertia
from mcsim.state._bodies cimport STATIC
from mcsim.state._closing_up cimport Rows
from mcsim.state._joint cimport MOTION_NONE

from mcsim.state.fields import AWAKE, JOINT_DTYPE

cdef enum:
    BLOCK = 64                   # bodies that are compared at once

cdef Twist NO_FORCES[BLOCK]
memset(NO_FORCES, 0, sizeof(NO_FORCES))

# How much of a body's size rounding may be off by before it is noted: as much as a contact's `slop` is.
cdef double COARSE = 1.0 / 1024.0


cdef inline void keep_joint(const Joint* joint, JointKept* kept) noexcept nogil:
    cdef int i
    kept.row_begin = joint.row_begin
    kept.row_count = joint.row_count
    kept.constraint_count = joint.constraint_count
    kept.active_limits = joint.active_limits
    kept.held = joint.held
    for i in range(joint.axis_count):
        kept.position[i] = joint.axes[i].position
        kept.moved[i] = joint.axes[i].moved
        if joint.axes[i].motion_mode != MOTION_NONE:
            memcpy(kept.motion[i], joint.axes[i].motion, sizeof(joint.axes[i].motion))


cdef inline void restore_joint(const JointKept* kept, Joint* joint) noexcept nogil:
    cdef int i
    joint.row_begin = kept.row_begin
    joint.row_count = kept.row_count
    joint.constraint_count = kept.constraint_count
    joint.active_limits = kept.active_limits
    joint.held = kept.held
    for i in range(joint.axis_count):
        joint.axes[i].position = kept.position[i]
        joint.axes[i].moved = kept.moved[i]
        if joint.axes[i].motion_mode != MOTION_NONE:
            memcpy(joint.axes[i].motion, kept.motion[i], sizeof(joint.axes[i].motion))


cdef class StateArrays:
    """bodies: state.arrays.BodyArrays; joints: (j,) JOINT_DTYPE. Both are kept alive and written in place. settings: dict
    with the fields of the Settings record."""

    def __init__(self, bodies, joints, settings, Noted noted not None):
        self.settings, self.noted = settings, noted
        self.kept, self.room = (bodies, joints), bodies.room
        self.watch = bodies.watch = BodyWatch(bodies)
        self._point_at_bodies(bodies)
        self.kept_sizes = np.ones(self.room + 1)
        self.kept_sizes[:bodies.count] = bodies.lengths()
        self.sizes = doubles(self.kept_sizes)
        self.joints = <Joint*>records(joints if len(joints) else np.zeros(1))
        self.joint_count = len(joints)
        self._make_lists()
        n = self.room + 1
        self.backup = (np.empty((n, 3)), np.empty((n, 4)), np.empty((n, 6)),
                       np.empty(max(len(joints), 1) * (JOINT_DTYPE.itemsize // 8)), np.empty(n), np.empty(n),
                       np.empty(n, np.int64))
        for i in range(6):
            self.backup_pointers[i] = doubles(self.backup[i])
        self.backup_island = long_integers(self.backup[6])
        self.kept_joints = np.zeros(max(len(joints), 1) * sizeof(JointKept), np.int8)
        self.joints_kept = <JointKept*>records(self.kept_joints)

    cdef bint edit(self, bodies, Rows rows, fresh, sizes, woken) except -1:
        """Follow bodies that went and came, where joints stay between the bodies that they are on. bodies: BodyArrays of
        all (BodyArrays.edited), fresh: of those that came; sizes: theirs, as of BodyArrays.lengths; woken: None, or the
        numbers of those that woke, and the islands of all, None: those of the others are the same. -> whether they are in
        other memory"""
        cdef bint moved = bodies.whole is not self.kept[0].whole
        cdef int32_t i
        if not moved:
            for name, array in (<dict>bodies.whole).items():
                rows.edit(array, (<dict>fresh.whole)[name], 1)
            self.bodies.count = bodies.count
        else:
            self._point_at_bodies(bodies)
        if woken is not None:
            if woken[1] is not None:
                bodies.island[...] = woken[1]
                self.watch.touch_all()
            bodies.island[woken[0]] = AWAKE
            bodies.still_time[woken[0]] = bodies.still_speed[woken[0]] = 0.0
        rows.edit(self.kept_sizes, sizes)
        self.kept_sizes[bodies.count:] = 1.0
        self.kept = (bodies, self.kept[1])
        if moved:
            self.watch.follow(bodies)
        else:
            self.watch.edit(bodies, rows.fresh)
            for i in () if woken is None else woken[0]:
                self.watch.touch_written(&i, 1)
        bodies.watch = self.watch
        return moved

    def _make_lists(self):
        turning, whole = self.kept_lists = [np.zeros(self.joint_count * size + 1, np.int8) for size in (
            sizeof(TurningJoint), sizeof(int32_t))]
        self.joint_lists.turning = <TurningJoint*>records(turning)
        self.joint_lists.whole = <int32_t*>records(whole)

    def _point_at_bodies(self, arrays):
        """C pointers at row 0; row -1, the world, stands before it."""
        whole = arrays.whole
        cdef Bodies* b = &self.bodies
        b.count = arrays.count
        b.kind = integers(whole["kind"]) + 1
        b.position = <Vec3*>doubles(whole["position"]) + 1
        b.orientation = <Quat*>doubles(whole["orientation"]) + 1
        b.twist = <Twist*>doubles(whole["twist"]) + 1
        b.force = <Twist*>doubles(whole["force"]) + 1
        b.inv_mass = doubles(whole["inv_mass"]) + 1
        b.awake_inv_mass = b.inv_mass
        b.inertia = <Mat3*>doubles(whole["inertia"]) + 1
        b.inv_inertia = <Mat3*>doubles(whole["inv_inertia"]) + 1
        b.awake_inv_inertia = b.inv_inertia
        b.inv_inertia_world = <Mat3*>doubles(whole["inv_inertia_world"]) + 1
        b.locks = integers(whole["locks"]) + 1
        b.gravity_scale = doubles(whole["gravity_scale"]) + 1
        b.linear_damping = doubles(whole["linear_damping"]) + 1
        b.angular_damping = doubles(whole["angular_damping"]) + 1
        b.bullet = long_integers(whole["bullet"]) + 1
        b.island = long_integers(whole["island"]) + 1
        b.still_time = doubles(whole["still_time"]) + 1
        b.still_speed = doubles(whole["still_speed"]) + 1
        b.carrier = <Vec3*>doubles(whole["carrier"]) + 1
        b.borne = <Twist*>doubles(whole["borne"]) + 1

    cdef bint sound(self, Py_ssize_t i) noexcept nogil:
        """Whether a body's state is finite; its quaternion is made unit."""
        cdef int k
        cdef double sum = 0.0
        cdef double* p = <double*>&self.bodies.position[i]
        cdef Quat q = self.bodies.orientation[i]
        for k in range(3):
            sum += p[k] * 0.0
        p = <double*>&self.bodies.twist[i]
        for k in range(6):
            sum += p[k] * 0.0
        p = <double*>&self.bodies.force[i]
        for k in range(6):
            sum += p[k] * 0.0
        q.w = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z
        if not (sum == 0.0 and isfinite(q.w) and q.w > 1e-200):
            self.failed_body, self.failed_far = i, False
            return False
        if not (-1e-14 < q.w - 1.0 < 1e-14):
            self.bodies.orientation[i] = quat_normalized(self.bodies.orientation[i])
        return True

    cdef bint admit(self, Py_ssize_t i) noexcept nogil:
        """Whether a body's state is sound; what is static is made still."""
        if self.bodies.kind[i] == STATIC:
            memset(&self.bodies.twist[i], 0, sizeof(Twist))
        return self.sound(i)

    cdef int check_state(self) noexcept nogil:
        """Python may have written anything into the views: refuse what is not finite, make quaternions unit, statics
        still."""
        cdef Py_ssize_t i
        for i in range(self.bodies.count):
            if not self.admit(i):
                return NOT_FINITE
        return OK

    cdef bint differs(self, Py_ssize_t i, Py_ssize_t count) noexcept nogil:
        """Whether one of so many bodies has another pose or twist than in the backup, or a force."""
        return (memcmp(&self.bodies.position[i], self.backup_pointers[0] + 3 * i, count * sizeof(Vec3)) != 0
                or memcmp(&self.bodies.orientation[i], self.backup_pointers[1] + 4 * i, count * sizeof(Quat)) != 0
                or memcmp(&self.bodies.twist[i], self.backup_pointers[2] + 6 * i, count * sizeof(Twist)) != 0
                or memcmp(&self.bodies.force[i], NO_FORCES, count * sizeof(Twist)) != 0)

    cdef void sift(self) noexcept nogil:
        """Where users may have written anything through views: which bodies differ from the backup, as what moves does."""
        cdef Py_ssize_t begin = 0
        cdef Py_ssize_t count
        cdef int32_t i
        if self.watch.of_backup.all:
            self.watch.touch_all()
        self.watch.viewed = False
        while begin < self.bodies.count and not self.watch.of_backup.all:
            count = min(<Py_ssize_t>BLOCK, self.bodies.count - begin)
            if self.differs(begin, count):
                for i in range(<int32_t>begin, <int32_t>(begin + count)):
                    if self.differs(i, 1):
                        self.watch.touch_written(&i, 1)
            begin += count

    cdef int check_written(self) noexcept nogil:
        """The same of what may have been written since the last step began, and of what moves."""
        cdef const Touched* written = &self.watch.of_step
        cdef bint sound = not written.all
        cdef Py_ssize_t k
        for k in range(written.count if sound else 0):
            sound = sound and self.admit(written.rows[k])
        for k in range(self.bodies.moving_count if sound else 0):
            sound = sound and self.admit(self.bodies.moving[k])
        return OK if sound else self.check_state()           # which finds the first that is not

    cdef int check_moving(self) noexcept nogil:
        """Refuse what a step has made of the state where it is not finite, or no longer tells a body's points apart; note
        where it hardly does. A number x is known to x e, e = DBL_EPSILON, so the points of a body of size r at x are,
        in parts of r, to |x| e / r, and the angle that it turns by in a step to |w| h e: at 1 the body is nowhere."""
        cdef Py_ssize_t k
        cdef int32_t i
        cdef Vec3 x, w
        cdef double far
        for k in range(self.bodies.moving_count):
            if not self.sound(self.bodies.moving[k]):
                return NOT_FINITE
        for k in range(self.bodies.moving_count):
            i = self.bodies.moving[k]
            x, w = self.bodies.position[i], self.bodies.twist[i].w
            far = DBL_EPSILON * max(max(max(fabs(x.x), fabs(x.y)), fabs(x.z)) / self.sizes[i],
                                    max(max(fabs(w.x), fabs(w.y)), fabs(w.z)) * self.settings.dt)
            if far > 1.0:
                self.failed_body, self.failed_far = i, True
                return NOT_FINITE
            if far > COARSE:
                self.noted.most(NOTE_COARSE, i, far)
        return OK

    cdef void save_poses(self) noexcept nogil:
        memcpy(self.backup_pointers[0], self.bodies.position, self.bodies.count * sizeof(Vec3))
        memcpy(self.backup_pointers[1], self.bodies.orientation, self.bodies.count * sizeof(Quat))

    cdef Bodies bodies_before(self) noexcept nogil:
        """The bodies, at the poses that were saved."""
        cdef Bodies bodies = self.bodies
        bodies.position, bodies.orientation = <Vec3*>self.backup_pointers[0], <Quat*>self.backup_pointers[1]
        return bodies

    cdef void save_body(self, Py_ssize_t i) noexcept nogil:
        (<Vec3*>self.backup_pointers[0])[i] = self.bodies.position[i]
        (<Quat*>self.backup_pointers[1])[i] = self.bodies.orientation[i]
        (<Twist*>self.backup_pointers[2])[i] = self.bodies.twist[i]
        self.backup_pointers[4][i] = self.bodies.still_time[i]
        self.backup_pointers[5][i] = self.bodies.still_speed[i]
        self.backup_island[i] = self.bodies.island[i]

    cdef void save_backup(self) noexcept nogil:
        """What a step may change. Bodies that have neither moved nor been written are as they were saved before."""
        cdef Py_ssize_t n = self.bodies.count
        cdef Py_ssize_t j, k
        cdef Touched* other = &self.watch.of_backup
        if other.all:
            self.save_poses()
            memcpy(self.backup_pointers[2], self.bodies.twist, n * sizeof(Twist))
            memcpy(self.backup_pointers[4], self.bodies.still_time, n * sizeof(double))
            memcpy(self.backup_pointers[5], self.bodies.still_speed, n * sizeof(double))
            memcpy(self.backup_island, self.bodies.island, n * sizeof(int64_t))
        else:
            for k in range(other.count):
                self.save_body(other.rows[k])
            for k in range(self.bodies.moving_count):
                self.save_body(self.bodies.moving[k])
        untouch(other)
        for j in range(self.joint_count):
            keep_joint(&self.joints[j], &self.joints_kept[j])

    cdef Joint* joints_copied(self) noexcept nogil:
        memcpy(self.backup_pointers[3], self.joints, self.joint_count * sizeof(Joint))
        return <Joint*>self.backup_pointers[3]

    cdef void restore_backup(self) noexcept nogil:
        cdef Py_ssize_t n = self.bodies.count
        cdef Py_ssize_t j
        memcpy(self.bodies.position, self.backup_pointers[0], n * sizeof(Vec3))
        memcpy(self.bodies.orientation, self.backup_pointers[1], n * sizeof(Quat))
        memcpy(self.bodies.twist, self.backup_pointers[2], n * sizeof(Twist))
        for j in range(self.joint_count):
            restore_joint(&self.joints_kept[j], &self.joints[j])
        memcpy(self.bodies.still_time, self.backup_pointers[4], n * sizeof(double))
        memcpy(self.bodies.still_speed, self.backup_pointers[5], n * sizeof(double))
        memcpy(self.bodies.island, self.backup_island, n * sizeof(int64_t))
        memset(self.bodies.twist - 1, 0, sizeof(Twist))      # the world's: 0 * inf may have come in
        update_inertia(&self.bodies)

    def measured(self):
        """-> (joints,) JOINT_DTYPE, a scratch copy of the records, positions and velocities at the present state. The
        records themselves follow steps only: looking changes nothing."""
        copied = self.records_copied()
        cdef char[::1] view = copied.view(np.int8)
        measure_joints(<Joint*>&view[0], self.joint_count, &self.bodies)
        return copied[:self.joint_count]

    def coordinates(self, Py_ssize_t joint):
        """-> positions, velocities, two lists: those of the free coordinates of one joint, as `measured` has them."""
        cdef Joint one
        cdef int i
        if not 0 <= joint < self.joint_count:
            raise IndexError(f"there are {self.joint_count} joints")
        one = self.joints[joint]
        measure_joints(&one, 1, &self.bodies)
        return [one.axes[i].position for i in range(one.axis_count)], [one.axes[i].velocity for i in range(one.axis_count)]

    def records_copied(self):
        """(joints + 1,) JOINT_DTYPE of its own: a function of the user's may look while a step holds the backup."""
        copied = np.zeros(len(self.kept[1]) + 1, JOINT_DTYPE)
        copied.view(np.int8)[:self.kept[1].nbytes] = self.kept[1].view(np.int8)       # not field by field
        return copied

    def spins(self):
        """(bodies, 3) spin angular momenta about the centres of mass, world [kg m^2/s]."""
        out = np.empty((self.bodies.count, 3))
        cdef Vec3* spin = <Vec3*>doubles(out)
        cdef Quat q
        cdef Py_ssize_t i
        for i in range(self.bodies.count):
            q = self.bodies.orientation[i]
            spin[i] = rotate(q, mat_vec(self.bodies.inertia[i], rotate_back(q, self.bodies.twist[i].w)))
        return out

    def spring_energy_by(self, counted):
        """[J], likewise; `counted` is worked in."""
        cdef char[::1] view = counted.view(np.int8)
        return spring_energy(<Joint*>&view[0], self.joint_count, &self.bodies)

    def errors_by(self, counted):
        """(joints, 2) [m, rad], of screws by the turns in `counted`, (joints or more,) JOINT_DTYPE."""
        out = np.zeros((self.joint_count, 2))
        cdef double[:, ::1] view = out
        cdef char[::1] read
        if self.joint_count:
            read = counted.view(np.int8)
            joint_errors(<const Joint*>&read[0], self.joint_count, &self.bodies, &view[0, 0])
        return out

    cdef void clear_forces(self) noexcept nogil:
        """Of all bodies; of those of which none was written they are 0."""
        cdef Touched* written = &self.watch.of_forces
        cdef Py_ssize_t k
        if written.all:
            memset(self.bodies.force, 0, self.bodies.count * sizeof(Twist))
        for k in range(0 if written.all else written.count):
            memset(&self.bodies.force[written.rows[k]], 0, sizeof(Twist))
        untouch(written)
