"""The wide kernels at x86-64-v3."""

from cpython.pycapsule cimport PyCapsule_New

include "_contacts.pxi"
include "_bodies.pxi"
include "_balls.pxi"
