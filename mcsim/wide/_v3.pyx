"""The wide kernels at x86-64-v3."""

include "_kernels.pxi"
