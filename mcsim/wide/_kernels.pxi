# All wide kernels of one level.

from cpython.pycapsule cimport PyCapsule_New

include "_contacts.pxi"
include "_joints.pxi"
include "_swept_balls.pxi"
include "_angles.pxi"
include "_bodies.pxi"
include "_balls.pxi"
include "_herds.pxi"
include "_herd_energy.pxi"
