"""Rows and what they say of velocities and of each other; wide rows (BLOCK_WIDE) whole."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcpy, memset
from mcsim.core._math cimport cross, dot, sub, vec3
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._bodies cimport DYNAMIC, Bodies
from mcsim.state._joint cimport AXIS_MOTOR, AXIS_ROWS, Joint
from mcsim.state._row cimport ROW_ARMATURE, ROW_MOTOR, ROW_SPRING, JointRow, JointRows, Row, is_wide
from mcsim.state._settings cimport Settings


cdef enum:
    RAISED = 1 << 20         # 1 / the part of its diagonal by which a contact's A is raised where its points are solved
                             # at once,
    TAMED = 64               # and of its mean diagonal along the impulses that no body feels (wide/_faces.pxi)


cdef inline bint joint_sleeps(const Joint* joint, const Bodies* bodies, const int8_t* asleep) noexcept nogil:
    """Whether a dynamic body of a joint sleeps: then all that it ties together do. asleep: of each body."""
    return ((bodies.kind[joint.body_a] == DYNAMIC and asleep[joint.body_a])
            or (bodies.kind[joint.body_b] == DYNAMIC and asleep[joint.body_b]))


cdef inline bint is_of_motor(const Row* row) noexcept nogil:
    """Whether a motor has it: one for a velocity or a position, or a spring that is a PD motor."""
    return row.kind == ROW_MOTOR or (row.kind == ROW_SPRING and row.index % AXIS_ROWS == AXIS_MOTOR)


cdef inline bint is_of_drive(const Row* row) noexcept nogil:
    """Whether it is a motor's or a rotor's: both are carried by what hangs on them, and solved with the joints in them."""
    return row.kind == ROW_ARMATURE or is_of_motor(row)


cdef inline Row* own_rows(const Row* rows, const Joint* joint) noexcept nogil:
    """The first of the rows that are the joint itself: its last ones."""
    return <Row*>rows + joint.row_begin + joint.row_count - joint.constraint_count


cdef inline void copy_jacobian(const Row* row, JointRow* out) noexcept nogil:
    """Of a row over two bodies that meet in one point: the force on a is minus that on b."""
    cdef const double* j = &row.jacobian[0]
    out.linear = vec3(j[6], j[7], j[8])
    out.angular_a = vec3(-j[3], -j[4], -j[5])
    out.angular_b = vec3(j[9], j[10], j[11])


cdef inline double row_coupling(const Row* x, const Row* y) noexcept nogil:
    """J_x M^-1 J_y' over the bodies that the two rows share; a shared world or static body adds nothing."""
    cdef double s = 0.0
    cdef int k
    if x.body_a == y.body_a:
        for k in range(6):
            s += x.jacobian[k] * y.inv_mass_jacobian[k]
    elif x.body_a == y.body_b:
        for k in range(6):
            s += x.jacobian[k] * y.inv_mass_jacobian[6 + k]
    if x.body_b == y.body_b:
        for k in range(6):
            s += x.jacobian[6 + k] * y.inv_mass_jacobian[6 + k]
    elif x.body_b == y.body_a:
        for k in range(6):
            s += x.jacobian[6 + k] * y.inv_mass_jacobian[k]
    return s


cdef inline double area(const Row* a, const Row* b, const Row* c, int k) noexcept nogil:
    """Twice that of a triangle of points, by the turning parts r x n of their rows, at `k` in these [m2]"""
    cdef Vec3 p = vec3(a.jacobian[k], a.jacobian[k + 1], a.jacobian[k + 2])
    cdef Vec3 q = sub(vec3(b.jacobian[k], b.jacobian[k + 1], b.jacobian[k + 2]), p)
    cdef Vec3 r = sub(vec3(c.jacobian[k], c.jacobian[k + 1], c.jacobian[k + 2]), p)
    return dot(cross(q, r), vec3(a.jacobian[6], a.jacobian[7], a.jacobian[8]))


cdef inline void find_unfelt(const Row* p, double* e) noexcept nogil:
    """Impulses of four points of a contact that no rigid body feels: wide/_springs.pxi, find_unfelt. e: (4,)"""
    cdef const double* n = &p.inv_mass_jacobian[6]
    cdef int k = 9 if n[0] != 0.0 or n[1] != 0.0 or n[2] != 0.0 else 3       # b moves
    e[0] = area(&p[1], &p[2], &p[3], k)
    e[1] = -area(&p[0], &p[2], &p[3], k)
    e[2] = area(&p[0], &p[1], &p[3], k)
    e[3] = -area(&p[0], &p[1], &p[2], k)


cdef inline double row_rate(const JointRow* row, const Twist* a, const Twist* b) noexcept nogil:
    """J v"""
    return (dot(row.linear, sub(b.v, a.v)) + dot(row.angular_b, b.w)) - dot(row.angular_a, a.w)


cdef inline double row_diagonal(const JointRow* row, double inv_mass_a, double inv_mass_b) noexcept nogil:
    """J M^-1 J' over both bodies"""
    return ((inv_mass_a + inv_mass_b) * dot(row.linear, row.linear)
            + dot(row.angular_a, row.spin_a) + dot(row.angular_b, row.spin_b))


cdef inline bint is_linear(const Row* row) noexcept nogil:
    """Whether its error is in metres: it has to do with the velocities of points."""
    cdef const double* j = &row.jacobian[0]
    return (j[0] * j[0] + j[1] * j[1] + j[2] * j[2]) + (j[6] * j[6] + j[7] * j[7] + j[8] * j[8]) > 1e-12


cdef inline double way_of(const Joint* joint, bint linear, double error) noexcept nogil:
    """|error| of one of its rows as a way: that of its longest lever, if it is an angle [m]."""
    return fabs(error) if linear else joint.length * fabs(error)


cdef inline double part_of(const Joint* joint, const Row* row, double error) noexcept nogil:
    """|error| of one of its rows as an angle: a way as a part of the joint's length [rad]."""
    return way_of(joint, is_linear(row), error) / joint.length


cdef inline bint is_linear_row(const JointRow* row) noexcept nogil:
    return row.linear.x != 0.0 or row.linear.y != 0.0 or row.linear.z != 0.0


# How far a joint is off, all its rows together: the largest row alone would depend on the axes that they are written along.
ctypedef struct Off:
    double points                        # squares [m2] or [m2/s2]
    double angles


cdef inline Off no_error() noexcept nogil:
    cdef Off off
    off.points = off.angles = 0.0
    return off


cdef inline void add_error(Off* off, bint linear, double error) noexcept nogil:
    if linear:
        off.points += error * error
    else:
        off.angles += error * error


cdef inline double joint_way(const Joint* joint, const Off* off) noexcept nogil:
    """Of points, or of angles as the way of the joint's longest lever: the larger [m]."""
    cdef double points = sqrt(off.points)
    cdef double angles = joint.length * sqrt(off.angles)
    return points if points > angles else angles


cdef inline double rows_way(const Joint* joint, const JointRow* rows, const double* error, int n) noexcept nogil:
    """The same of n rows with these errors."""
    cdef Off off = no_error()
    cdef int i
    for i in range(n):
        add_error(&off, is_linear_row(&rows[i]), error[i])
    return joint_way(joint, &off)


cdef inline double time_to_close(const Joint* joint, const Off* off) noexcept nogil:
    """As fast as may be [s]."""
    cdef double points = sqrt(off.points) / joint.push[0]
    cdef double angles = sqrt(off.angles) / joint.push[1]
    return points if points > angles else angles


cdef inline double kept_part(double needed, double h) noexcept nogil:
    """The part of an error that stays after the time h where closing it takes the time needed."""
    return 1.0 - h / needed if needed > h else 0.0


cdef inline double without_slop(const Row* row, double error, const Settings* settings) noexcept nogil:
    """Of a contact's error, what is not to be left."""
    cdef double slop = settings.slop + settings.slop_part * row.size
    return error + slop if error < -slop else 0.0


cdef inline void set_impulse(Row* row, double impulse) noexcept nogil:
    """Of both records, if the row is wide."""
    row.impulse = impulse
    if is_wide(row):
        row[1].impulse = impulse


cdef inline double response_along(const Row* x, const Row* y) noexcept nogil:
    """J_x M^-1 J_y' of two rows between the same bodies, in the same order."""
    cdef double sum = 0.0
    cdef int k
    for k in range(12):
        sum += x.jacobian[k] * y.inv_mass_jacobian[k]
    return sum


cdef inline double half_product(const double* x, const double* y) noexcept nogil:
    return ((x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3])) + (x[4] * y[4] + x[5] * y[5])


cdef inline double pair_coupling(const Row* x, const Row* y) noexcept nogil:
    """J_x M^-1 J_y' of two records as they stand. Of bodies that do not move M^-1 J' is 0."""
    cdef double s = 0.0
    if x.body_a == y.body_a:
        s += half_product(&x.jacobian[0], &y.inv_mass_jacobian[0])
    elif x.body_a == y.body_b:
        s += half_product(&x.jacobian[0], &y.inv_mass_jacobian[6])
    if x.body_b == y.body_b:
        s += half_product(&x.jacobian[6], &y.inv_mass_jacobian[6])
    elif x.body_b == y.body_a:
        s += half_product(&x.jacobian[6], &y.inv_mass_jacobian[0])
    return s


cdef inline double coupling(const Row* x, const Row* y) noexcept nogil:
    """J_x M^-1 J_y'"""
    cdef double s = pair_coupling(x, y)
    if is_wide(x):
        s += pair_coupling(x + 1, y)
    if is_wide(y):
        s += pair_coupling(x, y + 1)
        if is_wide(x):
            s += pair_coupling(x + 1, y + 1)
    return s


cdef inline double pair_rate(const Row* row, const Twist* x) noexcept nogil:
    return (half_product(&row.jacobian[0], <const double*>&x[row.body_a])
            + half_product(&row.jacobian[6], <const double*>&x[row.body_b]))


cdef inline double rate(const Row* row, const Twist* x) noexcept nogil:
    """J x"""
    return pair_rate(row, x) + pair_rate(row + 1, x) if is_wide(row) else pair_rate(row, x)


cdef inline void pair_push(const Row* row, double f, Twist* x) noexcept nogil:
    cdef double* a = <double*>&x[row.body_a]
    cdef double* b = <double*>&x[row.body_b]
    cdef int i
    for i in range(6):
        a[i] += row.inv_mass_jacobian[i] * f
        b[i] += row.inv_mass_jacobian[6 + i] * f


cdef inline void push(const Row* row, double f, Twist* x) noexcept nogil:
    """x += M^-1 J' f"""
    pair_push(row, f, x)
    if is_wide(row):
        pair_push(row + 1, f, x)

# ---- the numbers of a JointRows that are in use ------------------------------------------------------------------------

cdef inline void add_run(JointRows* rows, int32_t begin, int32_t end) noexcept nogil:
    """Rows [begin, end) behind the runs there are."""
    if begin == end:
        return
    if rows.run_count > 0 and rows.run[2 * rows.run_count - 1] == begin:
        rows.run[2 * rows.run_count - 1] = end
        return
    rows.run[2 * rows.run_count] = begin
    rows.run[2 * rows.run_count + 1] = end
    rows.run_count += 1


cdef inline void copy_numbers(const JointRows* rows, const double* source, double* to) noexcept nogil:
    cdef Py_ssize_t i
    cdef int32_t begin
    for i in range(rows.run_count):
        begin = rows.run[2 * i]
        memcpy(to + begin, source + begin, (rows.run[2 * i + 1] - begin) * sizeof(double))


cdef inline void scale_numbers(const JointRows* rows, double factor, double* x) noexcept nogil:
    cdef Py_ssize_t i, k
    for i in range(rows.run_count):
        for k in range(rows.run[2 * i], rows.run[2 * i + 1]):
            x[k] *= factor
