"""Which bodies may have been written since those who follow them looked last.

Users have views of the arrays of bodies' poses, velocities and forces, and write into them without a word. So who goes by
what is in them would have to look through all bodies each time. What can be known is who *can* have written:

- A view that somebody still has keeps its array alive: the array's count of references says so, as ndarray.resize asks it.
  While there is one, every body may be written at any time. Poses, velocities and forces are then compared with those that
  were kept (StateArrays.sift, Finder.follow), which takes a few nanoseconds a body.
- A view that was given away and is gone again, of one body or of all, was noted when it was given away.
- What the world itself writes, it writes in its turn, which counts (core/_turn.pyx): all bodies may be written in a block
  that is `alone`; one that is `telling` tells which.

Memory that is written by its bare address while nobody has a view of it is not seen: who keeps an address keeps the array.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int32_t

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._touched cimport drop_beyond, touch, touch_some, untouch

cdef extern from "Python.h":
    Py_ssize_t references "Py_REFCNT"(PyObject*) nogil

NAMES = ("position", "orientation", "twist", "force")


cdef class BodyWatch:
    """bodies: state.arrays.BodyArrays. Until `attend` every body may always have been written."""

    def __init__(self, bodies):
        self.kept = []
        self.list_of(&self.told, bodies.room)
        self.list_of(&self.of_step, bodies.room)
        self.list_of(&self.of_backup, bodies.room)
        self.list_of(&self.of_forces, bodies.room)
        self.list_of(&self.of_finder, bodies.room)
        self.follow(bodies)

    def follow(self, bodies):
        """Others, for as many as which there was room. Every body may have been written."""
        cdef dict whole = bodies.whole
        cdef int k
        for name in NAMES:
            getattr(bodies, name)                # its own view, which counts in `is_open`
        for k in range(WATCHED):
            self.root[k] = <PyObject*>whole[NAMES[k]]
        self.whole, self.padded = whole, bodies._views is not None
        self.count = bodies.count
        self.position = <const Vec3*>doubles(whole["position"]) + 1
        self.orientation = <const Quat*>doubles(whole["orientation"]) + 1
        untouch(&self.told)
        untouch(&self.of_step)
        untouch(&self.of_backup)
        untouch(&self.of_forces)
        untouch(&self.of_finder)
        self.shown = True
        self.touch_all()

    def edit(self, bodies, fresh):
        """Follow rows that came and went in the same memory, of which nobody had a view. bodies: BodyArrays of all; fresh:
        numbers of those that came."""
        cdef int32_t i
        for name in NAMES:
            getattr(bodies, name)                # its own view, which counts in `is_open`
        self.padded, self.count = bodies._views is not None, bodies.count
        drop_beyond(&self.told, <int32_t>self.count)
        drop_beyond(&self.of_step, <int32_t>self.count)
        drop_beyond(&self.of_backup, <int32_t>self.count)
        drop_beyond(&self.of_forces, <int32_t>self.count)
        drop_beyond(&self.of_finder, <int32_t>self.count)
        for i in fresh:
            self.touch_written(&i, 1)
            touch(&self.of_finder, i)

    cdef int list_of(self, Touched* touched, Py_ssize_t count) except -1:
        numbers, marks = np.zeros(count + 1, np.int32), np.zeros(count + 1, np.int8)
        self.kept.append((numbers, marks))
        touched.rows, touched.marks = integers(numbers), <int8_t*>records(marks)
        touched.count, touched.all = 0, False
        return 0

    def attend(self, Turn turn not None):
        """From now on what may have been written is known: the bodies are written in this turn, by views, and by steps."""
        self.turn = turn
        self.changes = turn.changes

    cpdef void tell(self, Py_ssize_t body):
        """A view of one body is given away, or the body is written."""
        if not self.shown:
            touch(&self.told, <int32_t>body)

    cpdef void tell_all(self):
        """The same of all bodies."""
        self.shown = True

    cdef bint is_open(self) noexcept:
        """Whether somebody has a view. An array is in the dict of all, the bodies have a view of it, and where there is
        room behind them another one once `padded` was asked for."""
        cdef Py_ssize_t unseen = 2 + self.padded
        cdef int k
        for k in range(WATCHED):
            if references(self.root[k]) > unseen:
                return True
        return False

    cdef void gather(self) noexcept:
        """All that may have been written until now, to those who follow it. By who has the turn."""
        cdef bint is_open = self.is_open()
        if self.turn is None or self.turn.changes != self.changes:
            self.touch_all()
        elif is_open or self.shown:
            self.viewed = self.of_finder.all = True
        touch_some(&self.of_finder, self.told.rows, self.told.count)
        self.touch_written(self.told.rows, self.told.count)
        self.shown = is_open                     # what is open now may be written until it is closed
        self.changes = 0 if self.turn is None else self.turn.changes
        untouch(&self.told)

    cdef void touch_written(self, const int32_t* bodies, Py_ssize_t count) noexcept nogil:
        """Some were written; for all but who looks for bodies."""
        touch_some(&self.of_step, bodies, count)
        touch_some(&self.of_backup, bodies, count)
        touch_some(&self.of_forces, bodies, count)

    cdef void touch_all(self) noexcept nogil:
        """Everything may have been written."""
        self.of_step.all = self.of_backup.all = self.of_forces.all = self.of_finder.all = True
