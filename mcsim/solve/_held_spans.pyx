"""Bounded rows of articulations that have motors or rotors, over the bodies' velocities, with the joints' rows answered by
the KKT system (_smooth.pyx), whose factor and targets are there. Not of those with loops or gears, whose rows may leave a
motor next to nothing to move: there they are swept, one by one.

Per pass:   prepare(rows, count);   per sweep, before it:   hold(rows, twist, relaxed)
"""

from libc.string cimport memset

from mcsim.state._rows cimport is_of_drive


cdef class HeldSpans(HeldRows):
    def __init__(self, SmoothSolver smooth):
        HeldRows.__init__(self, smooth.span_count)
        self.smooth = smooth

    cdef void prepare(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """Which rows are held, and their matrices at the present pose."""
        cdef Twist* moved = self.smooth.response
        cdef Py_ssize_t g, i, k
        memset(self.driven, 0, self.articulations)
        for i in range(count):
            g = self.owner(&rows[i], self.smooth.group)
            if g >= 0 and is_of_drive(&rows[i]) and self.smooth.span[g].loops == 0 and (
                    self.smooth.span[g].border == self.smooth.span[g].border_end):
                self.driven[g] = 1
        self.list(self.smooth.group, self.driven, NULL, rows, count)
        for g in range(self.articulations):
            for k in range(self.count[g]):
                self.smooth.clear(&self.smooth.span[g], moved)
                self.begin_column(g, k, rows, moved)
                self.smooth.solve_span(&self.smooth.span[g], rows, moved, self.smooth.nothing)
                self.end_column(g, k, rows, moved)

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

    cdef bint hold_alone(self, Row* rows, Twist* twist, bint relaxed) noexcept nogil:
        """Their impulses, where others solve the joints: they have, and are to answer if any changed. -> whether any did"""
        cdef bint changed = False
        cdef Py_ssize_t g
        for g in range(self.articulations):
            if self.count[g] > 0 and self.solve(g, rows, twist, relaxed):
                changed = True
        return changed
