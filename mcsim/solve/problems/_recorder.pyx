"""What iterations in a kernel leave behind: residuals and time of each, and the best impulses.

    recorder.begin(progress, most)
    with nogil:
        for k in range(recorder.count):
            ...                                             # one iteration
            if recorder.keep(impulse, velocity):
                break
    recorder.end(progress, impulses)
"""

from libc.math cimport INFINITY
from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._clock cimport start_clock, tick, ticks
from mcsim.solve.problems._system cimport System

start_clock()


cdef class Recorder:
    def __init__(self, System system, int model):
        self.system, self.model = system, model
        self.kept = np.zeros((2, system.row_count))
        self.best_impulse, self.best_velocity = doubles(self.kept[0]), doubles(self.kept[1])

    def begin(self, progress, Py_ssize_t most):
        """For up to `most` iterations, or what is left to `progress`."""
        self.count = max(0, min(most, progress.max_iterations - progress.iterations))
        self.made, self.best = 0, -1
        self.tolerance, self.least, self.most = progress.tolerance, progress.least, progress.bound
        self.residuals, self.times = np.zeros((self.count, 6)), np.zeros(self.count)
        self.record, self.time = doubles(self.residuals), doubles(self.times)
        self.length = tick()
        self.began = ticks()

    cdef bint keep(self, const double* impulse, const double* velocity) noexcept nogil:
        """One iteration. -> whether it ends here: converged, diverged, or not finite"""
        cdef Py_ssize_t k = self.made
        cdef Py_ssize_t size = self.system.row_count * sizeof(double)
        cdef double worst
        cdef double* record = self.record + 6 * k
        self.system.measure(self.model, impulse, velocity, record)
        self.time[k] = (ticks() - self.began) * self.length
        self.made = k + 1
        worst = max(record[0], record[1], record[2], record[3])
        if worst < self.least:
            self.least = worst
            self.best = k
            memcpy(self.best_impulse, impulse, size)
            memcpy(self.best_velocity, velocity, size)
        return worst <= self.tolerance or not worst <= self.most or not worst < INFINITY

    def end(self, progress, last):
        """last: the impulses of the last iteration."""
        if self.made:
            progress.record_many(self.residuals[:self.made], self.times[:self.made], last, self.best, *self.kept)
