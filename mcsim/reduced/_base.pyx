"""The kernels over trees, several states at a time, at the compiler's own level."""

include "_kernels.pxi"
include "_deriving.pxi"
include "_piece.pxi"
include "_flying.pxi"
