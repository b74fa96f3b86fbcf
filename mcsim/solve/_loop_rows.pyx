"""The rows that close loops and gears, all solved at once: their K = J H^-1 J' + compliance, factored once per pose, and
what the rows that contradict each other yield to.

    fit            once rows are listed
    factor         per pose, once the rows' J, H^-1 J' and diagonals are there
    solve          per sweep, all of them
    meet           per stage of a smooth motion, exactly, on accelerations or velocities
    close, hold    the rows of one bond: the bodies whose trees they tie to each other
    note_strain    as a substep begins

What is solved is K with its diagonal raised: with repeated solves the proximal point iteration, which leaves alone what
rows of a closed loop say that others imply but for the errors of its position. Raised by e, no solve answers a residual
by more than 1 / (2 sqrt e) of it. Only reserve() allocates.
"""

from libc.math cimport fabs, sqrt
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.solve._blocks cimport row_residual
from mcsim.solve._generalized cimport GeneralizedRows, least_diagonal
from mcsim.solve._loop_fronts cimport LoopFronts
from mcsim.solve._loop_matrix cimport LoopMatrix
from mcsim.solve._smooth cimport MOST_ITERATIONS, PROGRESS, PROXIMAL as SMOOTH_PROXIMAL
from mcsim.state._row cimport BIASED, RELAXED, is_wide
from mcsim.state._rows cimport is_linear, set_impulse

# By how much of itself the diagonal is raised, in the biased and the relax pass.
cdef double[2] PROXIMAL
PROXIMAL[0], PROXIMAL[1] = 1e-3, 1e-7

# The compliance of rows that yield, as a part of their diagonal.
cdef double YIELDING = 0.1

# The part of the most that was asked for at a pose which a solve may leave undone, biased and relaxed.
cdef double[2] CONTRARY
CONTRARY[0], CONTRARY[1] = 0.1, 0.01

# The same where given velocities have a part.
cdef double CONTRARY_LED = 0.05

# What it always may, in parts of the rows' `push`.
cdef double[2] LEAST
LEAST[0], LEAST[1] = 3e-3, 3e-7

cdef enum:
    HOLDS = 3                    # proximal steps of what loops answer to an impact


cdef inline double closing_time(const Row* row) noexcept nogil:
    """That of its error, as fast as may be [s]."""
    return fabs(row.error) / row.push


cdef class LoopRows(LoopMatrix):
    """Arguments as of LoopMatrix."""

    def __init__(self, GeneralizedRows generalized not None, bonds not None, LoopFronts fronts):
        LoopMatrix.__init__(self, generalized, bonds, fronts)
        self.proximal = SMOOTH_PROXIMAL

    def _allot(self, Py_ssize_t capacity):
        LoopMatrix._allot(self, capacity)
        numbers, values = np.zeros((5, capacity), np.int32), np.zeros((5, capacity))
        self.kept = numbers, values
        self.part, self.yields = integers(numbers[0]), integers(numbers[1])
        self.led, self.was_strained = integers(numbers[2]), integers(numbers[3])
        self.contrary, self.asked = integers(numbers[4]), doubles(values[0])
        self.most[0], self.most[1] = doubles(values[1]), doubles(values[2])
        self.target, self.given = doubles(values[3]), doubles(values[4])

    # ---- once per pose -----------------------------------------------------------------------------------------------

    cdef void factor(self, Row* rows, Py_ssize_t count, double rate) noexcept nogil:
        """K of those of the rows [0, count) that they are, its diagonal raised, as L D L' for both passes."""
        cdef Py_ssize_t i = 0, end
        cdef int p
        self.find(rows, count)
        self.find_parts(rows, rate)
        while i < self.count:
            end = self.end_of_part(i)
            for p in range(2):
                self.factor_part(rows, p, PROXIMAL[0 if self.led[i] else p], i, end)
            i = end

    cdef Py_ssize_t end_of_part(self, Py_ssize_t begin) noexcept nogil:
        """Where those end that hang together from there on."""
        cdef Py_ssize_t end = begin + 1
        while end < self.count and self.part[end] == begin:
            end += 1
        return end

    cdef void find_parts(self, Row* rows, double rate) noexcept nogil:
        """Rows that are coupled hang together. They are biased by `rate` of their errors; where that asks one for more than
        its `push` they yield, and close so much slower, in the direction of their errors, that none is."""
        cdef Py_ssize_t i, k, first, end = self.count
        cdef double needed = 0.0              # to close them all [s]
        cdef bint is_led = False
        cdef Row* row
        first = end
        for i in range(end - 1, -1, -1):
            row = &rows[self.row[i]]
            first = min(first, self.coupled[i])
            if row.stabilized:
                needed = max(needed, closing_time(row))
            is_led = is_led or self.generalized.led(rows, self.row[i]) or (
                is_wide(row) and self.generalized.led(rows, self.row[i] + 1))
            if first < i:
                continue
            for k in range(i, end):
                self.part[k] = <int32_t>i
                self.led[k] = is_led
                self.yields[k] = 0
                self.most[0][k] = self.most[1][k] = 0.0
            if rate * needed > 1.0:
                for k in range(i, end):
                    row = &rows[self.row[k]]
                    if row.stabilized:
                        row.bias[BIASED] -= (rate - 1.0 / needed) * row.error
                self.open_part(rows, BIASED, i, end)
            end = first = i
            needed = 0.0
            is_led = False

    cdef void open_part(self, Row* rows, int relaxed, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Rows yield, those of a joint in metres all alike and those in radians too: else where they come to rest would
        depend on their axes."""
        cdef Py_ssize_t i, k
        cdef double sum[2]
        cdef int count[2]
        cdef bint linear
        cdef int32_t source
        self.contrary[begin] = 1
        while begin < end:
            source = rows[self.row[begin]].source
            sum[0] = sum[1] = 0.0
            count[0] = count[1] = 0
            i = begin
            while i < end and rows[self.row[i]].source == source:
                linear = is_linear(&rows[self.row[i]])
                sum[linear] += max(rows[self.row[i]].diagonal, least_diagonal(&rows[self.row[i]]))
                count[linear] += 1
                i += 1
            for k in range(begin, i):
                linear = is_linear(&rows[self.row[k]])
                self.yields[k] |= 1 << relaxed
                rows[self.row[k]].compliance[relaxed] = YIELDING * sum[linear] / count[linear]
            begin = i

    # ---- solves ------------------------------------------------------------------------------------------------------

    cdef void solve_part(self, Row* rows, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """The same. Where by how much the diagonal is raised leaves more than a part undone, rows contradict each other,
        and yield to what they bear from now on at this pose."""
        cdef double* x = self.change
        cdef double* kept = self.asked
        cdef double* most = &self.most[relaxed][first]
        cdef double left = 0.0
        cdef Py_ssize_t i
        cdef Row* row
        for i in range(first, end):
            kept[i] = x[i]
            most[0] = max(most[0], fabs(x[i]) / rows[self.row[i]].push)
        self.invert(relaxed, first, end)
        if self.yields[first] & 1 << relaxed:
            return
        for i in range(first, end):
            row = &rows[self.row[i]]
            left = max(left, PROXIMAL[0 if self.led[first] else relaxed] * row.diagonal * fabs(x[i]) / row.push)
        if left > (CONTRARY_LED if self.led[first] else CONTRARY[relaxed]) * most[0] and left > LEAST[relaxed]:
            self.open_part(rows, relaxed, first, end)
            for i in range(first, end):
                row = &rows[self.row[i]]
                row.bias[relaxed] -= row.compliance[relaxed] * row.impulse
                x[i] = kept[i]
            self.factor_part(rows, relaxed, 0.0, first, end)
            self.invert(relaxed, first, end)

    cdef double solve_some(self, Row* rows, double* velocity, int relaxed, Py_ssize_t begin,
                           Py_ssize_t end) noexcept nogil:
        """Impulses -K^-1 `change` into the rows and the velocities, of loops [begin, end). -> the largest correction
        [m/s, rad/s]"""
        cdef Py_ssize_t i, last, first = begin
        cdef double* x = self.change
        cdef double largest = 0.0
        cdef Row* row
        while first < end:
            last = self.end_of_part(first)
            self.solve_part(rows, relaxed, first, last)
            first = last
        for i in range(begin, end):
            row = &rows[self.row[i]]
            set_impulse(row, row.impulse + x[i])
            largest = max(largest, fabs(x[i]) * (row.diagonal + row.compliance[relaxed]))
        self.act_all(rows, begin, end, velocity)
        return largest

    cdef double solve(self, Row* rows, double* velocity, int relaxed) noexcept nogil:
        """All loops. -> the largest correction [m/s, rad/s]"""
        cdef Py_ssize_t i, k
        self.look(0, self.count, velocity)
        for i in range(self.count):
            k = self.row[i]
            if self.own[i] >= 0:
                self.change[i] = row_residual(&rows[k], self.fronts.rate(self.own[i]), relaxed)
                continue
            self.change[i] = row_residual(&rows[k], self.generalized.rate(k, velocity), relaxed)
            if is_wide(&rows[k]):
                self.change[i] += row_residual(&rows[k + 1], self.generalized.rate(k + 1, velocity), relaxed)
        return self.solve_some(rows, velocity, relaxed, 0, self.count)

    cdef double worst(self, const Row* rows, Py_ssize_t bond) noexcept nogil:
        """How long it takes to close the rows that close a bond's loops [s]."""
        cdef double largest = 0.0
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.bond[i] == bond and rows[self.row[i]].stabilized and not self.yields[i]:
                largest = max(largest, closing_time(&rows[self.row[i]]))
        return largest

    cdef bint is_plain(self, Py_ssize_t bond) noexcept nogil:
        """Whether a bond's rows hold as they are: none yields or is strained, and given velocities have no part."""
        cdef Py_ssize_t i, begin, end
        self.span_of(bond, &begin, &end)
        for i in range(begin, end):
            if self.yields[i] or self.was_strained[i] or self.led[i]:
                return False
        return True

    cdef void put_back(self, Row* rows, const double* impulses, Py_ssize_t bond) noexcept nogil:
        """The rows of a bond have these impulses, by their numbers here."""
        cdef Py_ssize_t i, begin, end
        self.span_of(bond, &begin, &end)
        for i in range(begin, end):
            set_impulse(&rows[self.row[i]], impulses[i])

    cdef void close(self, Row* rows, double* velocity, double h, Py_ssize_t bond, const double* moved) noexcept nogil:
        """Velocities that bring the errors of a bond's rows, as they are written for the end of a drift of h, to 0: J times
        their change = -C / h, J and K those of the last refresh. moved: by what velocities change beside, or NULL."""
        cdef Py_ssize_t i, begin, end
        cdef const Row* row
        self.span_of(bond, &begin, &end)
        if moved != NULL:
            self.look(begin, end, moved)
        for i in range(begin, end):
            row = &rows[self.row[i]]
            self.change[i] = row.error / h if row.stabilized and not self.yields[i] else 0.0
            if moved != NULL:
                self.change[i] += self.rate_of(rows, i, moved)
        self.solve_some(rows, velocity, BIASED, begin, end)

    cdef void hold(self, const Row* rows, double* velocity, Py_ssize_t bond) noexcept nogil:
        """J velocity = 0 in all rows that close a bond's loops, by impulses that leave no trace but there: proximal steps,
        each of which leaves PROXIMAL of what it is given."""
        cdef Py_ssize_t i, first, last, begin, end
        cdef int _
        self.span_of(bond, &begin, &end)
        for _ in range(HOLDS):
            self.look(begin, end, velocity)
            for i in range(begin, end):
                self.change[i] = self.rate_of(rows, i, velocity)
            first = begin
            while first < end:
                last = self.end_of_part(first)
                self.invert(RELAXED, first, last)
                first = last
            self.act_all(rows, begin, end, velocity)

    # ---- exactly -----------------------------------------------------------------------------------------------------

    cdef void find_rigid(self, Row* rows, Py_ssize_t count, double rate) noexcept nogil:
        """Which of the rows [0, count) they are, and K, for what follows. They yield to nothing, but where `rate` asks one
        for more than its push: find_parts."""
        cdef Py_ssize_t i
        cdef Row* row
        self.find(rows, count)
        for i in range(self.count):
            row = &rows[self.row[i]]
            row.compliance[BIASED] = row.compliance[RELAXED] = 0.0
            row.bias[BIASED] = rate * row.error
        self.find_parts(rows, rate)

    cdef void find_again(self, Row* rows) noexcept nogil:
        """After find_rigid with a rate of 0, of rows that were written anew at the same pose: K and its factor stay."""
        cdef Py_ssize_t i
        for i in range(self.count):
            rows[self.row[i]].compliance[BIASED] = rows[self.row[i]].compliance[RELAXED] = 0.0
            rows[self.row[i]].bias[BIASED] = 0.0

    cdef void aim_accelerations(self, Row* rows, Py_ssize_t count, const double* velocity,
                                const Settings* settings) noexcept nogil:
        """find_rigid, and J qdd = -J' qd - rate_gain dC/dt - error_gain C, dC/dt = J qd + rate; of rows whose curvature is
        J' qd. C is fed back as the velocity sqrt(error_gain) C, which is to be no more than a row's push."""
        self.find_rigid(rows, count, sqrt(settings.error_gain))
        self.aim_found_accelerations(rows, velocity, settings)

    cdef void aim_found_accelerations(self, const Row* rows, const double* velocity,
                                      const Settings* settings) noexcept nogil:
        """The same, as they were found."""
        cdef double closing_rate = sqrt(settings.error_gain)
        cdef Py_ssize_t i
        cdef const Row* row
        self.look(0, self.count, velocity)
        for i in range(self.count):
            row = &rows[self.row[i]]
            self.target[i] = -row.curvature - settings.rate_gain * (self.rate_of(rows, i, velocity) + row.rate) \
                - closing_rate * row.bias[BIASED] - (row[1].curvature if is_wide(row) else 0.0)

    cdef void aim_errors(self, const int32_t* chosen, const double* times, double h, const Row* rows) noexcept nogil:
        """Displacements that close the rows of the bonds that are chosen, as they were found; of one whose `times` is above
        h as much as it closes in h."""
        cdef Py_ssize_t i
        cdef const Row* row
        for i in range(self.count):
            row = &rows[self.row[i]]
            self.target[i] = 0.0
            if row.stabilized and chosen[self.bond[i]]:
                self.target[i] = -row.error / max(1.0, times[self.bond[i]] / h)

    cdef void aim_still(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """find_rigid, and dC/dt = J qd + rate = 0"""
        cdef Py_ssize_t i
        self.find_rigid(rows, count, 0.0)
        for i in range(self.count):
            self.target[i] = -rows[self.row[i]].rate

    cdef void aim_nothing(self) noexcept nogil:
        """As found, and J x = 0"""
        memset(self.target, 0, self.count * sizeof(double))

    cdef void aim_rates(self, Row* rows, const double* velocity) noexcept nogil:
        """Solves are to leave the rates of the rows as they are."""
        cdef Py_ssize_t i
        cdef Row* row
        self.look(0, self.count, velocity)
        for i in range(self.count):
            row = &rows[self.row[i]]
            row.bias[BIASED] = row.bias[RELAXED] = -self.rate_of(rows, i, velocity)
            if is_wide(row):
                row[1].bias[BIASED] = row[1].bias[RELAXED] = 0.0

    cdef void meet(self, const Row* rows, double* x) noexcept nogil:
        """J x = target, x velocities or accelerations, by what the rows do, which `given` tells then [N s, or N]. The
        proximal iteration from 0 leads to the least such impulses in the metric of the diagonal, also where rows follow
        from each other (solve/_smooth.pyx); what is inconsistent ends it. Where rows yield, J x + compliance given =
        target."""
        self.factor_exactly(rows)
        self.approach(rows, x)

    cdef void factor_exactly(self, const Row* rows) noexcept nogil:
        """K, for what is to be met."""
        cdef Py_ssize_t first = 0, end
        while first < self.count:
            end = self.end_of_part(first)
            self.factor_part(rows, BIASED, self.proximal, first, end)
            first = end

    cdef void approach(self, const Row* rows, double* x) noexcept nogil:
        """`meet` by the factor there is."""
        cdef Py_ssize_t first = 0, end
        cdef double worst, last
        cdef int n
        while first < self.count:
            end = self.end_of_part(first)
            memset(self.given + first, 0, (end - first) * sizeof(double))
            last = worst = self.miss(rows, x, first, end)
            for n in range(MOST_ITERATIONS):
                if worst == 0.0 or (n > 0 and not worst < PROGRESS * last):
                    break
                last = worst
                self.give(rows, x, first, end)
                worst = self.miss(rows, x, first, end)
            first = end

    cdef double miss(self, const Row* rows, const double* x, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """change <- J x - target of the rows [first, end). -> the largest, in parts of their `push`"""
        cdef double worst = 0.0
        cdef Py_ssize_t k
        self.look(first, end, x)
        for k in range(first, end):
            self.change[k] = self.rate_of(rows, k, x) - self.target[k] \
                + rows[self.row[k]].compliance[BIASED] * self.given[k]
            worst = max(worst, fabs(self.change[k]) / rows[self.row[k]].push)
        return worst

    cdef void give(self, const Row* rows, double* x, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """One step of the rows [first, end) against `change`."""
        cdef Py_ssize_t k
        self.invert(BIASED, first, end)
        for k in range(first, end):
            self.given[k] += self.change[k]
        self.act_all(rows, first, end, x)

    cdef void keep(self, Row* rows, double h) noexcept nogil:
        """What `meet` has given, for h, is the rows' impulses."""
        cdef Py_ssize_t i
        for i in range(self.count):
            set_impulse(&rows[self.row[i]], h * self.given[i])

    # ---- strain ------------------------------------------------------------------------------------------------------

    cdef bint note_strain(self, const Row* rows, double most, double widest) noexcept nogil:
        """A substep begins. -> whether loops yield, or it takes longer than `most` [s] to close them; if longer than
        `widest`, they are contrary."""
        cdef const Row* row
        cdef bint found = False
        cdef double error
        cdef Py_ssize_t i
        for i in range(self.count):
            row = &rows[self.row[i]]
            error = fabs(row.error) if row.stabilized else 0.0
            self.was_strained[i] = self.yields[i] != 0 or error > most * row.push
            if error > widest * row.push:
                self.contrary[i] = 1
            found = found or self.was_strained[i] != 0
        return found

    cdef void forget_contrary(self) noexcept nogil:
        """Which rows have contradicted each other."""
        memset(self.contrary, 0, self.capacity * sizeof(int32_t))

    cdef bint any_contrary(self) noexcept nogil:
        """Whether any has, so that `is_open` is to be asked of each."""
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.contrary[i]:
                return True
        return False

    cdef bint is_open(self, const Row* rows, int32_t source, const Joint* joints, double part,
                      double* largest) noexcept nogil:
        """Whether a joint has contradicted others, and one of what hangs together with it is open by more than a part of
        its size, or has rows of velocities alone, which no error tells of. largest: that error [m or rad]"""
        cdef const Row* row
        cdef bint found = False
        cdef int32_t here = -1
        cdef Py_ssize_t i
        largest[0] = 0.0
        for i in range(self.count):
            if self.contrary[i] and rows[self.row[i]].source == source:
                here = self.part[i]
        for i in range(self.count if here >= 0 else 0):
            row = &rows[self.row[i]]
            if self.part[i] != here:
                continue
            largest[0] = max(largest[0], fabs(row.error) if row.stabilized else 0.0)
            found = found or not row.stabilized or fabs(row.error) > part * (
                0.5 * joints[row.source].length if is_linear(row) else 1.0)
        return found

    cdef bint strained(self, Py_ssize_t begin, Py_ssize_t* end) noexcept nogil:
        """Whether the part that begins there yields or did as the substep began, and given velocities have no part in it.
        end: where it ends."""
        cdef bint found = False
        end[0] = begin
        while end[0] < self.count and self.part[end[0]] == begin:
            found = found or self.was_strained[end[0]] != 0 or self.yields[end[0]] != 0
            end[0] += 1
        return found and not self.led[begin]
