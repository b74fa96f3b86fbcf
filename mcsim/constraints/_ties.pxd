"""What joints make of blows that are tried ahead."""

from libc.stdint cimport int32_t
from mcsim.state._layout cimport Bodies, Joint

cdef void tie(const Joint* joints, Py_ssize_t count, Bodies* bodies, int32_t* round_of, int32_t now,
              double tolerance) noexcept nogil
