"""Where bodies were last seen, to notice what was moved."""

from libc.string cimport memcmp

import numpy as np

from mcsim.core._arrays cimport doubles


cdef class LastSeen:
    """count: of bodies."""

    def __init__(self, Py_ssize_t count):
        self.kept = np.zeros((count + 1, 3)), np.zeros((count + 1, 4))
        self.position, self.orientation = <Vec3*>doubles(self.kept[0]), <Quat*>doubles(self.kept[1])

    def get(self):
        """(n, 7) positions and orientations, a copy."""
        return np.hstack(self.kept)

    def set(self, seen):
        """seen (n, 7)"""
        self.kept[0][:len(seen)], self.kept[1][:len(seen)] = seen[:, :3], seen[:, 3:]

    cdef edit(self, Rows rows, fresh):
        """Follow bodies that went and came; fresh: BodyArrays of those that came."""
        rows.edit(self.kept[0], fresh.position)
        rows.edit(self.kept[1], fresh.orientation)

    cdef bint displaced(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil:
        return (memcmp(&bodies.position[i], &self.position[i], sizeof(Vec3)) != 0
                or memcmp(&bodies.orientation[i], &self.orientation[i], sizeof(Quat)) != 0)

    cdef void keep(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil:
        self.position[i] = bodies.position[i]
        self.orientation[i] = bodies.orientation[i]
