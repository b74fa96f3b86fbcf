"""Rows and what they say of velocities."""

from mcsim.core._math cimport dot, sub
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Joint, JointRow, Row


cdef inline Row* own_rows(const Row* rows, const Joint* joint) noexcept nogil:
    """The first of the rows that are the joint itself: its last ones."""
    return <Row*>rows + joint.row_begin + joint.row_count - joint.constraint_count


cdef inline double row_rate(const JointRow* row, const Twist* a, const Twist* b) noexcept nogil:
    """J v"""
    return (dot(row.linear, sub(b.v, a.v)) + dot(row.angular_b, b.w)) - dot(row.angular_a, a.w)
