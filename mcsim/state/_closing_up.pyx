"""Where the rows of an array come from when some go, some come, and the others close up in order.

Compiled, so that nothing comes between the arrays of a world that are changed where they are: a signal's handler runs
between two lines of Python alone.
"""

from cpython.object cimport PyObject

import numpy as np

# Runs of rows beyond which they are taken one by one.
cdef Py_ssize_t MOST_RUNS = 32


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* one) nogil


def any_seen(dict arrays, Py_ssize_t known, dict views):
    """Whether anybody has a view of one of the arrays. known: how often each is had in any case; views: what has a view of
    some of them besides, by their names. As ndarray.resize asks it."""
    cdef Py_ssize_t more
    for name, array in arrays.items():
        more = name in views
        if Py_REFCNT(<PyObject*>array) > known + more:
            return True
    return False


cdef class Rows:
    """old: of how many rows; count: how many there are then; runs: [(begin, end, first old row)] of those that are kept;
    fresh: (k,) numbers of those that come, ascending."""

    def __init__(self, Py_ssize_t old, Py_ssize_t count, list runs, fresh):
        self.old, self.count, self.runs, self.fresh = old, count, runs, np.asarray(fresh, np.intp)
        self.place = self.fresh
        cdef Py_ssize_t more = len(fresh)
        if more > 0 and fresh[more - 1] - fresh[0] == more - 1:
            self.place = slice(int(fresh[0]), int(fresh[0]) + more)
        self.moves = [run for run in runs if run[0] != run[2]]

    @staticmethod
    def appended(Py_ssize_t old, Py_ssize_t more):
        """All stay, and so many come behind them."""
        return Rows(old, old + more, [(0, old, 0)] if old > 0 else [], range(old, old + more))

    @staticmethod
    def without(Py_ssize_t old, gone):
        """All but some, whose numbers ascend, stay."""
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t k = 0
        cdef Py_ssize_t end
        cdef list runs = []
        for end in (*gone, old):
            if end > first:
                runs.append((first - k, end - k, first))
            first = end + 1
            k += 1
        return Rows(old, old - len(gone), runs, ())

    @staticmethod
    def replaced(Py_ssize_t old, places):
        """Others come in the place of some, whose numbers ascend."""
        edges = [-1, *places, old]
        return Rows(old, old, [(a + 1, b, a + 1) for a, b in zip(edges, edges[1:]) if b > a + 1], places)

    @staticmethod
    def of_sources(source, Py_ssize_t old):
        """source: (n,) the old row of each; negative ones stand for the rows that come."""
        if len(source) == 0:
            return Rows(old, 0, [], ())
        comes = source < 0
        starts = np.flatnonzero((np.diff(source) != 1) | comes[1:] | comes[:-1]) + 1
        edges = [0, *starts.tolist(), len(source)]
        runs = [(a, b, int(source[a])) for a, b in zip(edges, edges[1:]) if source[a] >= 0]
        return Rows(old, len(source), runs, np.flatnonzero(comes))

    @property
    def source(self):
        """(count,) the old row of each, -1 of those that come."""
        source = np.full(self.count, -1)
        for begin, end, first in self.runs:
            source[begin:end] = np.arange(first, first + end - begin)
        return source

    @property
    def stay(self):
        """Whether every row is kept where it is, and none comes."""
        return self.count == self.old and len(self.fresh) == 0 and not self.moves

    @property
    def close_up(self):
        """Whether those that are kept stay in order, so that they may be moved where they are."""
        cdef Py_ssize_t last = 0
        for begin, end, first in self.runs:
            if first < begin or first < last:
                return False
            last = first + end - begin
        return True

    def numbers(self):
        """(old + 1,) int32: the new number of each old row, -1 of those that are gone; the last, of row -1, is -1."""
        out = np.full(self.old + 1, -1, np.int32)
        for begin, end, first in self.runs:
            out[first:first + end - begin] = np.arange(begin, end)
        return out

    def of(self, array, fresh, Py_ssize_t room=0, Py_ssize_t front=0):
        """The new array, of memory of its own, with room for so many rows behind it. front: rows before the first one,
        which stay; `fresh` has none of them."""
        out = np.empty((front + self.count + room, *array.shape[1:]), array.dtype)
        rows, old = out[front:], array[front:]
        out[:front] = array[:front]
        if len(self.runs) > MOST_RUNS:
            source = self.source
            kept = np.flatnonzero(source >= 0)
            rows[kept] = old[source[kept]]
        else:
            for begin, end, first in self.runs:
                rows[begin:end] = old[first:first + end - begin]
        if len(self.fresh):
            rows[self.place] = fresh
        return out

    cpdef edit(self, array, fresh):
        """The same in the memory of the old array, for rows that `close_up`: it has room for all that come."""
        for begin, end, first in self.moves:
            array[begin:end] = array[first:first + end - begin]
        if len(self.fresh):
            array[self.place] = fresh
