"""The kernels over trees, several states at a time, at x86-64-v3."""

include "_kernels.pxi"
include "_deriving.pxi"
include "_piece.pxi"
include "_flying.pxi"
