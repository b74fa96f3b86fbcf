"""What implicit methods share, over rates f(t, y) that someone else finds: J = df/dy, by differences where nobody knows it
better, when Newton's method has come to its end, and linear equations.

Rates stand in slots of `stride` numbers, of which some move. A difference is taken between the rates at a place and those
at one beside it: `start_probe` writes where that is, `end_probe` reads what is found there.

Source: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 1996, section IV.8.
"""

from libc.math cimport fabs, sqrt

# What differences step by, in parts of 1 + |y|: a power of two near the root of the rounding error.
cdef double PROBED = 1.0 / (1 << 26)

# Newton's method ends where what it leaves is this part of the tolerance, and is given up after so many rounds, or where
# it does not converge by this factor a round. The Jacobian is found anew where a step took it more than QUICK.
cdef double LEFT = 0.01
cdef double SLOW = 0.9
cdef double QUICK = 0.02
cdef enum:
    ROUNDS = 10                          # at most


cdef class NewtonMethod:
    """Buffers are set by who inherits this."""

    cdef jacobian_array(self):
        """(size, size), as a view."""
        return self.kept_jacobian

    cdef int from_slot(self) noexcept nogil:
        """Of the rates at the place that differences are taken from."""
        return 0

    cdef int probe_slot(self) noexcept nogil:
        """Of the place beside it, as a displacement."""
        return 0

    cdef int found_slot(self) noexcept nogil:
        """Of the rates there."""
        return 0

    cdef double start_probe(self, Py_ssize_t i) noexcept nogil:
        """-> a step along the i-th number, which is in its slot"""
        cdef double* probe = self.slots + self.probe_slot() * self.stride
        self.before = probe[self.place[i]]
        probe[self.place[i]] = self.before + PROBED * self.scale[i]
        return PROBED * self.scale[i]

    cdef void end_probe(self, Py_ssize_t i, double step) noexcept nogil:
        cdef const double* first = self.slots + self.from_slot() * self.stride
        cdef const double* moved = self.slots + self.found_slot() * self.stride
        cdef double* probe = self.slots + self.probe_slot() * self.stride
        cdef Py_ssize_t k
        for k in range(self.size):
            self.jacobian[k * self.size + i] = (moved[self.place[k]] - first[self.place[k]]) / step
        probe[self.place[i]] = self.before

    cdef void know(self) noexcept nogil:
        """The Jacobian is there."""
        self.known = self.fresh = True

    cdef double distance(self, int a, int b) noexcept nogil:
        """Of two slots, in parts of the tolerance."""
        cdef const double* first = self.slots + a * self.stride
        cdef const double* other = self.slots + b * self.stride
        cdef double part, sum = 0.0
        cdef Py_ssize_t i
        for i in range(self.size):
            part = (other[self.place[i]] - first[self.place[i]]) / self.scale[i]
            sum += part * part
        return sqrt(sum / max(1, self.size)) / self.tolerance

    cdef int judge_change(self, double size) noexcept nogil:
        """Of a round whose change is of this size, in parts of the tolerance. -> whether the end has come, or never will"""
        cdef double quotient
        self.rounds += 1
        quotient = size / self.last if self.last > 0.0 else 0.0
        if not size < 1e300:
            return NEWTON_FAILED
        if size <= LEFT or (self.rounds > 1 and (size * quotient <= LEFT * (1.0 - quotient) or (
                size <= 1.0 and quotient >= SLOW))):
            self.fresh = False
            self.known = self.known and quotient <= QUICK
            return NEWTON_DONE
        self.last = size
        return NEWTON_FAILED if self.rounds == ROUNDS or quotient >= SLOW else NEWTON_GOES_ON


cdef bint factor_lu(double* a, Py_ssize_t n, int32_t* order) noexcept nogil:
    """L U of the rows in another order, in place. -> whether it is regular"""
    cdef Py_ssize_t i, j, k, best, begin, end
    cdef double* row
    cdef const double* pivot
    cdef double f
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if fabs(a[i * n + k]) > fabs(a[best * n + k]):
                best = i
        order[k] = <int32_t>best
        if not fabs(a[best * n + k]) > 0.0:
            return False
        if best != k:
            for j in range(n):
                f = a[k * n + j]
                a[k * n + j] = a[best * n + j]
                a[best * n + j] = f
        pivot = a + k * n
        begin, end = k + 1, n                        # where it is not 0: rows of places are all but empty
        while begin < end and pivot[begin] == 0.0:
            begin += 1
        while end > begin and pivot[end - 1] == 0.0:
            end -= 1
        for i in range(k + 1, n):
            row = a + i * n
            if row[k] == 0.0:
                continue
            f = row[k] / pivot[k]
            row[k] = f
            for j in range(begin, end):
                row[j] -= f * pivot[j]
    return True


cdef void solve_lu(const double* a, Py_ssize_t n, const int32_t* order, double* x) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double f
    for i in range(n):
        j = order[i]
        f = x[i]
        x[i] = x[j]
        x[j] = f
    for i in range(n):
        for j in range(i):
            x[i] -= a[i * n + j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= a[i * n + j] * x[j]
        x[i] /= a[i * n + i]
