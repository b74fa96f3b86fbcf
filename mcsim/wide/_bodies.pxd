"""The table of the wide kernels that turn bodies; _bodies.pxi is its source."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies

# One level's kernels. body: `width` dynamic bodies, a lane each; a short group repeats one of its own, which is then
# computed twice to the same bits. place: where a lane's body stands in position and orientation, its pose at the start.
ctypedef struct BodyKernels:
    int width                    # lanes
    # Poses at the end of a drift over h. -> the lanes (bit by bit) that keep their start's orientation: those that turn
    # far about an axis that stays (integrate/_euler.pyx)
    int (*turn)(Bodies* bodies, const int32_t* body, const int32_t* place, const Vec3* position,
                const Quat* orientation, double h) noexcept nogil
    # World inertia and angular velocity at the poses that a drift has come to.
    void (*settle)(Bodies* bodies, const int32_t* body, const int32_t* place, const Quat* orientation,
                   double h) noexcept nogil
    # World inertia at the present poses.
    void (*refresh)(Bodies* bodies, const int32_t* body) noexcept nogil
