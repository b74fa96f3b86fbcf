"""What joints make of blows that are tried ahead (collide/_foresight.pyx), by Gauss-Seidel's method on J v = 0:

    v += M^-1 J' l,    l = -J v / (J M^-1 J'),

row by row, over the joints of what has been moved. That is as exact as contacts need it that are laid for what may meet:
how bodies do meet is found within the step. Gears and joints of the user's own are left out.
"""

from libc.math cimport fabs

from mcsim.constraints._constrain cimport constrain
from mcsim.constraints._parts cimport JointFrames, apply_inverse_mass, joint_frames, still_frames
from mcsim.state._layout cimport Row
from mcsim.state._rows cimport pair_push, pair_rate

cdef enum:
    SWEEPS = 32                  # of a round of blows, at most


cdef bint tie_one(const Joint* joint, Bodies* bodies, double tolerance) noexcept nogil:
    """-> whether velocities changed by more than the tolerance [m/s, rad/s]"""
    cdef JointFrames f = joint_frames(joint, bodies)
    cdef Row block[6]
    cdef bint found = False
    cdef double off
    cdef int i
    still_frames(&f)
    for i in range(constrain(block, joint, &f)):
        block[i].body_a, block[i].body_b = joint.body_a, joint.body_b
        apply_inverse_mass(&block[i], bodies)
        off = pair_rate(&block[i], bodies.twist)
        if block[i].diagonal > 0.0:
            pair_push(&block[i], -off / block[i].diagonal, bodies.twist)
            found = found or fabs(off) > tolerance
    return found


cdef void tie(const Joint* joints, Py_ssize_t count, Bodies* bodies, int32_t* round_of, int32_t now,
              double tolerance) noexcept nogil:
    """round_of: of each body, `now` of what has been moved; of what joints move it becomes that."""
    cdef const Joint* joint
    cdef bint found = True
    cdef Py_ssize_t c
    cdef int sweep
    for sweep in range(SWEEPS):
        if not found:
            break
        found = False
        for c in range(count):
            joint = &joints[c]
            if joint.broken or (round_of[joint.body_a] != now and round_of[joint.body_b] != now):
                continue
            if tie_one(joint, bodies, tolerance):
                found = True
                if bodies.inv_mass[joint.body_a] > 0.0:
                    round_of[joint.body_a] = now
                if bodies.inv_mass[joint.body_b] > 0.0:
                    round_of[joint.body_b] = now
