"""What steps could not do, one row of numbers a kind of note (mcsim/core/notes.py): how much of it each body or joint had,
in the last call of step and since the world was made. Kernels write a number where something fails, and nothing where
nothing does; who that was, and in which words it is told, is found when somebody asks.
"""

from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, long_integers, records


cdef class Noted:
    """fails: (kinds,) whether each kind is of what a step could not do; count: how many bodies or joints there are; room:
    how many there may come to be."""

    def __init__(self, fails, Py_ssize_t count, Py_ssize_t room=0):
        self.kinds, self.count, self.room = len(fails), count, max(count, room)
        self.whole = np.zeros((2, self.kinds, self.room + 1))
        self.steps = np.zeros((2, self.kinds), np.int64)
        self.said = ({}, {})
        flags = np.zeros((2, self.kinds), np.int8)
        flags[1] = fails
        self.kept = flags
        self.call, self.ever = doubles(self.whole[0]), doubles(self.whole[1])
        self.counts = <long long*>long_integers(self.steps)
        self.marked, self.fails = <int8_t*>records(flags[0]), <int8_t*>records(flags[1])

    cdef void most(self, int kind, Py_ssize_t who, double amount) noexcept nogil:
        """What counts by its largest amount."""
        cdef Py_ssize_t i = kind * (self.room + 1) + who + 1
        self.call[i] = max(self.call[i], amount)
        self.ever[i] = max(self.ever[i], amount)
        self.marked[kind] = 1

    cdef void add(self, int kind, Py_ssize_t who, double amount) noexcept nogil:
        """What counts by the sum of its amounts."""
        cdef Py_ssize_t i = kind * (self.room + 1) + who + 1
        self.call[i] += amount
        self.ever[i] += amount
        self.marked[kind] = 1

    cdef bint finish_step(self) noexcept nogil:
        """A step has ended, or is undone. -> whether something in it was a failure"""
        cdef bint failed = False
        cdef Py_ssize_t k
        self.without_memory = False
        for k in range(self.kinds):
            if self.marked[k]:
                self.marked[k] = 0
                self.counts[k] += 1
                self.counts[self.kinds + k] += 1
                failed = failed or self.fails[k]
        return failed

    # ---- for Python ------------------------------------------------------------------------------------------------------

    def begin_call(self):
        """Another call of step begins."""
        cdef bint found = False
        cdef Py_ssize_t k
        for k in range(self.kinds):
            if self.counts[k] > 0:
                self.counts[k] = 0
                memset(&self.call[k * (self.room + 1)], 0, (self.room + 1) * sizeof(double))
                found = True
        if found:
            self.said[0].clear()

    @property
    def amounts(self):
        """(2, kinds, count + 1) what each had, after those that are gone: in the last call of step, and ever."""
        return self.whole[:, :, :self.count + 1]

    def resize(self, Py_ssize_t count):
        """For so many bodies or joints, of which there is room; the amounts of none are behind them."""
        self.count = count

    @property
    def silent(self):
        """Whether nothing is noted, ever, nor for the step that comes."""
        cdef Py_ssize_t k
        for k in range(self.kinds):
            if self.counts[k] > 0 or self.counts[self.kinds + k] > 0 or self.marked[k]:
                return False
        return True

    def tell(self, int kind, who, str text):
        """Note something that has its own words, once for each of `who` (numbers, from 0 on)."""
        for i in who:
            self.add(kind, i, 1.0)
        self.marked[kind] = 1
        for said in self.said:
            said.setdefault(kind, text)

    def note(self, int kind, Py_ssize_t who, double amount):
        """See most."""
        self.most(kind, who, amount)

    def pending(self):
        """(kinds,) of bool: which were noted for the step that comes."""
        return self.kept[0] != 0

    def await_step(self, kinds):
        """Kinds, by their numbers, whose amounts are of the step that comes."""
        self.kept[0][kinds] = 1

    def waiting(self):
        """(kinds, room + 1) of what waits for the next step, to be taken by `wait`; None if nothing does."""
        return np.where(self.pending()[:, None], self.amounts[0], 0.0) if self.pending().any() else None

    def wait(self, amounts):
        """What waits for the next step, in place of all else. amounts: of `waiting`, of as many bodies and joints."""
        self.forget()
        if amounts is not None:
            self.amounts[...] = amounts
            self.await_step(np.flatnonzero(amounts.any(axis=1)))

    def forget(self):
        """As if nothing had ever been noted."""
        self.amounts[...] = 0.0
        self.steps[...] = 0
        self.kept[0] = 0
        for said in self.said:
            said.clear()

    def end_step(self):
        """See finish_step."""
        return self.finish_step()
