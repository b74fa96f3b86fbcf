"""The stages of a step in their order. No mathematics here: each stage is one call into a lower floor.

    collide      shapes and poses -> manifolds; the last step's impulses carried over by feature id
    prepare      joints and manifolds -> rows: Jacobians, errors, bounds, warm impulses; biases; block factors
    impact       restitution: sequential impacts of what touches within the next substep
    per substep h = dt / n
      integrate    v += h M^-1 f
      warm start   v += M^-1 J' lambda
      solve        sweeps with bias
      integrate    x, q by v, w; "split_impulse" and "ggl": also by a displacement that the rows are solved on
      refresh      the same rows at the new poses
      project      "projection": the rows solved on a displacement, poses moved by it, rows refreshed; some rounds
      impact       as above, before anything stops what should bounce
      relax        sweeps without bias ("soft", "projection", "ggl")
      store        impulses back into the manifolds, totals
    store        impulses back into the joints; joints that carried too much break
    finish       is the state finite?

integrator="rk4": substep_smooth stands in place of the substep (docs/theory/rk4.md).
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset
from cpython.exc cimport PyErr_CheckSignals

import numpy as np

from mcsim._state_arrays cimport StateArrays
from mcsim.collide._collider cimport Collider
from mcsim.constraints._contacts cimport accumulate_contacts, layout_contacts, refresh_contacts
from mcsim.constraints._joints cimport (aim_joints, break_joints, layout_joints, refresh_joints, store_joints)
from mcsim.constraints._forces cimport add_joint_forces, mute_joint_forces
from mcsim.constraints._stiffness cimport (count_excess, count_momentum, largest_strain, return_excess,
                                            stiffen_bodies, stiffen_joints, strain_joints)
from mcsim.core._math cimport add_scaled, quat_exp, quat_mul, quat_normalized, scale
from mcsim.core._types cimport CALL_FAILED, GROW, NOT_FINITE, OK, Mat3, Quat, Twist, Vec3
from mcsim.integrate._euler cimport integrate_poses, integrate_velocities, try_poses, update_inertia
from mcsim.integrate._rk4 cimport (RungeKutta, add_gyroscopic, add_twists, displace, free_accelerations,
                                   smooth_forces)
from mcsim.solve._blocks cimport FACTOR_STRIDE, factor_blocks, row_apply
from mcsim.solve._impact cimport resolve_impacts
from mcsim.solve._pgs cimport Delassus
from mcsim.solve._tree cimport JointTree
from mcsim.solve._si cimport residual, sweep_si, warm_start
from mcsim.solve._smooth cimport SmoothSolver
from mcsim.stabilize._displace cimport Displacement
from mcsim.stabilize._stabilize cimport stabilize_rows
from mcsim.state._layout cimport (BIASED, BLOCK_TREE, DYNAMIC, INTEGRATE_RK4, MANIFOLD_ANCHORS, Manifold, RELAXED,
                                  ROW_JOINT, STABILIZE_GGL, STABILIZE_PROJECTION, STABILIZE_SOFT,
                                  STABILIZE_SPLIT_IMPULSE, STATIC)

from mcsim.solve import SOLVERS
from mcsim.solve.ordering import free_articulations
from mcsim.state.fields import JOINT_DTYPE, ROW_DTYPE

cdef extern from *:
    """
    #include <time.h>
    /* Seconds that never run backwards, where the system has such a clock. */
    static double mc_now(void) {
        struct timespec t;
    #ifdef CLOCK_MONOTONIC
        clock_gettime(CLOCK_MONOTONIC, &t);
    #else
        timespec_get(&t, TIME_UTC);
    #endif
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    }
    """
    double now "mc_now"() noexcept nogil

cdef int SI = SOLVERS["si"]

# A direct solve of joints with loops is repeated until what it finds is below this [m/s, rad/s], or so often.
cdef double TREE_TOLERANCE = 1e-11
cdef enum:
    TREE_REPEATS = 6
    MOST_CORRECTIONS = 8

# Joints are closed at the end of a drift until they are within this [m, rad], or after MOST_CORRECTIONS.
cdef double JOINT_TOLERANCE = 1e-9

# A correction that does not bring the joints this much nearer is the last; where they then stay this wide open [m, rad], their
# velocities are held instead.
cdef double CONTRACTION = 0.7
cdef double WIDE_GAP = 1e-3

# Joints that the drift leaves wider open than this [m, rad] are closed by moving bodies, but not over more than WIDEST_GAP.
cdef double CLOSE_ENOUGH = 1e-7
cdef double WIDEST_GAP = 0.2
cdef double PROXIMAL_PROGRESS = 0.1
cdef double GAP_TOLERANCE = 0.1
cdef double LOOP_CLOSE = 3e-5
cdef double PROXIMAL_RATE = 1.0
cdef double LEAST_PROXIMAL = 1e-7
cdef double MOST_PROXIMAL = 1e-2
cdef double SHORTER = 100.0
cdef enum:
    MOST_SHORTER = 3
cdef enum:
    MOST_PROJECTIONS = 6
    MOST_DIVISION = 8

# The largest h^2 trace(I^-1 K) of a step that is not divided further; the limit of stability lies near 4 for one direction.
cdef double STRAIN = 1.0

# Beyond this strain the step is not divided: bodies take their stiffness into their inertia, those beyond SPARED_STRAIN. In a net that is
# sooner, since a factorization costs more there, and only for bodies on point-like joints alone: elsewhere redundant forces press
# on each other without turning anything.
cdef double TREE_STRAIN = 64.0
cdef double NET_STRAIN = 9.0
cdef double SPARED_STRAIN = 0.3

# Products a joint up to which a factorization pays; beyond it joints are solved row by row unless the user says "tree".
cdef double MOST_WORK = 10_000.0

# How often a long run looks for Ctrl-C [s].
cdef double SIGNAL_INTERVAL = 0.05

# Sweeps over bounded rows end at this correction (integrator="rk4") [m/s, rad/s].
cdef double SETTLED = 1e-14

# Newton's method in the projection of poses (integrator="rk4"): rounds at most, and the error that ends it [m, rad].
cdef int PROJECTION_ROUNDS = 3
cdef double PROJECTION_TOLERANCE = 1e-15


cdef class Pipeline(StateArrays):
    """One world's step.

    bodies: state.arrays.BodyArrays; joints: (j,) JOINT_DTYPE; settings: dict with the fields of the Settings record.
    bounces: whether any shape has a restitution. The arrays are kept alive and written in place.
    """

    def __init__(self, bodies, joints, Collider collider not None, settings, bint bounces):
        self.hold(bodies, joints)
        self.collider = collider
        self.matrix = Delassus()
        self.displacement = Displacement(bodies.count)
        self.settings = settings
        self.substeps = self.settings.substeps
        self.bounces = bounces
        self.smooth = SmoothSolver()
        self.runge_kutta = RungeKutta(bodies.count)
        self._grow_rows(64, 16)
        self.smooth_arrays = np.zeros((2, bodies.count + 1, 6))
        cdef double[:, :, ::1] smooth = self.smooth_arrays
        self.wrench = <Twist*>&smooth[0, 0, 0] + 1
        self.acceleration = <Twist*>&smooth[1, 0, 0] + 1
        memset(self.stage_times, 0, sizeof(self.stage_times))
        self.wanted = (self.settings.joint_tree, self.settings.first_kick)
        self._plan_tree(bodies, joints)

    def replan(self):
        """Follow joints that broke, or are whole again."""
        self.replanning = False
        self._plan_tree(*self.kept)

    def _plan_tree(self, bodies, joints):
        """The direct joint solver, if it is asked for and there is anything for it to do."""
        cdef int32_t[::1] chosen
        cdef double[:, ::1] position, orientation, twist, stiffness, impulse
        self.tree = None
        self.settings.joint_tree, self.settings.first_kick = self.wanted
        if self.settings.joint_tree and self.joint_count:
            while layout_joints(self.joints_copied(), self.joint_count, &self.bodies, &self.settings, self.rows,
                                self.row_capacity) < 0:
                self.grow()
            sizes = self.backup[3].view(JOINT_DTYPE)["constraint_count"]
            pairs = np.stack([joints["body_a"], joints["body_b"]], axis=1)
            if np.any(sizes > 0):
                self.tree = JointTree(pairs, sizes, bodies.kind == DYNAMIC)
                touched = np.unique(pairs[sizes > 0])
                touched = touched[(touched >= 0) & (bodies.kind[touched] != STATIC)].astype(np.int32)
                self.jointed = (touched, np.empty((len(touched) + 1, 3)), np.empty((len(touched) + 1, 4)),
                                np.empty((len(touched) + 1, 6)), np.zeros((self.bodies.count + 1, 9)),
                                np.empty((self.tree.row_count, 1)))
                self.jointed_count = len(touched)
                if len(touched):
                    chosen = touched
                    self.jointed_bodies = &chosen[0]
                position, orientation, twist, stiffness, impulse = self.jointed[1:]
                self.start_position = <Vec3*>&position[0, 0]
                self.start_orientation = <Quat*>&orientation[0, 0]
                self.start_twist = <Twist*>&twist[0, 0]
                self.stiffness = <Mat3*>&stiffness[0, 0]
                self.start_impulse = &impulse[0, 0]
                self._group_bodies(pairs, sizes, bodies.kind == DYNAMIC, touched)
        if self.tree is not None and self.settings.joint_tree == 2 and self.tree.work > MOST_WORK * self.joint_count:
            self.tree = None
        if self.tree is None:
            self.settings.joint_tree = 0
            self.settings.first_kick = 1.0

    def _group_bodies(self, pairs, sizes, moves, touched):
        """Which free articulation each jointed body belongs to, with room for its sums, and which bodies swing: have joints
        alone that hold no direction. Reads the rows."""
        cdef int32_t[::1] group, swings
        cdef double[:, ::1] excess, center, inertia
        of = free_articulations(pairs[sizes > 0], moves)
        self.articulation_count = int(of.max(initial=-1)) + 1
        records = self.backup[3].view(JOINT_DTYPE)[:len(pairs)]
        ends = records["row_begin"] + records["row_count"]
        owner = np.repeat(np.arange(len(pairs)), sizes)
        own = np.arange(len(owner)) + np.repeat(ends - np.cumsum(sizes), sizes)
        turning = ~np.any(self.row_array[0]["jacobian"].reshape(-1, 2, 6)[own, 1, :3], axis=1)
        swing = np.ones(len(moves) + 1, bool)
        swing[pairs[owner[turning]]] = False
        n = self.articulation_count + 1
        self.articulations = (np.append(of[touched], -1).astype(np.int32), np.append(swing[touched], 0).astype(np.int32),
                              np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 9)))
        group, swings, excess, center, inertia = self.articulations
        self.articulation = &group[0]
        self.swings = &swings[0]
        self.excess = <Vec3*>&excess[0, 0]
        self.center = <Vec3*>&center[0, 0]
        self.articulation_inertia = <Mat3*>&inertia[0, 0]

    def _grow_rows(self, rows, manifolds):
        """Row buffers for at least `rows` rows and `manifolds` manifolds."""
        if rows > self.row_capacity:
            self.row_capacity = rows
            self.row_array = (np.zeros(rows, ROW_DTYPE), np.zeros((rows, 2, 6)), np.zeros(rows), None)
            self.all_kept = (np.zeros(rows), np.zeros((self.bodies.count + 1, 6)))
            if self.settings.stabilization >= STABILIZE_SPLIT_IMPULSE:
                self.displacement.reserve(rows)
        anchors = np.zeros((max(manifolds * MANIFOLD_ANCHORS, 1), sizeof(Anchor) // 8))
        self.anchor_capacity = manifolds
        self.row_array = (*self.row_array[:3], anchors)
        cdef char[::1] row_bytes = self.row_array[0].view(np.int8)
        cdef double[:, :, ::1] factors = self.row_array[1]
        cdef double[::1] impacts = self.row_array[2]
        cdef double[::1] all_impulses = self.all_kept[0]
        cdef double[:, ::1] all_twists = self.all_kept[1]
        cdef double[:, ::1] anchor_view = anchors
        self.rows = <Row*>&row_bytes[0]
        self.factors = &factors[0, 0, 0]
        self.impacts = &impacts[0]
        self.all_impulses = &all_impulses[0]
        self.all_twists = <Twist*>&all_twists[0, 0]
        self.anchors = <Anchor*>&anchor_view[0, 0]

    def grow(self):
        """Room for what the last collide and layout asked for."""
        self.collider.grow()
        manifolds = self.collider.manifold_count
        rows = 24 * self.joint_count + 12 * manifolds + 64
        self._grow_rows(max(rows, self.row_capacity) if rows <= self.row_capacity else rows + rows // 2,
                        max(manifolds + manifolds // 2, self.anchor_capacity))
        self.matrix.grow()
        self.smooth.grow()

    # ---- stages ------------------------------------------------------------------------------------------------------

    cdef void lap(self, int stage) noexcept nogil:
        """Charge the time since the last lap to a stage."""
        cdef double t = now()
        self.stage_times[stage] += t - self.clock
        self.clock = t

    cdef int set_time(self, double time) noexcept nogil:
        """The time of the present poses, and what functions of the user's say for it. -> status"""
        self.settings.time = time
        if self.calling:
            with gil:
                try:
                    self.calls(time)
                except BaseException as error:
                    self.failure = error
                    self.call_status = CALL_FAILED
        return self.call_status

    cdef int layout(self) noexcept nogil:
        """Collide, then lay out all rows at the present poses."""
        cdef Py_ssize_t n, joints
        if self.set_time(self.start + self.steps * self.settings.dt) != OK:
            return CALL_FAILED
        cdef int status = self.collider.collide(&self.bodies, self.settings.speculative_distance, self.settings.dt)
        if status != OK:
            return status
        self.lap(STAGE_COLLIDE)
        if self.collider.manifold_count > self.anchor_capacity:
            return GROW
        joints = layout_joints(self.joints, self.joint_count, &self.bodies, &self.settings, self.rows, self.row_capacity)
        if joints < 0:
            return GROW
        n = layout_contacts(self.collider.manifolds, self.collider.manifold_count, &self.bodies, &self.settings,
                            self.anchors, self.rows, joints, self.row_capacity)
        if n < 0:
            return GROW
        self.joint_row_count = joints
        self.row_count = n
        self.swept = not self.settings.joint_tree or n > self.tree.row_count
        if self.settings.solver != SI:
            status = self.matrix.build(self.rows, n, self.bodies.count, self.bodies.inv_mass)
            if status != OK:
                return status
        if self.settings.integrator == INTEGRATE_RK4:
            status = self.smooth.build(self.rows, joints, &self.bodies)
            if status != OK:
                return status
        self.finish_rows()
        return OK

    cdef void finish_rows(self) noexcept nogil:
        """Biases, masses and factors of rows whose Jacobians and errors are written."""
        cdef double gap
        stabilize_rows(self.rows, self.row_count, &self.bodies, &self.settings)
        if self.settings.joint_tree:
            if self.tree.loops:
                gap = self.gap()
                self.tree_tolerance = GAP_TOLERANCE * gap / self.settings.h if gap > CLOSE_ENOUGH else TREE_TOLERANCE
                self.tree.proximal = min(max(PROXIMAL_RATE * gap, LEAST_PROXIMAL), MOST_PROXIMAL)
            self.tree.factor(self.rows, self.joints, &self.bodies)
        else:
            factor_blocks(self.rows, self.joint_row_count, self.factors)
        if self.settings.solver != SI:
            self.matrix.assemble(self.rows)

    cdef double gap(self) noexcept nogil:
        """The largest error of the joints' rows [m, rad]."""
        cdef Py_ssize_t j
        cdef int i
        cdef const Row* row
        cdef double off = 0.0
        for j in range(self.joint_count):
            row = self.rows + self.joints[j].row_begin + self.joints[j].row_count - self.joints[j].constraint_count
            for i in range(self.joints[j].constraint_count):
                if row[i].stabilized:
                    off = max(off, fabs(row[i].error))
        return off

    cdef void refresh(self) noexcept nogil:
        """The rows at the present poses."""
        refresh_joints(self.joints, self.joint_count, &self.bodies, &self.settings, self.rows)
        refresh_contacts(self.collider.manifolds, self.collider.manifold_count, &self.bodies, &self.settings,
                         self.anchors, self.rows)
        self.finish_rows()

    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil:
        """All rows, on the bodies' velocities or on a displacement."""
        cdef int k
        if self.settings.solver != SI:
            self.correction = self.matrix.solve(self.rows, self.factors, twist, relaxed, iterations)
            return
        if not self.swept:
            self.solve_tree(twist, relaxed)
            return
        for k in range(iterations):
            self.correction = sweep_si(self.rows, self.row_count, self.factors, twist, relaxed)
            if self.settings.joint_tree:
                self.solve_tree(twist, relaxed)

    cdef void solve_tree(self, Twist* twist, int relaxed) noexcept nogil:
        """All joints at once; with loops until the proximal steps have converged."""
        cdef int k
        cdef double found, last = 0.0
        if not self.tree.loops:
            self.tree.solve(self.rows, self.joints, twist, relaxed)
            return
        for k in range(TREE_REPEATS):
            found = self.tree.residual(self.rows, self.joints, twist, relaxed)
            if found < self.tree_tolerance or (k > 1 and not found < PROXIMAL_PROGRESS * last):
                break
            self.tree.correct(self.rows, self.joints, twist)
            last = found

    cdef double aim(self) noexcept nogil:
        """Biases that close the joints at the end of the drift with the present velocities. -> how far they are off [m, rad]"""
        cdef double off
        cdef Py_ssize_t k
        cdef int i
        for k in range(self.jointed_count):
            i = self.jointed_bodies[k]
            self.start_position[k] = self.bodies.position[i]
            self.start_orientation[k] = self.bodies.orientation[i]
        try_poses(&self.bodies, self.jointed_bodies, self.jointed_count, self.start_position, self.start_orientation,
                  self.settings.h)
        off = aim_joints(self.joints, self.joint_count, &self.bodies, &self.settings, self.rows)
        for k in range(self.jointed_count):
            i = self.jointed_bodies[k]
            self.bodies.position[i] = self.start_position[k]
            self.bodies.orientation[i] = self.start_orientation[k]
        return off

    cdef void aim_and_solve(self) noexcept nogil:
        """All rows, the joints' with biases that close them at the end of the drift. Where loops are nearly singular, as in a taut
        net, Newton's step may lead away; it is then taken again, shorter (D. Marquardt, 1963)."""
        cdef int k
        cdef double off = self.aim()
        if not self.tree.loops:
            self.solve(self.bodies.twist, BIASED, self.settings.iterations)
            return
        self.keep_all()
        for k in range(MOST_SHORTER):
            self.solve(self.bodies.twist, BIASED, self.settings.iterations)
            if self.aim() <= max(off, LOOP_CLOSE):
                return
            self.return_all()
            self.aim()
            self.tree.proximal *= SHORTER
            self.tree.factor(self.rows, self.joints, &self.bodies)
        self.aim_still()
        self.solve(self.bodies.twist, BIASED, self.settings.iterations)

    cdef void keep_all(self) noexcept nogil:
        """All twists and impulses before a solve that may have to be undone."""
        cdef Py_ssize_t i
        memcpy(self.all_twists, self.bodies.twist, self.bodies.count * sizeof(Twist))
        for i in range(self.row_count):
            self.all_impulses[i] = self.rows[i].impulse

    cdef void return_all(self) noexcept nogil:
        cdef Py_ssize_t i
        memcpy(self.bodies.twist, self.all_twists, self.bodies.count * sizeof(Twist))
        for i in range(self.row_count):
            self.rows[i].impulse = self.all_impulses[i]

    cdef void close_joints(self) noexcept nogil:
        """Newton's method on the velocities until the drift ends with closed joints, or gets no closer."""
        cdef int k
        cdef double off, last = self.aim()
        self.closed = True
        for k in range(MOST_CORRECTIONS):
            if last <= JOINT_TOLERANCE:
                return
            self.keep_velocities()
            self.solve_tree(self.bodies.twist, BIASED)
            off = self.aim()
            if not off < (0.2 if self.tree.loops else CONTRACTION) * last:
                if not off < last:
                    self.return_velocities()
                if not last < WIDE_GAP:
                    self.aim_still()
                    self.solve_tree(self.bodies.twist, BIASED)
                last = min(off, last)
                self.closed = last < (LOOP_CLOSE if self.tree.loops else CLOSE_ENOUGH)
                return
            last = off
        self.closed = last < (LOOP_CLOSE if self.tree.loops else CLOSE_ENOUGH)

    cdef void aim_still(self) noexcept nogil:
        """Biases for J v + rate = 0 at the start of the drift: what is left where no velocity is found that closes the joints."""
        cdef Py_ssize_t j
        cdef int i
        cdef Row* row
        for j in range(self.joint_count):
            row = self.rows + self.joints[j].row_begin + self.joints[j].row_count - self.joints[j].constraint_count
            for i in range(self.joints[j].constraint_count):
                row[i].bias[BIASED] = row[i].rate

    cdef void project_joints(self) noexcept nogil:
        """Move the bodies, by their masses, until the joints are closed: J dx = -C, Newton's method with fresh Jacobians. For
        what the drift could not do, in a whip or where a scene begins with open joints. What that takes from the spin of a free
        articulation is given back."""
        cdef Py_ssize_t j, k
        cdef int i, m, r
        cdef double off, last = 0.0
        cdef double enough = LOOP_CLOSE if self.tree.loops else CLOSE_ENOUGH
        cdef Row* row
        cdef Twist* move
        update_inertia(&self.bodies)
        self.refresh()
        count_momentum(&self.bodies, self.jointed_bodies, self.articulation, self.jointed_count, 1.0, self.excess)
        for r in range(MOST_PROJECTIONS):
            self.keep_velocities()
            for k in range(self.jointed_count):
                memset(&self.bodies.twist[self.jointed_bodies[k]], 0, sizeof(Twist))
            off = 0.0
            for j in range(self.joint_count):
                row = self.rows + self.joints[j].row_begin + self.joints[j].row_count - self.joints[j].constraint_count
                for i in range(self.joints[j].constraint_count):
                    row[i].bias[BIASED] = row[i].error if row[i].stabilized else 0.0
                    off = max(off, fabs(row[i].bias[BIASED]))
            if enough < off <= WIDEST_GAP:
                self.tree.solve(self.rows, self.joints, self.bodies.twist, BIASED)
                for k in range(self.jointed_count):
                    m = self.jointed_bodies[k]
                    move = &self.bodies.twist[m]
                    if self.bodies.kind[m] == DYNAMIC:
                        self.bodies.position[m] = add_scaled(self.bodies.position[m], 1.0, move.v)
                        self.bodies.orientation[m] = quat_normalized(quat_mul(quat_exp(move.w),
                                                                              self.bodies.orientation[m]))
            self.return_velocities()
            if not enough < off <= WIDEST_GAP:
                break
            update_inertia(&self.bodies)
            self.refresh()
            if self.tree.loops and r > 0 and not off < last:
                self.tree.proximal *= SHORTER
                self.tree.factor(self.rows, self.joints, &self.bodies)
            last = off
        count_momentum(&self.bodies, self.jointed_bodies, self.articulation, self.jointed_count, -1.0, self.excess)
        self.settle_spin()

    cdef void divide_step(self) noexcept nogil:
        """How many substeps this step takes: a multiple of the user's number, so many that h^2 K stays below STRAIN I, where the
        joints' forces would otherwise shake light bodies apart (constraints/_stiffness.pyx)."""
        cdef double strain, swinging
        cdef double whole = self.settings.dt / self.substeps
        cdef int times = 1
        self.stiffening = 0.0
        if self.settings.joint_tree and self.settings.stabilization == STABILIZE_SOFT:
            strain_joints(self.joints, self.joint_count, &self.bodies, self.jointed_bodies, self.jointed_count,
                          self.stiffness, whole)
            strain = largest_strain(&self.bodies, self.jointed_bodies, NULL, self.jointed_count, self.stiffness)
            self.stiffened = self.swings if self.tree.loops else NULL
            swinging = largest_strain(&self.bodies, self.jointed_bodies, self.stiffened, self.jointed_count, self.stiffness)
            if self.settings.geometric_stiffness > 0.0:
                self.stiffening = self.settings.geometric_stiffness
                self.spared = 0.0
                self.stiffened = NULL
            elif swinging * whole ** 2 > (NET_STRAIN if self.tree.loops else TREE_STRAIN):
                self.stiffening = 1.0
                self.spared = SPARED_STRAIN
            else:
                while times < MOST_DIVISION and strain * (whole / times) ** 2 > STRAIN:
                    times += 1
        self.settings.substeps = self.substeps * times
        self.settings.h = whole / times
        if self.stiffening > 0.0:
            stiffen_bodies(&self.bodies, self.jointed_bodies, self.stiffened, self.jointed_count, self.stiffness,
                           self.stiffening * self.settings.h ** 2, self.spared, False)

    cdef void stiffen(self) noexcept nogil:
        """The stiffness of the present joint forces into the inertia of their bodies, and out of their spin."""
        update_inertia(&self.bodies)
        stiffen_joints(self.joints, self.joint_count, self.rows, &self.bodies, self.jointed_bodies, self.jointed_count,
                       self.stiffness, self.settings.h)
        stiffen_bodies(&self.bodies, self.jointed_bodies, self.stiffened, self.jointed_count, self.stiffness,
                       self.stiffening * self.settings.h ** 2, self.spared, True)

    cdef void settle_spin(self) noexcept nogil:
        """Give back what count_excess has found."""
        if self.articulation_count > 0:
            return_excess(&self.bodies, self.jointed_bodies, self.articulation, self.jointed_count, self.articulation_count,
                          self.excess, self.center, self.articulation_inertia)

    cdef void count_spin(self, double sign) noexcept nogil:
        count_excess(&self.bodies, self.jointed_bodies, self.articulation, self.jointed_count, self.stiffness, sign,
                     self.excess)

    cdef void scale_impulses(self, double factor) noexcept nogil:
        """Impulses of a substep as those of one `factor` as long, in rows and manifolds."""
        cdef Py_ssize_t i
        cdef int k
        cdef Manifold* m
        for i in range(self.row_count):
            self.rows[i].impulse *= factor
        for i in range(self.collider.manifold_count):
            m = &self.collider.manifolds[i]
            m.friction_impulse = scale(factor, m.friction_impulse)
            m.twist_impulse *= factor
            for k in range(m.point_count):
                m.points[k].normal_impulse *= factor
                m.points[k].friction_impulse = scale(factor, m.points[k].friction_impulse)

    cdef void keep_velocities(self) noexcept nogil:
        """Twists and impulses before a solve that may have to be undone."""
        cdef Py_ssize_t j, k, n = 0
        cdef int i
        for k in range(self.jointed_count):
            self.start_twist[k] = self.bodies.twist[self.jointed_bodies[k]]
        for j in range(self.joint_count):
            k = self.joints[j].row_begin + self.joints[j].row_count - self.joints[j].constraint_count
            for i in range(self.joints[j].constraint_count):
                self.start_impulse[n] = self.rows[k + i].impulse
                n += 1

    cdef void return_velocities(self) noexcept nogil:
        cdef Py_ssize_t j, k, n = 0
        cdef int i
        for k in range(self.jointed_count):
            self.bodies.twist[self.jointed_bodies[k]] = self.start_twist[k]
        for j in range(self.joint_count):
            k = self.joints[j].row_begin + self.joints[j].row_count - self.joints[j].constraint_count
            for i in range(self.joints[j].constraint_count):
                self.rows[k + i].impulse = self.start_impulse[n]
                n += 1

    cdef void begin_rows(self) noexcept nogil:
        """The impulses that a substep starts with. Where its forces act in two halves, so do what opposes them: the second
        half is carried to the relax pass. Springs and position motors act whole, with the pose that they belong to."""
        cdef Py_ssize_t i
        cdef double first = self.settings.first_kick
        cdef Row* row
        for i in range(self.row_count):
            row = &self.rows[i]
            row.carry = 0.0
            # Of redundant rows a part of the impulses does nothing, until the bodies have moved: it is not carried over.
            if row.block_kind == BLOCK_TREE:
                row.impulse *= 0.0 if self.tree.loops else first
            elif row.kind == ROW_JOINT:
                row.impulse *= self.settings.joint_warm_start
            elif row.compliance[RELAXED] == 0.0:
                row.carry = (1.0 - first) * row.impulse
                row.impulse *= first
        warm_start(self.rows, self.row_count, self.bodies.twist)

    cdef void return_carried(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef Row* row
        for i in range(self.row_count):
            row = &self.rows[i]
            if row.carry != 0.0:
                row.impulse += row.carry
                row_apply(row, row.carry, self.bodies.twist)

    cdef void bounce(self) noexcept nogil:
        """Impacts of what would touch within the next substep."""
        if self.bounces:
            self.impact_count += resolve_impacts(self.rows, self.row_count, self.bodies.twist,
                                                 self.settings.restitution_threshold, self.settings.h, self.impacts)
        self.lap(STAGE_IMPACT)

    # ---- positions ---------------------------------------------------------------------------------------------------

    cdef void solve_positions(self) noexcept nogil:
        """The rows, as the displacement has borrowed and aimed them, on the displacement."""
        cdef double correction = self.correction
        self.solve(self.displacement.twist, BIASED, self.settings.iterations)
        self.correction = correction

    cdef void drift(self) noexcept nogil:
        if self.settings.stabilization == STABILIZE_SPLIT_IMPULSE:
            self.drift_on_split_impulses()
        elif self.settings.stabilization == STABILIZE_GGL:
            self.drift_by_ggl()
        else:
            integrate_poses(&self.bodies, self.settings.h)

    cdef void drift_on_split_impulses(self) noexcept nogil:
        """Drift by the velocities and, beside them, by what mends a part of the errors at the start."""
        self.displacement.begin(self.rows, self.row_count, &self.bodies)
        self.displacement.aim_split(self.rows, self.row_count, &self.bodies, &self.settings)
        self.solve_positions()
        integrate_poses(&self.bodies, self.settings.h)
        self.displacement.start_here(&self.bodies)
        self.displacement.move(&self.bodies)
        self.displacement.finish(self.rows, self.row_count, &self.bodies)

    cdef void drift_by_ggl(self) noexcept nogil:
        """Drift by v + M^-1 J' mu, J at the start, with mu such that the errors at the end are 0."""
        cdef int k
        cdef Row* trial = self.displacement.trial
        integrate_poses(&self.bodies, self.settings.h)
        self.displacement.begin(self.rows, self.row_count, &self.bodies)
        memcpy(trial, self.rows, self.row_count * sizeof(Row))
        for k in range(self.settings.position_rounds):
            refresh_joints(self.joints, self.joint_count, &self.bodies, &self.settings, trial)
            refresh_contacts(self.collider.manifolds, self.collider.manifold_count, &self.bodies, &self.settings,
                             self.anchors, trial)
            self.displacement.aim_ggl(self.rows, self.row_count, &self.settings)
            self.solve_positions()
            self.displacement.move(&self.bodies)
        self.displacement.finish(self.rows, self.row_count, &self.bodies)

    cdef void project_positions(self) noexcept nogil:
        """Move the bodies until the errors are 0, by Newton's method: rows at the present poses in every round."""
        cdef int k
        for k in range(self.settings.position_rounds):
            self.displacement.begin(self.rows, self.row_count, &self.bodies)
            self.displacement.aim_projection(self.rows, self.row_count, &self.settings)
            self.solve_positions()
            self.displacement.move(&self.bodies)
            self.displacement.finish(self.rows, self.row_count, &self.bodies)
            self.refresh()

    # ---- a step ------------------------------------------------------------------------------------------------------

    cdef void substep(self, bint last) noexcept nogil:
        cdef int stabilization = self.settings.stabilization
        cdef bint relax = stabilization in (STABILIZE_SOFT, STABILIZE_PROJECTION, STABILIZE_GGL)
        cdef bint closing = self.settings.joint_tree and stabilization == STABILIZE_SOFT
        cdef double first = self.settings.first_kick
        if self.stiffening > 0.0:
            self.count_spin(-1.0)
        integrate_velocities(&self.bodies, &self.settings, first)
        self.lap(STAGE_INTEGRATE)
        self.begin_rows()
        self.lap(STAGE_WARM_START)
        if closing:
            self.aim_and_solve()
            self.close_joints()
        else:
            self.solve(self.bodies.twist, BIASED, self.settings.iterations)
        if last and not relax:
            self.residual = residual(self.rows, self.row_count, self.bodies.twist, 0)
        self.lap(STAGE_SOLVE)
        self.set_time(self.settings.time + self.settings.h)
        if self.stiffening > 0.0:
            self.count_spin(1.0)
        self.drift()
        if self.stiffening > 0.0:
            self.settle_spin()
        if closing and not self.closed:
            self.project_joints()
        if self.stiffening > 0.0:
            self.stiffen()
        if first < 1.0:
            integrate_velocities(&self.bodies, &self.settings, 1.0 - first)
        self.lap(STAGE_INTEGRATE)
        self.refresh()
        self.lap(STAGE_REFRESH)
        if stabilization == STABILIZE_PROJECTION:
            self.project_positions()
            self.lap(STAGE_SOLVE)
        self.bounce()
        if first < 1.0:
            self.return_carried()
        if relax:
            self.solve(self.bodies.twist, RELAXED, self.settings.relax_iterations)
            if last:
                self.residual = residual(self.rows, self.row_count, self.bodies.twist, 1)
            self.lap(STAGE_RELAX)
        if self.stiffening > 0.0:
            self.count_spin(1.0)
            self.settle_spin()
        accumulate_contacts(self.collider.manifolds, self.collider.manifold_count, &self.settings, self.rows,
                            self.impacts)
        memset(self.impacts, 0, self.row_count * sizeof(double))
        self.lap(STAGE_STORE)

    # ---- integrator="rk4" --------------------------------------------------------------------------------------------

    cdef void accelerate(self, bint keep) noexcept nogil:
        """The KKT accelerations at the present state. keep: joint forces times h into the rows' impulses."""
        refresh_joints(self.joints, self.joint_count, &self.bodies, &self.settings, self.rows)
        smooth_forces(&self.bodies, &self.settings, self.wrench)
        add_joint_forces(self.joints, self.joint_count, &self.bodies, &self.settings, self.rows, self.wrench, keep)
        free_accelerations(&self.bodies, self.wrench, self.acceleration)
        self.smooth.factor(self.rows)
        self.smooth.aim_accelerations(self.rows, self.bodies.twist, &self.settings)
        self.smooth.solve(self.rows, self.acceleration)
        add_gyroscopic(&self.bodies, self.acceleration)
        if keep:
            self.smooth.keep(self.rows, self.settings.h)

    cdef void solve_bounded(self, int relaxed) noexcept nogil:
        """Limits, friction and velocity motors of joints, then contacts, as impulses; after each the joints' rates are
        what they were, or 0 after impacts, which know no joints. Sweeps over the contacts pass by the joints' rows,
        whose masses and factors are 0."""
        cdef Py_ssize_t i
        cdef int k
        stabilize_rows(self.rows, self.row_count, &self.bodies, &self.settings)
        mute_joint_forces(self.joints, self.joint_count, self.rows)
        self.smooth.factor(self.rows)
        self.smooth.forget(self.joint_row_count)
        for i in range(self.joint_row_count):
            self.rows[i].mass[relaxed] = 0.0
        memset(self.factors, 0, self.joint_row_count * FACTOR_STRIDE * sizeof(double))
        if relaxed and self.impact_count > 0:
            self.smooth.aim_still(self.rows)
        else:
            self.smooth.aim_rates(self.rows, self.bodies.twist)
        for k in range(self.settings.iterations):
            self.correction = self.smooth.sweep(self.rows, self.joint_row_count, self.bodies.twist, self.wrench,
                                                     relaxed)
            if self.row_count > self.joint_row_count:
                self.correction = max(self.correction, sweep_si(self.rows, self.row_count, self.factors,
                                                                self.bodies.twist, relaxed))
            self.smooth.solve(self.rows, self.bodies.twist)
            self.smooth.keep(self.rows, 1.0)
            if self.correction <= SETTLED:
                break

    cdef void project_smooth(self) noexcept nogil:
        """Poses onto C = 0 by Newton's method, then velocities onto J v = 0, both in the metric of the masses."""
        cdef int k
        for k in range(PROJECTION_ROUNDS):
            refresh_joints(self.joints, self.joint_count, &self.bodies, &self.settings, self.rows)
            if self.smooth.aim_errors(self.rows) <= PROJECTION_TOLERANCE:
                break
            self.smooth.factor(self.rows)
            memset(self.acceleration - 1, 0, (self.bodies.count + 1) * sizeof(Twist))
            self.smooth.solve(self.rows, self.acceleration)
            displace(&self.bodies, self.acceleration)
        refresh_joints(self.joints, self.joint_count, &self.bodies, &self.settings, self.rows)
        self.smooth.factor(self.rows)
        self.smooth.aim_still(self.rows)
        self.smooth.solve(self.rows, self.bodies.twist)

    cdef void substep_smooth(self, bint last) noexcept nogil:
        """Runge-Kutta over the smooth forces. What has bounds acts as impulses: before, on the mean velocity of the
        substep to come, and after, on the velocity at its end."""
        cdef double h = self.settings.h
        cdef Py_ssize_t i, muted
        cdef int k
        cdef bint bounded
        for i in range(self.row_count):
            self.rows[i].impulse = 0.0
        muted = mute_joint_forces(self.joints, self.joint_count, self.rows)
        bounded = self.row_count - self.smooth.count - muted > 0
        if bounded:
            if self.impact_count > 0:
                self.smooth.factor(self.rows)
                self.smooth.aim_still(self.rows)
                self.smooth.solve(self.rows, self.bodies.twist)
            self.accelerate(False)
            add_twists(self.bodies.count, 0.5 * h, self.acceleration, self.bodies.twist)
            self.solve_bounded(BIASED)
            add_twists(self.bodies.count, -0.5 * h, self.acceleration, self.bodies.twist)
        self.lap(STAGE_SOLVE)
        self.runge_kutta.begin(&self.bodies)
        for k in range(4):
            if k == 1 or k == 3:
                self.set_time(self.settings.time + 0.5 * h)
            self.accelerate(False)
            self.runge_kutta.stage(&self.bodies, self.acceleration, k, h)
        if self.settings.smooth_projection:
            self.project_smooth()
        self.lap(STAGE_INTEGRATE)
        if bounded:
            refresh_joints(self.joints, self.joint_count, &self.bodies, &self.settings, self.rows)
            refresh_contacts(self.collider.manifolds, self.collider.manifold_count, &self.bodies, &self.settings,
                             self.anchors, self.rows)
            self.lap(STAGE_REFRESH)
            self.bounce()
            self.solve_bounded(RELAXED)
            self.lap(STAGE_RELAX)
        self.residual = residual(self.rows, self.row_count, self.bodies.twist, RELAXED) if bounded else 0.0
        if last:
            self.accelerate(True)
        accumulate_contacts(self.collider.manifolds, self.collider.manifold_count, &self.settings, self.rows,
                            self.impacts)
        memset(self.impacts, 0, self.row_count * sizeof(double))
        self.lap(STAGE_STORE)

    cdef int step_once(self) noexcept nogil:
        """One step. GROW: nothing happened; NOT_FINITE: the state before the step is back."""
        cdef Py_ssize_t i
        cdef int status
        if self.stiffening > 0.0:
            update_inertia(&self.bodies)
        self.divide_step()
        status = self.layout()
        if status != OK:
            return status
        if self.settings.substeps != self.substeps:
            self.scale_impulses(<double>self.substeps / self.settings.substeps)
        self.lap(STAGE_PREPARE)
        self.save_backup()
        self.impact_count = 0
        memset(self.impacts, 0, self.row_count * sizeof(double))
        self.bounce()
        for i in range(self.settings.substeps):
            if self.settings.integrator == INTEGRATE_RK4:
                self.substep_smooth(i == self.settings.substeps - 1)
            else:
                self.substep(i == self.settings.substeps - 1)
            if self.call_status != OK:
                self.restore_backup()
                return CALL_FAILED
        if self.settings.substeps != self.substeps:
            self.scale_impulses(<double>self.settings.substeps / self.substeps)
        store_joints(self.joints, self.joint_count, &self.bodies, self.rows)
        if break_joints(self.joints, self.joint_count, self.settings.dt / self.substeps) > 0:
            self.replanning = True
        self.lap(STAGE_STORE)
        status = self.check_state()
        if status != OK:
            self.restore_backup()
            return status
        self.collider.accept()
        self.lap(STAGE_FINISH)
        return OK

    def set_calls(self, calls):
        """calls(time): writes what the user's functions give into the joints' records, before rows are made of them."""
        self.calls = calls
        self.calling = calls is not None

    def raise_failure(self):
        """Pass on what a user's function raised."""
        error, self.failure, self.call_status = self.failure, None, OK
        raise error

    # ---- called from World -------------------------------------------------------------------------------------------

    def step(self, Py_ssize_t n):
        """Up to n steps without the GIL, counted in `steps`. -> status. GROW: call grow() and go on; NOT_FINITE:
        `failed_body` says where, the state is that before the step. What a signal's handler raises comes out whole."""
        cdef Py_ssize_t done = 0
        cdef int status
        cdef double looked
        with nogil:
            self.clock = now()
            looked = self.clock
            status = self.check_state()
            update_inertia(&self.bodies)
            while status == OK and done < n:
                status = self.step_once()
                if status == OK:
                    done += 1
                    self.steps += 1
                if self.replanning:
                    with gil:
                        self.replan()
                if self.clock - looked > SIGNAL_INTERVAL:
                    looked = self.clock
                    with gil:
                        PyErr_CheckSignals()
        if status == CALL_FAILED:
            self.raise_failure()
        return status

    def prepare(self):
        """Rows of the present state, as the next step would begin with them; the joints' records and the times of the last
        step call stay. -> status"""
        cdef int status
        cdef double times[STAGES]
        with nogil:
            memcpy(times, self.stage_times, sizeof(times))
            self.clock = now()
            status = self.check_state()
            if status == OK:
                update_inertia(&self.bodies)
                self.joints_copied()
                status = self.layout()
                memcpy(self.joints, self.backup_pointers[3], self.joint_count * sizeof(Joint))
            memcpy(self.stage_times, times, sizeof(times))
        if status == CALL_FAILED:
            self.raise_failure()
        return status

    def smooth_forces(self):
        """(n, 6) [N, N m] gravity, the user's forces, damping, springs and position motors about the centres of mass,
        world axes, at the state of the last prepare(). Without the gyroscopic torque."""
        cdef Joint* joints = self.joints_copied()
        layout_joints(joints, self.joint_count, &self.bodies, &self.settings, self.rows, self.row_capacity)
        smooth_forces(&self.bodies, &self.settings, self.wrench)
        add_joint_forces(joints, self.joint_count, &self.bodies, &self.settings, self.rows, self.wrench, False)
        return self.smooth_arrays[0, 1:].copy()

    def rows_now(self):
        """(row_count,) ROW_DTYPE, a view of the row buffer."""
        return self.row_array[0][:self.row_count]

    def times(self):
        """(stages,) [s] spent since the last call of clear_times."""
        return [self.stage_times[i] for i in range(STAGES)]

    def clear_times(self):
        memset(self.stage_times, 0, sizeof(self.stage_times))
