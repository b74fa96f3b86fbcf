"""Steps of a smooth motion by Runge-Kutta, as long as the substep (integrator="rk4") or as a tolerance allows ("reference",
and "radau", whose stages are found together), or by formulas of backward differences ("bdf"). "reference" goes over to
Radau's method for the rest of a substep where that is stiff.

    for each stage     accelerations of the present state, the state of the next one
    where judged       the error of the step; one that is too long is taken back, and a shorter one tried
    settle             joints are projected

A substep begins with one step for all of it, so that nothing but the state says how it goes on. What accelerations are, and
of what, the motion knows (_smooth_motion.pyx).
"""

from libc.math cimport INFINITY

from mcsim.core._backward cimport BACKWARD_BASE, BACKWARD_FOUND, BACKWARD_FROM, BACKWARD_PLACE, BackwardDifferences
from mcsim.core._implicit cimport ImplicitStages
from mcsim.core._newton cimport NEWTON_FAILED, NEWTON_GOES_ON
from mcsim.core._tableau cimport implicit_pays

from mcsim.core._tableau import backward_differences, classical, dormand_prince, implicit_method

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


cdef class RungeKuttaSteps:
    """Of a motion, by its settings."""

    def __init__(self, SmoothMotion motion not None):
        cdef double tolerance = motion.context.settings.reference_tolerance
        self.motion = motion
        self.tableau = classical() if tolerance == 0.0 else (
            dormand_prince, implicit_method, backward_differences)[motion.context.settings.implicit]()
        self.first, self.stiff, self.made = self.tableau, False, {}
        self.sizes = None if tolerance == 0.0 else StepSize(tolerance)

    def begin(self):
        """The buffers of the first step: when what moves is known, anew when that has changed."""
        self.made = {}
        self.take(self.first)
        self.stiff, self.moving = False, len(self.made[self.first][0].moving())

    def take(self, Tableau tableau not None):
        """Steps are by this method from now on."""
        if tableau not in self.made:
            steps, tolerance = self.motion.steps_by(tableau), self.motion.context.settings.reference_tolerance
            newton = None
            if tableau.multistep:
                newton = BackwardDifferences(steps.all_rates(), steps.moving(), tolerance)
            elif tableau.implicit:
                newton = ImplicitStages(*tableau.implicit, steps.all_rates(), steps.moving(), tolerance)
            self.made[tableau] = steps, newton
        steps, self.newton = self.made[tableau]
        self.implicit = self.newton if tableau.implicit else None
        self.backward = self.newton if tableau.multistep else None
        self.motion.use(steps)
        self.tableau = tableau

    cdef void go_over(self, bint stiff) noexcept nogil:
        """To the implicit method, for the rest of a substep, or to the explicit one."""
        with gil:
            try:
                self.take(implicit_method() if stiff else dormand_prince())
            except MemoryError as error:         # the step ends: by another method it would come elsewhere
                self.motion.calls.fail(error)
                return
        self.stiff, self.tries, self.corner = stiff, 0, 0.0
        if stiff:
            self.implicit.forget()

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
        while left > 0.0 and not self.motion.is_stopped():
            part = min(self.sizes.h, left)
            if self.corner > 0.0:
                part = min(part, self.corner if self.corner * self.missed < 1.0 else 0.5 * self.corner)
            if self.is_near_singular(part, SINGULAR * h):
                self.sizes.begin(left)
                self.go_over(False)
                continue
            if part < min(SHORT * h, 0.5 * left):
                short += 1
            if self.stiff and self.tries == TRIES and part < min(LONGER * self.explicit_h, left):
                self.go_over(False)
            elif short > SHORT_STEPS or not part > min(SHORTEST * h, 0.5 * left):
                self.motion.give_up(TOO_SHORT, part)
            elif self.make_good_stages(part):
                left = left - part
                made += self.corner == 0.0
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
        self.stiff, self.refused, self.corner = False, 0, 0.0
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
        cdef double begin = self.motion.context.settings.time
        cdef int k
        self.motion.begin_stages()
        for k in range(self.tableau.stages):
            self.motion.accelerate(False)
            if self.sizes is not None:
                self.watch(k)
            self.motion.end_stage(k)
            self.motion.move(k + 1, h)
            if times[k + 1] != times[k]:
                self.motion.set_time(begin + times[k + 1] * h)
                self.motion.pass_time((times[k + 1] - times[k]) * h)
            if k + 1 == self.tableau.stages:
                self.motion.settle(h)
            elif self.motion.projecting:
                self.motion.settle_stage(h)

    cdef bint make_good_stages(self, double h) noexcept nogil:
        """-> whether its error is small enough; else nothing has happened"""
        cdef double begin = self.motion.context.settings.time
        cdef bint made = True
        self.tries = min(self.tries + 1, TRIES)
        self.motion.keep_angles(False)
        if self.implicit is None:
            self.make_stages(h)
            made = not self.motion.is_torn()
        else:
            made = self.make_implicit_stages(h)
        if made:
            self.motion.accelerate(False)
            if self.implicit is None:
                self.motion.end_stage(self.tableau.stages)
            if self.is_good(h):
                if self.implicit is not None:
                    self.implicit.keep(h)
                return True
        elif self.implicit is None or self.implicit.fresh or self.motion.tearing or self.strayed < INFINITY:
            self.sizes.fail(h)
        self.motion.take_back()
        self.motion.set_time(begin)
        self.motion.keep_angles(True)
        return False

    cdef void watch(self, int k) noexcept nogil:
        """Whether forces of a stage are on the other side of a corner than those of the first one."""
        cdef uint64_t branch = self.motion.branch()
        if k == 0:
            self.branch, self.across = branch, False
        self.across = self.across or branch != self.branch

    cdef bint is_good(self, double h) noexcept nogil:
        """Whether the error of a step that is at its end is small enough, and how long the next one is to be. Where forces
        have come to a bound, or left it, the explicit method looks for when that is, by halves of the time left to it."""
        cdef double errors[2]
        self.judge(h, False, errors)
        if not self.sizes.accepts(errors, h):
            return False
        if self.implicit is None:
            self.watch(self.tableau.stages)
        if self.implicit is not None or not self.across:
            self.corner = max(0.0, self.corner - h)
            return True
        if self.corner == 0.0:
            self.uncut = h
        self.judge(h, True, errors)
        self.missed = self.sizes.error(errors, h) / h
        if not self.missed * h < 1.0:
            self.corner = h
            return False
        self.corner, self.sizes.h = 0.0, max(self.sizes.h, self.uncut)
        return True

    cdef void judge(self, double h, bint across, double* errors) noexcept nogil:
        """Of a step of h that is at its end, what StepSize judges. across: of one in which forces have a corner."""
        self.motion.find_errors(across)
        if self.motion.projecting:
            self.motion.project_errors(h)
        self.motion.judge(errors)

    cdef bint make_implicit_stages(self, double h) noexcept nogil:
        """The same, of all stages together; joints are projected at the end. -> whether it came to one. If not, it may with
        a Jacobian of its own beginning, which it has then the next time, or else in a shorter step."""
        cdef double begin = self.motion.context.settings.time
        cdef int k, result
        self.strayed = INFINITY
        self.motion.begin_stages()
        self.motion.accelerate(False)
        self.motion.end_stage(self.implicit.beginning())
        self.motion.take_scales()
        self.implicit.begin(h)
        if not self.implicit.known:
            self.implicit.start_jacobian()
            self.find_jacobian(begin, 0.0)
        result = NEWTON_GOES_ON if self.implicit.start(h) else NEWTON_FAILED
        while result == NEWTON_GOES_ON:
            for k in range(self.tableau.stages):
                self.go_to(k, h, begin, self.tableau.times[k] * h)
                self.accelerate_stage(h)
                self.motion.end_stage(self.implicit.of_stage(k))
            result = NEWTON_FAILED if self.motion.is_stopped() else self.implicit.improve(h)
        self.motion.tearing = False
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
        if self.motion.projecting:
            self.motion.settle_stage(h)
        self.motion.accelerate(False)

    cdef bint settle_implicit(self, double h, int before, int after) noexcept nogil:
        """The end of an implicit step has come, whose stages are not projected. -> whether projecting it has moved it by
        about its error alone. before, after: slots that nobody needs any more."""
        if not self.motion.projecting:
            self.motion.settle(h)
            self.strayed = 0.0
            return True
        self.motion.read_back(before)
        self.motion.settle(h)
        self.motion.read_back(after)
        self.strayed = self.newton.distance(before, after)
        return self.strayed < STRAYED and not self.motion.is_torn()

    cdef bint is_near_singular(self, double part, double least) noexcept nogil:
        """Whether an implicit step of loops would be so short that a singular pose must be near: there the
        place to which a stage is projected is no smooth function of the stage, and steps become as short as the pose is
        near. The explicit method goes on, over all that is left if it can; where that pays the implicit one comes back, and
        is judged by the explicit one's steps from then on."""
        return (part < least and self.newton is not None and self.motion.projecting and not self.stiff
                and self.motion.closes_loops())

    cdef void count_refused(self, double left) noexcept nogil:
        """One more step of an implicit method was no good, where joints are projected: Newton's method found no stages, or
        an end that is farther from the constraints than that of a good step. So many in a row have the same reason."""
        if not self.motion.projecting or self.strayed < 1.0:
            return
        self.refused += 1
        if self.refused >= REFUSED:
            self.refused = 0
            self.sizes.begin(left)
            self.go_over(False)

    cdef void find_jacobian(self, double begin, double t) noexcept nogil:
        """Of the rates at the place that the method's slots tell, where the state is, t after the beginning."""
        if not self.motion.derive():
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
            self.motion.stay(i)
            self.accelerate_stage(self.sizes.h)
            self.motion.end_stage(self.newton.found_slot())
            self.newton.end_probe(i, step)

    cdef int probe_row(self) noexcept nogil:
        """Of the tableau, for what is a displacement."""
        return 0 if self.backward is not None else self.tableau.stages + 1

    cdef double advance_backward(self, double h) noexcept nogil:
        """The smooth motion over the time h, or up to where it is for the explicit method. -> the time that is left. What
        has turned far from the base has another one, and no past."""
        cdef double left = h
        cdef Py_ssize_t short = 0
        self.backward.forget()
        while left > 0.0 and not self.motion.is_stopped():
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
                self.motion.give_up(TOO_SHORT, self.backward.h)
            elif self.make_backward_step():
                left = left - self.taken
                self.refused = 0
                if self.motion.farthest_turn() > FAR:
                    self.backward.forget()
            else:
                self.count_refused(left)
                if self.backward is None:
                    break
        return left

    cdef void start_backward(self, double most) noexcept nogil:
        """The base is the present state."""
        cdef double begin = self.motion.context.settings.time
        self.motion.begin_stages()
        self.motion.keep_angles(False)
        self.motion.take_scales()
        self.motion.accelerate(False)
        self.motion.end_stage(BACKWARD_BASE)
        self.motion.end_stage(BACKWARD_FROM)
        self.find_jacobian(begin, 0.0)
        self.go_to(0, 1.0, begin, 0.0)
        self.backward.start(most)

    cdef bint make_backward_step(self) noexcept nogil:
        """-> whether it is good; else nothing has happened but that another one is to be tried"""
        cdef double begin = self.motion.context.settings.time
        cdef double error = INFINITY
        self.motion.keep_angles(False)
        self.taken = self.backward.h
        if self.find_backward_place(begin):
            self.backward.estimate()
            if self.settle_implicit(self.taken, BACKWARD_FOUND, BACKWARD_FROM):
                error = self.backward_error()
            if self.backward.accepts(error):
                if self.motion.projecting:
                    self.motion.read_back(BACKWARD_PLACE)
                self.backward.take()
                self.backward.go_on(error)
                return True
        self.motion.set_time(begin)
        self.motion.keep_angles(True)
        return False

    cdef double backward_error(self) noexcept nogil:
        """Of the step that is at its end, in parts of the tolerance."""
        cdef double errors[2]
        if self.motion.projecting:
            self.motion.accelerate(False)
        self.judge(1.0, False, errors)
        return errors[0] / self.sizes.tolerance

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
            self.motion.end_stage(BACKWARD_FROM)
            self.find_jacobian(begin, h)
        if not self.backward.prepare():
            result = NEWTON_FAILED
        while result == NEWTON_GOES_ON:
            self.go_to(0, 1.0, begin, h)
            self.accelerate_stage(h)
            self.motion.end_stage(BACKWARD_FOUND)
            result = NEWTON_FAILED if self.motion.is_stopped() else self.backward.improve()
        if result == NEWTON_FAILED:
            if self.backward.fresh:
                self.backward.fail()
            self.backward.known = self.backward.fresh
            return False
        self.go_to(0, 1.0, begin, h)
        return True

    cdef void go_to(self, int k, double h, double begin, double t) noexcept nogil:
        """The state of row k of the tableau, t after the beginning, from which angles count their turns."""
        self.motion.keep_angles(True)
        self.motion.move(k, h)
        self.motion.set_time(begin + t)
        self.motion.pass_time(t)
