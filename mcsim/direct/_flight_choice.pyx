"""Which articulations fly: those whose joints' forces turn something faster than a substep resolves
(constraints/_stiffness.pyx, docs/theory/tree.md).

With P how all bodies answer with all joints holding, and K+ of all bodies, the squares of the frequencies of that turning
are eigenvalues of P K+. Since P <= M^-1, none is above the largest trace(I^-1 K+) of a body, nor above trace(P K+), the sum
of them all. The first is known with little work, and is near where what turns is a link among others. It is far off where a
joint leads a body about a point outside, as the ball at the end of a pendulum's light rod: there I + m r^2 turns, and not
I, which P knows (constraints/_carried.pyx). It is asked only where the first is too large.
"""

from libc.string cimport memset

from mcsim.constraints._stiffness cimport add_joint_stiffness, load, load_joints
from mcsim.core._math cimport add_scaled, scale, vec3
from mcsim.core._types cimport Mat3, Vec3
from mcsim.direct._state cimport STRAIN, ArticulationState
from mcsim.solve._tree cimport Articulation, Node, row_count_of
from mcsim.state._row cimport JointRows


cdef class FlightChoice(ArticulationPart):
    """How strained articulations are, and which of them fly."""

    def __init__(self, ArticulationState state, JointSolves solves):
        self.state = state
        self.solves = solves

    cdef bint choose(self, HeldBounds bounds, double h) noexcept nogil:
        """Which articulations fly in this step: those that the impulses which their joints held over the last substep, of
        length h, strain; and which hold their bounded rows. Rows are written. -> whether another chooses otherwise than
        in the last step: then all stand in other places, and their rows are to be written again"""
        cdef Py_ssize_t c, g
        cdef bint flies, holds
        cdef bint changed = False
        load_joints(self.joints, &self.tree.rows, self.bodies, &self.state.loads, h)
        memset(self.state.strain, 0, self.state.articulation_count * sizeof(double))
        for c in range(self.state.loads.count):
            g = self.state.group[self.state.loads.chosen[c]]
            self.state.strain[g] = max(self.state.strain[g], self.state.loads.load[c])
        bounds.find_bounded()
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            self.weigh(g)
            flies = self.state.may_fly[g] and self.state.strain[g] * h * h > STRAIN
            holds = bounds.holds(g) or (self.state.bounded[g] and flies)
            changed = (changed or flies != self.state.flies[g] or flies != self.state.flew[g]
                       or holds != self.state.holds[g])
            self.state.flies[g], self.state.holds[g] = flies, holds
        if changed:
            self.state.arrange()
            self.state.choose_lanes()
        return changed

    cdef void weigh(self, Py_ssize_t g) noexcept nogil:
        """The strain by which an articulation would fly is no more than trace(P K+). It stays what it is with loops, whose
        forces near singular poses are not those that a tree's P answers, and where joints have springs, motors or limits:
        rows that are solved before a drift which closes the joints see its chord for the velocity, which in flights they
        do not."""
        cdef double h = self.settings.h
        if (not self.state.may_fly[g] or self.articulation[g].loops > 0 or self.state.bounded[g]
                or not self.state.strain[g] * h * h > STRAIN):
            return
        if self.state.here[g]:
            self.solves.write_rows(g)
        self.state.strain[g] = min(self.state.strain[g], self.state.carried.load(
            g, self.joints, &self.tree.rows, self.bodies, self.state.loads.stiffness))

    cdef bint is_strained(self, Py_ssize_t g) noexcept nogil:
        """Whether the impulses that a drift has found strain a body, of what had none before, whose strain is not known
        from the last substep: it has just begun to move, or to be held."""
        cdef const Articulation* a = &self.articulation[g]
        cdef JointRows* rows = &self.tree.rows
        cdef Mat3* stiffness = self.state.loads.stiffness
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        cdef double h = self.settings.h
        cdef Vec3 force
        if self.state.strain[g] != 0.0:
            return False
        for k in range(a.member, a.member_end):
            memset(&stiffness[self.member[k] + 1], 0, sizeof(Mat3))
        for k in range(a.node, a.node_end):
            node = &self.tree.nodes[k]
            force = vec3(0.0, 0.0, 0.0)
            for i in range(node.row, node.row + row_count_of(node)):
                force = add_scaled(force, rows.impulse[i], rows.row[i].linear)
            if node.joint >= 0:
                add_joint_stiffness(&self.joints[node.joint], scale(2.0 / h, force), self.bodies, stiffness)
        for k in range(a.member, a.member_end):
            i = self.member[k]
            self.state.strain[g] = max(self.state.strain[g], load(&self.bodies.inv_inertia_world[i], &stiffness[i + 1]))
        self.weigh(g)
        return self.state.strain[g] * h * h > STRAIN
