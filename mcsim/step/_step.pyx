"""The stages of a step in their order. No mathematics here: each stage is one call into a lower floor.

    collide      shapes and poses -> manifolds; the last step's impulses carried over by feature id
    prepare      joints and manifolds -> rows: Jacobians, errors, bounds, warm impulses; biases; block factors
    impact       restitution: impacts of what touches within the next substep, what closes together at once
    per substep h = dt / n: one substep of the integrator (_integrator.pyx)
    store        is the state finite? Then impulses go back into the joints; those that carried too much break
    finish       contacts and sensors look; who falls asleep
"""

from libc.string cimport memset

from mcsim.constraints._joints cimport break_joints, store_joints
from mcsim.core._types cimport CALL_FAILED, GROW, NOT_FINITE, OK
from mcsim.state._bodies cimport Bodies
from mcsim.step._stage_times cimport STAGE_COLLIDE, STAGE_FINISH, STAGE_PREPARE, STAGE_STORE


cdef class Step:
    """Of one world, by its parts."""

    def __init__(self, StepParts parts not None):
        self.parts, self.arrays, self.context, self.noted = parts, parts.arrays, parts.context, parts.noted
        self.space, self.room, self.plan, self.sleepers = parts.space, parts.room, parts.plan, parts.sleepers
        self.collider, self.search, self.plain, self.sets = parts.collider, parts.search, parts.plain, parts.sets
        self.further, self.integrator, self.restitution = parts.further, parts.integrator, parts.restitution
        self.guard, self.struck = parts.tunnelling_guard, parts.struck
        self.calls, self.pose_callbacks, self.times = parts.calls, parts.pose_callbacks, parts.stage_times

    cdef int make(self) noexcept nogil:
        """One step. GROW: nothing happened; NOT_FINITE, NOT_DONE, NO_MEMORY: the state before the step is back."""
        cdef int status = self.begin_step()
        if status == OK:
            status = self.make_substeps()
        if status == OK:
            status = self.judge_step()
        if status == OK:
            self.end_step()
        else:
            self.undo()
        return status

    cdef int begin_step(self) noexcept nogil:
        """Contacts are found, and rows laid out. -> status"""
        cdef int status
        self.arrays.save_backup()
        self.context.efforts.follow()
        status = self.collide()
        if status != OK:
            return status
        self.sleepers.tell_moves()
        self.sets.begin_step()
        self.parts.sweeping.begin_step()
        status = self.layout(self.sets)
        while status == GROW and self.room.grow_in_step():  # contacts that come all at once are not looked for again
            status = self.layout(self.sets)
        self.times.lap(STAGE_PREPARE)
        return status

    cdef int collide(self) noexcept nogil:
        cdef int status
        self.space.begin_step()
        status = self.integrator.set_time(self.context.start + self.context.steps * self.context.settings.dt)
        if status == OK:
            status = self.search.find()
        if status == OK and not self.sleepers.has_room():
            status = GROW
        self.times.lap(STAGE_COLLIDE)
        return status

    cdef int layout(self, ConstraintSets sets) noexcept nogil:
        """All rows at the present poses, by these sets. -> status"""
        cdef int status
        if self.context.store.manifold_count > self.plain.anchor_capacity:
            return GROW
        self.pose_callbacks.call(False)
        if self.pose_callbacks.status != OK:
            return CALL_FAILED
        self.context.begin_layout(self.struck.find(self.context.store.manifolds, self.context.store.manifold_count))
        sets.claim()
        self.plan.wide.count = 0                     # contacts that are rows have no blocks to refresh
        self.further.weigh(self.context.store.manifolds, self.context.store.manifold_count, self.context.bodies,
                           self.context.joints, self.context.joint_count, self.plan.closed)
        status = sets.prepare()
        if status == OK:
            status = self.parts.sweeping.prepare()
        if status == OK:
            sets.finish(self.context.settings.first_kick)
            self.parts.sweeping.assemble()
            self.integrator.begin_step()
            status = NO_MEMORY if self.noted.without_memory else OK
        return status

    cdef void layout_again(self, ConstraintSets sets) noexcept nogil:
        """The rows that layout() has laid out by these sets, at the present poses, as a substep begins with them."""
        sets.refresh()
        sets.finish(self.context.settings.first_kick)

    cdef int make_substeps(self) noexcept nogil:
        """Impacts, then the substeps. -> status"""
        cdef Py_ssize_t i
        self.restitution.count = self.parts.sweeping.made = 0
        self.further.unsettled = False
        self.parts.sweeping.asked = max(self.context.settings.iterations,
                                        self.context.settings.first_iterations >> min(self.context.steps, 30))
        if not self.context.settings.compliant:              # where overlaps are what bears
            self.guard.watch(self.context.bodies, self.context.settings.dt)
        memset(self.plain.impacts, 0, self.plain.impact_rows * sizeof(double))
        self.restitution.bounce(True)
        for i in range(self.context.settings.substeps):
            self.guard.begin(self.context.bodies)
            self.context.ended = i > 0
            self.integrator.substep(i == self.context.settings.substeps - 1)
            self.hold_back()
            if self.calls.is_interrupted() or self.pose_callbacks.status != OK:
                return CALL_FAILED
        return OK

    cdef void hold_back(self) noexcept nogil:
        """What passed through something in the substep."""
        self.guard.end(self.context.bodies, self.space.jointed())
        if self.guard.watching:
            self.space.take_poses(self.guard.set_back)

    cdef int judge_step(self) noexcept nogil:
        """Whether its state is sound, and what it could not do (mcsim/core/notes.py). -> status"""
        if self.noted.without_memory:
            return NO_MEMORY
        if self.arrays.check_moving() != OK:
            return NOT_FINITE
        self.plan.notes()
        self.sets.notes()
        self.parts.sweeping.notes()
        self.space.end_step()
        return NOT_DONE if self.noted.finish_step() and self.strict else OK

    cdef void end_step(self) noexcept nogil:
        """Impulses go back into joints and manifolds, contacts and sensors look, and bodies fall asleep."""
        cdef Bodies before
        self.context.own_rows = NULL
        self.sets.give()
        store_joints(self.context.joints, self.context.awake_joints, self.context.awake_joint_count, self.context.bodies,
                     self.context.settings, self.plain.rows, self.context.own_rows)
        self.context.efforts.carry(self.context.awake_joints, self.context.awake_joint_count, self.context.settings.h)
        self.sets.store()
        if break_joints(self.context.joints, self.context.awake_joints, self.context.awake_joint_count,
                        self.context.settings.h) > 0:
            self.parts.replanning = True
        self.times.lap(STAGE_STORE)
        self.search.carry()
        self.collider.accept()
        if self.parts.sensors is not None:
            before = self.arrays.bodies_before()
            self.parts.sensors.sense(self.context.bodies, &before, &self.arrays.watch.of_finder)
        self.sleepers.settle()
        self.times.lap(STAGE_FINISH)

    cdef void undo(self) noexcept nogil:
        """The state before the step is back."""
        self.noted.finish_step()
        self.arrays.restore_backup()
        self.space.undo()
        self.sleepers.follow()
