"""Impacts with restitution: what touches and closes fast, round after round until nothing does
(docs/theory/impacts.md).

A manifold is struck when one of its points touches within the next substep (s + h v_n < 0, kick included) and closes
faster than the threshold. All that close at the moment are struck together, as far as they are coupled, by bodies or by
joints, which hold: A = J H^-1 J' is that of the articulations. What closes then is the next round's: a blow runs down a
row of bodies, which sends the last ball of a Newton's cradle off alone, and no order of manifolds matters.

A manifold is struck as one contact at its centre of pressure: its points share the impulse as they would without
friction,

    p >= 0,   u + a p >= 0,   p . (u + a p) = 0,      a, u those of its normals,

the tangents are those at that centre, and what the law (_laws.pyx) gives goes to the points in these parts. Friction
about the normal follows under the same load, as maximal dissipation from zero: it takes energy.

u is the velocity at the time of the pose. Where a substep's forces act as one kick before the drift, that is half the
next kick later: it is added. Where they act in halves (`first`, their part before the drift, is 1/2) u is there
already, and half a kick comes before the next drift. Without this a ball lost or won g h / v of its speed at each
bounce, and e = 1 did not come back to its height. A strike comes up to h v before the touch; its e is that which, from
there, amounts to e at the surface.
"""

from libc.math cimport sqrt
from libc.stdint cimport int8_t
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._types cimport Twist
from mcsim.core._math cimport add
from mcsim.solve._blocks cimport clamp, row_apply, row_velocity
from mcsim.solve._driven cimport FIRM, leave_driven, leave_firm
from mcsim.solve._laws cimport strike_together
from mcsim.solve._shares cimport SHARE_DOUBLES, SHARE_INTEGERS, share
from mcsim.solve._small_lcp cimport compress
from mcsim.solve._struck cimport Struck, find_friction, group, same_manifold
from mcsim.state._manifold cimport MANIFOLD_POINTS
from mcsim.state._row cimport BLOCK_CONE, RELAXED, ROW_NORMAL, Row

cdef enum:
    ROUNDS = 64              # of impacts; what closes then is left to the solver

# ---- one manifold ----------------------------------------------------------------------------------------------------

cdef inline bint moves(const Row* row, int side) noexcept nogil:
    cdef int k
    for k in range(6 * side, 6 * side + 6):
        if row.inv_mass_jacobian[k] != 0.0:
            return True
    return False


cdef inline double rebound(double restitution, double error, double kick, double u, double h) noexcept nogil:
    """The ratio of speeds at the gap s > 0 that restitution e at the surface makes, with the acceleration a = 2 kick /
    h: on the way through the gap and back, u_s^2 = u^2 - 2 a s."""
    cdef double gained
    if error <= 0.0 or kick == 0.0 or u == 0.0:
        return restitution
    gained = -4.0 * kick * error / (h * u * u)
    gained = restitution * restitution * (1.0 + gained) - gained
    return sqrt(min(gained, 1.0)) if gained > 0.0 else 0.0


cdef inline void make_symmetric(Py_ssize_t n, double* a) noexcept nogil:
    cdef Py_ssize_t i, j
    for i in range(n):
        for j in range(i):
            a[n * i + j] = a[n * j + i] = 0.5 * (a[n * i + j] + a[n * j + i])


cdef class Impacts:
    """law: of solve/_laws.pxd; nodes: how many there may be."""

    def __init__(self, int law, Py_ssize_t nodes):
        cdef Py_ssize_t n = 3 * MOST_TOGETHER
        owner, numbers, spans = np.full(nodes + 1, -1, np.int32), np.zeros(n * n + 9 * n), np.zeros(n * n + 3 * n)
        points = 4 * MOST_TOGETHER
        touching, pivots = np.zeros(points, np.int64), np.zeros(SHARE_INTEGERS * points, np.int32)
        parts = np.zeros(3 * points + points * points + points * (points + SHARE_DOUBLES))
        self.law, self.nodes_there = law, nodes
        self.kept = [owner, numbers, None, spans, touching, parts, pivots]
        self.touching, self.parts, self.pivots = <Py_ssize_t*>records(touching), doubles(parts), integers(pivots)
        self.spans = doubles(spans)
        self.owner, self.matrix = integers(owner), doubles(numbers)
        self.numbers = self.matrix + n * n

    def reserve(self, Py_ssize_t rows):
        """Room for the manifolds of so many rows."""
        if rows > self.capacity:
            struck, left, group_of = np.zeros((rows, sizeof(Struck)), np.int8), np.zeros(rows), np.zeros(rows, np.int32)
            hit, support = np.zeros(rows, np.int8), np.zeros(rows)
            self.kept[2] = struck, left, group_of, hit, support
            self.hit, self.support = <int8_t*>records(hit), doubles(support)
            self.struck, self.left, self.group_of = <Struck*>records(struck), doubles(left), integers(group_of)
            self.capacity = rows

    cdef void see_joints(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """Where the joints' own rows stand, for those that answer by them."""

    cdef void hold(self, const Row* rows, Py_ssize_t count) noexcept nogil:
        """Before a blow among these rows, where joints do not hold the velocities yet: they do."""

    cdef bint is_held(self, int32_t body) noexcept nogil:
        """Whether hold() is about contacts of this body."""
        return False

    # ---- of the bodies -----------------------------------------------------------------------------------------------

    cdef void prepare(self) noexcept nogil:
        """Before the first strike of a pose."""

    cdef void finish(self) noexcept nogil:
        pass

    cdef int32_t node_of(self, Py_ssize_t row, int side) noexcept nogil:
        return -1

    cdef double rate(self, Py_ssize_t row) noexcept nogil:
        return 0.0

    cdef double kick(self, Py_ssize_t row) noexcept nogil:
        return self.rows[row].kick

    cdef double answered(self, Py_ssize_t row) noexcept nogil:
        return 0.0

    cdef void push(self, Py_ssize_t row, double impulse) noexcept nogil:
        pass

    cdef void clear(self, int32_t node) noexcept nogil:
        pass

    cdef void answer(self, int32_t node) noexcept nogil:
        pass

    cdef void take(self, int32_t node) noexcept nogil:
        pass

    cdef double kicked(self, Py_ssize_t row) noexcept nogil:
        return self.kick(row) + self.support[row]

    cdef double rate_held(self, Py_ssize_t row) noexcept nogil:
        """Where contacts at rest have not yet answered the part of a kick before this, what they will is added."""
        return self.rate(row) + self.support[row] if self.unanswered else self.rate(row)

    # ---- what closes -------------------------------------------------------------------------------------------------

    cdef void begin(self, const Row* rows, Py_ssize_t count, double threshold, double h, double first,
                    double* impulse) noexcept nogil:
        """What may be struck now."""
        self.rows, self.count, self.impulse = rows, 0, impulse
        self.threshold, self.h, self.first = threshold, h, first
        self.struck_total = 0
        self.extend(count)

    cdef bint nears_any(self) noexcept nogil:
        """Whether a contact with a restitution may be struck in this substep or the next."""
        cdef Py_ssize_t i = 0
        cdef int points
        while i < self.count:
            points = self.points_from(i)
            if points > 0 and self.rows[i].restitution > 0.0 and self.closes(i, points, True):
                return True
            i += max(points, 1)
        return False

    cdef void extend(self, Py_ssize_t count) noexcept nogil:
        """To so many rows."""
        cdef Py_ssize_t begin = self.count
        self.count = count
        memset(self.hit + begin, 0, (count - begin) * sizeof(int8_t))
        memset(self.support + begin, 0, (count - begin) * sizeof(double))
        self.find_left(begin)

    cdef int resolve(self) noexcept nogil:
        """-> how many manifolds were struck, counting repeats"""
        cdef Py_ssize_t k
        cdef int32_t i
        cdef bint closing
        cdef int _, n
        for _ in range(ROUNDS):
            if self.find() == 0:
                break
            self.struck_total += <int>self.struck_count
            group(self.struck, self.group_of, self.struck_count, self.owner)
            for k in range(self.struck_count):
                if self.group_of[k] != k:
                    continue
                i = <int32_t>k
                n = 0
                closing = False
                while i >= 0:
                    self.together[n] = &self.struck[i]
                    closing = closing or self.struck[i].closes
                    n += 1
                    i = self.struck[i].next
                    if n == MOST_TOGETHER or i < 0:
                        if closing:
                            self.strike(n)
                        n = 0
                        closing = False
        return self.struck_total

    cdef void find_left(self, Py_ssize_t begin) noexcept nogil:
        """What closes by u and is deeper than the h u of a substep had closed before: it strikes nothing, a drive presses
        it where nothing gives. Nor does what closes without a restitution: the solver stops it. Blows answer what they
        close by beyond that."""
        cdef const Row* row
        cdef double u
        cdef Py_ssize_t i
        for i in range(begin, self.count):
            row = self.rows + i
            self.left[i] = 0.0
            if row.kind == ROW_NORMAL and row.diagonal > 0.0 and (row.error < 0.0 or not row.restitution > 0.0):
                u = self.rate(i)
                if row.error < self.h * u or not row.restitution > 0.0:
                    self.left[i] = max(-u, 0.0)

    cdef Py_ssize_t find(self) noexcept nogil:
        """The manifolds that close, those without a restitution once something has been struck; if one of them has been
        struck before at this moment, then with all that have been. -> how many"""
        cdef bint again = False
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t k
        cdef int points
        self.struck_count = 0
        while i < self.count:
            points = self.points_from(i)
            if (self.struck_total > 0 or self.rows[i].restitution > 0.0) and points > 0 and self.closes(i, points, False):
                self.list_manifold(i, points, True)
                again = again or self.hit[i]
            i += max(points, 1)
        i = 0
        while i < self.count and again:
            points = self.points_from(i)
            if self.hit[i] and not self.closes(i, points, False):
                self.list_manifold(i, points, False)
            i += max(points, 1)
        for k in range(self.struck_count):
            self.hit[self.struck[k].begin] = 1
        return self.struck_count

    cdef int points_from(self, Py_ssize_t i) noexcept nogil:
        """How many points the manifold has that begins at row i; 0: there is none."""
        cdef int points = 1
        if self.rows[i].kind != ROW_NORMAL:
            return 0
        while (points < MANIFOLD_POINTS and i + points < self.count
               and same_manifold(self.rows + i, self.rows + i + points)):
            points += 1
        return points

    cdef bint closes(self, Py_ssize_t begin, int points, bint soon) noexcept nogil:
        """Whether the manifold is to be struck now, or may be in this substep or the next (soon)."""
        cdef const Row* row
        cdef double u, to_come
        cdef int i
        for i in range(points):
            row = self.rows + begin + i
            if not row.diagonal > 0.0:
                continue
            u = self.rate(begin + i) if soon else self.rate_held(begin + i)
            if u + self.left[begin + i] < -self.threshold:
                to_come = 2.0 * u if soon else u + self.first * 2.0 * self.kicked(begin + i)
                if row.error + self.h * to_come < 0.0:
                    return True
        return False

    cdef void list_manifold(self, Py_ssize_t begin, int points, bint closes) noexcept nogil:
        cdef Struck* c
        cdef int i
        c = &self.struck[self.struck_count]
        self.struck_count += 1
        c.begin = begin
        c.points = points
        c.closes, c.driven = closes, 0
        for i in range(2):
            c.node[i] = self.node_of(begin, i)
        find_friction(c, self.rows, self.count)

    # ---- responses ---------------------------------------------------------------------------------------------------

    cdef void begin_response(self) noexcept nogil:
        cdef int i
        for i in range(self.node_count):
            self.clear(self.nodes[i])

    cdef void end_response(self) noexcept nogil:
        cdef int i
        for i in range(self.node_count):
            self.answer(self.nodes[i])

    cdef int list_points(self, Struck* c, int begin, double* q) noexcept nogil:
        """Its points that touch, in `touching` from `begin` on, and into q their rates of separation. -> end"""
        cdef const Row* row
        cdef double u, kick
        cdef int i
        c.first = begin
        for i in range(c.points):
            row = self.rows + c.begin + i
            if not row.diagonal > 0.0:
                continue
            u = self.rate_held(c.begin + i)
            kick = self.kicked(c.begin + i)
            if row.error <= 0.0 or row.error + self.h * (u + self.first * 2.0 * kick) < 0.0:
                q[begin] = u + (2.0 * self.first - 1.0) * kick
                self.touching[begin] = c.begin + i
                begin += 1
        c.touching = begin - c.first
        return begin

    cdef void fill_responses(self, int n, double* a) noexcept nogil:
        """a = J H^-1 J' of the normals of the first n `touching`."""
        cdef double scale
        cdef int i, j
        for j in range(n):
            scale = 1.0 / self.rows[self.touching[j]].diagonal
            self.begin_response()
            self.push(self.touching[j], scale)
            self.end_response()
            for i in range(n):
                a[n * i + j] = self.answered(self.touching[i]) / scale
        make_symmetric(n, a)

    cdef void weigh(self, int count) noexcept nogil:
        """The parts of the points of all `together`, as without friction they would share the impulses; what follows from
        them."""
        cdef double* q = self.parts
        cdef double* pressed = q + 4 * count
        cdef double* p = pressed + 4 * count
        cdef double* a = p + 4 * count
        cdef int n = 0
        cdef int i, j
        for i in range(count):
            n = self.list_points(self.together[i], n, q)
        if n > 1:
            self.fill_responses(n, a)
        if count > 1 and n > 1:
            for j in range(n):                   # where nothing gives, nothing is shared
                pressed[j] = q[j] if a[n * j + j] > FIRM * self.rows[self.touching[j]].diagonal else 0.0
            share(n, a, pressed, p, a + n * n, self.pivots)
        for i in range(count):
            self.take_parts(self.together[i], n, a, q, p, count > 1)

    cdef void take_parts(self, Struck* c, int n, const double* a, const double* q, double* p, bint shared) noexcept nogil:
        """Of one manifold. shared: p are the impulses of all; else it is struck alone."""
        cdef const Row* row
        cdef double own[16]
        cdef double rates[4]
        cdef double kick
        cdef double sum = 0.0
        cdef double error = 0.0
        cdef double whole_kick = 0.0
        cdef double whole = 0.0
        cdef Py_ssize_t k
        cdef int i, j
        q, p = q + c.first, p + c.first
        c.restitution = self.rows[c.begin].restitution
        c.offset[0] = c.offset[1] = c.shift = 0.0
        for i in range(4):
            c.weight[i] = 0.0
        for i in range(c.touching if c.touching > 1 else 0):
            for j in range(c.touching):
                own[4 * i + j] = a[n * (c.first + i) + c.first + j]
        if c.touching == 1:
            p[0] = 1.0
        elif c.touching > 1 and not shared:
            compress(own, q, c.touching, p)
        for i in range(c.touching):
            sum += p[i]
        if c.touching > 1 and not sum > 0.0:     # it does not close: as it would share what presses it evenly
            for i in range(c.touching):
                rates[i] = -1.0
            compress(own, rates, c.touching, p)
            for i in range(c.touching):
                sum += p[i]
        if not sum > 0.0:
            return
        for i in range(c.touching):
            p[i] /= sum
            k = self.touching[c.first + i]
            row = self.rows + k
            kick = self.kicked(k)
            c.weight[k - c.begin] = p[i]
            c.offset[0] += p[i] * row.offset[0]
            c.offset[1] += p[i] * row.offset[1]
            c.shift += p[i] * ((2.0 * self.first - 1.0) * kick + self.rate_held(k) - self.rate(k))
            error += p[i] * max(row.error, 0.0)
            whole_kick += p[i] * kick
            whole += p[i] * q[i]
        if whole < 0.0:
            c.restitution = rebound(c.restitution, error, whole_kick, whole, self.h)

    cdef double contact_rate(self, const Struck* c, int axis, bint answered) noexcept nogil:
        """Of separation (axis 0) or slip, now or of the response."""
        cdef double sum = 0.0
        cdef Py_ssize_t row
        cdef int i
        if axis == 0:
            for i in range(c.points):
                if c.weight[i] != 0.0:
                    sum += c.weight[i] * (self.answered(c.begin + i) if answered else self.rate(c.begin + i))
            return sum if answered else sum + c.shift
        if c.pairs > 1:
            for i in range(c.points):
                if c.weight[i] != 0.0:
                    row = c.pair + 2 * i + axis - 1
                    sum += c.weight[i] * (self.answered(row) if answered
                                          else self.rate(row) + self.rows[row].bias[RELAXED])
            return sum
        if c.pairs == 0:
            return 0.0
        row = c.pair + axis - 1
        sum = self.answered(row) if answered else self.rate(row) + self.rows[row].bias[RELAXED]
        if c.twist >= 0:
            sum += ((c.offset[0] if axis == 2 else -c.offset[1])
                    * (self.answered(c.twist) if answered else self.rate(c.twist)))
        return sum

    cdef void contact_push(self, const Struck* c, int axis, double p, bint counted) noexcept nogil:
        """An impulse along the normal or a tangent into the response. counted: and into the rows' impulses."""
        cdef Py_ssize_t row
        cdef double arm
        cdef int i
        if axis == 0 or c.pairs > 1:
            for i in range(c.points):
                if c.weight[i] != 0.0:
                    row = c.begin + i if axis == 0 else c.pair + 2 * i + axis - 1
                    self.push(row, c.weight[i] * p)
                    if counted:
                        self.impulse[row] += c.weight[i] * p
            return
        if c.pairs == 0:
            return
        row = c.pair + axis - 1
        self.push(row, p)
        if counted:
            self.impulse[row] += p
        if c.twist >= 0:
            arm = c.offset[0] if axis == 2 else -c.offset[1]
            self.push(c.twist, arm * p)
            if counted:
                self.impulse[c.twist] += arm * p

    # ---- a strike ----------------------------------------------------------------------------------------------------

    cdef void strike(self, int count) noexcept nogil:
        """The manifolds `together`."""
        cdef Py_ssize_t n = 3 * count
        cdef Py_ssize_t j, k
        cdef double* u = self.numbers
        cdef double* p = u + n
        cdef double* e = p + n
        cdef double* mu = e + count
        cdef double* work = mu + count
        cdef double* a = self.matrix
        cdef const Struck* c
        cdef double scale
        cdef int i, side
        self.node_count = 0
        for i in range(count):
            for side in range(2):
                for j in range(self.node_count):
                    if self.nodes[j] == self.together[i].node[side]:
                        break
                else:
                    if self.together[i].node[side] >= 0:
                        self.nodes[self.node_count] = self.together[i].node[side]
                        self.node_count += 1
        self.weigh(count)
        for j in range(n):
            c = self.together[j // 3]
            scale = 1.0 / self.rows[c.begin].diagonal if self.rows[c.begin].diagonal > 0.0 else 1.0
            self.begin_response()
            self.contact_push(c, j % 3, scale, False)
            self.end_response()
            for k in range(n):
                a[k * n + j] = self.contact_rate(self.together[k // 3], k % 3, True) / scale
            u[j] = self.contact_rate(c, j % 3, False)
            e[j // 3] = c.restitution
            mu[j // 3] = self.rows[c.begin].friction if c.pairs > 0 else 0.0
        make_symmetric(n, a)
        leave_driven(a, u, self.rows, self.together, count, self.spans)
        leave_firm(a, u, self.rows, self.together, count)
        strike_together(self.law, count, a, u, e, mu, p, work)
        self.begin_response()
        for j in range(n):
            if p[j] != 0.0:
                self.contact_push(self.together[j // 3], j % 3, p[j], True)
        self.end_response()
        for i in range(self.node_count):
            self.take(self.nodes[i])
        for i in range(count):
            c = self.together[i]
            if c.twist >= 0 and p[3 * i] > 0.0:
                self.bore(c, p[3 * i])
        for i in range(count):
            c = self.together[i]
            for j in range(c.begin, c.begin + c.points if c.driven else c.begin):         # that is no impact
                self.left[j] = max(self.left[j], -self.rate(j))

    cdef void bore(self, const Struck* c, double p) noexcept nogil:
        """Friction about the normal through the centre of pressure, under the impulse p."""
        cdef const Row* row = self.rows + c.twist
        cdef const Row* normal
        cdef double bound = 0.0
        cdef double x, y, give, impulse
        cdef int i
        for i in range(c.points):
            normal = self.rows + c.begin + i
            if row.block_kind == BLOCK_CONE:
                x = normal.offset[0] - c.offset[0]
                y = normal.offset[1] - c.offset[1]
                bound += c.weight[i] * (row.friction * sqrt(x * x + y * y) + row.lever)
            else:
                bound += c.weight[i] * row.friction * normal.lever
        self.begin_response()
        self.push(c.twist, 1.0)
        self.end_response()
        give = self.answered(c.twist)
        if not (bound > 0.0 and give > 0.0):
            return
        impulse = clamp(-self.rate(c.twist) / give, -bound * p, bound * p)
        self.impulse[c.twist] += impulse
        self.begin_response()
        self.push(c.twist, impulse)
        self.end_response()
        for i in range(self.node_count):
            self.take(self.nodes[i])

# ---- bodies without joints -------------------------------------------------------------------------------------------

cdef class BodyImpacts(Impacts):
    """bodies: how many there are."""

    def __init__(self, int law, Py_ssize_t bodies, Py_ssize_t nodes=0):
        Impacts.__init__(self, law, bodies + nodes)
        response = np.zeros((bodies + 1, 6))
        self.kept.append(response)
        self.body_count = bodies
        self.response = <Twist*>doubles(response) + 1

    cdef void prepare(self) noexcept nogil:
        """What does not move is at rest, whatever 0 * inf is left there."""
        memset(self.response - 1, 0, (self.body_count + 1) * sizeof(Twist))

    cdef int32_t node_of(self, Py_ssize_t row, int side) noexcept nogil:
        if not moves(self.rows + row, side):
            return -1
        return self.rows[row].body_b if side else self.rows[row].body_a

    cdef double rate(self, Py_ssize_t row) noexcept nogil:
        return row_velocity(self.rows + row, self.twist)

    cdef double answered(self, Py_ssize_t row) noexcept nogil:
        return row_velocity(self.rows + row, self.response)

    cdef void push(self, Py_ssize_t row, double impulse) noexcept nogil:
        row_apply(self.rows + row, impulse, self.response)

    cdef void clear(self, int32_t node) noexcept nogil:
        memset(&self.response[node], 0, sizeof(Twist))

    cdef void take(self, int32_t node) noexcept nogil:
        self.twist[node].v = add(self.twist[node].v, self.response[node].v)
        self.twist[node].w = add(self.twist[node].w, self.response[node].w)

# ---- for the tests ---------------------------------------------------------------------------------------------------


def py_resolve_impacts(const Row[::1] rows, double[:, ::1] twist, double threshold, double h,
                       double[::1] impact_impulse, int law=2):
    """twist is (bodies + 1, 6) and its first row is the world's."""
    cdef BodyImpacts impacts = BodyImpacts(law, twist.shape[0])
    if not rows.shape[0]:
        return 0
    impacts.reserve(rows.shape[0])
    impacts.twist = <Twist*> &twist[0, 0] + 1
    impacts.begin(&rows[0], rows.shape[0], threshold, h, 1.0, &impact_impulse[0])
    impacts.prepare()
    return impacts.resolve()
