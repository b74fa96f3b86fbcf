"""The energies of trees: what they have, and what steps have given them beyond the work of forces."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.reduced._motion cimport TreeMotion
from mcsim.wide._lane_types cimport Wide3

cdef double ROUNDED

cdef class TreeEnergy:
    cdef TreeMotion motion
    cdef object kept
    cdef double* kinetic                 # (trees,) at the last account
    cdef double* gained                  # (trees,) since begin_account
    cdef double* handled                 # (trees,) what that is the sum of, without signs
    cdef double* total                   # (trees,) energy gained since begin_total, beyond what forces did
    cdef double* lead                    # (trees,) power of prescribed bodies in the last kick [W]
    cdef Wide3* shared                   # (trees,) velocities that the last account left out [m/s]
    cdef Wide3* course                   # (trees,) the same as forces say they are after the first kick
    cdef double* after                   # (nv,) velocities after that

    cdef void begin_account(self, double h, const double* forces, const int32_t* told) noexcept nogil
    cdef Wide3 fall(self, Py_ssize_t k, const double* forces) noexcept nogil
    cdef void account(self, double part, bint apart) noexcept nogil
    cdef void account_trees(self, Py_ssize_t first, Py_ssize_t end, double part, bint apart) noexcept nogil
    cdef double kinetic_energy(self, Py_ssize_t k, Wide3 shared) noexcept nogil
    cdef double tree_power(self, Py_ssize_t k, const double* forces, Wide3 shared, double* weight) noexcept nogil
    cdef void credit(self, double h, const double* forces) noexcept nogil
    cdef double height_energy(self, Py_ssize_t i, Vec3 gravity) noexcept nogil
    cdef void sum_total(self, double part) noexcept nogil
    cdef void spend(self, double h, const double* forces) noexcept nogil
    cdef void see_leads(self) noexcept nogil
    cdef void tame(self, double part, const int32_t* told, bint others) noexcept nogil
    cdef void take_energy(self, Py_ssize_t k, double gained, double off, const Wide3* course) noexcept nogil
    cdef void slow_tree(self, Py_ssize_t k, double factor, double off, const Wide3* course) noexcept nogil
