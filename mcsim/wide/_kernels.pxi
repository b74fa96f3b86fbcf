# All wide kernels of one level.

from cpython.pycapsule cimport PyCapsule_New

include "_contacts.pxi"
include "_joints.pxi"
include "_ball_joint_rows.pxi"
include "_joint_bounds.pxi"
include "_bodies.pxi"
include "_direct_balls.pxi"
include "_batches.pxi"
include "_batch_energy.pxi"
