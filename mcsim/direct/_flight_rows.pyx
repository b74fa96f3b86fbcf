"""Rows of joints that fly (_flights.pyx): a joint's frames and rows at any poses, all rows at the present ones, and
velocities that go along with them."""

from mcsim.constraints._joint_table cimport constrain, holds_position
from mcsim.constraints._direct cimport point_along_world
from mcsim.constraints._coordinates cimport measure_axes
from mcsim.constraints._motion cimport constrain_motions
from mcsim.constraints._parts cimport foresee_way, point_frames, still_frames, turn_frames
from mcsim.constraints._joint_frames cimport AxisGeometry
from mcsim.direct._refinement cimport MOST_REPEATS, PROXIMAL_PROGRESS
from mcsim.state._joint cimport JOINT_AXES
from mcsim.state._row cimport JointRows
from mcsim.state._rows cimport copy_jacobian, rows_way


cdef inline void present_frames(const Joint* joint, const Bodies* bodies, bint point, JointFrames* f) noexcept nogil:
    point_frames(f, joint, bodies)
    if not point:
        turn_frames(f, joint, bodies)
        still_frames(f)


cdef void constrain_flight(Row* block, const Joint* joint, const JointFrames* f, int n, double time, double ahead,
                           double* rates) noexcept nogil:
    """The n rows of a joint as the direct solver has them, errors of prescribed motions at `ahead` of time."""
    cdef AxisGeometry axes[JOINT_AXES]
    cdef Joint measured
    cdef int m = 3
    cdef int i
    for i in range(n):
        rates[i] = 0.0
    if not is_point(joint, n):
        m = constrain(block, joint, f)
    point_along_world(block, joint, f, n)
    if m < n:
        measured = joint[0]
        measure_axes(&measured, f, axes)
        constrain_motions(&block[m], &rates[m], joint, axes, f, time, ahead)


cdef class FlightRows:
    """tree: the joints' own."""

    def __init__(self, JointTree tree not None):
        self.tree = tree

    cdef void attach(self, const Bodies* bodies, const Joint* joints, const Settings* settings) noexcept:
        self.bodies, self.joints, self.settings = bodies, joints, settings

    cdef int measure(self, int j, double ahead, JointFrames* f, Row* block, double* rates) noexcept nogil:
        """A joint's frames and rows at the present poses, `ahead` of the drift's start. -> how many rows"""
        cdef const Joint* joint = &self.joints[j]
        cdef int n = self.tree.rows.begin[j + 1] - self.tree.rows.begin[j]
        present_frames(joint, self.bodies, is_point(joint, n), f)
        foresee_way(f, joint, self.bodies, ahead)
        constrain_flight(block, joint, f, n, self.settings.time, ahead, rates)
        return n

    cdef double write_rows(self, const Articulation* a, double ahead) noexcept nogil:
        """The rows at the present poses. -> how far the joints are open"""
        cdef JointRows* rows = &self.tree.rows
        cdef JointFrames f
        cdef Row block[6]
        cdef double rates[6]
        cdef double largest = 0.0
        cdef Py_ssize_t k
        cdef int i, j, n, at
        for k in range(a.node, a.node_end):
            j = self.tree.nodes[k].joint
            if j < 0:
                continue
            at = rows.begin[j]
            n = self.measure(j, ahead, &f, block, rates)
            for i in range(n):
                copy_jacobian(&block[i], &rows.row[at + i])
                rows.rate[at + i] = rates[i]
                rows.error[at + i] = block[i].error if holds_position(&self.joints[j], i) else 0.0
            largest = max(largest, rows_way(&self.joints[j], &rows.row[at], &rows.error[at], n))
        return largest

    cdef void hold(self, const Articulation* a, double* held) noexcept nogil:
        """J v + rate = 0, in the factor of rows that are written; where that is not exact, against the true residual. held:
        where the impulses that takes are added."""
        cdef JointRows* rows = &self.tree.rows
        cdef double largest, last = 0.0
        cdef int n
        for n in range(MOST_REPEATS if self.tree.is_doubtful(a) else 1):
            largest = self.tree.find_rates(a, self.bodies.twist, rows.rate, self.joints)
            if largest == 0.0 or (n > 0 and not largest < PROXIMAL_PROGRESS * last):
                return
            self.tree.finish(a, self.bodies, self.bodies.twist, held)
            last = largest
