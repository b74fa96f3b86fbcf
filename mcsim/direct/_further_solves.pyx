"""The joints of what further sweeps change (docs/theory/si.md): which light bodies carry heavy ones by joints, and their
joints' answers to the contacts' impulses.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memset

from mcsim.constraints._carried cimport along
from mcsim.core._math cimport cross, sub
from mcsim.core._types cimport Twist, Vec3
from mcsim.direct._held_bounds cimport HeldBounds
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart, ArticulationState
from mcsim.solve._change cimport note_change
from mcsim.solve._tree cimport Articulation
from mcsim.state._joint cimport has_rotors
from mcsim.state._inertia cimport answer_along
from mcsim.state._manifold cimport Manifold
from mcsim.wide._batches cimport BATCH_SWEPT
from mcsim.wide._blocks cimport FAR_OUTWEIGHED, OUTWEIGHED


# How many times its own mass a body that carries rotors by its joints moves where sweeps are slow: no warm start knows what
# a rotor does in a blow, and what is missing of it is energy.
cdef double ROTORS = 1.5
# And from how many times on a sweep does so little that they come to nothing: what overlaps would be thrown apart.
cdef double MOST_ROTORS = 64.0


cdef class FurtherSolves(ArticulationPart):
    """The joints of what further sweeps change."""

    def __init__(self, ArticulationState state, JointSolves solves, HeldBounds bounds):
        self.state = state
        self.solves = solves
        self.bounds = bounds

    cdef void share_masses(self, double* inv_mass) noexcept nogil:
        """The inverse of what each body weighs for what pushes it: with joints, all that they hold together."""
        cdef const Articulation* a
        cdef Py_ssize_t c, g, k
        cdef double total
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            a = &self.articulation[g]
            total = 0.0
            self.state.heaviest[g] = INFINITY
            for k in range(a.member, a.member_end):
                if inv_mass[self.member[k]] > 0.0:
                    total += 1.0 / inv_mass[self.member[k]]
                    self.state.heaviest[g] = min(self.state.heaviest[g], inv_mass[self.member[k]])
            for k in range(a.member, a.member_end):
                if inv_mass[self.member[k]] > 0.0:
                    inv_mass[self.member[k]] = 1.0 / total

    cdef bint find_answers(self, const Manifold* manifolds, Py_ssize_t count, const double* share) noexcept nogil:
        """How bodies answer, with all joints holding, where contacts push what is OUTWEIGHED times lighter than
        something that joints hold it to, or by joints carries rotors; where friction or limits of these are swept several
        at a time,
        FAR_OUTWEIGHED times (docs/theory/si.md). share: as share_masses() has left it. -> whether any does"""
        cdef Py_ssize_t c, g, j, k, n
        cdef int32_t i
        cdef bint found = False
        for c in range(self.state.awake_count):
            self.state.again[self.state.awake[c]] = 0
            self.state.lightest[self.state.awake[c]] = OUTWEIGHED * self.state.heaviest[self.state.awake[c]]
        for c in range(self.tree.rows.awake_count):
            j = self.tree.rows.awake[c]
            if has_rotors(&self.joints[j]):
                g = max(self.state.group[self.joints[j].body_a], self.state.group[self.joints[j].body_b])
                self.state.lightest[g] = 0.0
            elif self.state.joint_bounds.taken[j] == 2:
                g = max(self.state.group[self.joints[j].body_a], self.state.group[self.joints[j].body_b])
                if self.state.lightest[g] > 0.0:
                    self.state.lightest[g] = FAR_OUTWEIGHED * self.state.heaviest[g]
        for n in range(count):
            for k in range(2 if manifolds[n].point_count > 0 else 0):
                i = manifolds[n].body_b if k else manifolds[n].body_a
                g = self.state.group[i]
                if g >= 0 and share[i] > 0.0 and self.bodies.inv_mass[i] > self.state.lightest[g]:
                    self.state.again[g] = found = True
        for c in range(self.state.awake_count if found else 0):
            g = self.state.awake[c]
            if self.state.again[g]:
                if self.state.here[g]:
                    self.solves.write_rows(g)
                self.state.carried.answers(g, self.joints, &self.tree.rows, self.bodies, self.state.answers)
        return found

    cdef double burdened(self, const Manifold* m) noexcept nogil:
        """J M^-1 J' by J P J' of a contact's first normal, P of find_answers(): how many times its own mass joints make it
        move. What carries rotors is swept further from ROTORS times on, up to MOST_ROTORS."""
        cdef Vec3 point = m.points[0].position
        cdef double own = 0.0
        cdef double held = 0.0
        cdef double alone
        cdef Twist jacobian
        cdef bint rotors = False
        cdef int32_t i
        cdef int k
        for k in range(2):
            i = m.body_b if k else m.body_a
            if not self.bodies.inv_mass[i] > 0.0:
                continue
            alone = answer_along(self.bodies, i, point, m.normal)
            own += alone
            if self.state.group[i] >= 0 and self.state.again[self.state.group[i]]:
                jacobian.v, jacobian.w = m.normal, cross(sub(point, self.bodies.position[i]), m.normal)
                held += along(&jacobian.v.x, self.state.answers + 36 * i)
                rotors = rotors or self.state.lightest[self.state.group[i]] == 0.0
            else:
                held += alone
        if not held > 0.0:
            return 1.0
        if rotors:
            return 1.0 if own > MOST_ROTORS * held else own / held * (OUTWEIGHED / ROTORS)
        return own / held

    cdef bint find_changed(self, int sweep, const int32_t* changed) noexcept nogil:
        """Which articulations have a body that the sweep has changed, into `again`. -> whether any"""
        cdef const Articulation* a
        cdef Py_ssize_t c, g, k
        cdef bint found = False
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            a = &self.articulation[g]
            self.state.again[g] = 0
            for k in range(a.member, a.member_end):
                if self.state.swept[g] and changed[self.member[k]] == sweep:
                    self.state.again[g] = found = True
                    break
        return found

    cdef void spread_changes(self, int sweep, int32_t* changed) noexcept nogil:
        """Bodies of articulations that have been solved since the sweep, and of which one has changed: all may have."""
        cdef Py_ssize_t c, g, k
        if not self.find_changed(sweep, changed):
            return
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            for k in range(self.articulation[g].member, self.articulation[g].member_end if self.state.again[g] else 0):
                changed[self.member[k]] = sweep

    cdef void solve_changed(self, Twist* twist, const double* sizes, double speed, double rate, int sweep,
                            int32_t* changed) noexcept nogil:
        """The joints of what a further sweep has changed; bodies whose velocities that changes by more than speed +
        rate size are noted in `changed`, too."""
        cdef const Articulation* a
        cdef Py_ssize_t c, g, k
        cdef int32_t i
        if not self.find_changed(sweep, changed):
            return
        for c in range(self.state.awake_count):
            if self.state.again[self.state.awake[c]]:
                self.state.keep_twists(self.state.awake[c])
        for c in range(self.state.alone_count):
            g = self.state.alone[c]
            if self.state.again[g]:
                self.solves.aim_still(g)
                if self.state.held_rows.count[g] > 0:
                    self.bounds.hold_rows(g, twist, True, False)
                else:
                    self.solves.solve_one(g, twist)
        if self.batches is not None:
            memset(self.tree.rows.bias + self.tree.own_numbers, 0, self.batches.used * sizeof(double))
            self.batches.aim_for(self.state.near, self.state.again, False)
            self.batches.solve(twist, &self.tree.rows, BATCH_SWEPT)
            self.batches.aim_for(self.state.near, self.state.swept, False)
        for c in range(self.state.awake_count):
            g = self.state.awake[c]
            a = &self.articulation[g]
            for k in range(a.member, a.member_end if self.state.again[g] else 0):
                i = self.member[k]
                note_change(twist, &self.state.twist[k], i, sizes, speed + rate * sizes[i], sweep, changed)
