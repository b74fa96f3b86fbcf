"""Which bodies, joints and contacts take part in steps, as islands fall asleep and wake (constraints/_islands.pyx)."""

from libc.stdint cimport int8_t, int32_t

import numpy as np

from mcsim.constraints._joints cimport choose_joints
from mcsim.core._arrays cimport integers
from mcsim.core._touched cimport Touched, touch_some, untouch
from mcsim.core._types cimport Quat, Vec3
from mcsim.integrate._euler cimport update_inertia
from mcsim.state._bodies cimport Bodies, STATIC


cdef inline bint moves(const Bodies* bodies, int32_t i) noexcept nogil:
    return bodies.kind[i] != STATIC and bodies.island[i] < 0


cdef class Sleepers:
    def __init__(self, StepContext context not None, StateArrays arrays not None, Collider collider not None,
                 Islands islands not None, ConstraintSets sets not None, VelocitySpace space not None):
        self.context, self.arrays, self.collider, self.islands = context, arrays, collider, islands
        self.store, self.sets, self.space = context.store, sets, space
        self.kept = np.arange(context.joint_count + 1, dtype=np.int32)
        self.awake = integers(self.kept)
        context.awake_joints, context.awake_joint_count = self.awake, context.joint_count

    cdef void follow(self) noexcept nogil:
        """Some bodies woke or fell asleep."""
        self.arrays.watch.of_backup.all = True           # islands, and how long what is in them is still
        self.islands.list_moving(self.context.bodies)
        update_inertia(self.context.bodies)              # of those that woke
        self.collider.part(self.context.bodies)
        self.choose(self.islands.asleep)
        self.space.rest()

    cdef void follow_edit(self, bint slept) noexcept nogil:
        """Follow bodies that went and came. slept: whether some body did before."""
        self.islands.list_moving(self.context.bodies)
        if slept or self.islands.sleepers > 0:
            update_inertia(self.context.bodies)              # of those that woke
            self.collider.part(self.context.bodies)
        self.collider.forget_touching()
        self.choose(self.islands.asleep)
        self.space.rest()

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        """From now on only joints whose bodies do not sleep. asleep: of each body; those that joints and gears tie
        together sleep together. Between two steps; anew after joints broke."""
        cdef Py_ssize_t count
        self.islands.forest.list_tied(self.context.bodies, self.context.joints, self.context.joint_count)
        count = choose_joints(self.context.joints, self.context.joint_count, self.context.bodies, asleep, self.awake)
        self.context.awake_joint_count = count
        self.sets.choose(asleep)
        self.context.awake_joint_count = self.space.with_rows(self.awake, count)

    cdef bint notice(self) noexcept nogil:
        """What the user has written since the last step wakes whom it concerns. -> whether it does"""
        cdef Touched* written = &self.arrays.watch.of_step
        cdef bint woken
        cdef Py_ssize_t k
        self.collider.unplaced |= written.all
        for k in range(written.count):                   # what moves is placed in any case
            self.collider.unplaced |= not moves(self.context.bodies, written.rows[k]) and self.islands.seen.displaced(
                self.context.bodies, written.rows[k])
        woken = self.islands.notice(self.context.bodies, self.context.joints, self.context.joint_count, written)
        untouch(written)
        if woken:
            self.follow()
        return woken

    cdef void tell_moves(self) noexcept nogil:
        """Which bodies the step moves, once that is known."""
        cdef Touched* of_finder = &self.arrays.watch.of_finder
        touch_some(of_finder, self.context.bodies.moving, self.context.bodies.moving_count)
        touch_some(of_finder, self.islands.carriers.carried, self.islands.carriers.carried_count)
        touch_some(&self.arrays.watch.of_backup, self.islands.carriers.carried, self.islands.carriers.carried_count)

    cdef bint wake_touched(self) noexcept nogil:
        """What the contacts that were found touch, wakes. -> whether any has: then there are more contacts"""
        if self.islands.sleepers == 0 or not self.islands.wake_touched(
                self.context.bodies, self.store.manifolds, self.store.manifold_count, self.context.settings.dt):
            return False
        self.follow()
        return True

    cdef void drop_contacts(self) noexcept nogil:
        """Those of what sleeps take no part."""
        if self.islands.sleepers > 0:
            self.store.manifold_count = self.islands.drop_sleeping(
                self.context.bodies, self.store.manifolds, self.store.manifold_count, self.context.settings.dt)

    cdef void settle(self) noexcept nogil:
        """At a step's end: who falls asleep, and who wakes by what it bears."""
        if not self.islands.stillness.watching:
            return
        self.islands.followed = False
        if self.islands.settle(
                &self.arrays.bodies, self.context.joints, self.context.joint_count, self.store.previous,
                self.store.resisted(), self.store.previous_count, <const Vec3*>self.arrays.backup_pointers[0],
                <const Quat*>self.arrays.backup_pointers[1], self.context.settings, self.store.sleeping,
                self.store.sleeping_count):
            self.follow()
        elif self.islands.followed:
            self.arrays.watch.of_backup.all = True

    cdef bint has_room(self) noexcept nogil:
        """Whether all contacts that were found could fall asleep at the step's end: that is not to depend on how much room
        there happens to be."""
        return not self.islands.stillness.watching or self.store.has_room_for(self.store.manifold_count)
