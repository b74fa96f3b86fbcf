"""The lists of a world's manifolds and their memory: those of the step at hand, of the last accepted one, and of what
sleeps."""

import numpy as np

from libc.stdint cimport int8_t, int32_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset
from cython cimport final
from mcsim.core._math cimport vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._contact_reference cimport EDGES, FACE_A, FACE_B, RING_A, RING_B, of_vertex
from mcsim.state._manifold cimport Manifold, ManifoldOrigin, ManifoldPoint, Resistance
from mcsim.state.fields import MANIFOLD_DTYPE
from mcsim.collide._memory cimport address, resized, resized_lines
from mcsim.collide._pairs cimport pair_key
from mcsim.collide._resting cimport take_over
from mcsim.core._fetch cimport fetch

cdef enum:
    AHEAD = 16                   # manifolds from the one that is read to the one that is asked for meanwhile


@final
cdef class ManifoldStore:
    """Both grow and accept move the lists."""

    def __dealloc__(self):
        free(self.manifolds)
        free(self.previous)
        free(self.sleeping)
        free(self.resistances)

    # ---- room --------------------------------------------------------------------------------------------------------

    cdef bint has_room(self) noexcept nogil:
        """Whether all accepted manifolds would go into either list."""
        return self.has_room_for(self.previous_count)

    cdef bint has_room_for(self, Py_ssize_t count) noexcept nogil:
        """Whether so many manifolds and those of what sleeps would."""
        if count + self.sleeping_count <= self.capacity:
            return True
        self.wanted = 2 * self.capacity
        return False

    cdef int grow(self) except -1:
        """Room for as many as are wanted."""
        cdef Py_ssize_t capacity
        if self.wanted > self.capacity:
            capacity = max(self.wanted, 2 * self.capacity)
            self.manifolds = self.room(self.manifolds, capacity)
            self.previous = self.room(self.previous, capacity)
            self.sleeping = self.room(self.sleeping, capacity)
            self.resistances = <Resistance*>resized(self.resistances, capacity, sizeof(Resistance))
            self.capacity = capacity
        return 0

    cdef Manifold* room(self, Manifold* manifolds, Py_ssize_t capacity) except NULL:
        return <Manifold*>resized_lines(manifolds, self.capacity, capacity, sizeof(Manifold))

    # ---- friction beyond Coulomb's -----------------------------------------------------------------------------------

    cdef Resistance* resisted(self) noexcept nogil:
        """Beside the manifolds for which resistances were found, or NULL: no shape has any."""
        return self.resistances if self.resisting else NULL

    cdef void resist(self, bint resisting) noexcept nogil:
        """Some shape has resistances from now on, or none has. Where they begin rolling impulses, neither written nor read
        before, are 0."""
        cdef bint begins = resisting and not self.resisting
        cdef Py_ssize_t i
        self.resisting = resisting
        if not begins:
            return
        for i in range(self.previous_count):
            self.previous[i].rolling_impulse = vec3(0.0, 0.0, 0.0)
        for i in range(self.sleeping_count):
            self.sleeping[i].rolling_impulse = vec3(0.0, 0.0, 0.0)

    # ---- from list to list -------------------------------------------------------------------------------------------

    cdef void accept(self) noexcept nogil:
        """The present manifolds become the previous ones."""
        cdef Manifold* swap = self.previous
        self.previous, self.previous_count = self.manifolds, self.manifold_count
        self.manifolds, self.manifold_count = swap, 0

    cdef void part(self, const Bodies* bodies) noexcept nogil:
        """Manifolds of sleeping bodies into their own list, those of woken ones back. Needs has_room()."""
        take_over(self.previous, &self.previous_count, self.sleeping, &self.sleeping_count, bodies, True)
        take_over(self.sleeping, &self.sleeping_count, self.previous, &self.previous_count, bodies, False)

    # ---- shapes that come, go and change -----------------------------------------------------------------------------

    cdef void renumber(self, const int32_t* shapes, const int32_t* bodies) noexcept nogil:
        """The accepted manifolds follow what shapes and bodies are called from now on; those of a shape that goes (-1) go
        with it. Numbers rise as they did, so that both lists stay sorted."""
        self.previous_count = renumbered(self.previous, self.previous_count, shapes, bodies)
        self.sleeping_count = renumbered(self.sleeping, self.sleeping_count, shapes, bodies)
        self.manifold_count = 0

    cdef void find_anew(self, const int8_t* shapes) noexcept nogil:
        """Of the accepted manifolds the points of flagged shapes are not used again."""
        disallow(self.previous, self.previous_count, shapes)
        disallow(self.sleeping, self.sleeping_count, shapes)

    cdef void clear(self) noexcept nogil:
        self.previous_count = 0
        self.sleeping_count = 0
        self.manifold_count = 0

    # ---- for Python --------------------------------------------------------------------------------------------------

    def get(self, bint present=False):
        """-> (m,) MANIFOLD_DTYPE: a copy of the manifolds of the last accepted step; what is not in use is zero. Those
        of sleeping bodies are as they were when they fell asleep, but have gone on with what carries them. present: of
        the poses for which manifolds were found last, be it for a step or for who looks."""
        cdef const Manifold* found = self.manifolds if present else self.previous
        cdef Py_ssize_t made = self.manifold_count if present else self.previous_count
        cdef Py_ssize_t count = made + self.sleeping_count
        result = np.empty(count, MANIFOLD_DTYPE)
        cdef Manifold* m = <Manifold*>address(result)
        cdef Py_ssize_t i
        cdef int k
        memcpy(m, found, made * sizeof(Manifold))
        memcpy(m + made, self.sleeping, self.sleeping_count * sizeof(Manifold))
        for i in range(count):
            memset(&m[i].points[m[i].point_count], 0, (4 - m[i].point_count) * sizeof(ManifoldPoint))
            for k in range(m[i].point_count):
                if of_vertex(&m[i].points[k]):
                    memset(m[i].points[k].cross, 0, sizeof(m[i].points[k].cross))
            if m[i].turns == 0 or m[i].turns == FACE_A or m[i].turns == FACE_B:
                m[i].line = vec3(0.0, 0.0, 0.0)
            if m[i].turns != EDGES and m[i].turns != RING_A and m[i].turns != RING_B:
                m[i].line_b = vec3(0.0, 0.0, 0.0)
            if m[i].allowance == 0.0:
                memset(&m[i].origin, 0, sizeof(ManifoldOrigin))
            if not self.resisting:
                m[i].rolling_impulse = vec3(0.0, 0.0, 0.0)
        return result[np.argsort(result["key"], kind="stable")] if self.sleeping_count else result

    def set(self, manifolds):
        """Restore what get() gave. Refused: nothing changed."""
        manifolds = np.ascontiguousarray(manifolds, MANIFOLD_DTYPE)
        keys, parts = manifolds["key"], manifolds["part"]
        if np.any(keys[1:] < keys[:len(keys) - 1]) or np.any((keys[1:] == keys[:len(keys) - 1])
                                                            & (parts[1:] <= parts[:len(parts) - 1])):
            raise ValueError("manifolds must be sorted by key and part and have none twice")
        if np.any((manifolds["point_count"] < 0) | (manifolds["point_count"] > 4)):
            raise ValueError("a manifold has 0 to 4 points")
        if np.any((manifolds["origin"]["owner"] < 0) | (manifolds["origin"]["owner"] > 3)):
            raise ValueError("a manifold's owner is 0 to 3")
        self.wanted = len(manifolds)
        self.grow()
        memcpy(self.previous, address(manifolds), len(manifolds) * sizeof(Manifold))
        self.previous_count = len(manifolds)
        self.sleeping_count = 0


cdef Py_ssize_t renumbered(Manifold* manifolds, Py_ssize_t count, const int32_t* shapes,
                           const int32_t* bodies) noexcept nogil:
    """-> how many stay"""
    cdef Py_ssize_t i, kept = 0
    cdef Manifold* m
    for i in range(count):
        m = &manifolds[i]
        fetch(&manifolds[i + AHEAD], sizeof(m.key))
        if shapes[m.shape_a] < 0 or shapes[m.shape_b] < 0:
            continue
        if (shapes[m.shape_a] != m.shape_a or shapes[m.shape_b] != m.shape_b
                or bodies[m.body_a] != m.body_a or bodies[m.body_b] != m.body_b):
            m.shape_a = shapes[m.shape_a]
            m.shape_b = shapes[m.shape_b]
            m.body_a = bodies[m.body_a]
            m.body_b = bodies[m.body_b]
            m.key = pair_key(m.shape_a, m.shape_b)
        if kept < i:
            manifolds[kept] = m[0]
        kept += 1
    return kept


cdef void disallow(Manifold* manifolds, Py_ssize_t count, const int8_t* shapes) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        fetch(&manifolds[i + AHEAD], sizeof(manifolds.key))
        if shapes[manifolds[i].shape_a] or shapes[manifolds[i].shape_b]:
            manifolds[i].allowance = 0.0
