"""Contacts that begin and end, noted step by step in memory that grows; no Python object is made until they are asked
for."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy
from mcsim.core._fetch cimport fetch
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3
from mcsim.state._manifold cimport Manifold
from mcsim.collide._memory cimport address
from mcsim.collide._records cimport Event, EventLog

cdef enum:
    AHEAD = 8                    # manifolds are far apart in memory: that many are fetched in advance

cdef extern from *:
    """
    /* Of the distance from which on a pair has contacts: how far apart what touched must be to touch no more. */
    #define MC_RELEASE 0.025
    """
    const double RELEASE "MC_RELEASE"


cdef inline int grow_log(EventLog* log) noexcept with gil:
    """Room for more events. -> 0: there is no memory"""
    cdef Py_ssize_t capacity = 2 * log.capacity + 64
    cdef void* larger = realloc(log.events, capacity * sizeof(Event))
    if larger == NULL:
        log.lost = 1
        return 0
    log.events = <Event*>larger
    log.capacity = capacity
    return 1


cdef inline Event* next_event(EventLog* log, int began) noexcept nogil:
    """The next event, blank; NULL without memory for it."""
    cdef Event* event
    if log.count == log.capacity and not grow_log(log):
        return NULL
    event = &log.events[log.count]
    log.count += 1
    event.step = log.step
    event.began = began
    event.reserved = 0
    event.impulse = 0.0
    event.position = vec3(0.0, 0.0, 0.0)
    event.normal = event.position
    return event


cdef inline void clear_log(EventLog* log) noexcept nogil:
    """Forget all events, and count steps anew."""
    log.count = 0
    log.step = 0
    log.lost = 0


cdef inline void take_events(EventLog* log, EventLog* other) noexcept:
    """Go on with the events of another log, which is left without. What touches is not known to be the same."""
    cdef EventLog own = log[0]
    log[0] = other[0]
    other[0] = own
    log.touching = -1


cdef inline logged(const EventLog* log, events):
    """The events, in the array `events` (log.count,) EVENT_DTYPE."""
    if log.lost:
        raise MemoryError("there was no memory to note all contacts that began and ended; step fewer steps at a time")
    memcpy(address(events), log.events, log.count * sizeof(Event))
    return events


cdef inline int in_touch(const Manifold* m) noexcept nogil:
    """Did the bodies touch in this step? A point carried an impulse, or the surfaces meet at its end. Once they touch they
    do until they are a part of `near` apart, so that what trembles at distance 0 makes no events."""
    cdef double near = RELEASE * m.near if m.touching else 0.0
    cdef int i
    for i in range(m.point_count):
        if m.points[i].total_normal_impulse > 0.0 or m.points[i].separation <= near:
            return 1
    return 0


cdef inline void note_contact(EventLog* log, const Manifold* m, Py_ssize_t parts, int began) noexcept nogil:
    """m: the first of the pair's manifolds."""
    cdef Event* event = next_event(log, began)
    cdef double least = INFINITY
    cdef Py_ssize_t k
    cdef int i
    if event == NULL:
        return
    event.body_a = m.body_a
    event.body_b = m.body_b
    event.shape_a = m.shape_a
    event.shape_b = m.shape_b
    if not began:
        return
    for k in range(parts):
        for i in range(m[k].point_count):
            event.impulse += m[k].points[i].total_normal_impulse
            if m[k].points[i].separation < least:
                least = m[k].points[i].separation
                event.position = m[k].points[i].position
                event.normal = m[k].normal


cdef inline Py_ssize_t parts_of(const Manifold* m, Py_ssize_t count) noexcept nogil:
    """How many of the next `count` manifolds are of the first one's pair."""
    cdef Py_ssize_t parts = 1
    while parts < count and m[parts].key == m.key:
        parts += 1
    return parts


cdef inline void note_contacts(EventLog* log, const Manifold* old, Py_ssize_t old_count, Manifold* manifolds,
                               Py_ssize_t count) noexcept nogil:
    """Compare the contacts after a step with those before it; both are sorted by key. `touching` of the old ones has
    come over to the new ones of the same key: if all of it has, no old one needs to be looked at. A surface's parts come
    and go: together they are one contact, and it is looked up whether it was one."""
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t carried = 0
    cdef Py_ssize_t now = 0
    cdef Py_ssize_t parts, j
    cdef Manifold* m
    cdef int touching, did
    log.step += 1
    while i < count:
        m = &manifolds[i]
        fetch(&manifolds[i + AHEAD].points[0].total_normal_impulse, sizeof(double))
        did = m.touching
        parts = parts_of(m, count - i)
        if m.sheet != 0:
            while k < old_count and old[k].key < m.key:
                k += 1
            did = k < old_count and old[k].key == m.key and old[k].touching
        touching = 0
        for j in range(parts):
            m[j].touching = did
            touching |= in_touch(&m[j])
        if touching != did:
            note_contact(log, m, parts, touching)
            for j in range(parts):
                m[j].touching = touching
        carried += did
        now += touching
        i += parts
    if carried != log.touching:
        note_gone(log, old, old_count, manifolds, count)
    log.touching = now


cdef inline void note_gone(EventLog* log, const Manifold* old, Py_ssize_t old_count, const Manifold* manifolds,
                           Py_ssize_t count) noexcept nogil:
    """What touched and has no manifold any more."""
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t k = 0
    while k < old_count:
        while i < count and manifolds[i].key < old[k].key:
            i += 1
        if old[k].touching and (i == count or manifolds[i].key != old[k].key):
            note_contact(log, &old[k], 1, 0)
        k += parts_of(&old[k], old_count - k)
