"""Gear: couples a coordinate of one joint with one of another.

    C = q_a + ratio q_b - constant,     C' = J_a v + ratio J_b v
Up to four bodies: a wide row, J_a on the bodies of joint a and ratio J_b on those of joint b, with one impulse. Each
half is a row of its joint's own free coordinate, so it acts on that joint's two bodies with opposite forces at one
point: momentum is kept, and what bears the gear's reaction is what the two joints hang on.
"""

from mcsim.constraints._motion cimport axis_curvature
from mcsim.constraints._parts cimport *
from mcsim.state._rows cimport pair_coupling


# One of the two coordinates: its joint at the present poses.
ctypedef struct GearSide:
    const Joint* joint
    int axis
    JointFrames frames
    AxisGeometry axes[6]


cdef inline double gear_error(const Joint* gear, const GearSide* a, const GearSide* b) noexcept nogil:
    return a.axes[a.axis].position + gear.ratio * b.axes[b.axis].position - gear.constant


cdef inline double constrain_side(Row* row, const GearSide* side, double ratio, const Bodies* bodies) noexcept nogil:
    """One half of the wide row. -> its curvature"""
    cdef const AxisGeometry* axis = &side.axes[side.axis]
    cdef int k
    axis_row(row, axis, axis.axis, &side.frames)
    for k in range(12):
        row.jacobian[k] *= ratio
    apply_inverse_mass(row, bodies)
    return (ratio * axis_curvature(side.joint, side.axis, side.axes, &side.frames)
            + gyroscopic_curvature(row, &side.frames))


cdef inline void couple_joints(Row* rows, const Joint* gear, const GearSide* a, const GearSide* b,
                                const Bodies* bodies) noexcept nogil:
    """Both rows but for headers and `coupling`."""
    rows[0].curvature = constrain_side(&rows[0], a, 1.0, bodies)
    rows[0].curvature += constrain_side(&rows[1], b, gear.ratio, bodies)
    rows[0].error = gear_error(gear, a, b)
    rows[0].diagonal += rows[1].diagonal + 2.0 * pair_coupling(&rows[0], &rows[1])
    rows[1].curvature = 0.0
    rows[1].error = 0.0
    rows[1].diagonal = 0.0
