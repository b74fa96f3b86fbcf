"""Compliant contact: what the pipelines call."""

from mcsim.state._layout cimport BIASED, RELAXED, ROW_NORMAL, Bodies, Manifold, Resistance, Row, Settings, Shape

# manifolds: `count`, with their rows; resistances: beside them, or NULL; shapes: of the world.
cdef void load_surfaces(Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                        const Settings* settings, Row* rows) noexcept nogil
cdef Py_ssize_t comply(const Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                       const Bodies* bodies, const Settings* settings, Row* rows) noexcept nogil
cdef void move_surfaces(Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                        const Bodies* bodies, const Settings* settings, const Row* rows) noexcept nogil
cdef double surface_energy(const Manifold* manifolds, const Shape* shapes, Py_ssize_t count) noexcept nogil


cdef inline double complied(const Row* row, double impulse) noexcept nogil:
    """What a half is guessed to be. impulse: what the last one was. A point that is faster than the substep is guessed by
    its spring as it stands, for J v = 0, no higher: what stopped an impact is not to throw back, since sweeps may leave a
    part of a wrong guess."""
    cdef double hold
    if not row.compliance[RELAXED] > 0.0:
        return impulse
    hold = -row.bias[BIASED] / row.compliance[BIASED]
    if row.kind == ROW_NORMAL:
        return max(min(hold, impulse), 0.0)
    return hold
