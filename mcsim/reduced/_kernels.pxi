# All kernels over trees, for the lanes that a module is compiled for.

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memset
from cpython.pycapsule cimport PyCapsule_New

from mcsim.core._dense cimport in_eights
from mcsim.core._trig cimport FAR, sine_cosine
from mcsim.reduced._links cimport (
    ANGLES_ZX, ANGLES_ZYX, CYLINDRICAL, FIXED, HELICAL, MOST, PLANAR, PRISMATIC, RACK_PINION, REVOLUTE, TURNING, USER,
    USER_BIAS, USER_PLACE, USER_SUBSPACE, USER_TURN, AxisFactor, AxisState, Factored, Force, Inertia, Link, LinkState,
    Motion, Response, Tree, TreeKernels)
from mcsim.wide._lane_types cimport WIDTH, Wide, Wide3, Wide6
from mcsim.wide._lanes cimport (Mask, above, any_lane, choose, lane_of, put, scatter_four, size_of, splat, w_add,
                                w_add_scaled, w_cross, w_dot, w_scale, w_sub, w_times, wide3)

include "_placing.pxi"
include "_passes.pxi"
include "_responding.pxi"


cdef void load(Wide* out, const double* rows, Py_ssize_t size, Py_ssize_t stride, int count) noexcept nogil:
    cdef Py_ssize_t i
    cdef int lane
    for lane in range(WIDTH):
        for i in range(size):
            put(&out[i], lane, rows[i])
        if lane + 1 < count:
            rows += stride


cdef void store(const Wide* values, double* rows, Py_ssize_t size, Py_ssize_t stride, int count) noexcept nogil:
    """Of full registers four numbers of every row at a time."""
    cdef Py_ssize_t i = 0, k
    cdef int32_t place[WIDTH]
    cdef int lane
    if count == WIDTH and stride * WIDTH < 1 << 30:
        for lane in range(WIDTH):
            place[lane] = <int32_t>(lane * stride)
        while i + 4 <= size:
            scatter_four(values + i, rows + i, place, 1)
            i += 4
    for lane in range(count):
        for k in range(i, size):
            rows[lane * stride + k] = lane_of(&values[k], lane)


cdef TreeKernels KERNELS
KERNELS.width = WIDTH
KERNELS.wide_size = sizeof(Wide)
KERNELS.link_size = sizeof(LinkState)
KERNELS.axis_size = sizeof(AxisState)
KERNELS.load = load
KERNELS.store = store
KERNELS.begin = begin
KERNELS.place = place
KERNELS.move = move
KERNELS.inverse_dynamics = inverse_dynamics
KERNELS.forward_dynamics = forward_dynamics
KERNELS.mass_matrix = mass_matrix
KERNELS.respond = respond
KERNELS.invert = invert
KERNELS.respond_by = respond_by
KERNELS.abreast = ABREAST
KERNELS.together = TOGETHER


def trees():
    """The table of kernels over trees of this level."""
    return PyCapsule_New(&KERNELS, "mcsim.reduced", NULL)
