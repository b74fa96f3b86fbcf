"""A block of three rows, two along the tangents and one about the normal, as one lane of a block of contacts."""

from mcsim.wide._blocks cimport ContactBlock, ResistanceBlock
from mcsim.wide._limit_surface cimport Planar, limit_surface_step, set_cone, set_spin


cdef void surface_step(const Row* rows, const Row* row, int relaxed, const double* w, double* x,
                       double* share) noexcept nogil:
    cdef const Row* normal = rows + row.normal_begin
    cdef ContactBlock block
    cdef ResistanceBlock resisting
    cdef int i
    block.friction = row.friction
    for i in range(row.normal_count):
        block.points[i].impulse = max(normal[i].impulse, 0.0)
        block.points[i].turn[0] = normal[i].offset[1]
        block.points[i].turn[1] = -normal[i].offset[0]
        block.rub[i].impulse[0] = normal[i].share[0]
        block.rub[i].impulse[1] = normal[i].share[1]
    resisting.torsional = row[2].lever
    resisting.bore = row[2].share[0]
    set_products(&block, row[0].diagonal + row[0].compliance[relaxed], row[1].diagonal + row[1].compliance[relaxed],
                 row[0].coupling, row[2].diagonal + row[2].compliance[relaxed], row[2].coupling, row[1].coupling)
    for i in range(3):
        x[i] = row[i].impulse
    one_step(&block, &resisting, row.normal_count, w, x)
    for i in range(row.normal_count):
        share[2 * i] = block.rub[i].impulse[0]
        share[2 * i + 1] = block.rub[i].impulse[1]
    share[8] = resisting.bore


cdef inline void set_products(ContactBlock* block, double d0, double d1, double c, double twist, double t0,
                              double t1) noexcept nogil:
    """J M^-1 J': [[d0, c, t0], [c, d1, t1], [t0, t1, twist]]."""
    block.twists = block.lacks_mass = 1
    set_cone(&block.slide, d0, d1, c)
    block.spin.d = twist
    block.spin.c[0] = t0
    block.spin.c[1] = t1
    set_spin(&block.spin, &block.slide)


cdef inline void one_step(ContactBlock* block, ResistanceBlock* resisting, int count, const double* w,
                          double* x) noexcept nogil:
    """x stays where nothing moves."""
    cdef Planar slip
    if not (block.slide.d0 > 0.0 or block.spin.d > 0.0):
        return
    slip.x, slip.y, slip.w = w[0], w[1], w[2]
    block.slide.impulse[0], block.slide.impulse[1], block.twist = x[0], x[1], x[2]
    slip = limit_surface_step(block, resisting if resisting.torsional > 0.0 else NULL, count, slip, True)
    x[0], x[1], x[2] = slip.x, slip.y, slip.w

# ---- for the tests ---------------------------------------------------------------------------------------------------


def py_limit_surface_step(const double[:, ::1] turns, const double[::1] limits, const double[:, ::1] k, const double[::1] w,
                          double[::1] share, double[::1] x):
    """Points at these turns, without a moment about the normal alone."""
    cdef ContactBlock block
    cdef ResistanceBlock resisting
    cdef int i
    block.friction = 1.0
    resisting.torsional = 0.0
    for i in range(<int>limits.shape[0]):
        block.points[i].impulse, block.points[i].turn[0], block.points[i].turn[1] = limits[i], turns[i, 0], turns[i, 1]
        block.rub[i].impulse[0], block.rub[i].impulse[1] = share[2 * i], share[2 * i + 1]
    set_products(&block, k[0, 0], k[1, 1], k[0, 1], k[2, 2], k[0, 2], k[1, 2])
    one_step(&block, &resisting, <int>limits.shape[0], &w[0], &x[0])
    for i in range(<int>limits.shape[0]):
        share[2 * i], share[2 * i + 1] = block.rub[i].impulse[0], block.rub[i].impulse[1]
