"""What the joints of trees carry."""

from mcsim.core._types cimport Vec3
from mcsim.reduced._motion cimport TreeMotion
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint

cdef class TreeForces:
    cdef TreeMotion motion

    cdef void begin_carry(self) noexcept nogil
    cdef void carry(self, const double* forces) noexcept nogil
    cdef void give_wrench(self, Py_ssize_t link, double h, const Bodies* bodies, Joint* joint) noexcept nogil
