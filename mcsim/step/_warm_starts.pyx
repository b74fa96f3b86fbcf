"""The impulses that a substep's rows start with, in each of its halves; and what else compliant contacts
(constraints/_compliant.pyx) do in a step, beside being rows like others:

    layout       surfaces as the last step left them; numbers of their rows
    warm start   their guesses, as far as they help
    refresh      surfaces to where the drift leaves them; numbers of their rows, for what is left of this substep and for the
                 next one
    end          the poses that they know
    relax        before it the second halves: of slow points as large as the first ones, of fast ones guessed by them
"""

from libc.math cimport INFINITY
from libc.string cimport memcpy

from mcsim.constraints._compliant cimport comply, load_surfaces, move_surfaces, sign_surfaces, surface_energy
from mcsim.constraints._joints cimport is_shared
from mcsim.core._noted cimport NOBODY, NOTE_STIFF
from mcsim.core._types cimport Twist
from mcsim.solve._blocks cimport row_apply, row_residual, row_velocity
from mcsim.solve._si cimport warm_start
from mcsim.state._layout cimport (BIASED, BLOCK_BORDER, BLOCK_TREE, RELAXED, ROW_FRICTION, ROW_JOINT,
                                  ROW_JOINT_FRICTION, ROW_MOTOR, ROW_NORMAL, STABILIZE_PROJECTION)
from mcsim.wide._halves cimport first_part, lasting, second_half


cdef class WarmStarts(Machine):
    """Arguments as of Machine."""

    cdef void begin_rows(self) noexcept nogil:
        """Those impulses on the bodies."""
        cdef double first = self.settings.first_kick
        self.set_start_impulses()
        if self.settings.compliant:
            warm_start(self.rows, self.joint_end, self.bodies.twist)
            self.guess_contacts(<double*>self.bodies.twist, <double*>self.wrench, BIASED)
        else:
            warm_start(self.rows, self.row_count, self.bodies.twist)
        if self.apart:
            self.wide_joints.warm_start(self.bodies.twist, &self.settings, self.ended)
        if self.widening:
            self.wide.warm_start(self.bodies.twist, first, self.ended)
        if self.closing:
            self.articulations.angles.warm_start(self.bodies.twist, first)
            self.articulations.begin()

    cdef void set_start_impulses(self) noexcept nogil:
        """The impulses that a substep starts with. Where its forces act in two halves, so does what opposes or
        drives them: the second half is carried to the relax pass, and bounds are halved until the rows are
        refreshed for it. The second half of a shared impulse is as large as the first comes out: `carry` holds
        the ratio."""
        cdef Py_ssize_t i
        cdef double first = self.settings.first_kick
        cdef double of_joints = first_part(ROW_JOINT, &self.settings)
        cdef Row* row
        for i in range(self.row_count):
            row = &self.rows[i]
            if self.ended and i < self.joint_end:
                row.impulse = lasting(row, &self.settings)
            row.carry = 0.0
            if row.block_kind == BLOCK_TREE or row.block_kind == BLOCK_BORDER:
                # Limits feel feedback through warm joints as they do among rows (settings.joint_warm_start).
                row.impulse *= first if self.closing else self.settings.joint_warm_start
                if self.articulations.cold[max(self.articulations.group[row.body_a],
                                               self.articulations.group[row.body_b])]:
                    row.impulse = 0.0
            elif row.kind == ROW_JOINT:
                row.impulse *= self.settings.joint_warm_start
                row.carry = (1.0 - of_joints) * row.impulse
                row.impulse *= of_joints
            elif self.complies(row):
                row.impulse = first * row.impulse
                if row.kind == ROW_NORMAL:
                    row.lower = 0.0
            elif is_shared(row, self.joints, &self.settings):
                row.carry = (1.0 - first) / first
                row.impulse *= first
                row.upper = INFINITY
                row.lower = -row.upper
            else:
                row.carry = (1.0 - first) * row.impulse
                row.impulse *= first
                if row.kind == ROW_MOTOR or row.kind == ROW_JOINT_FRICTION:
                    row.lower *= first
                    row.upper *= first

    cdef void find_drives(self) noexcept nogil:
        """Where rows may contradict each other. Where impulses act in halves compliance bounds what sweeps give then."""
        self.drives.any = False
        if self.settings.first_kick == 1.0:
            self.drives.find(&self.bodies, self.collider.manifolds, self.collider.manifold_count, self.joints,
                             self.awake_joints, self.awake_joint_count)

    cdef bint watches(self, const Twist* twist, int relaxed) noexcept nogil:
        """Whether the last sweep of a pass over `twist` is to tell what drives ask for in vain: no other pass over velocities
        follows in the substep."""
        return (self.drives.any and twist == self.bodies.twist
                and (relaxed != 0) == (self.settings.stabilization >= STABILIZE_PROJECTION))

    cdef void note_impulses(self) noexcept nogil:
        """Before the last sweep of a substep, where drives may contradict each other."""
        cdef Py_ssize_t i
        for i in range(self.row_count):
            self.rows[i].carry = self.rows[i].impulse
        self.wide.note_impulses()
        self.drives.begin(&self.bodies)

    cdef void find_vain(self) noexcept nogil:
        """After it: what does not last of the impulses, into `carry` (step/_drives.pyx). Friction follows its load."""
        cdef double* along = self.drives.groups.slope
        cdef double* alone = self.drives.groups.bend
        cdef const double* times = self.drives.times
        cdef Row* row
        cdef double part
        cdef Py_ssize_t i
        cdef int body
        for i in range(self.row_count):
            row = &self.rows[i]
            row.carry = row.impulse - row.carry
            body = row.body_a if self.bodies.inv_mass[row.body_a] > 0.0 else row.body_b
            if row.carry != 0.0 and body >= 0 and row.kind <= ROW_NORMAL:
                along[body] += row.diagonal * row.impulse * row.carry
                alone[body] += row.diagonal * row.carry * row.carry
        self.wide.weigh_changes(along, alone)
        self.drives.judge(&self.bodies)
        for i in range(self.row_count):
            row = &self.rows[i]
            part = max(times[row.body_a], times[row.body_b])
            row.carry = part * row.carry if part > 0.0 else 0.0
        self.wide.leave_changes(times)

    cdef double take_carried(self, Row* row) noexcept nogil:
        """The impulse of a row that acts after the drift, at the new pose; `carry` is the first half from then on. A shared
        one is then done with: the relax pass leaves it alone."""
        cdef double impulse
        if row.block_kind == BLOCK_TREE or row.block_kind == BLOCK_BORDER:
            return 0.0
        if is_shared(row, self.joints, &self.settings):
            impulse = row.carry * row.impulse
            row.impulse += impulse
            row.lower = row.impulse
            row.upper = row.impulse
            return impulse
        impulse = second_half(row.impulse, row.carry)
        row.carry = row.impulse
        row.impulse += impulse
        return impulse

    # ---- compliant contacts ------------------------------------------------------------------------------------------

    cdef bint complies(self, const Row* row) noexcept nogil:
        """Whether it is of the spring and damper of a contact point."""
        return self.settings.compliant and (row.kind == ROW_NORMAL or row.kind == ROW_FRICTION)

    cdef void load_surfaces(self) noexcept nogil:
        load_surfaces(self.collider.manifolds, self.collider.resisted(), self.collider.shapes,
                      self.collider.manifold_count, &self.bodies, &self.settings, self.rows)

    cdef void move_surfaces(self) noexcept nogil:
        move_surfaces(self.collider.manifolds, self.collider.resisted(), self.collider.shapes,
                      self.collider.manifold_count, &self.bodies, &self.settings, self.rows)

    cdef void sign_surfaces(self) noexcept nogil:
        sign_surfaces(self.collider.manifolds, self.collider.manifold_count, &self.bodies)

    cdef void comply(self) noexcept nogil:
        comply(self.collider.manifolds, self.collider.resisted(), self.collider.shapes, self.collider.manifold_count,
               &self.bodies, &self.settings, self.anchors, self.rows)

    cdef int32_t node(self, int32_t body) noexcept nogil:
        """What a body moves with among the nodes of the guesses, -1: it stands."""
        return body if self.bodies.inv_mass[body] > 0.0 else -1

    cdef double row_rate(self, Py_ssize_t i, const double* velocity) noexcept nogil:
        """J v of row i"""
        return row_velocity(&self.rows[i], <const Twist*>velocity)

    cdef void row_act(self, Py_ssize_t i, double impulse, double* velocity) noexcept nogil:
        """Its impulse on the velocities."""
        row_apply(&self.rows[i], impulse, <Twist*>velocity)

    cdef void guess_contacts(self, double* velocity, double* before, int relaxed) noexcept nogil:
        """The guessed impulses of all contacts' rows on the velocities, as far as they help (solve/_guesses.pyx). before:
        room for as many velocities."""
        cdef Row* row
        cdef Py_ssize_t i
        cdef double rate, part
        for i in range(self.joint_end, self.row_count):
            self.rows[i].carry = self.take_second(i, velocity) if relaxed else self.rows[i].impulse
        memcpy(before, velocity, self.node_count * sizeof(double))
        for i in range(self.joint_end, self.row_count):
            self.row_act(i, self.rows[i].carry, velocity)
        self.guesses.begin()
        for i in range(self.joint_end, self.row_count):
            row = &self.rows[i]
            rate = self.row_rate(i, before)
            self.guesses.add(self.node(row.body_a), self.node(row.body_b), row.carry,
                             row_residual(row, rate, relaxed) - row.compliance[relaxed] * row.carry,
                             row_residual(row, self.row_rate(i, velocity), relaxed))
        self.guesses.weigh()
        for i in range(self.joint_end, self.row_count):
            row = &self.rows[i]
            part = self.guesses.part(max(self.node(row.body_a), self.node(row.body_b)))
            row.impulse -= (1.0 - part) * row.carry
            if not relaxed:
                row.carry = self.second_part(row)
        for i in range(self.node_count):
            part = self.guesses.part(self.nodes[i])
            if part < 1.0:
                velocity[i] = before[i] + part * (velocity[i] - before[i])

    cdef double second_part(self, const Row* row) noexcept nogil:
        """`carry`: the ratio of a row's halves, or of what is as rigid rows are, its second half."""
        cdef double first = self.settings.first_kick
        return (1.0 - first) / first * (1.0 if self.complies(row) else row.impulse)

    cdef double take_second(self, Py_ssize_t i, double* velocity) noexcept nogil:
        """Add a row's second half to its impulse. -> what of it is a guess; where it is as large as the first in any case,
        it acts at once."""
        cdef Row* row = &self.rows[i]
        cdef double impulse = row.carry
        if self.complies(row):
            impulse *= row.impulse
            if row.kind == ROW_NORMAL:
                row.lower = row.impulse                  # the first half stands, the second presses too
        row.impulse += impulse
        if not self.complies(row) or row.compliance[RELAXED] > 0.0:
            return impulse
        self.row_act(i, impulse, velocity)
        return 0.0

    cdef void note_stiff(self) noexcept nogil:
        """Points that bear and are faster than the substep."""
        cdef const Row* row
        cdef Py_ssize_t i, found = 0
        for i in range(self.joint_end, self.row_count):
            row = &self.rows[i]
            if row.kind == ROW_NORMAL and row.compliance[RELAXED] > 0.0 and row.impulse > 0.0:
                found += 1
                if self.bodies.inv_mass[row.body_a] > 0.0:
                    self.noted.most(NOTE_STIFF, row.body_a, 1.0)
                if self.bodies.inv_mass[row.body_b] > 0.0:
                    self.noted.most(NOTE_STIFF, row.body_b, 1.0)
        if found > 0:
            self.noted.most(NOTE_STIFF, NOBODY, found)

    # ---- for World ---------------------------------------------------------------------------------------------------

    def spring_energy(self):
        """[J] of joints' springs and, as the last step left them, of compliant contacts."""
        cdef double energy = Machine.spring_energy(self)
        if self.settings.compliant:
            energy += surface_energy(self.collider.previous, self.collider.shapes, self.collider.previous_count)
        return energy
