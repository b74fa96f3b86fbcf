"""Contacts that begin and end, noted step by step in memory that grows; no Python object is made."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3
from mcsim.state._layout cimport Manifold

cdef extern from *:
    """
    /* Fetch a cache line that will be read soon, where the compiler can say so. */
    #if defined(__GNUC__)
    #define MC_FETCH_LINE(p) __builtin_prefetch((const void*)(p))
    #else
    #define MC_FETCH_LINE(p) ((void)(p))
    #endif
    """
    void fetch_line "MC_FETCH_LINE"(const void* address) noexcept nogil

cdef enum:
    AHEAD = 8                    # manifolds are far apart in memory: that many are fetched in advance

# As state/fields.EVENT_DTYPE.
ctypedef struct Event:
    int64_t step                 # which one since the log was cleared, from 1 on
    int32_t began                # 0: it ended
    int32_t body_a
    int32_t body_b
    int32_t shape_a              # number in the world
    int32_t shape_b
    int32_t reserved
    double impulse               # of the step in which it began [N s]
    Vec3 position                # of its deepest point, world [m]
    Vec3 normal                  # from a to b, world

ctypedef struct EventLog:
    Event* events
    Py_ssize_t count
    Py_ssize_t capacity
    int64_t step                 # steps since the log was cleared
    int lost                     # there was no memory for some of them


cdef inline Event* next_event(EventLog* log, int began) noexcept nogil:
    """The next event, blank; NULL without memory for it."""
    cdef Py_ssize_t capacity
    cdef void* larger
    cdef Event* event
    if log.count == log.capacity:
        capacity = 2 * log.capacity + 64
        larger = realloc(log.events, capacity * sizeof(Event))
        if larger == NULL:
            log.lost = 1
            return NULL
        log.events = <Event*>larger
        log.capacity = capacity
    event = &log.events[log.count]
    log.count += 1
    event.step = log.step
    event.began = began
    event.reserved = 0
    event.impulse = 0.0
    event.position = vec3(0.0, 0.0, 0.0)
    event.normal = event.position
    return event


cdef inline int copy_log(const EventLog* log, Event* events) except -1:
    """Into room for log.count events."""
    if log.lost:
        raise MemoryError("there was no memory to note all contacts that began and ended; step fewer steps at a time")
    memcpy(events, log.events, log.count * sizeof(Event))
    return 0


cdef inline int in_touch(const Manifold* m, double release) noexcept nogil:
    """Did the bodies touch in this step? A point carried an impulse, or the surfaces meet at its end. Once they touch they
    do until they are `release` apart, so that what trembles at distance 0 makes no events."""
    cdef double near = release if m.touching else 0.0
    cdef int i
    for i in range(m.point_count):
        if m.points[i].total_normal_impulse > 0.0 or m.points[i].separation <= near:
            return 1
    return 0


cdef inline void note_contact(EventLog* log, const Manifold* m, int began) noexcept nogil:
    cdef Event* event = next_event(log, began)
    cdef int deepest = 0
    cdef int i
    if event == NULL:
        return
    event.body_a = m.body_a
    event.body_b = m.body_b
    event.shape_a = m.shape_a
    event.shape_b = m.shape_b
    if not began:
        return
    for i in range(m.point_count):
        event.impulse += m.points[i].total_normal_impulse
        if m.points[i].separation < m.points[deepest].separation:
            deepest = i
    event.position = m.points[deepest].position
    event.normal = m.normal


cdef inline void note_contacts(EventLog* log, const Manifold* old, Py_ssize_t old_count, Manifold* manifolds,
                               Py_ssize_t count, double release) noexcept nogil:
    """Compare the contacts after a step with those before it; both are sorted by key. `touching` of the old ones has
    come over to the new ones of the same key."""
    cdef Py_ssize_t i
    cdef Py_ssize_t k = 0
    cdef Manifold* m
    cdef int touching
    log.step += 1
    for i in range(count):
        m = &manifolds[i]
        fetch_line(&manifolds[i + AHEAD])
        fetch_line(&manifolds[i + AHEAD].points[0].total_normal_impulse)
        fetch_line(&old[k + AHEAD])
        while k < old_count and old[k].key < m.key:
            if old[k].touching:
                note_contact(log, &old[k], 0)
            k += 1
        k += k < old_count and old[k].key == m.key
        touching = in_touch(m, release)
        if touching != m.touching:
            m.touching = touching
            note_contact(log, m, touching)
    while k < old_count:
        if old[k].touching:
            note_contact(log, &old[k], 0)
        k += 1
