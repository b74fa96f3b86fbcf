"""Runge-Kutta methods by their coefficients, and steps as long as a tolerance allows.

    k_i = f(t + c_i h, y + h sum_j a_ij k_j),        y(t + h) = y + h sum_i b_i k_i

explicit where a_ij = 0 for j >= i.

The classical method of four stages; and the one of order 8 of Dormand and Prince, twelve stages, whose error two embedded
formulae of orders 5 and 3 tell, with the rates at the step's end as one stage more:

    error = |h| e5^2 / sqrt(e5^2 + e3^2 / 100),     e the largest of all coordinates, by tolerance (1 + |y|)

A step whose error is below 1 is taken; h follows the eighth root of it. Where the rates have a corner or a jump, e5 may be
0 by chance; then no step crosses it that is longer than

    |h| |f(t + h) - f(t)| < tolerance (1 + |y|)

which is more than the error of any step with rates between those two. The implicit method of five stages of Radau, of
order 9, has one estimate, of order 5 (core/_implicit.pyx). Formulas of backward differences have a tableau without stages,
for the displacements that they ask rates at (core/_backward.pyx).

Source: E. Hairer, S. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", 1993, sections II.1, II.4, II.5 and
II.10.
"""

from libc.math cimport fabs, sqrt

from functools import cache

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._backward cimport BACKWARD_ERROR, BACKWARD_PLACE, BACKWARD_SLOTS
from mcsim.core._numbers cimport greater

from mcsim.core.radau import radau

# The factor by which a step follows another: what is left of the estimate, and its bounds.
cdef double SAFETY = 0.9
cdef double LEAST = 0.2
cdef double MOST = 10.0

# Errors may jump where something singular lies in a step, which no order tells: then the first steps that are tried are
# by this factor shorter each, so that stages lie elsewhere and the step is passed, instead of going as near as can be.
cdef double ASIDE = 0.75
cdef enum:
    TRIED_ASIDE = 4      # how many of them
    IMPLICIT_STAGES = 5  # of Radau's method

# What an implicit method costs where something is stiff: its Jacobian, and the factors of about so many steps. An
# evaluation of the accelerations costs about so many multiplications a number that moves.
cdef double FACTORS = 5.0
cdef double EVALUATION = 300.0


cdef class Tableau:
    """weights: (rows, slots), times: (s + 1,); errors: (slots,) twice, or None."""

    def __init__(self, weights, times, errors=None, implicit=None):
        weights, times = np.array(weights, float), np.array(times, float)
        estimates = None if errors is None else np.array(errors, float)
        self.kept, self.implicit, self.multistep = (weights, times, estimates), implicit, False
        self.stages, self.slots = len(times) - 1, weights.shape[1]
        self.weights, self.times = doubles(weights), doubles(times)
        if errors is not None:
            change = np.zeros(self.slots)
            change[0], change[-1] = -1.0, 1.0
            self.fifth, self.third, self.change = doubles(estimates[0]), doubles(estimates[1]), doubles(change)
            self.kept = (*self.kept, change)


def explicit(a, b, c, errors=None):
    """a: (s, s), b: (s,), c: (s,); errors: (s + 1,) twice, or None. One slot more than stages, for the step's end."""
    weights = np.zeros((len(b) + 1, len(b) + 1))
    weights[:, :-1] = np.vstack([np.tril(a, -1), b])
    return Tableau(weights, np.append(c, 1.0), errors)


def classical():
    """Of fourth order."""
    return explicit([[0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
                    [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0], [0.0, 0.5, 0.5, 1.0])


def dormand_prince():
    """Of order 8, with estimates of the error: the coefficients are SciPy's."""
    from scipy.integrate import DOP853                       # here, because it takes long to import

    return explicit(DOP853.A, DOP853.B, DOP853.C, (DOP853.E5, DOP853.E3))


@cache
def implicit_method():
    """Radau's, of five stages, in the slots that ImplicitStages has."""
    a, c, begin = radau(IMPLICIT_STAGES)
    weights = np.zeros((len(c) + 2, 2 * len(c) + 2))
    weights[:-2, :len(c)], weights[-2, :len(c)], weights[-1, -1] = a, a[-1], 1.0
    estimate = np.zeros(2 * len(c) + 2)
    estimate[-1] = 1.0
    return Tableau(weights, np.append(c, 1.0), (estimate, estimate), (a, begin))


@cache
def backward_differences():
    """No stages: the state is where the first slot of BackwardDifferences says."""
    weights = np.zeros((1, BACKWARD_SLOTS))
    weights[0, BACKWARD_PLACE] = 1.0
    estimate = np.zeros(BACKWARD_SLOTS)
    estimate[BACKWARD_ERROR] = 1.0
    cdef Tableau made = Tableau(weights, [1.0], (estimate, estimate))
    made.multistep = True
    return made


cdef void add_error(double* errors, double fifth, double third, double before, double after) noexcept nogil:
    cdef double scale = 1.0 + max(fabs(before), fabs(after))
    errors[0] = greater(errors[0], fabs(fifth) / scale)
    errors[1] = greater(errors[1], fabs(third) / scale)


cdef class StepSize:
    """Of a method that estimates its error."""

    def __init__(self, double tolerance):
        self.tolerance = tolerance

    cdef void begin(self, double h) noexcept nogil:
        """A time of h begins: one step is tried for all of it."""
        self.h, self.rejected, self.taken, self.tried = h, False, 0.0, 0

    cdef double error(self, const double* errors, double h) noexcept nogil:
        """Of a step of h with these errors, in parts of the tolerance."""
        cdef double size = sqrt(errors[0] * errors[0] + 0.01 * errors[1] * errors[1])
        return 0.0 if size == 0.0 else fabs(h) * errors[0] * errors[0] / (self.tolerance * size)

    cdef bint accepts(self, const double* errors, double h) noexcept nogil:
        """Whether a step of h, with these errors, is good; and how long the next one is to be, either way. One that is not
        finite is not."""
        cdef double factor, error = self.error(errors, h)
        if error == 0.0:
            factor = MOST
        elif error == error:
            factor = min(max(SAFETY / sqrt(sqrt(sqrt(error))), LEAST), MOST)
        else:
            factor = LEAST
        if self.rejected or not error < 1.0:
            factor = min(factor, 1.0)
        self.rejected = not error < 1.0
        if not self.rejected:
            self.taken, self.tried = h, 0
        elif h < 2.0 * self.taken and self.tried < TRIED_ASIDE:
            self.tried += 1
            factor = max(factor, ASIDE)
        self.h = h * factor
        return not self.rejected

    cdef void fail(self, double h) noexcept nogil:
        """A step of h came to no end."""
        self.rejected, self.h = True, 0.5 * h


cdef bint implicit_pays(double evaluations, Py_ssize_t size) noexcept nogil:
    """Whether so many evaluations of an explicit method cost more than what an implicit one begins with."""
    cdef double n = size
    cdef int modes = 2 * IMPLICIT_STAGES - 1         # four real ones for each that is complex
    return (evaluations - n) * EVALUATION * n > FACTORS * 2.0 / 3.0 * modes * n * n * n
