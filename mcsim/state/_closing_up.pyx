"""Where the rows of an array come from when some go, some come, and the others close up in order.

Compiled, so that nothing comes between the arrays of a world that are changed where they are: a signal's handler runs
between two lines of Python alone.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t
from libc.string cimport memcmp, memcpy, memmove

import numpy as np

from mcsim.core._arrays cimport integers, records

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


cdef Py_ssize_t row_size(array, Py_ssize_t row, other, Py_ssize_t source) except -1:
    """[bytes] of a row, since rows are one behind the other; of two arrays that have these rows."""
    if other.dtype is not array.dtype or not (0 <= row < len(array) and 0 <= source < len(other)):
        raise ValueError("there is no such row")
    return array.strides[0]


def copy_rows(dict to, Py_ssize_t row, dict arrays, Py_ssize_t source, names):
    """Row `source` of some arrays, by their names, into `row` of others of the same types."""
    cdef Py_ssize_t size
    for name in names:
        size = row_size(to[name], row, arrays[name], source)
        memcpy(<char*>records(to[name]) + row * size, <char*>records(arrays[name]) + source * size, size)


def same_rows(dict these, Py_ssize_t row, dict others, Py_ssize_t source, names):
    """Whether the rows `row` of some arrays, by their names, are to the bit the rows `source` of others."""
    cdef Py_ssize_t size
    for name in names:
        size = row_size(these[name], row, others[name], source)
        if memcmp(<char*>records(these[name]) + row * size, <char*>records(others[name]) + source * size, size) != 0:
            return False
    return True


def first_of(run):
    """The first old row of a run."""
    return run[2]


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
        cdef Py_ssize_t begin, end, first, i
        out = np.full(self.old + 1, -1, np.int32)
        cdef int32_t* number = integers(out)
        for begin, end, first in self.runs:
            for i in range(begin, end):
                number[first + i - begin] = <int32_t>i
        return out

    @property
    def gone(self):
        """The old rows that are not kept, ascending."""
        cdef Py_ssize_t last = 0
        cdef list found = []
        for begin, end, first in sorted(self.runs, key=first_of):
            found.extend(range(last, first))
            last = first + end - begin
        found.extend(range(last, self.old))
        return found

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

    cpdef edit(self, array, fresh, Py_ssize_t front=0):
        """The same in the memory of the old array, for rows that `close_up`: it has room for all that come. front: rows
        before the first one, of the fresh ones too. fresh: an array, or what all its numbers are."""
        cdef Py_ssize_t size
        cdef char* rows
        cdef const char* others
        cdef Py_ssize_t begin, end, first
        if not self.moves and len(self.fresh) == 0:
            return
        size = array.strides[0]                              # of a row, since they are one behind the other
        rows = <char*>records(array) + front * size
        for begin, end, first in self.moves:
            memmove(rows + begin * size, rows + first * size, (end - begin) * size)
        if len(self.fresh) == 0:
            return
        if type(fresh) is np.ndarray and fresh.dtype is array.dtype and type(self.place) is slice:
            begin = self.place.start
            if (len(fresh) != front + len(self.fresh) or fresh.shape[1:] != array.shape[1:]
                    or front + self.count > len(array)):
                raise ValueError("the rows that come do not fit")
            others = <const char*>records(fresh) + front * size
            memcpy(rows + begin * size, others, len(self.fresh) * size)
        else:
            (array[front:] if front else array)[self.place] = fresh[front:] if front else fresh
