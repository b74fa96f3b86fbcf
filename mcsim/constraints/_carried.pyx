"""How hard the joints of an articulation make it to move one coordinate of one of its joints: J M^-1 J', which is of
its two bodies alone, against J P J', where P says how all bodies answer with all joints holding. A part of 1/500
means that the two bodies carry 500 times their own inertia.

Articulated bodies (R. Featherstone, "Rigid Body Dynamics Algorithms", 2008, section 7.3), with inverse inertias, so that
what does not move is nothing special. Outwards from what does not move, or from the first body, each body c hangs on a
parent p by a joint, J_c v_c + J_p v_p = 0. F_c, how c answers to forces with all that hangs on it, goes inwards:

    S = J_c F_c J_c',     F_p <- F_p - F_p J_p' (S + J_p F_p J_p')^-1 J_p F_p

and P outwards, with K = F_c J_c' S^-1, by which c follows its parent, and C = F_c - K J_c F_c, how it answers beside that:

    P_c = C + K J_p P_p J_p' K',      J P J' = j_c C j_c' + u P_p u',   u = j_p - j_c K J_p

j_c, j_p the two halves of the coordinate's row J. Coordinates that motors, limits or friction hold are rows of J_c and J_p
too, but of the joint in question: a motor at a shoulder turns what the others hold stiff. So are those of rotors, whose
compliance 1 / armature S has on its diagonal. Joints that close loops are left out, but for those that hold a body to what
does not move. So the part may be too large there, never too small. Of a coordinate that nothing can move it is what SHIFT
leaves, up to some thousandths.
"""

from libc.math cimport fabs, isinf
from libc.stdint cimport int8_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.constraints._coordinates cimport list_axes
from mcsim.constraints._joints cimport has_bounded_rows
from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._dense cimport invert_symmetric
from mcsim.core._types cimport Mat3
from mcsim.state._joint cimport AXIS_FRICTION, JOINT_AXES, JointAxis, MOTOR_NONE, MOTOR_PD, has_rotor
from mcsim.state._row cimport JointRow, Row
from mcsim.state._rows cimport copy_jacobian

# Instead of a substep's length, where motors alone are to hold coordinates, or nothing and no rotor is to go with them.
cdef double MOTORS = 0.0
cdef double NOTHING = -1.0

# Added to the diagonal of S, in parts of it: rows may say what others have said.
cdef double SHIFT = 1e-9


cdef inline void times_rows(const double* f, const JointRow* row, int n, bint is_b, double* w) noexcept nogil:
    """w = F J', (6, n) with a stride of 6; of a joint's rows the half on b, or on a with its sign."""
    cdef double sign = 1.0 if is_b else -1.0
    cdef const double* linear
    cdef const double* angular
    cdef int i, k
    for k in range(n):
        linear = &row[k].linear.x
        angular = &row[k].angular_b.x if is_b else &row[k].angular_a.x
        for i in range(6):
            w[6 * i + k] = sign * (((f[6 * i] * linear[0] + f[6 * i + 1] * linear[1]) + f[6 * i + 2] * linear[2])
                                   + ((f[6 * i + 3] * angular[0] + f[6 * i + 4] * angular[1])
                                      + f[6 * i + 5] * angular[2]))


cdef inline void rows_times(const JointRow* row, int n, bint is_b, const double* w, int m, double* s) noexcept nogil:
    """s += J w, (n, m) with a stride of 6, w (6, m)."""
    cdef double sign = 1.0 if is_b else -1.0
    cdef const double* linear
    cdef const double* angular
    cdef int i, k
    for k in range(n):
        linear = &row[k].linear.x
        angular = &row[k].angular_b.x if is_b else &row[k].angular_a.x
        for i in range(m):
            s[6 * k + i] += sign * (((linear[0] * w[i] + linear[1] * w[6 + i]) + linear[2] * w[12 + i])
                                    + ((angular[0] * w[18 + i] + angular[1] * w[24 + i]) + angular[2] * w[30 + i]))


cdef inline void times(const double* x, const double* y, int n, int m, double* out) noexcept nogil:
    """out = x y, (6, m), x (6, n), y (n, m)."""
    cdef double s
    cdef int i, j, k
    for i in range(6):
        for j in range(m):
            s = 0.0
            for k in range(n):
                s += x[6 * i + k] * y[6 * k + j]
            out[6 * i + j] = s


cdef inline void add_product(const double* x, const double* y, int n, double sign, double* out) noexcept nogil:
    """out += sign x y', (6, 6), symmetric, x and y (6, n)."""
    cdef double s
    cdef int i, j, k
    for i in range(6):
        for j in range(i + 1):
            s = 0.0
            for k in range(n):
                s += x[6 * i + k] * y[6 * j + k]
            out[6 * i + j] += sign * s
            if i != j:
                out[6 * j + i] = out[6 * i + j]


cdef double along(const double* x, const double* f) noexcept nogil:
    cdef double s, total = 0.0
    cdef int i, k
    for i in range(6):
        s = 0.0
        for k in range(6):
            s += f[6 * i + k] * x[k]
        total += s * x[i]
    return total


cdef inline void beside_child(const double* near, const double* far, const JointRow* row, int n, bint child_is_b,
                              const double* gain, double* u) noexcept nogil:
    """u = j_p - j_c K J_p"""
    cdef double sign = -1.0 if child_is_b else 1.0
    cdef double w
    cdef const double* linear
    cdef const double* angular
    cdef int i, k
    for i in range(6):
        u[i] = far[i]
    for k in range(n):
        w = 0.0
        for i in range(6):
            w += near[i] * gain[6 * i + k]
        linear = &row[k].linear.x
        angular = &row[k].angular_a.x if child_is_b else &row[k].angular_b.x
        for i in range(3):
            u[i] -= sign * w * linear[i]
            u[3 + i] -= sign * w * angular[i]


cdef inline void alone(const Bodies* bodies, int i, double* f) noexcept nogil:
    """M^-1 of a body, (6, 6)"""
    cdef const double* inertia = &bodies.inv_inertia_world[i].xx
    cdef int p, q
    memset(f, 0, 36 * sizeof(double))
    for p in range(3):
        f[7 * p] = bodies.inv_mass[i]
        for q in range(3):
            f[6 * (3 + p) + 3 + q] = inertia[3 * p + q]


cdef inline bint invert_shifted(double* s, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        s[7 * i] *= 1.0 + SHIFT
    return invert_symmetric(s, n)


cdef inline void condition(double* f, const JointRow* row, int n, bint is_b, const double* beyond) noexcept nogil:
    """F <- F - F J' (S + J F J')^-1 J F, S what answers beyond the joint."""
    cdef double w[36]
    cdef double x[36]
    cdef double s[36]
    cdef int i
    times_rows(f, row, n, is_b, w)
    for i in range(36):
        s[i] = beyond[i]
    rows_times(row, n, is_b, w, n, s)
    if invert_shifted(s, n):
        times(w, s, n, n, x)
        add_product(x, w, n, -1.0, f)


cdef inline void begin_answer(const double* yields, int n, double* s) noexcept nogil:
    """S of what does not answer."""
    cdef int i
    memset(s, 0, 36 * sizeof(double))
    for i in range(n):
        s[7 * i] = yields[i]


cdef inline void follow(const double* f, const JointRow* row, const double* yields, int n, bint is_b, double* s,
                        double* gain, double* slack) noexcept nogil:
    """S, K and C of a child by these rows."""
    cdef double w[36]
    cdef double inverse[36]
    begin_answer(yields, n, s)
    times_rows(f, row, n, is_b, w)
    rows_times(row, n, is_b, w, n, s)
    memcpy(inverse, s, sizeof(w))
    if not invert_shifted(inverse, n):
        memset(inverse, 0, sizeof(w))
    times(w, inverse, n, n, gain)
    memcpy(slack, f, sizeof(w))
    add_product(gain, w, n, -1.0, slack)


cdef inline bint is_stiff(const JointAxis* axis) noexcept nogil:
    """Whether a motor holds the coordinate, as no spring does."""
    return axis.motor_mode != MOTOR_NONE and axis.motor_mode != MOTOR_PD


cdef inline bint is_held(const JointAxis* axis, double h) noexcept nogil:
    """Whether a motor holds the coordinate, or a limit may, or friction does: over the last substep, of length h, it did
    not slip. h = MOTORS: a motor alone; NOTHING: not even that."""
    return h >= MOTORS and (is_stiff(axis) or (h > MOTORS and (
        not isinf(axis.lower) or not isinf(axis.upper) or fabs(axis.impulse[AXIS_FRICTION]) < axis.friction * h)))


cdef int list_rows(Joint* joint, const JointRows* rows, int j, const Bodies* bodies, double h, JointRow* out,
                   double* yields) noexcept nogil:
    """A joint's own rows and those of coordinates that are held or a rotor goes with, six at most. h: as of `is_held`.
    yields: the compliance of each. -> how many"""
    cdef Row axes[JOINT_AXES]
    cdef int n = rows.begin[j + 1] - rows.begin[j]
    cdef int i
    memcpy(out, rows.row + rows.begin[j], n * sizeof(JointRow))
    memset(yields, 0, 6 * sizeof(double))
    for i in range(list_axes(joint, bodies, axes) if h >= MOTORS and holds_any(joint, h) else 0):
        if (is_held(&joint.axes[i], h) or has_rotor(&joint.axes[i])) and n < 6:
            copy_jacobian(&axes[i], &out[n])
            yields[n] = 0.0 if is_held(&joint.axes[i], h) else 1.0 / joint.axes[i].armature
            n += 1
    return n


cdef inline bint holds_any(const Joint* joint, double h) noexcept nogil:
    """Or has a rotor."""
    cdef int i
    for i in range(joint.axis_count):
        if is_held(&joint.axes[i], h) or has_rotor(&joint.axes[i]):
            return True
    return False


cdef inline double turning_load(const double* f, const Mat3* k) noexcept nogil:
    """trace(F K) of the angular quarter of F, (6, 6), of K the upper half."""
    return ((f[21] * k.xx + f[28] * k.yy + f[35] * k.zz)
            + 2.0 * (f[22] * k.xy + f[23] * k.xz + f[29] * k.yz))


cdef class Carried:
    """branches: those of the joints with rows in the tree (solve/components.py); numbers: (joints,) these joints."""

    def __init__(self, branches, numbers):
        branch, begin, pins, end, body = branches
        branch = branch.copy()
        branch[:, 0] = np.where(branch[:, 0] >= 0, np.append(numbers, -1)[branch[:, 0]], -1)
        most = int(np.max(pins - begin, initial=0)) + 1
        ends = [np.append(of, 0).astype(np.int32) for of in (begin, pins, end)]
        body = np.append(body, 0).astype(np.int32)
        branch = np.ascontiguousarray(np.append(branch, np.zeros((1, 4), np.int32), axis=0))
        longest = int(np.max(end - begin, initial=0)) + 1
        room, rows = np.zeros((5, most, 36)), np.zeros(6 * longest * sizeof(JointRow) // 8)
        yields = np.zeros(6 * longest)
        numbers = np.zeros(longest, np.int32)
        self.kept = branch, ends, body, room, rows, numbers, yields
        self.begin, self.pins, self.end = integers(ends[0]), integers(ends[1]), integers(ends[2])
        self.branch, self.body = <Branch*>records(branch), integers(body)
        self.response, self.gain, self.slack = doubles(room[0]), doubles(room[1]), doubles(room[2])
        self.free_gain, self.free_slack = doubles(room[3]), doubles(room[4])
        self.row, self.numbers, self.yields = <JointRow*>doubles(rows), integers(numbers), doubles(yields)

    cdef void gather(self, Py_ssize_t g, Joint* joints, const JointRows* rows, const Bodies* bodies,
                     double h) noexcept nogil:
        """F of all bodies, with K and C of the joints as they are and of the joints with what holds
        them (`is_held`) and their rotors."""
        cdef const Branch* at = self.branch + self.begin[g]
        cdef Py_ssize_t count = self.pins[g] - self.begin[g]
        cdef Py_ssize_t k
        cdef int n
        cdef double* f
        cdef JointRow* row
        cdef double s[36]
        for k in range(count):
            alone(bodies, self.body[self.begin[g] + k], self.response + 36 * k)
        for k in range(self.end[g] - self.begin[g]):
            if at[k].joint >= 0:
                self.numbers[k] = list_rows(&joints[at[k].joint], rows, at[k].joint, bodies, h, self.row + 6 * k,
                                            self.yields + 6 * k)
        for k in range(count, self.end[g] - self.begin[g]):
            begin_answer(self.yields + 6 * k, self.numbers[k], s)
            condition(self.response + 36 * at[k].child, self.row + 6 * k, self.numbers[k], at[k].child_is_b, s)
        for k in range(count - 1, -1, -1):
            f, row = self.response + 36 * k, self.row + 6 * k
            if at[k].joint < 0:
                memcpy(self.slack + 36 * k, f, sizeof(s))
                continue
            n = rows.begin[at[k].joint + 1] - rows.begin[at[k].joint]
            follow(f, row, self.yields + 6 * k, n, at[k].child_is_b, s, self.free_gain + 36 * k, self.free_slack + 36 * k)
            follow(f, row, self.yields + 6 * k, self.numbers[k], at[k].child_is_b, s, self.gain + 36 * k,
                   self.slack + 36 * k)
            if at[k].parent >= 0:
                condition(self.response + 36 * at[k].parent, row, self.numbers[k], not at[k].child_is_b, s)

    cdef void hand_out(self, Py_ssize_t k, const Branch* at) noexcept nogil:
        """P of branch k, once its parent's is there."""
        cdef double* f = self.response + 36 * k
        cdef const double* gain = self.gain + 36 * k
        cdef const JointRow* row = self.row + 6 * k
        cdef int n = self.numbers[k]
        cdef double x[36]
        cdef double y[36]
        memcpy(f, self.slack + 36 * k, sizeof(x))
        if at[k].parent < 0:
            return
        times_rows(self.response + 36 * at[k].parent, row, n, not at[k].child_is_b, x)        # P_p J_p'
        memset(y, 0, sizeof(y))
        rows_times(row, n, not at[k].child_is_b, x, n, y)                                     # J_p P_p J_p'
        times(gain, y, n, n, x)
        add_product(x, gain, n, 1.0, f)

    cdef double response_along(self, Py_ssize_t k, const Branch* at, int n, const double* jacobian) noexcept nogil:
        """J P J' of a coordinate of branch k, J (12,) on a and b, when the parent has its P; n: the joint's own rows."""
        cdef const double* near = jacobian + (6 if at[k].child_is_b else 0)
        cdef const double* slack = self.free_slack + 36 * k
        cdef double u[6]
        if at[k].parent < 0:
            return along(near, slack)
        beside_child(near, jacobian + (0 if at[k].child_is_b else 6), self.row + 6 * k, n, at[k].child_is_b,
                     self.free_gain + 36 * k, u)
        return along(near, slack) + along(u, self.response + 36 * at[k].parent)

    cdef void answers(self, Py_ssize_t g, Joint* joints, const JointRows* rows, const Bodies* bodies,
                      double* out) noexcept nogil:
        """P of all bodies of articulation g, whose joints' rows are written: out (bodies, 36), the others' stay."""
        cdef const Branch* at = self.branch + self.begin[g]
        cdef Py_ssize_t k
        self.gather(g, joints, rows, bodies, MOTORS)
        for k in range(self.pins[g] - self.begin[g]):
            self.hand_out(k, at)
            memcpy(out + 36 * self.body[self.begin[g] + k], self.response + 36 * k, 36 * sizeof(double))

    cdef double load(self, Py_ssize_t g, Joint* joints, const JointRows* rows, const Bodies* bodies,
                     const Mat3* stiffness) noexcept nogil:
        """trace(P K) of all bodies of articulation g, whose joints' rows are written, K (bodies + 1,) how stiff each is
        against turning, the world's first, of which the upper half is read: no less than the largest eigenvalue of
        P K [1/s^2]. Motors and rotors are left out, for motors may give way."""
        cdef const Branch* at = self.branch + self.begin[g]
        cdef Py_ssize_t k
        cdef double total = 0.0
        self.gather(g, joints, rows, bodies, NOTHING)
        for k in range(self.pins[g] - self.begin[g]):
            self.hand_out(k, at)
            # Of points, I / (m r^2) below 1e-8, rounding leaves nothing of P: less than 0 is none.
            total += max(turning_load(self.response + 36 * k, &stiffness[self.body[self.begin[g] + k] + 1]), 0.0)
        return total

    cdef void find_moved(self, Py_ssize_t g, Joint* joints, const JointRows* rows, const Bodies* bodies,
                         const int8_t* asked, double* out) noexcept nogil:
        """J P J' of all coordinates of the `asked` joints of articulation g, whose joints' rows are written, into
        JointAxis.moved, and P of all bodies: out (bodies, 36). Motors are left out, for they may give way, and rotors."""
        cdef const Branch* at = self.branch + self.begin[g]
        cdef Py_ssize_t count = self.pins[g] - self.begin[g]
        cdef Py_ssize_t k
        cdef int i
        cdef Joint* joint
        cdef Row axes[JOINT_AXES]
        self.gather(g, joints, rows, bodies, NOTHING)
        for k in range(self.end[g] - self.begin[g]):
            joint = &joints[at[k].joint]
            for i in range(list_axes(joint, bodies, axes) if at[k].joint >= 0 and asked[at[k].joint] else 0):
                if k < count:
                    joint.axes[i].moved = self.response_along(k, at, self.numbers[k], axes[i].jacobian)
                else:
                    joint.axes[i].moved = along(&axes[i].jacobian[6 if at[k].child_is_b else 0],
                                                self.response + 36 * at[k].child)
            if k < count:
                self.hand_out(k, at)
                memcpy(out + 36 * self.body[self.begin[g] + k], self.response + 36 * k, 36 * sizeof(double))

    cdef double least_part(self, Py_ssize_t g, Joint* joints, const JointRows* rows,
                           const Bodies* bodies, double h) noexcept nogil:
        """The least J P J' / J M^-1 J' of a coordinate of a joint that has bounded rows, of articulation g, whose joints'
        rows are written. h: as of `is_held`."""
        cdef const Branch* at = self.branch + self.begin[g]
        cdef Py_ssize_t count = self.pins[g] - self.begin[g]
        cdef Py_ssize_t k
        cdef int i, n
        cdef Joint* joint
        cdef Row axes[JOINT_AXES]
        cdef double part
        cdef double least = 1.0
        self.gather(g, joints, rows, bodies, h)
        for k in range(self.end[g] - self.begin[g]):
            if at[k].joint < 0:
                continue
            joint = &joints[at[k].joint]
            n = rows.begin[at[k].joint + 1] - rows.begin[at[k].joint]
            if has_bounded_rows(joint) and not (k >= count and self.numbers[k] > n):
                for i in range(list_axes(joint, bodies, axes)):
                    if not axes[i].diagonal > 0.0:
                        continue
                    if k < count:
                        part = self.response_along(k, at, n, axes[i].jacobian)
                    else:
                        part = along(&axes[i].jacobian[6 if at[k].child_is_b else 0], self.response + 36 * at[k].child)
                    least = min(least, part / axes[i].diagonal)
            if k < count:
                self.hand_out(k, at)
        return least
