"""How accelerations that close loops change with q and qd, analytically, for the implicit methods that follow them.

With H qdd = tau - C + J' f and J qdd + J' qd = 0, J' qd the rate of J times qd, what is known of the trees alone under the
forces J' f, kept as they are in the world, is D_x qdd (reduced/_deriving.pxi). Beside it forces of joints turn with their
bodies and rows change with the pose:

    dqdd/dx = D_x qdd + H^-1 (E_x + J' df/dx),    J dqdd/dx = -K_x,

E_x what J' f changes by as rows do, f kept, K_x what J qdd + J' qd changes by, qdd kept. The second is met as accelerations
meet theirs, by the same factor and with the same rank (solve/_loop_rows.pyx).

A row is a function of something that moves with one body as the other sees it: _row_changes.pxd has its derivatives. How
velocities and accelerations of links change with each coordinate stands in _deriving.pxi; seen from a a change is less
what a's own displacement turns and moves, d_a x = dx - (t_a; o_a) x x.

Where stages are projected what is followed is f(P(y)), and differentiated. With q -> P q in the metric of H, and qd -> the
nearest that J allows there, dq = F dq and dqd = F dqd + V dq, F = 1 - H^-1 J' (J H^-1 J')^-1 J, J V = -d(J qd)/dq F.

R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 8 (loops), section 2.11 (spatial accelerations).
"""

from libc.stdint cimport int32_t
from libc.string cimport memset

import numpy as np

from mcsim.constraints._forces cimport force_along
from mcsim.constraints._parts cimport joint_frames
from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add, add_scaled, cross, dot, norm, scale, sub, vec3
from mcsim.state._joint cimport AXIS_ROWS
from mcsim.state._row cimport ROW_JOINT, Row, is_wide
from mcsim.step._row_changes cimport (LAW_LEAN, LAW_LENGTH, LAW_OFFSET, LAW_RIGHT_ANGLE, LAW_TURN, LAW_UNKNOWN, Jet, Seen,
                                      at_point, minus, plus, point_jet, rate_change, row_change, row_force, spatial_cross)

from mcsim.core.linear import product
from mcsim.state.fields import JOINT_TYPES

# By the name of a joint's type the laws of its own rows.
POINT = (LAW_OFFSET, LAW_OFFSET + 1, LAW_OFFSET + 2)
LEAN, TURN = (LAW_LEAN, LAW_LEAN + 1), (LAW_TURN, LAW_TURN + 1, LAW_TURN + 2)
LAWS = {
    "ball": POINT,
    "hinge": (*POINT, *LEAN),
    "universal": (*POINT, LAW_RIGHT_ANGLE),
    "fixed": (*POINT, *TURN),
    "slider": (*POINT[:2], *TURN),
    "cylindrical": (*POINT[:2], *LEAN),
    "planar": (POINT[2], *LEAN),
    "slot": POINT[:2],
    "point_on_plane": POINT[2:],
    "distance": (LAW_LENGTH,),
}
cdef int DISTANCE = JOINT_TYPES.index("distance")

cdef enum:
    MOST_ROWS = 6                # a joint's own, at most

# Motions that are known of each velocity: of its axis, and how velocities and accelerations change that it bears.
cdef enum:
    AXIS_S = 0
    AXIS_FIRST = 1
    AXIS_SECOND = 2
    AXIS_BOTH = 3


cdef class LoopJacobian:
    """Of the rows that close loops. links: records of the trees, which have so many velocities."""

    def __init__(self, StepContext context not None, PlainRows plain not None, LoopRows rows not None, links,
                 Py_ssize_t nv):
        self.context, self.plain, self.rows = context, plain, rows
        count, types = len(links), [context.joints[j].type for j in range(context.joint_count)]
        laws = np.full((len(types) + 1, MOST_ROWS), LAW_UNKNOWN, np.int32)
        for number, kind in enumerate(types):
            own = LAWS.get(JOINT_TYPES[kind], ())
            laws[number, :len(own)] = own
        link_at = np.append(np.repeat(np.arange(count), links["freedoms"]), 0).astype(np.int32)
        link_of = np.full(context.bodies.count + 1, -1, np.int32)
        link_of[links["body"]] = np.arange(count)
        free = (links["given"] == 0) & (links["prescribed"] == 0)
        numbers = [np.append(column, 0).astype(np.int32) for column in (
            links["parent"], links["v"], links["v"] + links["freedoms"], free)]
        matrices, axes = np.zeros((4, nv * nv + 1)), np.zeros((nv + 1, 24))
        states, borne = np.zeros((count + 1, 15)), np.zeros(nv + 1, np.int32)
        self.kept = laws, link_of, numbers, matrices, axes, states, borne, link_at
        self.link_at = integers(link_at)
        self.law, self.link_of = integers(laws), integers(link_of)
        self.parent, self.first = integers(numbers[0]), integers(numbers[1])
        self.end, self.free = integers(numbers[2]), integers(numbers[3])
        self.by_q, self.by_qd = doubles(matrices[0]), doubles(matrices[1])
        self.push, self.push_qd = doubles(matrices[2]), doubles(matrices[3])
        self.axes, self.links, self.borne = doubles(axes), doubles(states), integers(borne)
        self.nv, self.link_count = nv, count

    def begin(self, dynamics):
        """The trees' derivatives are found by these (reduced.Dynamics)."""
        self.dynamics = dynamics

    cdef bint knows(self) noexcept nogil:
        """Whether it does, of all rows that there are. Curvatures alone are to close loops."""
        cdef Py_ssize_t i
        cdef int own
        cdef const Row* row
        if self.context.settings.rate_gain != 0.0 or self.context.settings.error_gain != 0.0:
            return False
        for i in range(self.rows.count):
            row = &self.plain.rows[self.rows.row[i]]
            own = self.own_row(row)
            if is_wide(row) or own < 0 or own >= MOST_ROWS or self.law[row.source * MOST_ROWS + own] == LAW_UNKNOWN:
                return False
        return True

    cdef int own_row(self, const Row* row) noexcept nogil:
        """Which of its joint's own rows it is."""
        cdef const Joint* joint = &self.context.joints[row.source]
        return <int>(row - self.plain.rows) - (joint.row_begin + joint.row_count - joint.constraint_count)

    cdef int law_of(self, Py_ssize_t i) noexcept nogil:
        """Of loop i."""
        cdef const Row* row = &self.plain.rows[self.rows.row[i]]
        return self.law[row.source * MOST_ROWS + self.own_row(row)]

    cdef void add_forces(self, double* forces) noexcept nogil:
        """What the rows do, as found last, and springs between points, to forces (bodies, 6) [N, N m] at the centres of
        mass."""
        cdef const Row* row
        cdef Py_ssize_t i
        cdef double by_length, by_rate
        for i in range(self.rows.count):
            self.add_force(&self.plain.rows[self.rows.row[i]], self.rows.given[i], forces)
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind != ROW_JOINT and self.context.joints[row.source].type == DISTANCE:
                self.add_force(row, self.spring_force(row, &by_length, &by_rate), forces)

    cdef void add_force(self, const Row* row, double given, double* forces) noexcept nogil:
        cdef int k
        for k in range(6):
            if row.body_a >= 0:
                forces[6 * row.body_a + k] += given * row.jacobian[k]
            if row.body_b >= 0:
                forces[6 * row.body_b + k] += given * row.jacobian[6 + k]

    def fill(self, by_q, by_qd, inverse, bint projected):
        """by_q, by_qd (nv, nv): of the accelerations of the trees alone, under forces as they are. inverse: H^-1. The state
        is that of the dynamics' last derivatives. -> the same of what loops close; and of the velocities, by q and by qd,
        for where they are projected f(P(y)) is what is differentiated. New arrays"""
        cdef Py_ssize_t nv = self.nv
        matrices, axes, states = self.kept[3], self.kept[4], self.kept[5]
        self.dynamics.take_rates(axes, states)
        matrices[0, :nv * nv] = by_q.T.ravel()
        matrices[1, :nv * nv] = by_qd.T.ravel()
        if self.kept_aims is None or self.kept_aims.shape[2] < self.rows.count:
            self.kept_aims = np.zeros((3, nv, self.rows.count))
        self.aim_q, self.aim_qd = doubles(self.kept_aims[0]), doubles(self.kept_aims[1])
        self.aim_rate = doubles(self.kept_aims[2])
        whole = np.ascontiguousarray(inverse)
        self.find()
        self.close(doubles(whole))
        accelerations = [matrices[k, :nv * nv].reshape(nv, nv).T for k in range(2)]
        if not projected or self.rows.count == 0:
            return *(part.copy() for part in accelerations), np.zeros((nv, nv)), np.eye(nv)
        self.project()
        turned, free = (matrices[k, :nv * nv].reshape(nv, nv).T for k in (2, 3))
        return (product(accelerations[0], free) + product(accelerations[1], turned), product(accelerations[1], free),
                turned.copy(), free.copy())

    cdef void find(self) noexcept nogil:
        """E and K, joint by joint."""
        cdef Py_ssize_t begin = 0, end
        cdef int32_t source
        memset(self.push, 0, self.nv * self.nv * sizeof(double))
        memset(self.push_qd, 0, self.nv * self.nv * sizeof(double))
        memset(self.aim_q, 0, self.nv * self.rows.count * sizeof(double))
        memset(self.aim_qd, 0, self.nv * self.rows.count * sizeof(double))
        memset(self.aim_rate, 0, self.nv * self.rows.count * sizeof(double))
        while begin < self.rows.count:
            source, end = self.plain.rows[self.rows.row[begin]].source, begin
            while end < self.rows.count and self.plain.rows[self.rows.row[end]].source == source:
                end += 1
            self.find_joint(&self.context.joints[source], begin, end)
            begin = end
        self.find_springs()

    cdef void find_joint(self, const Joint* joint, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Of one joint, whose rows are loops [begin, end)."""
        cdef JointFrames f = joint_frames(joint, self.context.bodies)
        cdef Py_ssize_t i, j, count = self.rows.count
        cdef End ends[2]
        cdef Seen seen
        cdef int laws[MOST_ROWS]
        for i in range(begin, end):
            laws[i - begin] = self.law_of(i)
        self.find_ends(joint, &f, ends)
        for j in range(self.nv):
            if self.borne[j] == 0 or self.borne[j] == 3:         # what moves both alike changes nothing that a sees
                continue
            self.move(j, ends, f.point_b, True, &seen)
            for i in range(begin, end):
                self.aim_q[j * count + i] = row_change(laws[i - begin], &f, &seen)
                self.aim_rate[j * count + i] = rate_change(laws[i - begin], &f, &seen)
            self.move(j, ends, f.point_b, False, &seen)
            for i in range(begin, end):
                self.aim_qd[j * count + i] = row_change(laws[i - begin], &f, &seen)
        self.find_force(&f, ends, laws, self.rows.given + begin, <int>(end - begin))

    cdef void find_ends(self, const Joint* joint, const JointFrames* f, End* ends) noexcept nogil:
        """Both, and which velocities move which."""
        self.find_end(joint.body_a, f.point_b, &ends[0])
        self.find_end(joint.body_b, f.point_b, &ends[1])
        memset(self.borne, 0, self.nv * sizeof(int32_t))
        self.mark(ends[0].link, 1)
        self.mark(ends[1].link, 2)

    cdef void find_end(self, int32_t body, Vec3 point, End* end) noexcept nogil:
        cdef const double* state
        cdef Vec3 arm
        end.link = self.link_of[body] if body >= 0 else -1
        state = self.links + 15 * (end.link + 1)
        arm = sub(point, vec3(state[0], state[1], state[2]))
        end.velocity, end.acceleration = at_point(state + 3, arm), at_point(state + 9, arm)
        end.center = sub(self.context.bodies.position[body], point) if body >= 0 else vec3(0.0, 0.0, 0.0)

    cdef void mark(self, int32_t link, int32_t bit) noexcept nogil:
        """The velocities that move a link."""
        cdef Py_ssize_t j
        while link >= 0:
            for j in range(self.first[link], self.end[link]):
                self.borne[j] |= bit
            link = self.parent[link]

    cdef Twist axis_at(self, Py_ssize_t j, int which, Vec3 point) noexcept nogil:
        """S, first, second or both of a velocity, at a point."""
        cdef const double* origin = self.links + 15 * (self.link_at[j] + 1)
        return at_point(self.axes + 24 * j + 6 * which, sub(point, vec3(origin[0], origin[1], origin[2])))

    cdef void move(self, Py_ssize_t j, const End* ends, Vec3 point, bint by_q, Seen* seen) noexcept nogil:
        """What a sees change with a coordinate, or with a velocity, which displaces nothing."""
        cdef Twist axis = self.axis_at(j, AXIS_S, point)
        cdef Twist moved[2]
        cdef Twist faster[2]
        cdef Twist sooner[2]
        cdef Twist before, apart, more
        cdef int k
        memset(&moved[0], 0, 2 * sizeof(Twist))
        memset(&faster[0], 0, 2 * sizeof(Twist))
        memset(&sooner[0], 0, 2 * sizeof(Twist))
        for k in range(2):
            if not self.borne[j] >> k & 1:
                continue
            if by_q:
                moved[k], before = axis, self.axis_at(j, AXIS_FIRST, point)
                faster[k] = plus(before, spatial_cross(&axis, &ends[k].velocity))
                sooner[k] = minus(self.axis_at(j, AXIS_SECOND, point), spatial_cross(&ends[k].velocity, &before))
                sooner[k] = plus(sooner[k], spatial_cross(&axis, &ends[k].acceleration))
            else:
                faster[k] = axis
                sooner[k] = minus(self.axis_at(j, AXIS_BOTH, point), spatial_cross(&ends[k].velocity, &axis))
        apart = minus(faster[1], faster[0])
        seen.velocity = minus(ends[1].velocity, ends[0].velocity)
        seen.acceleration = minus(minus(ends[1].acceleration, ends[0].acceleration),
                                  spatial_cross(&ends[0].velocity, &seen.velocity))
        seen.moved = minus(moved[1], moved[0])
        seen.faster = minus(apart, spatial_cross(&moved[0], &seen.velocity))
        more = minus(minus(sooner[1], sooner[0]), spatial_cross(&faster[0], &seen.velocity))
        more = minus(more, spatial_cross(&ends[0].velocity, &apart))
        seen.sooner = minus(more, spatial_cross(&moved[0], &seen.acceleration))

    cdef void find_force(self, const JointFrames* f, const End* ends, const int* laws, const double* given,
                         int count) noexcept nogil:
        """E, of a force that is given along rows: [f; n] on b at p_b and its opposite on a, which a carries along and its
        rows turn. What a force does that stays as it is, at the centre of mass, is known already."""
        cdef Twist axis, force, change, moved_a, moved, own
        cdef Py_ssize_t j
        cdef int i, k
        for j in range(self.nv):
            if self.borne[j] == 0:
                continue
            axis = self.axis_at(j, AXIS_S, f.point_b)
            memset(&moved_a, 0, sizeof(Twist))
            memset(&force, 0, sizeof(Twist))
            memset(&change, 0, sizeof(Twist))
            if self.borne[j] & 1:
                moved_a = axis
            moved = minus(axis, moved_a) if self.borne[j] & 2 else minus(change, moved_a)
            for i in range(count):
                row_force(laws[i], f, &moved, given[i], &force, &change)
            change.w = add(change.w, add(cross(moved_a.w, force.w), cross(moved_a.v, force.v)))
            change.v = add(change.v, cross(moved_a.w, force.v))
            for k in range(2):
                own = change
                if self.borne[j] >> k & 1:
                    own.w = sub(own.w, cross(add(axis.v, cross(axis.w, ends[k].center)), force.v))
                self.add_push(self.push + j * self.nv, &ends[k], f.point_b, own, 1.0 if k == 1 else -1.0)

    cdef void add_push(self, double* push, const End* end, Vec3 point, Twist force, double part) noexcept nogil:
        """A force [f; n] on one end of a joint, at a point, as forces along coordinates."""
        cdef Py_ssize_t i, link = end.link
        cdef Twist axis
        while link >= 0:
            for i in range(self.first[link], self.end[link] if self.free[link] else self.first[link]):
                axis = self.axis_at(i, AXIS_S, point)
                push[i] += part * (dot(axis.w, force.w) + dot(axis.v, force.v))
            link = self.parent[link]

    cdef bint knows_spring(self, const Row* row) noexcept nogil:
        """Whether it does, of one between two points."""
        cdef const Joint* joint = &self.context.joints[row.source]
        cdef JointFrames f
        if joint.type != DISTANCE:
            return False
        f = joint_frames(joint, self.context.bodies)
        return norm(f.offset) > 0.0

    cdef void find_springs(self) noexcept nogil:
        """E of springs and dampers between points, F(L, L') along L = |p_b - p_a|: F turns, and changes by its slopes."""
        cdef const Row* row
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind != ROW_JOINT and self.context.joints[row.source].type == DISTANCE:
                self.find_spring(row, &self.context.joints[row.source])

    cdef double spring_force(self, const Row* row, double* by_length, double* by_rate) noexcept nogil:
        cdef const double* a = <const double*>&self.context.bodies.twist[row.body_a]
        cdef const double* b = <const double*>&self.context.bodies.twist[row.body_b]
        cdef double u = 0.0
        cdef int k
        by_length[0] = by_rate[0] = 0.0
        for k in range(6):
            u += row.jacobian[k] * a[k] + row.jacobian[6 + k] * b[k]
        return force_along(row, &self.context.joints[row.source].axes[row.index // AXIS_ROWS], u, self.context.settings,
                           by_length, by_rate)

    cdef void find_spring(self, const Row* row, const Joint* joint) noexcept nogil:
        cdef JointFrames f = joint_frames(joint, self.context.bodies)
        cdef double by_length, by_rate, change
        cdef double force = self.spring_force(row, &by_length, &by_rate)
        cdef double length = norm(f.offset)
        cdef int law = LAW_LENGTH
        cdef Twist along
        cdef End ends[2]
        cdef Seen seen
        cdef Jet jet
        cdef Vec3 across
        cdef Py_ssize_t j
        cdef int k
        along.v, along.w = scale(1.0 / length, f.offset), vec3(0.0, 0.0, 0.0)
        self.find_ends(joint, &f, ends)
        for j in range(self.nv):
            if self.borne[j] == 0 or self.borne[j] == 3:
                continue
            self.move(j, ends, f.point_b, True, &seen)
            jet = point_jet(&f, &seen)
            across = add_scaled(jet.rate, -dot(along.v, jet.rate), along.v)
            change = by_length * dot(along.v, jet.moved) + by_rate * (
                dot(along.v, jet.faster) + dot(across, jet.moved) / length)
            for k in range(2):
                self.add_push(self.push + j * self.nv, &ends[k], f.point_b, along, change if k == 1 else -change)
            self.move(j, ends, f.point_b, False, &seen)
            change = by_rate * dot(along.v, seen.faster.v)
            for k in range(2):
                self.add_push(self.push_qd + j * self.nv, &ends[k], f.point_b, along, change if k == 1 else -change)
        self.find_force(&f, ends, &law, &force, 1)

    cdef void close(self, const double* inverse) noexcept nogil:
        """H^-1 E beside what is there, and what the rows do against K, column by column."""
        cdef Py_ssize_t j, nv = self.nv, count = self.rows.count
        self.rows.factor_exactly(self.plain.rows)
        for j in range(nv):
            self.close_column(inverse, self.push + j * nv, self.aim_q + j * count, self.by_q + j * nv)
            self.close_column(inverse, self.push_qd + j * nv, self.aim_qd + j * count, self.by_qd + j * nv)

    cdef void close_column(self, const double* inverse, const double* push, const double* aim, double* x) noexcept nogil:
        cdef Py_ssize_t i, k
        cdef double sum
        for i in range(self.nv):
            sum = 0.0
            for k in range(self.nv):
                sum += inverse[i * self.nv + k] * push[k]
            x[i] += sum
        for i in range(self.rows.count):
            self.rows.target[i] = -aim[i]
        self.rows.approach(self.plain.rows, x)

    cdef void project(self) noexcept nogil:
        """F in place of `push_qd`: how q changes that is projected, with q, and so does qd with qd. V in place of `push`:
        how qd changes with q."""
        cdef Py_ssize_t i, j, k, nv = self.nv, count = self.rows.count
        cdef double* own
        cdef double sum
        memset(self.push, 0, nv * nv * sizeof(double))
        memset(self.push_qd, 0, nv * nv * sizeof(double))
        for j in range(nv):
            own = self.push_qd + j * nv
            own[j] = 1.0
            memset(self.rows.target, 0, count * sizeof(double))
            self.rows.approach(self.plain.rows, own)
            for i in range(count):
                sum = 0.0
                for k in range(nv):
                    sum += self.aim_rate[k * count + i] * own[k]
                self.rows.target[i] = -sum
            self.rows.approach(self.plain.rows, self.push + j * nv)
