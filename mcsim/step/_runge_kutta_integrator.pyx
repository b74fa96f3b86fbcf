"""Smooth motions by Runge-Kutta, in steps as long as the substep (integrator="rk4") or as a tolerance allows ("reference",
and "radau", whose stages are found together), or by formulas of backward differences ("bdf"). "reference" goes over to
Radau's method for the rest of a substep where that is stiff.

    for each stage     accelerations of the present state, the state of the next one
    where judged       the error of the step; one that is too long is taken back, and a shorter one tried
    settle             joints are projected

A substep begins with one step for all of it, so that nothing but the state says how it goes on. What accelerations are, and
of what, others know: _smooth_integrator.pyx of bodies, _tree_smooth_integrator.pyx of trees.
"""

from libc.math cimport INFINITY, fabs, sqrt

import numpy as np

from mcsim.constraints._forces cimport aim_accelerations, aim_speeds, free_rotor
from mcsim.core._arrays cimport doubles
from mcsim.core._backward cimport BACKWARD_BASE, BACKWARD_FOUND, BACKWARD_FROM, BACKWARD_PLACE, BackwardDifferences
from mcsim.core._implicit cimport ImplicitStages
from mcsim.core._newton cimport NEWTON_FAILED, NEWTON_GOES_ON
from mcsim.core._tableau cimport implicit_pays
from mcsim.core._types cimport OK, Twist
from mcsim.state._joint cimport JOINT_AXES
from mcsim.state._row cimport ROW_ARMATURE, ROW_JOINT, Row, is_wide
from mcsim.state._rows cimport rate

from mcsim.core._tableau import backward_differences, classical, dormand_prince, implicit_method
from mcsim.core.errors import SimulationError

# The time [s] in which a row's `push` closes what is taken for closed as a step begins, and the part of its push that is
# taken for a rate of 0.
cdef double OPEN = 1e-9

# The same of what a run to a tolerance cannot be made of: joints that are open by more after so many rounds of projection.
cdef double TORN = 1e-6
cdef enum:
    SETTLINGS = 40       # rounds, at most

# The part of a substep than which few steps may be shorter, for what dies out soon: so many of them nobody waits for. And
# that than which none may, near the rounding error of time.
cdef double SHORT = 1e-8
cdef double SHORTEST = 1e-14

# The part of a substep than which an implicit step of loops is not to be shorter, of Radau's method and of backward
# differences, whose first steps, of order 1, are short anyway: at a tolerance of 1e-13 some 1e-7 of a substep. What asks
# for shorter ones is a singular pose, which the explicit method passes.
cdef double SINGULAR = 1e-6
cdef double SINGULAR_BACKWARD = 1e-9
cdef enum:
    SHORT_STEPS = 1000   # of a substep, at most, that are shorter

# After so many explicit steps of a substep, and whenever there are twice as many, the implicit method is tried for the rest
# of it. It goes on if after so many tries its steps are so many times as long, for each costs about twice as much. What
# keeps explicit steps short, stability or the rounding errors of stiff forces, need not be known.
cdef double LONGER = 4.0
cdef enum:
    SOON = 16            # explicit steps, before it is tried first
    TRIES = 4            # of its steps, before they are compared

# How far orientations may turn from the base of backward differences [rad]: less than a whole turn.
cdef double FAR = 2.0

# In parts of the tolerance, what projecting the end of an implicit step may move it by.
cdef double STRAYED = 100.0
cdef enum:
    REFUSED = 8          # steps of an implicit method in a row, after which the explicit one takes over

# Why a substep was given up.
cdef enum:
    NOT_SMOOTH = 0
    NOT_DRIVEN = 1
    TOO_SHORT = 2
    CONTRARY = 3


cdef class RungeKuttaIntegrator(Integrator):
    """Arguments as of Integrator."""

    def __init__(self, *arguments):
        Integrator.__init__(self, *arguments)
        cdef double tolerance = self.context.settings.reference_tolerance
        self.tableau = classical() if tolerance == 0.0 else (
            dormand_prince, implicit_method, backward_differences)[self.context.settings.implicit]()
        self.first, self.stiff, self.made = self.tableau, False, {}
        self.sizes = None if tolerance == 0.0 else StepSize(tolerance)
        self.kept_angles = np.zeros((self.context.joint_count + 1) * JOINT_AXES)
        self.angles = doubles(self.kept_angles)

    def begin_steps(self):
        """The buffers of the first step: when what moves is known."""
        self.take(self.first)
        self.stiff, self.moving = False, len(self.made[self.first][0].moving())

    def take(self, Tableau tableau not None):
        """Steps are by this method from now on."""
        if tableau not in self.made:
            steps, tolerance = self.steps_by(tableau), self.context.settings.reference_tolerance
            newton = None
            if tableau.multistep:
                newton = BackwardDifferences(steps.all_rates(), steps.moving(), tolerance)
            elif tableau.implicit:
                newton = ImplicitStages(*tableau.implicit, steps.all_rates(), steps.moving(), tolerance)
            self.made[tableau] = steps, newton
        steps, self.newton = self.made[tableau]
        self.implicit = self.newton if tableau.implicit else None
        self.backward = self.newton if tableau.multistep else None
        self.use(steps)
        self.tableau = tableau

    cdef void go_over(self, bint stiff) noexcept nogil:
        """To the implicit method, for the rest of a substep, or to the explicit one."""
        with gil:
            try:
                self.take(implicit_method() if stiff else dormand_prince())
            except MemoryError as error:         # the step ends: by another method it would come elsewhere
                self.calls.fail(error)
                return
        self.stiff, self.tries = stiff, 0
        if stiff:
            self.implicit.forget()

    cdef void close_beginning(self, double h) noexcept nogil:
        """What is written between steps may leave joints open, or velocities that they forbid: else the method would carry
        either through its first step."""
        if self.projecting and not self.context.ended and self.is_open():
            self.settle(h)
            if self.sizes is not None:
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

    cdef void advance(self, double h) noexcept nogil:
        """The smooth motion over the time h."""
        cdef double part, left = h
        cdef Py_ssize_t short = 0, made = 0, asked = SOON
        if self.sizes is None:
            self.make_stages(h)
            return
        self.begin_parts(h)
        if self.backward is not None:
            left = self.advance_backward(h)
        while left > 0.0 and not self.is_stopped():
            part = min(self.sizes.h, left)
            if self.is_near_singular(part, SINGULAR * h):
                self.sizes.begin(left)
                self.go_over(False)
                continue
            if part < min(SHORT * h, 0.5 * left):
                short += 1
            if self.stiff and self.tries == TRIES and part < min(LONGER * self.explicit_h, left):
                self.go_over(False)
            elif short > SHORT_STEPS or not part > min(SHORTEST * h, 0.5 * left):
                self.give_up(TOO_SHORT, part)
            elif self.make_good_stages(part):
                left = left - part
                made += 1
                self.refused = 0
                if made == asked and self.implicit is None:
                    asked *= 2
                    if implicit_pays(left / part * self.tableau.stages, self.moving):
                        self.explicit_h = part
                        self.go_over(True)
            elif self.implicit is not None:
                self.count_refused(left)

    cdef void begin_parts(self, double h) noexcept nogil:
        """A time of h begins, with the first method."""
        self.sizes.begin(h)
        self.stiff, self.refused = False, 0
        if self.tableau is not self.first:
            with gil:
                self.take(self.first)
        if self.implicit is not None:
            self.implicit.forget()

    cdef void make_stages(self, double h) noexcept nogil:
        """One step, whose time the end has. Joints are projected before each stage. Near a singular pose accelerations
        divide what stages are open by by how far that pose is; and rows that follow from others do so on the constraints
        alone: in a loop like Bennett's, which moves though it has three rows too many, they contradict each other beside
        them, and hold it."""
        cdef const double* times = self.tableau.times
        cdef double begin = self.context.settings.time
        cdef int k
        self.begin_stages()
        for k in range(self.tableau.stages):
            self.accelerate(False)
            self.end_stage(k)
            self.move(k + 1, h)
            if times[k + 1] != times[k]:
                self.set_time(begin + times[k + 1] * h)
                self.pass_time((times[k + 1] - times[k]) * h)
            if k + 1 == self.tableau.stages:
                self.settle(h)
            elif self.projecting:
                self.settle_stage(h)

    cdef bint make_good_stages(self, double h) noexcept nogil:
        """-> whether its error is small enough; else nothing has happened"""
        cdef double begin = self.context.settings.time
        cdef double errors[3]
        cdef bint made = True
        self.tries = min(self.tries + 1, TRIES)
        self.keep_angles(False)
        if self.implicit is None:
            self.make_stages(h)
            made = not self.is_torn()
        else:
            made = self.make_implicit_stages(h)
        if made:
            self.accelerate(False)
            if self.implicit is None:
                self.end_stage(self.tableau.stages)
            self.find_errors()
            if self.projecting:
                self.project_errors(h)
            self.judge(errors)
            if self.sizes.accepts(errors, h):
                if self.implicit is not None:
                    self.implicit.keep(h)
                return True
        elif self.implicit is None or self.implicit.fresh or self.tearing or self.strayed < INFINITY:
            self.sizes.fail(h)
        self.take_back()
        self.set_time(begin)
        self.keep_angles(True)
        return False

    cdef bint make_implicit_stages(self, double h) noexcept nogil:
        """The same, of all stages together; joints are projected at the end. -> whether it came to one. If not, it may with
        a Jacobian of its own beginning, which it has then the next time, or else in a shorter step."""
        cdef double begin = self.context.settings.time
        cdef int k, result
        self.strayed = INFINITY
        self.begin_stages()
        self.accelerate(False)
        self.end_stage(self.implicit.beginning())
        self.take_scales()
        self.implicit.begin(h)
        if not self.implicit.known:
            self.implicit.start_jacobian()
            self.find_jacobian(begin, 0.0)
        result = NEWTON_GOES_ON if self.implicit.start(h) else NEWTON_FAILED
        while result == NEWTON_GOES_ON:
            for k in range(self.tableau.stages):
                self.go_to(k, h, begin, self.tableau.times[k] * h)
                self.accelerate_stage(h)
                self.end_stage(self.implicit.of_stage(k))
            result = NEWTON_FAILED if self.is_stopped() else self.implicit.improve(h)
        self.tearing = False
        if result == NEWTON_FAILED:
            self.implicit.known = self.implicit.fresh
            return False
        self.go_to(self.tableau.stages, h, begin, h)
        if not self.settle_implicit(h, self.implicit.of_stage(0), self.implicit.of_stage(1)):
            self.implicit.known = self.implicit.fresh
            return False
        self.implicit.estimate()
        return True

    cdef void accelerate_stage(self, double h) noexcept nogil:
        """The rates of a stage that is looked for are those of where it is projected to: rates y' = f(P(y)), which are f
        wherever joints are closed, are smooth beside that."""
        if self.projecting:
            self.settle_stage(h)
        self.accelerate(False)

    cdef bint settle_implicit(self, double h, int before, int after) noexcept nogil:
        """The end of an implicit step has come, whose stages are not projected. -> whether projecting it has moved it by
        about its error alone. before, after: slots that nobody needs any more."""
        if not self.projecting:
            self.settle(h)
            self.strayed = 0.0
            return True
        self.read_back(before)
        self.settle(h)
        self.read_back(after)
        self.strayed = self.newton.distance(before, after)
        return self.strayed < STRAYED and not self.is_torn()

    cdef bint is_near_singular(self, double part, double least) noexcept nogil:
        """Whether an implicit step of loops would be so short that a singular pose must be near: there the
        place to which a stage is projected is no smooth function of the stage, and steps become as short as the pose is
        near. The explicit method goes on, over all that is left if it can; where that pays the implicit one comes back, and
        is judged by the explicit one's steps from then on."""
        return part < least and self.newton is not None and self.projecting and not self.stiff and self.closes_loops()

    cdef bint closes_loops(self) noexcept nogil:
        return False

    cdef void count_refused(self, double left) noexcept nogil:
        """One more step of an implicit method was no good, where joints are projected: Newton's method found no stages, or
        an end that is farther from the constraints than that of a good step. So many in a row have the same reason."""
        if not self.projecting or self.strayed < 1.0:
            return
        self.refused += 1
        if self.refused >= REFUSED:
            self.refused = 0
            self.sizes.begin(left)
            self.go_over(False)

    cdef void find_jacobian(self, double begin, double t) noexcept nogil:
        """Of the rates at the place that the method's slots tell, where the state is, t after the beginning."""
        if not self.derive():
            self.find_differences(begin, t)
        self.newton.know()

    cdef void find_differences(self, double begin, double t) noexcept nogil:
        """The Jacobian by differences of the rates. Accelerations were found last at the place itself; from the last number
        on, velocities come first, beside which what was found of that place is of use."""
        cdef Py_ssize_t i
        cdef double step
        for i in range(self.newton.size - 1, -1, -1):
            step = self.newton.start_probe(i)
            self.go_to(self.probe_row(), 1.0, begin, t)
            self.stay(i)
            self.accelerate_stage(self.sizes.h)
            self.end_stage(self.newton.found_slot())
            self.newton.end_probe(i, step)

    cdef int probe_row(self) noexcept nogil:
        """Of the tableau, for what is a displacement."""
        return 0 if self.backward is not None else self.tableau.stages + 1

    # ---- backward differences ----------------------------------------------------------------------------------------

    cdef double advance_backward(self, double h) noexcept nogil:
        """The smooth motion over the time h, or up to where it is for the explicit method. -> the time that is left. What
        has turned far from the base has another one, and no past."""
        cdef double left = h
        cdef Py_ssize_t short = 0
        self.backward.forget()
        while left > 0.0 and not self.is_stopped():
            if self.backward.order == 0:
                self.start_backward(left)
            if self.backward.h >= left:
                self.backward.change_step(left)
            if self.is_near_singular(self.backward.h, SINGULAR_BACKWARD * h):
                self.sizes.begin(left)
                self.go_over(False)
                break
            if self.backward.h < min(SHORT * h, 0.5 * left):
                short += 1
            if short > SHORT_STEPS or not self.backward.h > min(SHORTEST * h, 0.5 * left):
                self.give_up(TOO_SHORT, self.backward.h)
            elif self.make_backward_step():
                left = left - self.taken
                self.refused = 0
                if self.farthest_turn() > FAR:
                    self.backward.forget()
            else:
                self.count_refused(left)
                if self.backward is None:
                    break
        return left

    cdef void start_backward(self, double most) noexcept nogil:
        """The base is the present state."""
        cdef double begin = self.context.settings.time
        self.begin_stages()
        self.keep_angles(False)
        self.take_scales()
        self.accelerate(False)
        self.end_stage(BACKWARD_BASE)
        self.end_stage(BACKWARD_FROM)
        self.find_jacobian(begin, 0.0)
        self.go_to(0, 1.0, begin, 0.0)
        self.backward.start(most)

    cdef bint make_backward_step(self) noexcept nogil:
        """-> whether it is good; else nothing has happened but that another one is to be tried"""
        cdef double begin = self.context.settings.time
        cdef double error = INFINITY
        self.keep_angles(False)
        self.taken = self.backward.h
        if self.find_backward_place(begin):
            self.backward.estimate()
            if self.settle_implicit(self.taken, BACKWARD_FOUND, BACKWARD_FROM):
                error = self.backward_error()
            if self.backward.accepts(error):
                if self.projecting:
                    self.read_back(BACKWARD_PLACE)
                self.backward.take()
                self.backward.go_on(error)
                return True
        self.set_time(begin)
        self.keep_angles(True)
        return False

    cdef double backward_error(self) noexcept nogil:
        """Of the step that is at its end, in parts of the tolerance."""
        cdef double errors[3]
        if self.projecting:
            self.accelerate(False)
        self.find_errors()
        if self.projecting:
            self.project_errors(1.0)
        self.judge(errors)
        return sqrt(errors[0] / max(1.0, errors[2])) / self.sizes.tolerance

    cdef bint find_backward_place(self, double begin) noexcept nogil:
        """Newton's method, with a Jacobian of this step if an older one does not lead there. -> whether it came to an end;
        then the state is there"""
        cdef double h = self.backward.h
        cdef int result = NEWTON_GOES_ON
        self.strayed = INFINITY
        self.backward.foresee()
        if not self.backward.known:
            self.go_to(0, 1.0, begin, h)
            self.accelerate_stage(h)
            self.end_stage(BACKWARD_FROM)
            self.find_jacobian(begin, h)
        if not self.backward.prepare():
            result = NEWTON_FAILED
        while result == NEWTON_GOES_ON:
            self.go_to(0, 1.0, begin, h)
            self.accelerate_stage(h)
            self.end_stage(BACKWARD_FOUND)
            result = NEWTON_FAILED if self.is_stopped() else self.backward.improve()
        if result == NEWTON_FAILED:
            if self.backward.fresh:
                self.backward.fail()
            self.backward.known = self.backward.fresh
            return False
        self.go_to(0, 1.0, begin, h)
        return True

    cdef void go_to(self, int k, double h, double begin, double t) noexcept nogil:
        """The state of row k of the tableau, t after the beginning, from which angles count their turns."""
        self.keep_angles(True)
        self.move(k, h)
        self.set_time(begin + t)
        self.pass_time(t)

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
        if self.sizes is None:
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

    cdef void find_errors(self) noexcept nogil:
        """Of the end of a step."""

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
