"""What brings rows into a step, all by the same verbs, and what such sets may know of the world.

A set keeps its own state and knows no other; a verb that does nothing for it is not there. Their order is that of a sweep.
"""

from libc.stdint cimport int8_t

import numpy as np

from mcsim.core._arrays cimport long_integers
from mcsim.core._types cimport OK, Twist

cdef enum:
    ANY_SWEEPS = 0x7fffffff


cdef class StepContext:
    """What the parts of one world's step share: its arrays, and what each set has taken of joints and contacts. Its
    Pipeline fills it."""

    cdef void begin_layout(self, const int8_t* struck) noexcept nogil:
        """Nothing is taken yet."""
        self.struck, self.taken, self.in_lanes = struck, NULL, NULL
        self.own = self.contacts = self.swept = True
        self.balls_alone = False
        self.most_sweeps = ANY_SWEEPS
        self.joint_rows = self.contact_rows = 0


cdef class ConstraintSet:
    """One that has no rows."""

    def make_room(self):
        """For as many rows and contacts as the plain rows have room for now."""

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        """From now on only bodies that do not sleep. Between two steps."""
        pass

    cdef void begin_step(self) noexcept nogil:
        """Impulses of the last step."""
        pass

    cdef void claim(self) noexcept nogil:
        """Say in the context which joints and contacts it takes, so that they are no plain rows."""
        pass

    cdef int prepare(self) noexcept nogil:
        """Its rows at the present poses, once all sets have claimed theirs. -> OK, or GROW: there is no room"""
        return OK

    cdef void finish(self, double part) noexcept nogil:
        """Biases, masses and factors of rows that are written. part: of stabilize_rows."""
        pass

    cdef void warm_start(self) noexcept nogil:
        """The first halves of the last impulses act."""
        pass

    cdef void warm_start_joints(self) noexcept nogil:
        """After those of all other sets, those of joints that are solved directly, and of their bounds."""
        pass

    cdef void begin_pass(self, const SweepPass* p) noexcept nogil:
        """Before the sweeps of a pass."""
        pass

    cdef void begin_sweep(self, const SweepPass* p) noexcept nogil:
        """Before a sweep: what is solved exactly, with all that holds it."""
        pass

    cdef double sweep(self, const SweepPass* p) noexcept nogil:
        """-> the largest change of a velocity that its rows took out [m/s, rad/s]"""
        return 0.0

    cdef bint end_sweep(self, const SweepPass* p) noexcept nogil:
        """After it: what answers it. -> whether there is such"""
        return False

    cdef void close(self) noexcept nogil:
        """After the biased pass: joints that are closed at the end of the drift."""
        pass

    cdef void refresh(self) noexcept nogil:
        """The same rows at the poses after a drift."""
        pass

    cdef void return_shared(self) noexcept nogil:
        """Second halves of impulses that the relax pass leaves alone."""
        pass

    cdef void return_carried(self) noexcept nogil:
        """Second halves that are warm starts."""
        pass

    cdef void begin_relax(self) noexcept nogil:
        """Before the relax pass, and before its warm starts are weighed."""
        pass

    cdef void end_relax(self) noexcept nogil:
        """After it."""
        pass

    cdef void end_substep(self) noexcept nogil:
        """Impulses of a substep into the manifolds."""
        pass

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        """How far its rows are from solved [N s, N m s]."""
        return 0.0

    cdef void note_impulses(self) noexcept nogil:
        """Before the last sweep of a substep, where drives may contradict each other (_drives.pyx)."""
        pass

    cdef void weigh_changes(self, double* along, double* alone) noexcept nogil:
        """After it: what its changes would do, by bodies."""
        pass

    cdef void leave_changes(self, const double* times) noexcept nogil:
        """And what of them is not to last."""
        pass

    cdef void mark_changes(self, const FurtherPass* p) noexcept nogil:
        """Before further sweeps: bodies that the pass may have changed without a note."""
        pass

    cdef bint sweep_changing(self, const FurtherPass* p) noexcept nogil:
        """A further sweep. -> whether there was anything"""
        return False

    cdef void answer_changes(self, const FurtherPass* p) noexcept nogil:
        """After it: what answers it."""
        pass

    cdef void give(self) noexcept nogil:
        """At the end of a step: impulses to where joints are looked at one by one."""
        pass

    cdef void store(self) noexcept nogil:
        """Impulses into joints and manifolds, once the joints' rows are stored."""
        pass

    cdef void notes(self) noexcept nogil:
        """What the step could not do."""
        pass


cdef class ConstraintSets(ConstraintSet):
    """Several, each verb of all in their order."""

    def __init__(self, sets):
        self.take(sets)

    def take(self, sets):
        """These in place of those before; None among them is left out."""
        self.kept = [one for one in sets if one is not None]
        self.count = len(self.kept)
        self.pointers = np.zeros(self.count + 1, np.int64)
        self.sets = <void**>long_integers(self.pointers)
        for i in range(self.count):
            self.sets[i] = <void*>self.kept[i]

    def make_room(self):
        for one in self.kept:
            one.make_room()

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).choose(asleep)

    cdef void begin_step(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).begin_step()

    cdef void claim(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).claim()

    cdef int prepare(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef int status = OK
        for i in range(self.count):
            status = (<ConstraintSet>self.sets[i]).prepare()
            if status != OK:
                break
        return status

    cdef void finish(self, double part) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).finish(part)

    cdef void warm_start(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).warm_start()

    cdef void warm_start_joints(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).warm_start_joints()

    cdef void begin_pass(self, const SweepPass* p) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).begin_pass(p)

    cdef void begin_sweep(self, const SweepPass* p) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).begin_sweep(p)

    cdef double sweep(self, const SweepPass* p) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(self.count):
            largest = max(largest, (<ConstraintSet>self.sets[i]).sweep(p))
        return largest

    cdef bint end_sweep(self, const SweepPass* p) noexcept nogil:
        cdef bint some = False
        cdef Py_ssize_t i
        for i in range(self.count):
            some = (<ConstraintSet>self.sets[i]).end_sweep(p) or some
        return some

    cdef void close(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).close()

    cdef void refresh(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).refresh()

    cdef void return_shared(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).return_shared()

    cdef void return_carried(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).return_carried()

    cdef void begin_relax(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).begin_relax()

    cdef void end_relax(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).end_relax()

    cdef void end_substep(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).end_substep()

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(self.count):
            largest = max(largest, (<ConstraintSet>self.sets[i]).residual(twist, relaxed))
        return largest

    cdef void note_impulses(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).note_impulses()

    cdef void weigh_changes(self, double* along, double* alone) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).weigh_changes(along, alone)

    cdef void leave_changes(self, const double* times) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).leave_changes(times)

    cdef void mark_changes(self, const FurtherPass* p) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).mark_changes(p)

    cdef bint sweep_changing(self, const FurtherPass* p) noexcept nogil:
        cdef bint some = False
        cdef Py_ssize_t i
        for i in range(self.count):
            some = (<ConstraintSet>self.sets[i]).sweep_changing(p) or some
        return some

    cdef void answer_changes(self, const FurtherPass* p) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).answer_changes(p)

    cdef void give(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).give()

    cdef void store(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).store()

    cdef void notes(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.count):
            (<ConstraintSet>self.sets[i]).notes()
