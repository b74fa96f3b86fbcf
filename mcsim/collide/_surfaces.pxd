"""The surfaces of a world, with their trees."""

from mcsim.collide._surface cimport Surface, MeshNode


cdef class Surfaces:
    cdef readonly Py_ssize_t count
    cdef Surface* items
    cdef object _arrays                  # that the items point into
