"""The position stage of RATTLE on rows: velocities with which joints are as open at the end of a drift as at its start,

    C(q_1) = C(q_0),     q_1 = drift(q_0, v),     v = v_0 + M^-1 J(q_0)' lambda

so what a joint does to a body that goes along the chord of its path is an impulse like any other, and half of the one
that turns its velocity from one tangent to the next; the relax pass at q_1, J(q_1) v_1 = 0, gives the other half. With
forces in two halves around the drift the step is symmetric, of second order and, where the rows are solved, symplectic,
on whichever level C = const the joints are. What they are open by at the start is no velocity's to mend.

The rows know the chord to second order at once, by their curvature: bias = 1/2 h d2C/dt2 (stabilize/_stabilize.pyx). What
is left of C(q_1) - C(q_0), of third order, or what sweeps left, is taken out by Newton's method with the Jacobian at q_0,

    J v' = J v - (C(q_1) - C(q_0)) / h

which takes a further power of h from it each time.

Sources: H. Andersen, "Rattle: a velocity version of the Shake algorithm for molecular dynamics calculations", 1983; B.
Leimkuhler and R. Skeel, "Symplectic numerical integrators in constrained Hamiltonian systems", 1994; E. Hairer, C. Lubich,
G. Wanner, "Geometric Numerical Integration", 2006, section VII.1.
"""

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.integrate._euler cimport try_poses
from mcsim.state._row cimport BIASED, ROW_JOINT
from mcsim.state._rows cimport rate


cdef class Chords:
    """count: at least the bodies of the world."""

    def __init__(self, Py_ssize_t count):
        self.kept = np.zeros((count + 1, 3)), np.zeros((count + 1, 4))
        self.position, self.orientation = <Vec3*>doubles(self.kept[0]), <Quat*>doubles(self.kept[1])

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(bodies.moving_count):
            self.position[k] = bodies.position[bodies.moving[k]]
            self.orientation[k] = bodies.orientation[bodies.moving[k]]

    cdef void try_drift(self, Bodies* bodies, double h) noexcept nogil:
        try_poses(bodies, bodies.moving, NULL, bodies.moving_count, self.position, self.orientation, h)

    cdef void go_back(self, Bodies* bodies) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(bodies.moving_count):
            bodies.position[bodies.moving[k]] = self.position[k]
            bodies.orientation[bodies.moving[k]] = self.orientation[k]

    cdef void aim(self, Row* rows, const Row* ended, Py_ssize_t count, const Bodies* bodies, double h) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(count):
            if rows[i].kind == ROW_JOINT and rows[i].stabilized:
                rows[i].bias[BIASED] = (ended[i].error - rows[i].error) / h - rate(&rows[i], bodies.twist)
