"""Kernels that take eight at a time, compiled for each level of the x86-64 processors from one source."""
