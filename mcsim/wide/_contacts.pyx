"""Contacts several at a time: which manifolds stand side by side, and the way of their impulses there and back.

Manifolds of one colour share no moving body, so their order does not matter and several are solved at once. A manifold
takes the first colour that neither of its bodies has yet, in the order of the manifolds; those between two moving
bodies come first in a sweep, those against what never moves last. What finds no colour stands in a block of its own, or
side by side with others on a body that far outweighs them (_shared.pxd).
Within a colour manifolds with the same number of points stand together.
Source: E. Catto, "SIMD Matters", 2024, on graph colouring of contacts.
"""

from libc.math cimport ceil
from libc.stdint cimport int8_t
from libc.string cimport memset
from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers, records
from mcsim.core._numbers cimport TWO_PI
from mcsim.core._thread_pool cimport MOST_WORKERS, share_out
from mcsim.core._softness cimport steadying
from mcsim.core._types cimport GROW, OK, Vec3
from mcsim.state._settings cimport STABILIZE_BAUMGARTE, STABILIZE_SOFT

from mcsim.wide._blocks cimport MOST_EFFORT, MOST_STIFFNESS, Effort
from mcsim.wide._efforts cimport find_efforts, follow_pulls, next_part
from mcsim.wide._firm cimport find_firmness
from mcsim.wide._colors cimport COLORS, first_free
from mcsim.wide._groups cimport find_groups, sort_by_group
from mcsim.wide._halves cimport doubled
from mcsim.wide._shared cimport share_body, shared_side

from mcsim.core.arrays import aligned
from mcsim.wide import levels

cdef enum:
    LEAST_BLOCKS = 6             # a thread: fewer are not worth waking one
    CLASSES = 4                  # of a colour: 4, 3, 2, 1 points
    KEYS = 2 * COLORS * CLASSES
    OWN_COLORS = 8               # after so many, contacts share a body that may be shared


cdef class WideContacts:
    def __init__(self, bodies, threads=1, room=0):
        """bodies: how many; room: for how many. threads: among which loops over contacts are shared out. Kernels of the
        level that levels.chosen() names."""
        self.threads = min(threads, MOST_WORKERS)
        for table in levels.tables("kernels"):
            self.kernels = <const WideKernels*>PyCapsule_GetPointer(table, "mcsim.wide")
            self.levels[self.level_count] = self.kernels
            self.level_count += 1
        self.kept = ()
        self.resize(bodies, room)
        self._reserve(8, 32)

    def _reserve(self, Py_ssize_t blocks, Py_ssize_t manifolds):
        cdef const WideKernels* widest = self.levels[self.level_count - 1]
        numbers, first = np.zeros((3, manifolds), np.int32), np.zeros(blocks + 1, np.int32)
        room = [aligned(blocks * size) for size in (widest.block_size, widest.start_size, widest.resistance_size)]
        efforts, shared = np.zeros((manifolds, 3)), np.zeros((2, blocks), np.int8)
        self.kept = numbers, first, room, efforts, shared
        self.shares, self.follows = <int8_t*>records(shared[0]), <int8_t*>records(shared[1])
        self.key, self.order, self.first = integers(numbers[0]), integers(numbers[1]), integers(first)
        self.by_group, self.efforts = integers(numbers[2]), <Effort*>doubles(efforts)
        self.blocks, self.starts = <ContactBlock*>doubles(room[0]), <ContactStart*>doubles(room[1])
        self.resisting = <ResistanceBlock*>doubles(room[2])
        self.capacity, self.manifold_capacity = blocks, manifolds
        self.count = 0

    def _reserve_bodies(self, Py_ssize_t bodies):
        colors, of_bodies = np.zeros((2, bodies + 1), np.int64), np.zeros((5, bodies + 1), np.int32)
        passing = np.zeros(6 * bodies + 6)
        self.kept_of_bodies = colors, of_bodies, passing
        self.stirred, self.groups = integers(of_bodies[0]) + 1, integers(of_bodies[1])
        self.going, self.place = integers(of_bodies[2]), integers(of_bodies[3])
        self.bearers, self.passing = integers(of_bodies[4]) + 1, doubles(passing)
        self.moving, self.resting = <uint64_t*>long_integers(colors[0]), <uint64_t*>long_integers(colors[1])
        self.work = ContactWork(bodies)
        self.body_room = bodies

    def resize(self, Py_ssize_t bodies, Py_ssize_t room=0):
        """For another number of bodies. room: for how many, where more is to be made."""
        if bodies > self.body_room or self.kept_of_bodies is None:
            self._reserve_bodies(max(bodies, room))
        self.body_count, self.count = bodies, 0

    def grow(self, Py_ssize_t manifolds):
        """Room for so many manifolds, and for the blocks that the last layout asked for."""
        if self.needed > self.capacity or manifolds > self.manifold_capacity:
            self._reserve(max(self.capacity, self.needed + self.needed // 2),
                          max(self.manifold_capacity, manifolds + manifolds // 2))

    def lanes(self):
        """(blocks, width) numbers of the manifolds that stand side by side; -1: the lane is not used."""
        cdef Py_ssize_t k
        cdef const int32_t* manifold
        found = np.empty((self.count, self.kernels.width), np.int32)
        for k in range(self.count):
            manifold = <const int32_t*>(<const char*>self.blocks + k * self.kernels.block_size)    # its first field
            for lane in range(self.kernels.width):
                found[k, lane] = manifold[lane]
        return found

    cdef void color(self, const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                    const Bodies* bodies, const double* neighbours, const int8_t* joined, Vec3 gravity) noexcept nogil:
        """The manifolds' keys, and how many rows and colours they have."""
        cdef Py_ssize_t i
        cdef int turn = 0
        for i in range(count):                   # of other bodies, most of which may sleep, nothing is read
            self.moving[manifolds[i].body_a] = self.moving[manifolds[i].body_b] = 0
            self.resting[manifolds[i].body_a] = self.resting[manifolds[i].body_b] = 0
        self.row_count = 0
        self.used = 0
        while self.color_parts(manifolds, resistances, count, bodies, turn):
            turn += 1
        cdef double pulled = follow_pulls(self.efforts, manifolds, count, bodies, joined, gravity, self.press, self.substep,
                                          MOST_EFFORT, MOST_STIFFNESS)
        cdef double laden = find_efforts(self.efforts, self.passing, manifolds, count, bodies, self.scale, self.small,
                                         MOST_EFFORT, True)
        if self.press > 0.0:
            find_firmness(self.efforts, self.bearers, manifolds, count, bodies, neighbours, joined, gravity, self.substep)
        self.rounds = <int>ceil(max(pulled, laden))

    cdef bint color_parts(self, const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                          const Bodies* bodies, int turn) noexcept nogil:
        """Colours of part `turn` of every patch; the first time, of all that is none too. -> whether there are more"""
        cdef const Manifold* m
        cdef uint64_t* taken
        cdef Py_ssize_t i
        cdef bint moves_a, moves_b
        cdef bint more = False
        cdef int found, begin
        cdef int part = 0
        for i in range(count):
            m = &manifolds[i]
            part = next_part(manifolds, i, part)
            if part != turn:
                more |= part > turn
                continue
            self.key[i] = -1
            if m.point_count == 0:
                continue
            moves_a = bodies.inv_mass[m.body_a] > 0.0
            moves_b = bodies.inv_mass[m.body_b] > 0.0
            begin = 0 if moves_a and moves_b else COLORS
            taken = self.moving if begin == 0 else self.resting
            found = first_free((taken[m.body_a] if moves_a else 0) | (taken[m.body_b] if moves_b else 0))
            if found >= OWN_COLORS and begin == 0 and shared_side(bodies, m):
                found = COLORS - 1
            self.used = max(self.used, found + 1)
            if found < COLORS - 1:
                if moves_a:
                    taken[m.body_a] |= <uint64_t>1 << found
                if moves_b:
                    taken[m.body_b] |= <uint64_t>1 << found
            self.key[i] = (begin + found) * CLASSES + CLASSES - m.point_count
            self.row_count += row_count(m)
            if resistances != NULL:
                self.row_count += more_rows(m, &resistances[i])
        return more

    cdef int layout(self, const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                    const Bodies* bodies, const double* neighbours, const int8_t* joined, Vec3 gravity, const Joint* joints,
                    const int32_t* awake, Py_ssize_t awake_count) noexcept nogil:
        """Blocks of all manifolds with their warm impulses. resistances: beside the manifolds, or NULL; neighbours: of
        FurtherSweeps; joined: of follow_pulls; awake: of find_groups. -> OK or GROW"""
        cdef int32_t place[KEYS]                 # of each key: how many manifolds, where they begin, where they end
        cdef Py_ssize_t i, n, block, end
        cdef int half, color, k, width
        cdef Task task
        if count > self.manifold_capacity:
            return GROW
        self.choose(count)
        self.number = 0
        self.work.begin_step(manifolds, count, bodies)
        find_groups(self.groups, self.going, manifolds, count, bodies, joints, awake, awake_count)
        self.color(manifolds, resistances, count, bodies, neighbours, joined, gravity)
        for half in range(2):
            memset(&place[half * COLORS * CLASSES], 0, self.used * CLASSES * sizeof(int32_t))
        for i in range(count):
            if self.key[i] >= 0:
                place[self.key[i]] += 1
        self.needed = 0
        n = 0
        for half in range(2):
            for color in range(half * COLORS, half * COLORS + self.used):
                end = n
                for k in range(color * CLASSES, (color + 1) * CLASSES):
                    i = place[k]
                    place[k] = <int32_t>end
                    end += i
                self.needed += (end - n + self.width_of(color) - 1) // self.width_of(color)
                n = end
        if self.needed > self.capacity:
            return GROW
        sort_by_group(self.by_group, self.place, self.groups, self.going, manifolds, count, bodies)
        for n in range(count):
            i = self.by_group[n]
            if self.key[i] >= 0:
                self.order[place[self.key[i]]] = <int32_t>i
                place[self.key[i]] += 1
        block = 0
        n = 0
        for half in range(2):
            for color in range(half * COLORS, half * COLORS + self.used):
                width = self.width_of(color)
                end = place[(color + 1) * CLASSES - 1]
                self.color_begin[color] = block
                if color == COLORS - 1:
                    block = self.lay_shared(manifolds, bodies, block, n, end)
                    n = end
                while n < end:
                    self.first[block] = <int32_t>n
                    self.shares[block] = self.follows[block] = 0
                    block += 1
                    n = min(n + width, end)
            self.color_begin[half * COLORS + self.used] = block
        self.first[block] = <int32_t>n
        self.count = block
        task = self.task()
        task.manifolds = <Manifold*>manifolds
        task.resistances = resistances
        task.order = self.order
        task.first = self.first
        task.shares, task.follows = self.shares, self.follows
        task.neighbours = neighbours
        task.bodies = bodies
        task.efforts = self.efforts
        task.groups, task.going = self.groups, self.going
        self.share(&task, do_fill, block)
        return OK

    cdef Py_ssize_t lay_shared(self, const Manifold* manifolds, const Bodies* bodies, Py_ssize_t block, Py_ssize_t begin,
                               Py_ssize_t end) noexcept nogil:
        """Blocks of moving bodies' contacts that have found no colour, from `begin` to `end` in `order`; block: the first
        one. -> the one after them"""
        cdef int count, k, side
        while begin < end:
            count = share_body(manifolds, bodies, &self.order[begin], <int>(end - begin), &side)
            k = 0
            while k < count:
                self.first[block] = <int32_t>(begin + k)
                self.shares[block], self.follows[block] = <int8_t>side, k > 0
                block += 1
                k += self.kernels.width
            begin += count
        return block

    cdef int width_of(self, int color) noexcept nogil:
        """Lanes of its blocks. The last one's manifolds may share bodies."""
        return 1 if color % COLORS == COLORS - 1 else self.kernels.width

    cdef void choose(self, Py_ssize_t count) noexcept nogil:
        """The kernels with the fewest lanes into which all manifolds of the step would go; all give the same bits."""
        cdef int k = 0
        while k < self.level_count - 1 and self.levels[k].width < count:
            k += 1
        self.kernels = self.levels[k]

    cdef Task task(self) noexcept nogil:
        """A loop over all blocks."""
        cdef Task task
        memset(&task, 0, sizeof(Task))
        task.kernels = self.kernels
        task.blocks = <char*>self.blocks
        task.starts = <char*>self.starts
        task.resisting = <char*>self.resisting
        return task

    cdef double share(self, Task* task, Work work, Py_ssize_t count) noexcept nogil:
        """-> the largest of what the threads found"""
        cdef double found[MOST_WORKERS]
        cdef double largest = 0.0
        cdef int k
        if self.threads == 1:
            task.found = &largest
            work(task, 0, count, 0)
            return largest
        for k in range(self.threads):
            found[k] = 0.0
        task.found = found
        share_out(work, task, count, LEAST_BLOCKS, self.threads)
        for k in range(self.threads):
            largest = max(largest, found[k])
        return largest

    cdef double share_by_color(self, Task* whole, Work work) noexcept nogil:
        """Colour by colour: blocks of one share no moving body. -> the largest of what the threads found"""
        cdef Task task
        cdef double largest = 0.0
        cdef int half, color
        cdef Py_ssize_t begin, count
        if self.threads == 1:
            return self.share(whole, work, self.count)
        for half in range(2):
            for color in range(half * COLORS, half * COLORS + self.used):
                begin = self.color_begin[color]
                count = self.color_begin[color + 1] - begin
                if count > 0:
                    task = whole[0]
                    task.blocks += begin * self.kernels.block_size
                    task.starts += begin * self.kernels.start_size
                    task.resisting += begin * self.kernels.resistance_size
                    if color % COLORS == COLORS - 1:         # in each other's way
                        task.found = &largest
                        work(&task, 0, count, 0)
                    else:
                        largest = max(largest, self.share(&task, work, count))
        return largest

    cdef void refresh(self, const Bodies* bodies, const Settings* settings, Twist* twist) noexcept nogil:
        """twist: the second halves of the impulses act; NULL: there are none."""
        cdef Task task = self.task()
        cdef double h = settings.h
        cdef int k
        self.rule.inv_h = 1.0 / h
        self.rule.settle_speed, self.rule.settle_rate = self.settle_speed, self.settle_rate
        self.rule.push_speed, self.rule.push_rate = settings.push_speed, settings.push_rate
        self.rule.first = settings.first_kick
        self.rule.slop = settings.slop if settings.stabilization == STABILIZE_BAUMGARTE else 0.0
        self.rule.slop_part = settings.slop_part if settings.stabilization == STABILIZE_BAUMGARTE else 0.0
        self.rule.h = h
        for k in range(2):
            self.rule.omega[k] = 0.0
            if settings.stabilization == STABILIZE_SOFT:
                self.rule.omega[k] = TWO_PI * ((1.0 + k) * settings.contact_hertz)
            self.rule.damping[k] = 2.0 * settings.contact_damping_ratio / (1.0 + k)
        self.rule.rate = settings.baumgarte / h if settings.stabilization == STABILIZE_BAUMGARTE else 0.0
        self.rule.steadying = steadying(settings.contact_damping_ratio)
        self.rule.pushed = twist != NULL and self.work.pushes()
        task.bodies = bodies
        task.rule = &self.rule
        task.twist = twist
        if twist == NULL:
            self.share(&task, do_refresh, self.count)
        else:
            self.share_by_color(&task, do_refresh)

    cdef void warm_start(self, Twist* twist, double part, bint ended) noexcept nogil:
        cdef Task task = self.task()
        task.twist = twist
        task.part = part
        task.ended = ended
        task.pushing, task.number, task.last = self.work.pushing, self.work.number, &self.work.last
        self.share_by_color(&task, do_warm_start)

    cdef void keep_parts(self, const double* part, bint second) noexcept nogil:
        """Of warm starts that have acted; the bodies' twists are left to the caller."""
        cdef Task task = self.task()
        task.parts = part
        task.second = second
        self.share(&task, do_keep_parts, self.count)

    cdef void note_impulses(self) noexcept nogil:
        self.kernels.note_impulses(self.blocks, self.starts, self.count)

    cdef void weigh_pushes(self, const Twist* twist) noexcept nogil:
        """After the biased pass."""
        if self.work.pushes():
            self.kernels.weigh_pushes(self.blocks, self.starts, self.count, twist, self.work.started, self.work.kicked,
                                      self.work.sums, self.work.pushing, self.work.number)

    cdef void weigh_changes(self, double* along, double* alone) noexcept nogil:
        self.kernels.weigh_changes(self.blocks, self.starts, self.count, along, alone)

    cdef void leave_changes(self, const double* times) noexcept nogil:
        self.kernels.leave_changes(self.blocks, self.starts, self.count, times)

    cdef double sweep(self, Twist* twist, int relaxed, bint rub, int32_t* changed, int number) noexcept nogil:
        """changed: of bodies, 1 where contacts that are to be settled change its velocity by more than may be left; or
        NULL. number: of the sweep among those that groups may need no more of, from 1 on; less: all take part in it."""
        cdef Task task = self.task()
        task.twist = twist
        task.changed = changed
        task.relaxed = relaxed
        task.rub = rub
        if number > 0:
            self.number += 1
            task.number, task.going, task.fewer = self.number, self.going, number > 1
        if self.rounds > 1:
            task.stirred = self.stirred
            memset(self.stirred - 1, 0, (self.body_count + 1) * sizeof(int32_t))
        cdef double largest = self.share_by_color(&task, do_sweep)
        cdef double moved
        cdef int k
        for k in range(1, self.rounds):
            task.again = k
            task.changed = NULL
            moved = self.share_by_color(&task, do_sweep)
            self.rounds_made += 1
            if moved == 0.0:                         # what none has stirred is passed by from now on
                break
            largest = max(largest, moved)
        return largest

    cdef bint sweep_changing(self, Twist* twist, int sweep, int32_t* changed) noexcept nogil:
        """A further sweep of the relax pass, over what the one before has changed by more than may be left undone, and what
        this one does. -> whether there was anything"""
        cdef Task task = self.task()
        task.twist = twist
        task.changed = changed
        task.again = sweep
        return self.share_by_color(&task, do_sweep_changing) > 0.0

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        return self.kernels.residual(self.blocks, self.resisting, self.count, twist, relaxed)

    cdef void store(self, Manifold* manifolds) noexcept nogil:
        cdef Task task = self.task()
        task.manifolds = manifolds
        task.part = self.rule.first
        self.share(&task, do_store, self.count)


# ---- one thread's stretch of a loop over blocks ------------------------------------------------------------------------

cdef inline ContactBlock* block_at(const Task* task, Py_ssize_t k) noexcept nogil:
    return <ContactBlock*>(task.blocks + k * task.kernels.block_size)


cdef inline ContactStart* start_at(const Task* task, Py_ssize_t k) noexcept nogil:
    return <ContactStart*>(task.starts + k * task.kernels.start_size)


cdef inline ResistanceBlock* resisting_at(const Task* task, Py_ssize_t k) noexcept nogil:
    return <ResistanceBlock*>(task.resisting + k * task.kernels.resistance_size)


cdef void do_fill(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Task* task = <const Task*>what
    cdef const int32_t* first = task.first
    cdef Py_ssize_t k
    for k in range(begin, end):
        task.kernels.fill(<ContactBlock*>task.blocks, <ContactStart*>task.starts, <ResistanceBlock*>task.resisting, k,
                          task.manifolds, task.resistances, &task.order[first[k]], first[k + 1] - first[k], task.bodies,
                          task.neighbours, task.efforts, task.groups, task.going, task.shares[k], task.follows[k])


cdef void do_refresh(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Task* task = <const Task*>what
    task.kernels.refresh(block_at(task, begin), start_at(task, begin), resisting_at(task, begin), end - begin,
                         task.bodies, task.rule, task.twist)


cdef void do_warm_start(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Task* task = <const Task*>what
    task.kernels.warm_start(block_at(task, begin), start_at(task, begin), resisting_at(task, begin), end - begin,
                            task.twist, task.part, task.ended, task.pushing, task.number, task.last)


cdef void do_keep_parts(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Task* task = <const Task*>what
    task.kernels.keep_parts(block_at(task, begin), start_at(task, begin), resisting_at(task, begin), end - begin,
                            task.parts, task.second)


cdef void do_sweep(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Task* task = <const Task*>what
    cdef double rate = task.kernels.sweep(block_at(task, begin), resisting_at(task, begin), end - begin, task.twist,
                                          task.relaxed, task.rub, task.again, task.changed, task.stirred, task.number,
                                          task.going, task.fewer)
    task.found[worker] = max(task.found[worker], rate)


cdef void do_sweep_changing(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Task* task = <const Task*>what
    cdef double found = task.kernels.sweep_changing(block_at(task, begin), resisting_at(task, begin), end - begin,
                                                    task.twist,
                                                    task.again, task.changed)
    task.found[worker] = max(task.found[worker], found)


cdef void do_store(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Task* task = <const Task*>what
    task.kernels.store(block_at(task, begin), start_at(task, begin), resisting_at(task, begin), end - begin,
                       doubled(task.part), task.manifolds)


cdef inline int row_count(const Manifold* m) noexcept nogil:
    return m.point_count + (0 if m.friction <= 0.0 else 3 if m.point_count > 1 else 2)


cdef inline int more_rows(const Manifold* m, const Resistance* r) noexcept nogil:
    """Those that a resistance adds."""
    return (2 if r.rolling > 0.0 else 0) + (r.torsional > 0.0 and (m.friction <= 0.0 or m.point_count == 1))
