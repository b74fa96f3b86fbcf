"""A tape of a call of n steps: numbers that are written into a world's arrays before each step, and arrays of the world's
that are copied after every so many, all without the GIL. So n steps with n different controls are one call.
"""

from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers


cdef class Tape:
    """targets: arrays of one float64 each, views of the world's own. moved: (targets, 2) numbers of the bodies that wake
    when one changes, or -1. values: (steps, targets). sources: contiguous float64
    arrays of the world's. out: one for each, (rows, size). every: steps a row."""

    def __init__(self, targets, moved, values, sources, out, long long every):
        values = np.ascontiguousarray(values, float)
        if values.ndim != 2 or values.shape[1] != len(targets):
            raise ValueError("there is a column of values for each target")
        if any(view.dtype != np.float64 or view.size != 1 for view in targets):
            raise ValueError("targets are arrays of one float64 each")
        if len(sources) != len(out) or every < 1:
            raise ValueError("there is one array to fill for each that is kept, and every is at least 1")
        for source, rows in zip(sources, out):
            if not (source.flags.c_contiguous and rows.flags.c_contiguous and source.dtype == rows.dtype == np.float64):
                raise ValueError("arrays that are kept are contiguous, of float64")
            if rows.ndim < 1 or rows.size != len(rows) * source.size or len(rows) != len(out[0]):
                raise ValueError("a row has the size of what is kept in it")
        moved = np.append(np.array(moved, np.int32).reshape(-1, 2), np.zeros((1, 2), np.int32), axis=0)
        if len(moved) != len(targets) + 1:
            raise ValueError("there are two bodies, or -1, for each target")
        whereto = np.array([*(view.ctypes.data for view in targets), 0], np.int64)
        wherefrom = np.array([*(array.ctypes.data for array in sources), 0], np.int64)
        filled = np.array([*(array.ctypes.data for array in out), 0], np.int64)
        sizes = np.array([*(array.size for array in sources), 0], np.int64)
        self.kept = targets, moved, values, sources, out, whereto, wherefrom, filled, sizes
        self.targets, self.count = <double**>long_integers(whereto), len(targets)
        self.moved = integers(moved)
        self.values, self.steps = doubles(values), len(values)
        self.sources, self.out = <const double**>long_integers(wherefrom), <double**>long_integers(filled)
        self.sizes, self.source_count = <Py_ssize_t*>long_integers(sizes), len(sources)
        self.rows, self.every, self.done = len(out[0]) if out else 0, every, 0

    cdef bint write(self, Bodies* bodies, Islands islands) noexcept nogil:
        """Before a step that may be its second try. What has come to its end stays as it was last. -> whether any body
        woke"""
        cdef const double* row = self.values + self.done * self.count
        cdef Py_ssize_t i
        cdef int32_t body
        cdef bint woken = False
        cdef int side
        for i in range(self.count if self.done < self.steps else 0):
            if self.targets[i][0] == row[i]:
                continue
            self.targets[i][0] = row[i]
            for side in range(2):
                body = self.moved[2 * i + side]
                if body >= 0 and bodies.island[body] >= 0:
                    woken |= islands.wake(bodies, bodies.island[body], 0.0)
        return woken

    cdef void end_step(self) noexcept nogil:
        cdef Py_ssize_t i, row
        self.done += 1
        row = self.done // self.every - 1
        if self.done % self.every != 0 or row >= self.rows:
            return
        for i in range(self.source_count):
            memcpy(self.out[i] + row * self.sizes[i], self.sources[i], self.sizes[i] * sizeof(double))
