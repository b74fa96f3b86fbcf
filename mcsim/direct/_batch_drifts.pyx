"""The drifts of articulations that stand side by side (wide/_batches.pxd): what _drifts.pyx does with one of them."""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from mcsim.core._noted cimport NOTE_OPEN
from mcsim.direct._drifts cimport Drifts
from mcsim.direct._state cimport MOST_CORRECTIONS, ArticulationPart, ArticulationState
from mcsim.integrate._euler cimport try_poses
from mcsim.solve._tree cimport Articulation
from mcsim.state._row cimport JointRows
from mcsim.wide._batches cimport BATCH_LOOSE, Batch, BatchNode


cdef class BatchDrifts(ArticulationPart):
    """The drifts of those that stand side by side."""

    def __init__(self, ArticulationState state, Drifts drifts):
        self.state = state
        self.drifts = drifts

    cdef void drift_batches(self, bint again, bint store) noexcept nogil:
        """The same of what stands side by side. again: after a correction, only of batches that were farther off than they
        may. store: the poses are asked for, not their errors alone."""
        cdef double h = self.settings.h
        cdef const Articulation* a
        cdef Py_ssize_t c
        for c in range(self.state.awake_count if not again else 0):
            if self.state.here[self.state.awake[c]]:
                self.drifts.drift_driven(self.state.awake[c])
        if self.batches.drift(self.bodies, &self.tree.rows, h, again, store):
            return
        for c in range(self.state.awake_count):                # a body turns far
            a = &self.articulation[self.state.awake[c]]
            if self.state.here[self.state.awake[c]]:
                try_poses(self.bodies, self.member + a.member, NULL, a.member_end - a.member,
                          self.state.position + a.member, self.state.orientation + a.member, h)
        self.batches.miss(self.bodies, &self.tree.rows, h, again)

    cdef void close_batches(self) noexcept nogil:
        """What close_one does, one correction of all that need it at a time. Those that are left fly, and so leave."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t first = self.tree.own_numbers
        cdef Py_ssize_t c, g
        cdef int _
        cdef bint some = False
        cdef bint fresh = False
        memcpy(self.state.kept_impulse + first, rows.impulse + first, self.batches.used * sizeof(double))
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            self.state.left[g] = 0
            if self.state.here[g] and self.state.swept[g]:
                self.state.keep_twists(g)
        self.batches.aim_for(self.state.near, self.state.swept, True)
        self.drift_batches(False, True)
        self.batches.aim_for(self.state.near, self.state.swept, False)
        for _ in range(MOST_CORRECTIONS):
            if not self.batches.any_loose():
                break
            self.batches.solve(self.bodies.twist, rows, BATCH_LOOSE)
            self.drift_batches(True, True)
        self.batches.find_loose(self.state.left)
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            fresh = fresh or (self.state.here[g] and self.state.strain[g] == 0.0)
        if fresh:                                        # whose impulses say how strained they are
            self.batches.give_impulses(rows)
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            if self.state.here[g] and not self.state.left[g]:
                self.state.left[g] = self.drifts.leaps(g)
            if self.state.here[g] and not self.state.left[g]:
                self.state.closed[g] = 1
                self.drifts.accept(g)
            some = some or self.state.left[g]
        if some:
            self.leave_batches()

    cdef void leave_batches(self) noexcept nogil:
        """What is left of close_batches stands alone from here on, as at the drift's start."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t first = self.tree.own_numbers
        cdef Py_ssize_t c, g, k
        cdef double* found = self.state.impulse + first
        memcpy(found, rows.impulse + first, self.batches.used * sizeof(double))
        memcpy(rows.impulse + first, self.state.kept_impulse + first, self.batches.used * sizeof(double))
        self.batches.give_impulses(rows)
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            if self.state.left[g]:
                self.tree.copy_rows(&self.articulation[g], rows.impulse, self.state.kept_impulse)
        memcpy(rows.impulse + first, found, self.batches.used * sizeof(double))
        self.batches.give_impulses(rows)
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            if not self.state.left[g]:
                continue
            self.state.flies[g] = 1
            self.tree.copy_rows(&self.articulation[g], self.state.kept_impulse, rows.impulse)
            for k in range(self.articulation[g].member, self.articulation[g].member_end if self.state.swept[g] else 0):
                self.bodies.twist[self.member[k]] = self.state.twist[k]
            self.state.undo_poses(g)
        self.state.arrange()
        self.batches.take(rows)
        self.batches.aim_for(self.state.near, self.state.swept, False)

    cdef void note_open_batches(self) noexcept nogil:
        """The same of what stands side by side."""
        cdef const Batch* batch
        cdef const BatchNode* node
        cdef Py_ssize_t n
        cdef int lane, k, i
        cdef int32_t g
        cdef double largest
        for n in range(self.batches.count):
            batch = &self.batches.batches[n]
            for k in range(batch.shape.node_count):
                node = &batch.shape.nodes[k]
                for lane in range(batch.lanes):
                    g = batch.articulation[lane]
                    if self.state.batch_way(batch, k, lane) > self.state.most_open(g):
                        largest = 0.0
                        for i in range(node.size):
                            largest = max(largest,
                                          fabs(self.tree.rows.error[batch.first + (node.row + i) * batch.width + lane]))
                        self.noted.most(NOTE_OPEN, batch.source[8 * k + lane], largest)
                        self.state.accounted[g] = 0
