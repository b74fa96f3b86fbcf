"""The kernels over trees, several states at a time, at x86-64-v4."""

include "_kernels.pxi"
include "_deriving.pxi"
include "_piece.pxi"
include "_flying.pxi"
