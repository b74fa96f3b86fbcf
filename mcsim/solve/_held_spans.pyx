"""Bounded rows of articulations that have motors or rotors, or whose limits and friction hold each other so that sweeps
would not do, over the bodies' velocities, with the joints' rows answered by the KKT system (_smooth.pyx), whose factor and
targets are there. Not of those with loops or gears, whose rows may leave a motor next to nothing to move: there they are
swept, one by one.

Per step:   ask(joints);   per pass:   prepare(rows, count, sweeps);   per sweep, before it:   hold(rows, twist, relaxed)
"""

from mcsim.core._noted cimport Noted


cdef class HeldSpans(HeldRows):
    def __init__(self, SmoothSolver smooth, Noted noted not None):
        HeldRows.__init__(self, smooth.span_count, noted)
        self.smooth = smooth

    cdef void prepare(self, Row* rows, Py_ssize_t count, int sweeps) noexcept nogil:
        """Which rows are held, and their matrices at the present pose. sweeps: in which others are to be solved."""
        cdef Twist* moved = self.smooth.response
        cdef Py_ssize_t g, k
        self.find_driven(self.smooth.group, rows, count)
        for g in range(self.articulations):
            self.claim(g, self.smooth.span[g].loops == 0 and self.smooth.span[g].border == self.smooth.span[g].border_end)
        self.list(self.smooth.group, self.driven, NULL, rows, count)
        for g in range(self.articulations):
            for k in range(self.count[g]):
                self.smooth.clear(&self.smooth.span[g], moved)
                self.begin_column(g, k, rows, moved)
                self.smooth.solve_span(&self.smooth.span[g], rows, moved, self.smooth.nothing)
                self.end_column(g, k, rows, moved)
            self.choose(g, rows, sweeps)

    cdef bint hold(self, Row* rows, Twist* twist, bint relaxed) noexcept nogil:
        """Their impulses, and what the joints answer. -> whether any changed"""
        cdef bint changed = False
        cdef Py_ssize_t g
        for g in range(self.articulations):
            if self.count[g] > 0 and self.solve(g, rows, twist, relaxed):
                self.smooth.solve_span(&self.smooth.span[g], rows, twist, self.smooth.target)
                self.smooth.keep_span(&self.smooth.span[g], rows, 1.0)
                changed = True
        return changed
