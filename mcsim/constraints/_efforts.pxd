"""What forces along the free coordinates of joints, given from outside, do to the two bodies."""

from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint

# Add the wrenches [N, N m] about the centres of mass of the joint's two bodies, of those that are dynamic. effort: by the
# joint's free coordinates [N or N m].
cdef void add_effort(const Joint* joint, const Bodies* bodies, const double* effort, Twist* force) noexcept nogil

# -> what acts on b: a force, and a torque about the joint point, world axes.
cdef Twist effort_on_b(const Joint* joint, const Bodies* bodies, const double* effort) noexcept nogil
