"""Lock: b does not slide along, or not turn about, chosen axes of a.

    d_i . (p_b - p_a)                        for every axis that it does not slide along
    2 vec(q)                                 where it turns about none,
    s (n_b . x_a, n_b . y_a)                 where it turns about n alone (x, y the other two): as a hinge,
    d . (w_b - w_a) = 0,  no error           where it turns about all but d: nonholonomic
`joint.locks`: bit i for axis i along which it does not slide, bit 3 + i for one about which it does not turn.
"""

from mcsim.constraints._parts cimport *


cdef inline int axis_that_turns(const Joint* joint) noexcept nogil:
    """Where it turns about one alone; else -1."""
    cdef int turns = (joint.locks >> 3) & 7
    if turns == 6:
        return 0
    if turns == 5:
        return 1
    return 2 if turns == 3 else -1


cdef inline JointFrames frames_about(const JointFrames* f, int axis) noexcept nogil:
    """The same frames, with that axis for their z."""
    cdef JointFrames g = f[0]
    cdef int i
    for i in range(3):
        g.axis_a[i] = f.axis_a[(axis + 1 + i) % 3]
        g.axis_b[i] = f.axis_b[(axis + 1 + i) % 3]
    tilt_frames(&g)
    return g


cdef inline int constrain_turns(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef int turns = (joint.locks >> 3) & 7
    cdef int free = axis_that_turns(joint)
    cdef JointFrames g
    cdef Vec3 d
    if turns == 0:
        return 0
    if turns == 7:
        constrain_rotation(rows, f)
        return 3
    if free >= 0:
        g = frames_about(f, free)
        constrain_parallel(rows, &g)
        return 2
    d = f.axis_a[0 if turns == 1 else 1 if turns == 2 else 2]
    angular_row(rows, d)
    rows.error = 0.0
    rows.curvature = dot(cross(f.spin_a, d), sub(f.spin_b, f.spin_a))
    return 1


cdef inline int constrain_lock(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    cdef int i
    cdef int n = 0
    for i in range(3):
        if joint.locks >> i & 1:
            constrain_offset(&rows[n], f, i)
            n += 1
    return n + constrain_turns(&rows[n], f, joint)


cdef inline void error_lock(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    cdef int i
    cdef int free = axis_that_turns(joint)
    cdef double s = 0.0
    cdef double x
    cdef JointFrames g
    for i in range(3):
        if joint.locks >> i & 1:
            x = dot(f.axis_a[i], f.offset)
            s += x * x
    position[0] = sqrt(s)
    angle[0] = 0.0
    if (joint.locks >> 3) & 7 == 7:
        angle[0] = norm(quat_log(f.relative))
    elif free >= 0:
        g = frames_about(f, free)
        angle[0] = axis_tilt(&g)


cdef inline bint holds_lock(const Joint* joint, int i) noexcept nogil:
    """A single rotation is the last row."""
    cdef int turns = (joint.locks >> 3) & 7
    return i < (joint.locks & 1) + (joint.locks >> 1 & 1) + (joint.locks >> 2 & 1) or not (
        turns == 1 or turns == 2 or turns == 4)
