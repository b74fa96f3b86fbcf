"""The calls of a step: n of them at a time without the GIL, what users' functions raise, and what a world tells of changes.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcpy

from mcsim.core._touched cimport Touched, retouch
from mcsim.core._types cimport CALL_FAILED, GROW, NOT_FINITE, OK, Quat, Twist, Vec3
from mcsim.core._whole cimport set_whole, whole
from mcsim.integrate._euler cimport update_inertia
from mcsim.state._joint cimport Joint
from mcsim.step._step cimport NO_MEMORY, NOT_DONE, UNSEEN


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* one) nogil

cdef enum:
    # Who has what there is in a world while it is edited: the world, and three frames of calls; its scene: what there is
    # and what there will be, the draft, what makes forces of joints, and the frame below; the scene's lists: the scene and
    # that frame; the index: what there is, what there will be, and that frame.
    OF_THERE = 4
    OF_SCENE = 5
    OF_LIST = 2
    OF_INDEX = 3


cdef bint has_more(one, Py_ssize_t known, list deeds) except -1:
    """Whether anybody has this beside those that are known and the deeds that are to be done to it. The argument is one's
    that is known."""
    for deed, _ in deeds:
        known += deed.__self__ is one
    return Py_REFCNT(<PyObject*>one) > known


cdef bint alone(there, list deeds) except -1:
    """Whether nobody else has what there is, so that nobody sees what is done to it. As ndarray.resize asks it."""
    scene, index = there.scene, there.body_index
    bodies, body_of = scene.bodies, scene._body_of
    return not (has_more(there, OF_THERE, []) or has_more(scene, OF_SCENE, []) or has_more(bodies, OF_LIST, deeds)
                or has_more(body_of, OF_LIST, deeds) or has_more(index, OF_INDEX, deeds))


cdef class Pipeline:
    """One world's steps. Arguments as of StepParts."""

    def __init__(self, *args, **options):
        self.parts = StepParts(*args, **options)
        self.one, self.revision_seen = Step(self.parts), -1
        self.arrays, self.context, self.space = self.parts.arrays, self.parts.context, self.parts.space
        self.sleepers, self.calls, self.stage_times = self.parts.sleepers, self.parts.calls, self.parts.stage_times

    def step(self, long long n):
        """One call of World.step: n steps, counted in `steps`, or fewer; times and events are the call's own, forces act
        through it. -> status. NOT_FINITE: arrays.failed_body says where, the state is that before the step. NOT_DONE:
        `noted` says what, the state likewise. UNSEEN: nothing happened, there are shapes that see_shapes() has not been
        called for."""
        if self.shapes_changed:
            return UNSEEN
        self.begin_call()
        try:
            return self.go_on(n)
        finally:
            self.end_call()

    def begin_call(self):
        """A call of World.step begins: times, events and notes are its own."""
        self.call_began = self.context.steps
        self.stage_times.clear()
        self.parts.noted.begin_call()
        if self.parts.laboratory is not None:
            self.parts.laboratory.begin()
        self.parts.collider.clear_events()
        if self.parts.sensors is not None:
            self.parts.sensors.clear_events()

    def go_on(self, long long n):
        """n steps of the call, or fewer. -> status, as of step()"""
        cdef long long end = self.context.steps + n
        cdef int status = OK
        self.gather()
        if self.space.wake_driven():
            self.sleepers.follow()
        while self.context.steps < end and status != NOT_FINITE and status != NOT_DONE:
            status = self.advance(end - self.context.steps)
            if status == GROW:
                self.parts.room.grow()
        return status

    def end_call(self):
        """It has ended: forces acted through it."""
        self.arrays.clear_forces()
        self.steps_made = self.context.steps - self.call_began

    cdef void gather(self) noexcept:
        """Which bodies users and the world may have written since this was last asked."""
        self.arrays.watch.gather()
        if self.arrays.watch.viewed:
            self.arrays.sift()

    cdef int advance(self, long long n) except -1:
        """Up to n steps without the GIL. -> status. GROW: grow the room and go on. What a signal's handler raises comes
        out whole, the step that it interrupts undone."""
        cdef long long done = 0
        cdef bint driven
        cdef int status
        with nogil:
            driven = self.context.efforts.begin()
            self.arrays.watch.of_step.all |= driven      # efforts are forces, also on what sleeps
            self.stage_times.start()
            self.calls.begin(self.stage_times.clock)
            status = self.arrays.check_written()
            if status == OK:
                self.sleepers.notice()
            update_inertia(self.context.bodies)
            while status == OK and done < n:
                if self.tape is not None:
                    driven = self.write_tape(driven)
                status = self.one.make()
                if status == OK:
                    done += 1
                    self.context.steps += 1
                    self.tell_time()
                    if self.tape is not None:
                        self.tape.end_step()
                if self.parts.replanning:
                    with gil:
                        self.parts.replan()
                if status == OK and self.calls.is_interrupted():
                    status = CALL_FAILED
            self.parts.islands.look_at_moving(self.context.bodies)
            self.context.efforts.end(driven)
        if status == CALL_FAILED or status == NO_MEMORY:
            self.raise_failure(status)
        return status

    cdef bint write_tape(self, bint driven) noexcept nogil:
        """What the step that comes begins with, as if a user had written it. driven, and ->: of the efforts' begin()"""
        cdef bint woken
        self.context.efforts.end(driven)
        self.arrays.watch.touch_all()
        woken = self.tape.write(self.context.bodies, self.parts.islands)
        driven = self.context.efforts.begin()
        if not self.sleepers.notice() and (self.space.wake_driven() or woken):
            self.sleepers.follow()
        return driven

    def raise_failure(self, int status):
        """Pass on what a user's function raised, or that there was no memory."""
        if status == NO_MEMORY:
            self.parts.noted.without_memory = False
            raise MemoryError
        error = self.calls.take_failure()
        posed = self.parts.pose_callbacks.take_failure()
        raise error if posed is None else posed

    def prepare(self, bint points=False):
        """Rows of the present state, as the next step would begin with them; the joints' records and the times of
        the last step call stay. points: with friction at every point, under a cone. -> status"""
        cdef int status
        cdef bint driven
        self.space.recover()                                 # while the last substep's rows are there
        with nogil:
            driven = self.context.efforts.begin()
            status = self.lay_rows(points)
            self.give_back_joints()
            self.context.efforts.end(driven)
        if status == CALL_FAILED or status == NO_MEMORY:
            self.raise_failure(status)
        return status

    cdef int lay_rows(self, bint points) noexcept nogil:
        """Rows of the present state, in which the forces along joints' coordinates act. The joints' records are those that
        go with the rows until give_back_joints(). -> status"""
        cdef int status
        cdef int32_t central = self.context.settings.friction_central
        cdef int32_t cone = self.context.settings.friction_cone
        self.stage_times.paused = True
        if self.parts.plan.locked is not None:
            self.parts.plan.locked.unfold()                  # here a lock is a joint with rows
        self.arrays.joints_copied()
        self.arrays.watch.touch_all()
        self.parts.collider.unplaced = True
        status = self.arrays.check_state()
        if status == OK:
            update_inertia(self.context.bodies)
            status = self.one.collide()
        if status == OK:
            if points:
                self.context.settings.friction_central, self.context.settings.friction_cone = 0, 1
            status = self.one.layout(self.parts.as_rows)
            self.context.settings.friction_central, self.context.settings.friction_cone = central, cone
        self.stage_times.paused = False
        return status

    cdef void give_back_joints(self) noexcept nogil:
        """The joints' records are as they were before lay_rows()."""
        memcpy(self.context.joints, self.arrays.backup_pointers[3], self.context.joint_count * sizeof(Joint))

    def prepare_later(self, const double[:, ::1] position not None, const double[:, ::1] orientation not None,
                      const double[:, ::1] twist not None, double[:, ::1] acting not None, double ahead):
        """As prepare(), and then the same rows as a substep of that step finds them which begins at these poses
        (bodies, 3), (bodies, 4) and twists (bodies, 6), `ahead` [s] after the step: the arrays are left there. acting
        (bodies, 6): what acts on the bodies there is written into it. -> status"""
        cdef Py_ssize_t n = self.context.bodies.count
        cdef int status
        cdef bint driven
        if not (position.shape[0] == orientation.shape[0] == twist.shape[0] == acting.shape[0] == n
                and position.shape[1] == 3 and orientation.shape[1] == 4 and twist.shape[1] == acting.shape[1] == 6):
            raise ValueError(f"poses, twists and forces must be of {n} bodies")
        self.space.recover()
        with nogil:
            driven = self.context.efforts.begin()
            status = self.lay_rows(False)
            if status == OK and n > 0:
                memcpy(self.context.bodies.position, &position[0, 0], n * sizeof(Vec3))
                memcpy(self.context.bodies.orientation, &orientation[0, 0], n * sizeof(Quat))
                memcpy(self.context.bodies.twist, &twist[0, 0], n * sizeof(Twist))
                update_inertia(self.context.bodies)
                status = self.follow_rows(self.context.settings.time + ahead)
                memcpy(&acting[0, 0], self.context.bodies.force, n * sizeof(Twist))
            self.give_back_joints()
            self.context.efforts.end(driven)
        if status == CALL_FAILED or status == NO_MEMORY:
            self.raise_failure(status)
        return status

    cdef int follow_rows(self, double time) noexcept nogil:
        """The rows that lay_rows() has laid out, at the present poses and this time. -> status"""
        cdef int status = self.one.integrator.set_time(time)
        self.context.efforts.follow()
        self.one.layout_again(self.parts.as_rows)
        self.parts.plain.aim_motors()
        return status if self.one.pose_callbacks.status == OK else CALL_FAILED

    def times(self):
        """(stages,) [s] spent in the last call of step."""
        return self.stage_times.seconds()

    def edit(self, dict world, dict parts, told, bodies, Rows rows, fresh, sizes, sleep, woken):
        """Follow bodies that went and came, and put `parts` and what there is then into the world's dict, without any
        signal's handler in between. told: (deeds, apart) of world/changes.py: what is to be done to the scene and the index
        that the world has, if nobody else has them, or None; and a function that gives what there is with others. All else
        as of StepParts.edit."""
        cdef list deeds = told[0]
        there = world["_there"]
        renewed = there._replace(bodies=bodies)
        if deeds is None or not alone(there, deeds):
            deeds, renewed = [], told[1]()
        self.notice()                                        # who sleeps has been told before
        self.parts.edit(bodies, rows, fresh, sizes, sleep, woken)
        self.revision_seen = -1
        for deed, arguments in deeds:
            deed(*arguments)
        parts["_there"] = renewed
        world.update(parts)

    # ---- what a world changes ----------------------------------------------------------------------------------------

    def take_time(self, Pipeline other not None):
        """Time and steps of the pipeline whose place this one takes."""
        self.context.start, self.context.steps, self.steps_made = (
            other.context.start, other.context.steps, other.steps_made)
        self.tell_time()
        self.space.trust_records()

    def take_call(self, Pipeline other not None):
        """Go on with its call, or tell of its last one."""
        self.call_began, self.steps_made = other.call_began, other.steps_made
        self.stage_times.take(other.stage_times)

    def notice(self):
        """What the user has written since the last step wakes whom it concerns. Whether it is sound, the next step asks."""
        cdef Touched* written = &self.arrays.watch.of_step
        cdef Py_ssize_t count
        cdef bint everything
        self.gather()
        count, everything = written.count, written.all
        self.sleepers.notice()
        retouch(written, everything, count)

    def follow(self):
        """Follow islands that were written from outside."""
        self.sleepers.follow()

    def restored(self):
        """Follow poses, islands and manifolds that were written from outside."""
        self.arrays.watch.touch_all()
        self.parts.islands.look(self.context.bodies)
        self.sleepers.follow()

    def choose(self, const int8_t[::1] asleep):
        """For tests: from now on only joints whose bodies do not sleep. asleep (bodies,) int8."""
        self.sleepers.choose(&asleep[0])

    @property
    def steps(self):
        """Made since the beginning."""
        return self.context.steps

    @steps.setter
    def steps(self, long long steps):
        self.set_clock(steps, self.context.start)

    @property
    def start(self):
        """Time before the first step [s]."""
        return self.context.start

    @property
    def time(self):
        """[s] The one number here that is for threads that do not have the world's turn."""
        return whole(&self.now)

    cpdef void set_clock(self, long long steps, double start) noexcept:
        """So many steps have been made since `start` [s]."""
        self.context.steps, self.context.start = steps, start
        self.tell_time()

    cdef void tell_time(self) noexcept nogil:
        set_whole(&self.now, self.context.start + self.context.steps * self.context.settings.dt)

    @property
    def shapes_changed(self):
        """Whether the collider has other shapes than when see_shapes() was called, or it never was."""
        return self.revision_seen != self.parts.collider.revision

    def see_shapes(self):
        self.revision_seen = self.parts.collider.revision
