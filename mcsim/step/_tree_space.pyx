"""The velocities of the coordinates of trees, and the bodies that follow them: what a step asks of them, and what is read
off them.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcmp

import numpy as np

from mcsim.constraints._islands cimport Islands
from mcsim.constraints._joints cimport has_bounded_rows, may_have_rows
from mcsim.core._arrays cimport integers, records
from mcsim.core._math cimport add_scaled, mat_t_vec, mat_vec, quat_matrix, scale, sub, vec3
from mcsim.core._trig cimport sine_cosine
from mcsim.core._types cimport Mat3, Twist, Vec3
from mcsim.integrate._damping cimport damped_part, driven_part
from mcsim.integrate._euler cimport update_inertia
from mcsim.reduced._pitch cimport SINGULAR_PITCH
from mcsim.state._bodies cimport KINEMATIC
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._state_arrays cimport StateArrays

from mcsim.core.errors import SimulationError
from mcsim.reduced._side_by_side import SideBySide

# Cosine of a pitch below which a motion may pass one at which yaw and roll are one within a substep.
cdef double STEEP = 0.1


cdef inline Vec3 slowed(Vec3 force, Vec3 beside, Vec3 momentum, double c, double h) noexcept nogil:
    """A force on what is damped, with the damping over h, such that the two and the force `beside`, which acts by itself,
    slow and drive it as a kick does (integrate/_euler.pyx); over no time -c p."""
    cdef double driven
    if h == 0.0:
        return add_scaled(force, -c, momentum)
    driven = driven_part(h * c)
    return add_scaled(sub(scale(driven, force), scale(1.0 - driven, beside)), -damped_part(h * c) / h, momentum)


cdef class TreeSpace(VelocitySpace):
    """bodies: BodyArrays. plan: .links LINK_DTYPE, .turns (links, 3, 3) body axes in the link's, .held (joints,) bool:
    those of the trees, .jointed (bodies + 1,) int8: whether joints move them, .q (nq,), .qd (nv,), .tau (nv,): the arrays
    of the state, which are worked in; .users, .angles, .pitched, .carriers: as world/reduced_world.py makes them."""

    def __init__(self, StepContext context, StateArrays arrays, PlainRows plain, Islands islands not None,
                 Calls calls not None, bodies, plan):
        VelocitySpace.__init__(self, context, arrays, plain)
        self.calls = calls
        self.q, self.qd, self.tau, self.qdd = plan.q, plan.qd, plan.tau, np.zeros(len(plan.qd))
        self.motion = TreeMotion(plan.links, self.q, self.qd, self.tau, self.qdd, plan.turns, bodies.count, plan.users,
                                 context.noted)
        self.energies, self.poses = TreeEnergy(self.motion), TreePoses(self.motion)
        self.generalized = GeneralizedRows()
        self.generalized.watch(len(plan.qd))
        self.leading = self.generalized.leading = bool(np.any(bodies.kind == KINEMATIC))
        self.body_sync = TreeSync(context, self.poses, bodies, plan.links)
        held = np.concatenate([[0], np.cumsum(plan.held)]).astype(np.int32)
        self.kept = held, plan.jointed
        self.held, self.hung = integers(held), <const int8_t*>records(plan.jointed) + 1
        self.angles, self.pitched, self.turns_by_angles = plan.angles, plan.pitched, len(plan.pitched) > 0
        self.angles_of = {}
        for joint, axis, place in zip(*(numbers.tolist() for numbers in plan.angles)):
            self.angles_of.setdefault(joint, []).append((axis, place))
        self.loads = TreeLoads(context, plain, self.generalized, self.motion, self.body_sync, self.wrenches, held,
                               plan.carriers)
        self.resting = TreeRest(context, self.motion, self.poses, self.body_sync, self.loads, islands)

    def has_loop_rotors(self):
        """Whether a joint that closes a loop has an armature."""
        free = np.diff(self.kept[0]) == 0
        return bool(np.any(self.arrays.kept[1]["axes"]["armature"][free]))

    def flies_alone(self):
        """Whether nothing but gravity and tau moves the trees, whatever their q, qd and tau are, but for what bodies that
        touch do: no rows, and no forces that change on the way. What touches nothing never falls asleep
        (docs/theory/sleeping.md)."""
        cdef Py_ssize_t j
        joints, bodies = self.arrays.kept[1], self.arrays.kept[0]
        if self.leading or self.motion.asking or self.motion.giving or self.turns_by_angles:
            return False
        if np.any(np.diff(self.kept[0]) != 1) or np.any(joints["breakable"]) or np.any(joints["broken"]):
            return False
        for j in range(self.context.joint_count):
            if may_have_rows(&self.context.joints[j]):       # rotors of trees have none
                return False
        efforts = self.context.efforts.values
        return not (np.any(bodies.linear_damping) or np.any(bodies.angular_damping) or np.any(bodies.force)
                    or np.any(bodies.island >= 0) or (efforts is not None and np.any(efforts)))

    def side_by_side(self):
        """SideBySide of worlds like this one."""
        return SideBySide(self.motion, self.arrays.kept_sizes[:self.context.bodies.count], self.context.settings.dt,
                          self.context.settings.substeps)

    # ---- what is read off them ---------------------------------------------------------------------------------------

    def velocities(self):
        """(nv,) qd."""
        return self.qd.copy()

    def kicked(self):
        cdef double h = self.context.settings.h * (
            self.context.settings.first_kick if self.context.settings.compliant else 1.0)
        before = self.qd.copy()
        cdef bint driven
        with nogil:
            driven = self.context.efforts.begin()
            self.sum_forces(self.context.settings.h)
            self.context.efforts.end(driven)
            self.motion.kick(h, self.forces, KICK_ROUNDS, False)
        after = self.qd.copy()
        self.qd[:] = before
        self.motion.look()                               # a step begins with the links' velocities as they are
        return after

    def row_matrices(self):
        return self.generalized.matrices(self.plain.row_count, self.motion.tree.nv)

    def measured(self):
        """As of bodies; angles of the trees count the turns that q has made."""
        return self._count_turns(self.arrays.measured())

    def coordinates(self, Py_ssize_t joint):
        positions, velocities = self.arrays.coordinates(joint)
        for axis, place in self.angles_of.get(joint, ()):
            positions[axis] = float(self.q[place])
        return positions, velocities

    def errors(self):
        return self.arrays.errors_by(self._count_turns(self.arrays.records_copied()))

    def spring_energy(self):
        return self.arrays.spring_energy_by(self._count_turns(self.arrays.records_copied()))

    def _count_turns(self, measured):
        joints, axes, places = self.angles
        measured["axes"]["position"][joints, axes] = self.q[places]
        return measured

    def recover(self):
        """What the trees' joints carry at the end of the last substep, into their records."""
        self.loads.recover()

    def trust_records(self):
        self.loads.trust_records()

    # ---- bodies and the trees ----------------------------------------------------------------------------------------

    def end_steps(self):
        """Steps that others have made, or a change: quaternions keep to the side that they are on at its end."""
        self.sync()
        self.body_sync.faces_step = -1

    def lead(self):
        """q and qd of kinematic bodies as those are now."""
        if self.leading:
            self.loads.recover()                             # while they are those that the step ended with
            self.poses.follow(self.context.bodies.position, self.context.bodies.orientation, self.context.bodies.twist)

    def sync(self):
        """The bodies as q and qd have them now."""
        self.lead()
        if self.body_sync.is_stale():
            self.loads.leave_other_places()
            written = self.body_sync.written()
            halves = self.arrays.kept[0].twist.reshape(-1, 2, 3)
            kept = None if written is None else halves[written]
            self.motion.list_runs(True)                      # what sleeps may have been written: notice() wakes it then
            self.body_sync.show(False, self.context.steps)
            self.motion.list_runs(False)
            if written is not None:
                halves[written] = kept
        if self.motion.failed:
            self.pass_failure()
            raise self.calls.take_failure()

    cdef void pass_failure(self) noexcept with gil:
        """What a joint model of the user's raised."""
        self.calls.fail(self.motion.failure)
        self.motion.failure, self.motion.failed = None, False

    # ---- what a step asks --------------------------------------------------------------------------------------------

    cdef bint wake_driven(self) noexcept nogil:
        return self.resting.wake_driven()

    cdef void begin_step(self) noexcept nogil:
        """What joints carried is kept, and q and qd; trees follow kinematic bodies, and bodies what was written into q."""
        self.loads.keep()
        self.body_sync.keep()
        if self.leading:
            self.poses.follow(self.context.bodies.position, self.context.bodies.orientation, self.context.bodies.twist)
        if self.leading or self.body_sync.is_stale():
            self.body_sync.show(False, self.context.steps)
            self.arrays.save_poses()                         # from where bodies' ways are measured
        update_inertia(self.context.bodies)

    cdef Py_ssize_t with_rows(self, int32_t* joints, Py_ssize_t count) noexcept nogil:
        """Joints of the trees have no rows of their own."""
        cdef Py_ssize_t c, j, n = 0
        for c in range(count):
            j = joints[c]
            if self.held[j + 1] == self.held[j] or has_bounded_rows(&self.context.joints[j]):
                joints[n] = <int32_t>j
                n += 1
        return n

    cdef void rest(self) noexcept nogil:
        self.resting.follow()

    cdef void end_step(self) noexcept nogil:
        self.resting.keep_driven_awake()

    cdef void undo(self) noexcept nogil:
        self.loads.rows_step = -1                            # they are the undone step's
        self.body_sync.undo()
        self.body_sync.keep_twists()

    cdef const int8_t* jointed(self) noexcept nogil:
        """To set a link back alone would tear its joints open."""
        return self.hung

    cdef void take_poses(self, const int8_t* chosen) noexcept nogil:
        """Coordinates follow."""
        self.poses.take_poses(self.context.bodies.position, self.context.bodies.orientation, chosen)
        if self.body_sync.is_stale():
            self.body_sync.show(True, self.context.steps)

    cdef void sum_forces(self, double h) noexcept nogil:
        """The user's forces and damping on the bodies, as it acts over h [s] (integrate/_damping.pxd); 0: as now."""
        cdef Py_ssize_t i
        cdef Twist* w
        cdef Mat3 r
        cdef Vec3 weight
        cdef double c, mass
        if self.ahead > 0.0:
            self.context.efforts.foresee(self.ahead)
        else:
            self.context.efforts.follow()
        self.forces = NULL
        self.damped = False
        for i in range(self.context.bodies.count):
            w = &self.wrench[i]
            w[0] = self.context.bodies.force[i]
            if self.context.bodies.inv_mass[i] > 0.0:
                c = self.context.bodies.linear_damping[i]
                self.damped = self.damped or c > 0.0 or self.context.bodies.angular_damping[i] > 0.0
                if c > 0.0:
                    mass = 1.0 / self.context.bodies.inv_mass[i]
                    weight = scale(self.context.bodies.gravity_scale[i] * mass, self.context.settings.gravity)
                    w.v = slowed(w.v, weight, scale(mass, self.context.bodies.twist[i].v), c, h)
                c = self.context.bodies.angular_damping[i]
                if c > 0.0:
                    r = quat_matrix(self.context.bodies.orientation[i])
                    w.w = slowed(w.w, vec3(0.0, 0.0, 0.0), mat_vec(r, mat_vec(
                        self.context.bodies.inertia[i], mat_t_vec(r, self.context.bodies.twist[i].w))), c, h)
            if memcmp(w, self.wrench - 1, sizeof(Twist)):
                self.forces = <const double*>self.wrench

    cdef bint refuses_pitch(self) noexcept with gil:
        """Where yaw and roll turn about one axis, no rates of theirs give every motion; nor do they follow one that
        comes as near within a substep."""
        cdef double s, c, yaw, pitch, nearest
        for name, q, v in self.pitched:
            sine_cosine(self.motion.q[<Py_ssize_t>q + 1], &s, &c)
            yaw, pitch = self.motion.qd[<Py_ssize_t>v], self.motion.qd[<Py_ssize_t>v + 1]
            nearest = self.context.settings.h * sqrt(pitch * pitch + c * c * yaw * yaw)
            if fabs(c) < SINGULAR_PITCH or (fabs(c) < STEEP and fabs(c) < nearest):
                self.calls.fail(SimulationError(
                    f"joint {name!r} has come to a pitch of ±π/2 (off by {fabs(c):.2g} rad), where yaw and roll turn "
                    "about one axis and no rates of theirs follow the motion: describe it by a quaternion "
                    "(ball='quaternion'); the last good state is kept"))
                return True
        return False
