"""Compliant contact: what the pipelines call."""

from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings
from mcsim.wide._contact_frame cimport ContactAnchors
from mcsim.state._shape cimport Shape

# manifolds: `count`, with their rows; resistances: beside them, or NULL; shapes: of the world.
cdef void load_surfaces(Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                        const Bodies* bodies, const Settings* settings, Row* rows) noexcept nogil
cdef void comply(const Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                 const Bodies* bodies, const Settings* settings, const ContactAnchors* anchors, Row* rows) noexcept nogil
cdef void move_surfaces(Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                        const Bodies* bodies, const Settings* settings, const Row* rows) noexcept nogil
cdef void sign_surfaces(Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil
cdef double surface_energy(const Manifold* manifolds, const Shape* shapes, Py_ssize_t count) noexcept nogil
