"""Sensors: shapes that report what comes into them and push nothing.

After every step each sensor looks for the shapes that overlap it at the poses of that moment, and what came in and
went out since the step before is noted. So is what has passed through within the step: it came in, and went out. Only
what moves by more than its own thickness in a step can do so; it is swept along the straight line between the two
poses, as seen from the other one, at the orientation that it has now. A sensor sees the solid shapes of other bodies
whose groups and masks agree with its own and that no joint keeps from colliding with it; one of the two bodies must
be able to move, so a sensor on a body that moves sees the ground, and one on the ground does not. Sensors do not see
each other.
"""

import numpy as np

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcpy, memset
from mcsim.core._math cimport neg, norm, scale, sub
from mcsim.core._touched cimport Touched
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._shape_types cimport PLANE
from mcsim.collide._collider cimport Collider
from mcsim.collide._events cimport Event, clear_log, logged, next_event, take_events
from mcsim.collide._memory cimport address
from mcsim.collide._pairs cimport has_key, sort_keys
from mcsim.collide._queries cimport Filter, Finder, Hit
from mcsim.collide._records cimport Ray
from mcsim.collide._shape_table cimport thickness
from mcsim.collide._solid cimport is_surface
from mcsim.state.fields import EVENT_DTYPE


cdef pairs_of(const uint64_t* keys, Py_ssize_t count):
    """-> (k, 2) int32"""
    copy = np.empty(count, np.uint64)
    memcpy(address(copy), keys, count * sizeof(uint64_t))
    return np.stack([copy >> np.uint64(32), copy & np.uint64(0xffffffff)], axis=1).astype(np.int32)


cdef Py_ssize_t unique_keys(uint64_t* keys, Py_ssize_t count) noexcept nogil:
    """Sorted keys, each once. -> how many"""
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t k
    for k in range(count):
        if kept == 0 or keys[k] != keys[kept - 1]:
            keys[kept] = keys[k]
            kept += 1
    return kept


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
        free(self.through)
        free(self.scratch)
        free(self.log.events)

    cdef int reserve(self, Py_ssize_t count) noexcept with gil:
        """Room for so many pairs. -> 0: there is no memory"""
        cdef Py_ssize_t capacity = max(count, 2 * self.capacity)
        cdef uint64_t** lists[4]
        cdef void* larger
        cdef int i
        if count <= self.capacity:
            return 1
        lists[0] = &self.inside
        lists[1] = &self.now
        lists[2] = &self.scratch
        lists[3] = &self.through
        for i in range(4):
            larger = realloc(lists[i][0], capacity * sizeof(uint64_t))
            if larger == NULL:
                return 0
            lists[i][0] = <uint64_t*>larger
        self.capacity = capacity
        return 1

    cdef Py_ssize_t look_inside(self, const Bodies* bodies, Touched* moved) noexcept nogil:
        """What is in the sensors now into `now`, sorted; moved: as of follow(). -> how many, -1 if there is no memory"""
        cdef Filter chosen
        cdef Py_ssize_t k
        cdef Py_ssize_t found
        cdef Py_ssize_t count = 0
        cdef int32_t i, sensor
        self.follow(bodies.position, bodies.orientation, moved)
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

    cdef Py_ssize_t look_between(self, const Bodies* bodies, const Bodies* before, Py_ssize_t count) noexcept nogil:
        """What has passed through sensors since the poses `before` into `through`, sorted. count: of what is inside now,
        which is found. -> how many, -1 if there is no memory"""
        cdef Py_ssize_t passed = 0
        cdef Py_ssize_t k, c
        cdef int32_t body, i
        cdef double way
        for k in range(bodies.moving_count):
            body = bodies.moving[k]
            if body >= self.body_count or self.shape_begin[body] == self.shape_begin[body + 1]:
                continue
            way = norm(sub(bodies.position[body], before.position[body]))
            for c in range(self.shape_begin[body], self.shape_begin[body + 1]):
                i = self.shapes_of[c]
                if self.solids[i].finite and way > thickness(&self.solids[i]):
                    passed = self.add_passing(i, bodies, before, count, passed)
                    if passed < 0:
                        return -1
        sort_keys(self.through, self.scratch, passed)
        return unique_keys(self.through, passed)

    cdef Py_ssize_t add_passing(self, int32_t i, const Bodies* bodies, const Bodies* before, Py_ssize_t count,
                                Py_ssize_t passed) noexcept nogil:
        """The pairs of shape i, which moves fast: sensors that it has passed, or what has passed it, a sensor. -> how many
        there are then"""
        cdef bint senses = self.collider.shapes[i].sensor
        cdef Py_ssize_t k
        cdef int32_t sensor, other
        cdef uint64_t key
        for k in range(self.shape_count if senses else self.sensor_count):
            sensor, other = i if senses else self.sensors[k], <int32_t>k if senses else i
            if not self.passes(sensor, other, bodies, before):
                continue
            key = (<uint64_t>sensor << 32) | <uint64_t>other
            if has_key(self.now, count, key) or has_key(self.inside, self.inside_count, key):
                continue
            if passed + 1 > self.capacity and not self.reserve(passed + 1):
                return -1
            self.through[passed] = key
            passed += 1
        return passed

    cdef bint passes(self, int32_t sensor, int32_t i, const Bodies* bodies, const Bodies* before) noexcept nogil:
        """Whether shape i, from where it is now back to where it was as the sensor sees it, meets the sensor."""
        cdef int32_t a = self.collider.shapes[sensor].body
        cdef int32_t b = self.collider.shapes[i].body
        cdef Filter chosen
        cdef Hit hit
        cdef Ray ray
        cdef double way
        chosen.skipped, chosen.kind, chosen.sensor = NULL, bodies.kind, sensor
        chosen.mask = self.collider.shapes[sensor].mask
        if not self.solids[sensor].finite or not self.sees(i, &chosen):
            return False
        ray.direction = sub(sub(before.position[b], bodies.position[b]), sub(before.position[a], bodies.position[a]))
        way = norm(ray.direction)
        if way == 0.0:
            return False
        ray.direction = scale(1.0 / way, ray.direction)
        if not is_surface(self.solids[i].type) and self.solids[i].type != PLANE:
            return self.meets(sensor, &ray, &self.solids[i], way, True, &hit)
        if is_surface(self.solids[sensor].type) or self.solids[sensor].type == PLANE:
            return False
        ray.direction = neg(ray.direction)
        return self.meets(i, &ray, &self.solids[sensor], way, True, &hit)

    cdef void note(self, uint64_t key, int began) noexcept nogil:
        cdef Event* event = next_event(&self.log, began)
        if event == NULL:
            return
        event.shape_a = <int32_t>(key >> 32)
        event.shape_b = <int32_t>key
        event.body_a = self.collider.shapes[event.shape_a].body
        event.body_b = self.collider.shapes[event.shape_b].body

    cdef void sense(self, const Bodies* bodies, const Bodies* before, Touched* moved) noexcept nogil:
        """After a step, which began at the poses `before`: note what came in and what went out. moved: as of follow()."""
        cdef Py_ssize_t count = self.look_inside(bodies, moved)
        cdef Py_ssize_t passed = self.look_between(bodies, before, count) if count >= 0 else -1
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t k = 0
        cdef uint64_t* swap
        self.log.step += 1
        if passed < 0:
            self.log.lost = 1
            return
        for i in range(passed):
            self.note(self.through[i], 1)
            self.note(self.through[i], 0)
        i = 0
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
        count = self.look_inside(&bodies, NULL)
        if count < 0:
            raise MemoryError("there is no memory for the sensors")
        return pairs_of(self.now, count)
