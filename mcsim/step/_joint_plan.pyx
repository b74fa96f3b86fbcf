"""Who solves which joints and contacts of a world: made for the bodies and joints that there are, anew when joints break.
"""

from types import SimpleNamespace

import numpy as np

from mcsim.constraints._joints cimport own_sizes
from mcsim.core._arrays cimport integers
from mcsim.core._noted cimport NOTE_ROWS
from mcsim.solve._impact cimport BodyImpacts
from mcsim.state._bodies cimport DYNAMIC, STATIC
from mcsim.state._settings cimport INTEGRATE_SEMI_IMPLICIT, STABILIZE_SOFT
from mcsim.step._impacts cimport ArticulationImpacts, RowImpacts
from mcsim.step._joint_warm_starts cimport JointWarmStarts, WholeWarmStarts
from mcsim.step._locked_bodies cimport LockedBodies

from mcsim.solve import SOLVERS
from mcsim.step._direct_joints import DirectJoints, JointsInTurn
from mcsim.step._drifts import new_drift
from mcsim.step._joint_bounds import JointBounds
from mcsim.step._lane_contacts import LaneContacts
from mcsim.step._locked_bodies import LOCK, locks_alone
from mcsim.step._pushes import PushedLanes, PushedRows
from mcsim.step._semi_implicit import SemiImplicit
from mcsim.step._swept_joints import SweptJoints

cdef int SI = SOLVERS["si"]

# Products a joint up to which a factorization pays; beyond it joints are solved row by row unless the user says "tree".
cdef double MOST_WORK = 15_000.0


cdef class JointPlan:
    """base: sets that stand whatever is planned; sets: where all are put; room: Room; least: sweeps of a pass that all
    contacts take part in; bounces: whether anything does."""

    def __init__(self, StepContext context not None, StateArrays arrays not None, PlainRows plain not None, base,
                 ConstraintSets sets not None, Integrator integrator not None, Restitution restitution not None,
                 Islands islands not None, Displacement displacement not None, room, WideContacts wide not None, int least,
                 bint bounces):
        self.context, self.arrays, self.plain, self.base, self.sets = context, arrays, plain, base, sets
        self.integrator, self.restitution, self.islands = integrator, restitution, islands
        self.displacement, self.room, self.wide = displacement, room, wide
        self.least, self.bounces, self.wanted = least, bounces, context.settings.joint_tree
        self.locks = np.zeros(0, np.int32)
        self.contacts_in_lanes = (not context.settings.compliant and context.settings.solver == SI
                                  and not context.settings.displaces
                                  and context.settings.integrator == INTEGRATE_SEMI_IMPLICIT
                                  and context.settings.friction_cone and context.settings.friction_central)

    def make(self):
        """For the joints that hold now."""
        bodies, joints = self.arrays.kept
        self._plan_locks(bodies, joints)
        self._plan_tree(bodies, joints)
        self._plan_wide(bodies, joints)
        self.integrator.plan(bodies, joints, self._joint_sizes)
        self._plan_impacts()
        self.list_sets()

    def _sizes_of_all(self):
        """(joints,) rows that are each joint itself."""
        sizes = np.zeros(self.context.joint_count, np.int32)
        cdef Py_ssize_t rows = own_sizes(self.context.joints, self.context.joint_count, self.context.bodies,
                                         self.context.settings, integers(sizes))
        while self.plain.row_capacity < rows:
            self.room.grow()
        return sizes

    def _plan_locks(self, bodies, joints):
        """Locks of bodies on their own go into the inverse masses."""
        joints["folded"] = 0
        bodies.locks[...] = 0
        self.locks = np.zeros(0, np.int32)
        if (self.wanted and self.contacts_in_lanes and self.context.settings.stabilization == STABILIZE_SOFT
                and np.any(joints["type"] == LOCK)):
            self.locks = locks_alone(joints, self._sizes_of_all(), bodies.kind == DYNAMIC)

    def _joint_sizes(self):
        """(joints,) rows that are each joint itself; 0 of those that have none."""
        sizes = self._sizes_of_all()
        sizes[self.locks] = 0
        return sizes

    def _plan_tree(self, bodies, joints):
        """The direct joint solver, if it is asked for and there is anything for it to do."""
        bodies = _with_room(bodies)
        self.body_room = bodies.count
        self.articulations = None
        self.too_dear = 0.0
        self.context.settings.joint_tree = self.wanted
        if self.wanted and len(joints):
            found = Articulations(bodies, joints, self._joint_sizes(),
                                  self.context.settings.stabilization == STABILIZE_SOFT, self.contacts_in_lanes)
            if found.state.tree.node_count + found.state.border.count > 0:
                self.articulations = found
                self._attach()
        if (self.articulations is not None and self.wanted == 2
                and self.articulations.state.tree.work > MOST_WORK * len(joints)):
            self.too_dear = self.articulations.state.tree.work / len(joints)
        if self.articulations is None or self.too_dear > 0.0:
            self.articulations = None
            self.context.settings.joint_tree = 0

    def _attach(self):
        """The articulations work on the arrays of this world."""
        self.articulations.attach(self.context.bodies, self.context.joints, self.context.settings,
                                  self.context.pose_callbacks, self.context.noted)

    def _plan_wide(self, bodies, joints):
        """Joints several at a time, where they are solved row by row; not where impacts ask for those rows."""
        self.wide_joints = None
        if (self.context.settings.solver == SI and not self.context.settings.displaces
                and self.context.settings.integrator == INTEGRATE_SEMI_IMPLICIT and not self.context.settings.joint_tree
                and len(joints) > 0 and not self.bounces):
            self.wide_joints = WideJoints(joints, self._joint_sizes(), bodies.padded["inv_mass"])

    def _plan_impacts(self):
        """Who makes what bounces."""
        own = self.integrator.impacts(self.context.settings.restitution_law)
        impacts, first = (None, self.context.settings.first_kick) if own is None else own
        if own is None and self.bounces:
            impacts = self._impacts()
        self.restitution.take(impacts if self.bounces else None, first)

    def _impacts(self):
        """Those of what the joints' solver holds."""
        cdef BodyImpacts blows
        cdef RowImpacts by_rows
        cdef int law = self.context.settings.restitution_law
        bodies, joints = self.arrays.kept
        if self.articulations is not None:
            return ArticulationImpacts(law, self.articulations, bodies.count, self.closes())
        if len(joints):
            pairs = np.stack([joints["body_a"], joints["body_b"]], axis=1)
            blows = by_rows = RowImpacts(law, pairs, bodies.kind == DYNAMIC)
            by_rows.bodies, by_rows.settings = self.context.bodies, self.context.settings
        else:
            blows = BodyImpacts(law, bodies.count)
        blows.twist = self.context.bodies.twist
        return blows

    def list_sets(self):
        """What brings rows, in the order of a sweep, and what moves poses and weighs warm starts with it."""
        cdef Articulations direct = self.articulations if self.closes() else None
        cdef Articulations in_turn = None if self.closes() else self.articulations
        cdef WholeWarmStarts warm_starts = WholeWarmStarts()
        self.context.joined, self.closed = NULL, direct
        self.plain.jointed = None if self.articulations is None else self.articulations.state
        if direct is not None and not self.context.settings.compliant:
            warm_starts = JointWarmStarts(self.context, self.plain, self.wide, direct)
        self.locked = LockedBodies(self.context, self.locks) if len(self.locks) else None
        self.sets.take([
            self._pushes(),
            *self.base,
            None if self.wide_joints is None else SweptJoints(self.context, self.wide_joints),
            None if direct is None else JointBounds(self.context, direct.state.joint_bounds),
            LaneContacts(self.context, self.wide, self.least) if self.contacts_in_lanes else None,
            self.locked,
            None if direct is None else DirectJoints(self.context, self.plain, direct),
            None if in_turn is None else JointsInTurn(self.context, self.plain, in_turn)])
        self.integrator.take_drift(
            new_drift(self.context, self.islands, self.plain, self.displacement, direct, in_turn), warm_starts)

    def _pushes(self):
        """Where a relax pass takes back what contacts push."""
        if (self.context.settings.stabilization != STABILIZE_SOFT or self.context.settings.compliant
                or type(self.integrator) is not SemiImplicit):
            return None
        if self.contacts_in_lanes:
            return PushedLanes(self.context, self.wide)
        return PushedRows(self.context, self.plain, self.arrays.room, self.wide.settle_speed, self.wide.settle_rate)

    cdef bint closes(self) except -1:
        """Whether articulations close their joints by themselves."""
        return self.articulations is not None and self.context.settings.stabilization == STABILIZE_SOFT

    def serves(self, Py_ssize_t bodies):
        """Whether take() may be told this plan by a world that has the same joints between the same bodies, and in all so
        many bodies."""
        return self.articulations is not None and bodies <= self.body_room

    cdef follow_edit(self, bint moved):
        """Follow bodies that went and came, where joints stay between the bodies that they are on. moved: the arrays of
        bodies are in other memory."""
        self.wide.resize(self.context.bodies.count)
        if self.bounces:
            self._plan_impacts()
        if moved and self.context.joint_count > 0:
            self._attach()
        if self.context.joint_count > 0 and (moved or self.locked is not None):      # whose locks are found by bodies
            self.list_sets()

    def take(self, JointPlan other not None):
        """The plan of a world whose place this one takes."""
        self.articulations, self.body_room, self.locks = other.articulations, other.body_room, other.locks
        self._attach()
        self._plan_impacts()
        self.list_sets()

    def take_wide(self, WideContacts wide not None):
        """The lanes of a world whose place this one takes."""
        self.wide = wide
        wide.resize(self.context.bodies.count, self.arrays.room)
        self.list_sets()

    @property
    def tree(self):
        """The direct joint solver, or None."""
        return None if self.articulations is None else self.articulations.state.tree

    cdef void notes(self) noexcept nogil:
        """Joints that are solved row by row since a factorization costs too much."""
        cdef Py_ssize_t k
        for k in range(self.context.awake_joint_count if self.too_dear > 0.0 else 0):
            self.context.noted.most(NOTE_ROWS, self.context.awake_joints[k], self.too_dear)


def _with_room(bodies):
    """What a plan of the joints reads of the bodies, with room for more that have no joints; `padded`, which is read of
    jointed ones alone, has none."""
    spare = bodies.count // 4 + 64
    return SimpleNamespace(count=bodies.count + spare, kind=np.append(bodies.kind, np.full(spare, STATIC, np.int32)),
                           padded=bodies.padded)
