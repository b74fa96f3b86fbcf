"""Contact manifolds to rows: the verbs that the pipeline calls, and which rows a manifold has."""

from mcsim.core._math cimport add, scale, vec3
from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings
from mcsim.wide._contact_frame cimport ContactAnchors

cdef enum:
    MOST_ROWS = 15               # of one manifold: 4 normals, 8 frictions, a twist, 2 against rolling

# Which manifolds have rows. Where another set solves the contacts, some have them for impacts alone.
cdef enum WithRows:
    ALL_CONTACTS = 0             # and the rows are those by which they are solved
    BOUNCING = 1                 # for impacts: those with a restitution
    RESTING = 2                  # for impacts: those without


# anchors: beside the manifolds, of one lane each. resistances: likewise, or NULL. order: the manifolds' numbers as rows are
# laid out, NULL: as they stand. found: the bodies as they were when the manifolds were found.
cdef Py_ssize_t layout_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count, const int32_t* order,
                                const Bodies* bodies, const Settings* settings, ContactAnchors* anchors, Row* rows,
                                Py_ssize_t begin, Py_ssize_t capacity, const Bodies* found, int which) noexcept nogil
cdef void refresh_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count, const Bodies* bodies,
                           const Settings* settings, ContactAnchors* anchors, Row* rows, int which) noexcept nogil
cdef void bend_contacts(const Manifold* manifolds, Py_ssize_t count, const int32_t* chosen, const Bodies* bodies,
                        const Twist* acceleration, const Vec3* shared, double h, const ContactAnchors* anchors,
                        Row* rows) noexcept nogil
cdef void accumulate_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                              const Settings* settings,
                              Row* rows, const double* impact_impulse, int which) noexcept nogil

# Which rows a manifold has, and where from its first on. Friction comes behind the normals, so that a sweep ends within the
# bounds that the loads have at its end; but before those of compliant surfaces, springs so stiff that they must be
# met last.
ctypedef struct ContactRows:
    int normals                  # where they begin: one a point
    int pairs                    # where friction begins: 2 rows a pair, then the twist, then those against rolling
    int friction                 # how many
    int twist                    # 0 or 1
    int rolling                  # 0 or 2


cdef inline bint has_rows(const Manifold* m, int which) noexcept nogil:
    return which == ALL_CONTACTS or (m.restitution > 0.0) == (which == BOUNCING)


cdef inline ContactRows contact_rows(const Manifold* m, const Resistance* r, const Settings* settings) noexcept nogil:
    cdef ContactRows n
    n.rolling = 2 if r != NULL and r.rolling > 0.0 else 0
    n.friction = 0
    n.twist = 0
    if m.friction > 0.0:
        n.friction = 2 if settings.friction_central else 2 * m.point_count
        n.twist = settings.friction_central and m.point_count > 1
    if r != NULL and r.torsional > 0.0:
        n.twist = 1
    n.normals = n.friction + n.twist + n.rolling if settings.compliant else 0
    n.pairs = 0 if settings.compliant else m.point_count
    return n


cdef inline const Resistance* resistance_of(const Resistance* resistances, Py_ssize_t i) noexcept nogil:
    """Of manifold i, or NULL."""
    if resistances == NULL:
        return NULL
    return &resistances[i]


cdef inline Vec3 pair_impulse(const Row* rows) noexcept nogil:
    """The tangential impulse on b of two friction rows, world axes."""
    return add(scale(rows[0].impulse, vec3(rows[0].jacobian[6], rows[0].jacobian[7], rows[0].jacobian[8])),
               scale(rows[1].impulse, vec3(rows[1].jacobian[6], rows[1].jacobian[7], rows[1].jacobian[8])))
