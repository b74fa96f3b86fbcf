"""Where the rows of an array come from when some go, some come, and the others close up in order."""

cdef class Rows:
    cdef readonly Py_ssize_t old, count
    cdef readonly list runs
    cdef readonly object fresh
    cdef object place                    # `fresh`, as a slice where they are one behind the other
    cdef readonly list moves                      # those of the runs that are elsewhere then

    cpdef edit(self, array, fresh, Py_ssize_t front=*)
