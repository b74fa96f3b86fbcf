"""The wide kernels at x86-64-v4."""

include "_kernels.pxi"
