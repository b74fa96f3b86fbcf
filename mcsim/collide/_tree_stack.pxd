"""Room for the way down a balanced tree of boxes."""

cdef enum:
    TREE_STACK = 64              # higher than any of 2^31 leaves
