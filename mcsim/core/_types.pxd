"""Numbers every kernel shares: the real type, small fixed-size structs, status codes, the debug assert.

A struct here is laid out exactly as the NumPy rows that Python sees: ``Vec3`` is a row of an (n, 3) float64 array,
``Quat`` (w, x, y, z) a row of an (n, 4) one, ``Twist`` [v; w] a row of (n, 6), ``Mat3`` (row major) of (n, 3, 3).
"""

ctypedef double real_t

ctypedef struct Vec3:
    double x
    double y
    double z

ctypedef struct Quat:
    double w
    double x
    double y
    double z

ctypedef struct Mat3:
    # Row major: the row of the letter first, xy is row x, column y.
    double xx
    double xy
    double xz
    double yx
    double yy
    double yz
    double zx
    double zy
    double zz

ctypedef struct Twist:
    # Linear velocity of the centre of mass and angular velocity, both in world axes.
    Vec3 v
    Vec3 w

# What a kernel answers; the `def` layer turns everything but OK into growth or an exception.
cdef enum Status:
    OK = 0
    GROW = 1          # a buffer is full: grow it and call again, nothing was lost
    NOT_FINITE = 2    # the step met a NaN or an infinity
    CALL_FAILED = 3   # a function of the user's raised

cdef extern from *:
    """
    #include <assert.h>
    /* Alive in the debug build only (MCSIM_DEBUG=1 undefines NDEBUG). */
    #define MC_ASSERT(condition) assert(condition)
    """
    void MC_ASSERT(bint condition) noexcept nogil
