"""Sensors: shapes that report what comes into them and push nothing.

After every step each sensor looks for the shapes that overlap it at the poses of that moment, and what came in and went
out since the step before is noted. What flies through a sensor within one step is not seen. A sensor sees the solid
shapes of other bodies whose groups and masks agree with its own and that no joint keeps from colliding with it; one of
the two bodies must be able to move, so a sensor on a body that moves sees the ground, and one on the ground does not.
Sensors do not see each other.
"""

import numpy as np

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.collide._collider cimport Collider
from mcsim.collide._events cimport Event, clear_log, logged, next_event, take_events
from mcsim.collide._memory cimport address
from mcsim.collide._pairs cimport sort_keys
from mcsim.collide._queries cimport Filter, Finder
from mcsim.state.fields import EVENT_DTYPE


cdef pairs_of(const uint64_t* keys, Py_ssize_t count):
    """-> (k, 2) int32"""
    copy = np.empty(count, np.uint64)
    memcpy(address(copy), keys, count * sizeof(uint64_t))
    return np.stack([copy >> np.uint64(32), copy & np.uint64(0xffffffff)], axis=1).astype(np.int32)


cdef class Sensors(Finder):
    def __cinit__(self, Collider collider not None):
        cdef int32_t i
        self.sensors = <int32_t*>calloc(self.shape_count + 1, sizeof(int32_t))
        if self.sensors == NULL or not self.reserve(64):
            raise MemoryError("there is no memory for the sensors")
        for i in range(self.shape_count):
            if collider.shapes[i].sensor:
                self.sensors[self.sensor_count] = i
                self.sensor_count += 1

    def __dealloc__(self):
        free(self.sensors)
        free(self.inside)
        free(self.now)
        free(self.scratch)
        free(self.log.events)

    cdef int reserve(self, Py_ssize_t count) noexcept with gil:
        """Room for so many pairs. -> 0: there is no memory"""
        cdef Py_ssize_t capacity = max(count, 2 * self.capacity)
        cdef uint64_t** lists[3]
        cdef void* larger
        cdef int i
        if count <= self.capacity:
            return 1
        lists[0] = &self.inside
        lists[1] = &self.now
        lists[2] = &self.scratch
        for i in range(3):
            larger = realloc(lists[i][0], capacity * sizeof(uint64_t))
            if larger == NULL:
                return 0
            lists[i][0] = <uint64_t*>larger
        self.capacity = capacity
        return 1

    cdef Py_ssize_t look_inside(self, const Bodies* bodies) noexcept nogil:
        """What is in the sensors now into `now`, sorted. -> how many, -1 if there is no memory"""
        cdef Filter chosen
        cdef Py_ssize_t k
        cdef Py_ssize_t found
        cdef Py_ssize_t count = 0
        cdef int32_t i, sensor
        self.follow(bodies.position, bodies.orientation)
        chosen.skipped = NULL
        chosen.kind = bodies.kind
        for i in range(self.sensor_count):
            sensor = self.sensors[i]
            if not self.solids[sensor].finite:
                continue
            chosen.sensor = sensor
            chosen.mask = self.collider.shapes[sensor].mask
            found = self.touching(&self.solids[sensor], &chosen, self.found)
            if count + found > self.capacity and not self.reserve(count + found):
                return -1
            for k in range(found):
                self.now[count + k] = (<uint64_t>sensor << 32) | <uint64_t>self.found[k]
            count += found
        sort_keys(self.now, self.scratch, count)
        return count

    cdef void note(self, uint64_t key, int began) noexcept nogil:
        cdef Event* event = next_event(&self.log, began)
        if event == NULL:
            return
        event.shape_a = <int32_t>(key >> 32)
        event.shape_b = <int32_t>key
        event.body_a = self.collider.shapes[event.shape_a].body
        event.body_b = self.collider.shapes[event.shape_b].body

    cdef void sense(self, const Bodies* bodies) noexcept nogil:
        """After a step: note what came in and what went out."""
        cdef Py_ssize_t count = self.look_inside(bodies)
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t k = 0
        cdef uint64_t* swap
        self.log.step += 1
        if count < 0:
            self.log.lost = 1
            return
        while i < count or k < self.inside_count:
            if k == self.inside_count or i < count and self.now[i] < self.inside[k]:
                self.note(self.now[i], 1)
                i += 1
            elif i == count or self.inside[k] < self.now[i]:
                self.note(self.inside[k], 0)
                k += 1
            else:
                i += 1
                k += 1
        swap = self.inside
        self.inside = self.now
        self.inside_count = count
        self.now = swap

    # ---- for Python --------------------------------------------------------------------------------------------------

    cpdef void clear_events(self):
        """Forget what came and went, and count steps anew."""
        clear_log(&self.log)

    def take_log(self, Sensors other):
        """The events of sensors whose place these take."""
        take_events(&self.log, &other.log)

    def get_events(self):
        """-> (e,) EVENT_DTYPE: what came in and went out since clear_events(); a is the sensor."""
        return logged(&self.log, np.empty(self.log.count, EVENT_DTYPE))

    def get_inside(self):
        """-> (k, 2) int32: sensor and shape, of all that was inside after the last step; sorted."""
        return pairs_of(self.inside, self.inside_count)

    def set_inside(self, pairs):
        """Restore what get_inside gave."""
        pairs = np.array(pairs, np.int64).reshape(-1, 2)
        if np.any((pairs < 0) | (pairs >= self.shape_count)):
            raise ValueError(f"sensors and shapes must be numbers of the {self.shape_count} shapes")
        keys = np.unique(pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1].astype(np.uint64))
        if not self.reserve(len(keys)):
            raise MemoryError("there is no memory for the sensors")
        memcpy(self.inside, address(keys), len(keys) * sizeof(uint64_t))
        self.inside_count = len(keys)
        self.clear_events()

    def inside_now(self, position, orientation, kind):
        """-> (k, 2) int32: sensor and shape at these poses (n, 3), (n, 4) of bodies of these kinds (n,); sorted"""
        cdef Bodies bodies
        cdef Py_ssize_t count
        position, orientation = np.ascontiguousarray(position), np.ascontiguousarray(orientation)
        kind = np.ascontiguousarray(kind, np.int32)
        if not len(position) == len(orientation) == len(kind) >= self.body_count:
            raise ValueError(f"position, orientation and kind must have a row for each of {self.body_count} bodies")
        memset(&bodies, 0, sizeof(bodies))
        bodies.position = <Vec3*>address(position)
        bodies.orientation = <Quat*>address(orientation)
        bodies.kind = <int32_t*>address(kind)
        count = self.look_inside(&bodies)
        if count < 0:
            raise MemoryError("there is no memory for the sensors")
        return pairs_of(self.now, count)
