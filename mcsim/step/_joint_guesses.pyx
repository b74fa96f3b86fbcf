"""What joins the joints that are solved directly to what is swept beside them: how far guesses of impulses act.

Impulses are guessed from those before, which after an impact, or where joints hold what contacts push apart, may be far from
what they should be. Sweeps only lower what a wrong guess adds, and so slowly as they converge: where guesses are worse than
none, also with the joints' answer to them, they act as far as they help (solve/_guesses.pyx).
"""

from mcsim.constraints._joints cimport is_shared
from mcsim.state._layout cimport BLOCK_BORDER, BLOCK_TREE


cdef class AllGuesses:
    """All of them act."""

    cdef void start(self) noexcept nogil:
        """Before they act."""

    cdef void weigh(self, bint second) noexcept nogil:
        """Once they do. second: those of the second halves."""


cdef class JointGuesses(AllGuesses):
    """plain, wide: the rows and contacts beside the articulations."""

    def __init__(self, StepContext context not None, PlainRows plain not None, WideContacts wide not None,
                 Articulations articulations not None):
        self.context, self.plain, self.wide, self.articulations = context, plain, wide, articulations

    cdef void start(self) noexcept nogil:
        if self.articulations.some_swept:
            self.articulations.start_guess()

    cdef void weigh(self, bint second) noexcept nogil:
        cdef Row* row
        cdef Py_ssize_t i
        cdef const double* part = self.articulations.kept_part
        if not self.articulations.some_swept or not self.weigh_once(second):
            return
        self.articulations.hold_doubtful()
        if self.weigh_once(second):
            for i in range(self.plain.row_count):
                row = &self.plain.rows[i]
                row.impulse -= (1.0 - min(part[row.body_a], part[row.body_b])) * self.guess_of(row, second)
            self.articulations.angles.keep_parts(part, second)
            self.wide.keep_parts(part, second)
            self.articulations.keep_parts()
        self.articulations.forget_parts()

    cdef bint weigh_once(self, bint second) noexcept nogil:
        """-> whether guesses are worse than none anywhere. Of biases the work that they ask for counts, as a motor's; where
        one has a limit wait at a distance, sweeps find that in a round, and need the others' guesses."""
        cdef Row* row
        cdef Py_ssize_t i
        cdef double guess
        for i in range(self.plain.row_count):
            row = &self.plain.rows[i]
            guess = self.guess_of(row, second)
            if guess != 0.0:
                self.articulations.give(row.body_a, row.body_b, min(guess * row.bias[second], 0.0),
                                        guess * guess * row.compliance[second])
        self.articulations.angles.give_biases(self.context.bodies, self.articulations.guesses.slope, second)
        return self.articulations.weigh()

    cdef double guess_of(self, const Row* row, bint second) noexcept nogil:
        """What of its impulse is a guess that has acted just now."""
        if row.block_kind == BLOCK_TREE or row.block_kind == BLOCK_BORDER:
            return 0.0                                   # the articulations' own
        if not second:
            return row.impulse
        return 0.0 if is_shared(row, self.context.joints, self.context.settings) else row.impulse - row.carry
