"""Contact manifolds to rows: the verbs that the pipeline calls."""

from mcsim.state._layout cimport Anchor, Bodies, Manifold, Resistance, Row, Settings

# resistances: beside the manifolds, or NULL.
cdef Py_ssize_t layout_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                                const Bodies* bodies, const Settings* settings, Anchor* anchors, Row* rows,
                                Py_ssize_t begin, Py_ssize_t capacity, bint bouncing) noexcept nogil
cdef void refresh_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count, const Bodies* bodies,
                           const Settings* settings, const Anchor* anchors, Row* rows, bint bouncing) noexcept nogil
cdef void accumulate_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count, const Settings* settings,
                              const Row* rows, const double* impact_impulse, bint bouncing) noexcept nogil
