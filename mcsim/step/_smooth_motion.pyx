"""A smooth motion that steps by Runge-Kutta's formulas follow (_runge_kutta_steps.pyx): the verbs by which they ask for
accelerations and move on, of which others know what they are (_smooth_integrator.pyx of bodies, _tree_smooth_integrator.pyx
of trees), and what is the same of both: joints that are open as steps begin, motors, angles, and what ends a run.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport uint64_t

import numpy as np

from mcsim.constraints._forces cimport aim_accelerations, aim_speeds, force_along, free_rotor, is_aimed, is_force
from mcsim.core._arrays cimport doubles
from mcsim.core._types cimport OK, Twist
from mcsim.state._joint cimport AXIS_ROWS, JOINT_AXES, Joint
from mcsim.state._row cimport ROW_ARMATURE, ROW_JOINT, ROW_SPRING, Row, is_wide
from mcsim.state._rows cimport rate

from mcsim.core.errors import SimulationError

# The time [s] in which a row's `push` closes what is taken for closed as a step begins, and the part of its push that is
# taken for a rate of 0.
cdef double OPEN = 1e-9

# The same of what a run to a tolerance cannot be made of: joints that are open by more after so many rounds of projection.
cdef double TORN = 1e-6
cdef enum:
    SETTLINGS = 40       # rounds, at most


cdef class SmoothMotion(Integrator):
    """Arguments as of Integrator."""

    def __init__(self, *arguments):
        Integrator.__init__(self, *arguments)
        self.kept_angles = np.zeros((self.context.joint_count + 1) * JOINT_AXES)
        self.angles = doubles(self.kept_angles)

    cdef void close_beginning(self, double h) noexcept nogil:
        """What is written between steps may leave joints open, or velocities that they forbid: else the method would carry
        either through its first step."""
        if self.projecting and not self.context.ended and self.is_open():
            self.settle(h)
            if self.context.settings.reference_tolerance > 0.0:
                self.close_wide(h)

    cdef void close_wide(self, double h) noexcept nogil:
        """What is open by more than one settling bears, by more of them, as long as they lead anywhere."""
        cdef double now, before = INFINITY
        cdef int _
        for _ in range(SETTLINGS):
            now = self.widest()
            if now <= TORN or not now < before:
                break
            before = now
            self.settle(h)
        if self.widest() > TORN:
            self.give_up(CONTRARY, 0.0)

    cdef double widest(self) noexcept nogil:
        """-> the time in which its push closes the joint that is open by most [s]; `torn` is that joint"""
        cdef const Row* row
        cdef double widest = 0.0
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind == ROW_JOINT and row.stabilized and not fabs(row.error) <= widest * row.push:
                widest, self.torn, self.torn_by = fabs(row.error) / row.push, row.source, fabs(row.error)
        return widest

    cdef bint is_torn(self) noexcept nogil:
        """Whether the end of a step of a tolerance has joints that projecting could not close."""
        self.tearing = self.projecting and self.widest() > TORN
        return self.tearing

    cdef void start_motors(self) noexcept nogil:
        """What has a motor for a velocity without a bound jumps to that."""
        if self.motors is not None and aim_speeds(self.context.joints, self.plain.rows, self.plain.joint_end,
                                                  self.context.bodies.twist, self.context.settings) > 0:
            self.jump()

    cdef void free_rotors(self, int relaxed) noexcept nogil:
        """Rotors keep to their present rates, but for impulses to come."""
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end if self.motors is not None else 0):
            if self.plain.rows[i].kind == ROW_ARMATURE:
                free_rotor(&self.plain.rows[i], self.rotor_rate(i), relaxed)

    cdef bint is_open(self) noexcept nogil:
        """Whether any joint's own row is, as a step lays them out."""
        cdef const Twist* twist = self.context.bodies.twist
        cdef const Row* row
        cdef Py_ssize_t i
        cdef double v
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind != ROW_JOINT:
                continue
            v = rate(row, twist) + row.rate + (rate(row + 1, twist) if is_wide(row) else 0.0)
            if fabs(v) > OPEN * row.push or (row.stabilized and fabs(row.error) > OPEN * row.push):
                return True
        return False

    cdef void keep_angles(self, bint back) noexcept nogil:
        """Joints' angles count their turns on the way."""
        cdef Py_ssize_t j
        cdef int i
        for j in range(self.context.joint_count):
            for i in range(self.context.joints[j].axis_count):
                if back:
                    self.context.joints[j].axes[i].position = self.angles[j * JOINT_AXES + i]
                else:
                    self.angles[j * JOINT_AXES + i] = self.context.joints[j].axes[i].position

    cdef bint is_stopped(self) noexcept nogil:
        """Whether a function of the user's has failed, or Ctrl-C was pressed."""
        return self.calls.is_interrupted() or self.context.pose_callbacks.status != OK

    cdef bint refuses(self) noexcept nogil:
        """Something is bounded, or touches, of which steps to a tolerance know nothing. -> whether that ends the step"""
        if self.context.settings.reference_tolerance == 0.0:
            return False
        self.give_up(NOT_SMOOTH, 0.0)
        return True

    cdef void give_up(self, int why, double h) noexcept nogil:
        """h: of the step that would be too short."""
        if why == TOO_SHORT and self.tearing:
            why = CONTRARY
        with gil:
            what = {
                CONTRARY: f"joint {self.joint_name(self.torn)} cannot be closed and stays open by {self.torn_by:.3g} m or "
                          "rad: the joints contradict each other, or what moves them; remove one of them, or give it other "
                          "anchors, axes or motions",
                NOT_SMOOTH: "bodies touch, or nearly so, which is no smooth motion",
                NOT_DRIVEN: "the forces that its motors need were not found",
                TOO_SHORT: f"the motion asks for steps of {h:.3g} s",
            }[why]
            name = ("reference", "radau", "bdf")[self.context.settings.implicit]
            self.calls.fail(SimulationError(
                f"integrator='{name}' stopped at t = {self.context.settings.time:.6g} s: {what}; the last good state "
                "is kept"))

    def name(self, bodies, joints):
        self.joint_names = tuple(joints)

    def joint_name(self, Py_ssize_t joint):
        return repr(self.joint_names[joint]) if self.joint_names else str(joint)

    cdef bint aim_motors(self) noexcept nogil:      # no-cython-lint: a method hides no function
        """And rotors, of the rows at the present pose, whose joints' solver is ready. -> whether any ask for
        accelerations"""
        return self.motors is not None and aim_accelerations(
            self.context.joints, self.plain.rows, self.plain.joint_end, self.context.bodies.twist,
            self.context.settings) > 0 and self.motors.prepare(self.plain.rows, self.plain.joint_end)

    cdef void drive(self, Twist* x) noexcept nogil:
        """Add to x what the motors and rotors do."""
        if not self.motors.find(self.plain.rows, x):
            self.give_up(NOT_DRIVEN, 0.0)

    cdef uint64_t branch(self) noexcept nogil:
        """A number that tells which forces are at their bounds, and which way friction acts, once accelerations are found:
        where it changes, forces have a corner in time, or all but jump."""
        cdef const Joint* joints = self.context.joints
        cdef const Row* row
        cdef uint64_t told = 0
        cdef double slope, f
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if not is_force(row, self.context.settings) or row.kind == ROW_ARMATURE:
                continue
            if is_aimed(row, joints, self.context.settings):
                told = 3 * told + (row.impulse > row.lower) + (row.impulse >= row.upper)
                continue
            slope = 0.0
            f = force_along(row, &joints[row.source].axes[row.index // AXIS_ROWS], rate(row, self.context.bodies.twist),
                            self.context.settings, &slope, &slope)
            told = 3 * told + (slope != 0.0 if row.kind == ROW_SPRING else f > 0.0)
        return told

    # ---- of those that move something --------------------------------------------------------------------------------

    def steps_by(self, tableau):
        """-> the buffers of steps by a method: `all_rates()`, and which of their numbers are `moving()`"""

    def use(self, steps):
        """Steps are made in these buffers."""

    cdef void begin_stages(self) noexcept nogil:
        """A step begins at the present state."""

    cdef void take_scales(self) noexcept nogil:
        """Of an implicit method: how large what moves is there."""

    cdef void accelerate(self, bint keep) noexcept nogil:
        """Accelerations at the present state. keep: what joints do in a substep is their rows' impulses."""

    cdef void end_stage(self, int k) noexcept nogil:
        """Accelerations are those of stage k."""

    cdef void move(self, int k, double h) noexcept nogil:
        """The state at which stage k of a step of h begins; after the last one, that of its end."""

    cdef void pass_time(self, double h) noexcept nogil:
        """The state has moved on by a time h."""

    cdef void find_errors(self, bint across) noexcept nogil:
        """Of the end of a step. across: of one in which forces came to a bound, or left it (core/_tableau.pyx)."""

    cdef void project_errors(self, double h) noexcept nogil:
        """Projected as the step's end is: of what joints forbid, what counts is the square."""

    cdef void judge(self, double* errors) noexcept nogil:
        """Of those, what StepSize reads."""

    cdef void take_back(self) noexcept nogil:
        """The state with which the step began."""

    cdef void settle(self, double h) noexcept nogil:
        """The end of a step of h has come."""

    cdef void settle_stage(self, double h) noexcept nogil:
        """A stage of it, which is projected. What has bounds is left as it is."""

    cdef bint closes_loops(self) noexcept nogil:
        """Whether joints do."""
        return False

    cdef bint derive(self) noexcept nogil:
        """The Jacobian analytically. -> whether it can be had so"""
        return False

    cdef void stay(self, Py_ssize_t i) noexcept nogil:
        """The state is one at whose place accelerations were found last, but for number i of those that move, and of later
        ones for nothing at all."""

    cdef void read_back(self, int k) noexcept nogil:
        """Where what moves stands, as a displacement from where the step began, into slot k."""

    cdef double farthest_turn(self) noexcept nogil:
        """Of an orientation, from there [rad]."""
        return 0.0

    cdef double rotor_rate(self, Py_ssize_t i) noexcept nogil:
        """That of the coordinate of row i now."""
        return rate(&self.plain.rows[i], self.context.bodies.twist)

    cdef void jump(self) noexcept nogil:
        """Velocities to what the motors' rows, which are aimed, ask for."""
