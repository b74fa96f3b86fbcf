"""How poses follow the velocities, and what mends their errors beside, by the stabilization's name: chords of joints
(_chords.pyx), and rows solved on a displacement (stabilize/_displace.pyx).
"""

from libc.string cimport memcpy

from mcsim.constraints._coordinates cimport foresee_turns
from mcsim.integrate._euler cimport integrate_poses
from mcsim.stabilize._displace cimport MOST_SHORTER
from mcsim.state._row cimport BIASED, Row
from mcsim.state._settings cimport STABILIZE_GGL, STABILIZE_PROJECTION, STABILIZE_SPLIT_IMPULSE

cdef enum:
    AIMED = 4                    # 1 / the part of a pass that follows, all together, where chords are aimed at


def new_drift(StepContext context not None, Islands islands, PlainRows plain, Displacement displacement,
              Articulations closed, Articulations in_turn):
    """That of the settings. closed: articulations that moved their bodies as they closed; in_turn: those that did not."""
    cdef int stabilization = context.settings.stabilization
    kinds = {STABILIZE_SPLIT_IMPULSE: SplitImpulses, STABILIZE_GGL: Ggl, STABILIZE_PROJECTION: Projection}
    if stabilization in kinds:
        return kinds[stabilization](context, islands, plain, displacement, in_turn)
    return Drift(context, islands, closed)


cdef class Drift:
    """By the velocities alone."""

    def __init__(self, StepContext context not None, Islands islands not None, Articulations closed):
        self.context, self.islands, self.closed = context, islands, closed

    cdef void move(self, Sweeps sweeps) noexcept nogil:
        """From the substep's first poses to its last."""
        self.move_on()
        self.foresee()

    cdef void mend(self, Sweeps sweeps) noexcept nogil:
        """Errors, once the velocities there are what they end with."""

    cdef void foresee(self) noexcept nogil:
        """Once a drift has ended: angles that have turned far."""
        foresee_turns(self.context.joints, self.context.joint_lists, self.context.bodies, self.context.settings.h)

    cdef void move_on(self) noexcept nogil:
        """The end of a drift: bodies by their velocities, and what sleeps with what carries it."""
        cdef const int32_t* chosen = self.context.bodies.moving
        cdef Py_ssize_t count = self.context.bodies.moving_count
        if self.closed is not None:
            chosen, count = self.closed.state.others, self.closed.state.other_count
        integrate_poses(self.context.bodies, chosen, count, self.context.settings.h, self.context.settings.threads)
        self.islands.carriers.carry(self.context.bodies, self.context.settings.h)


cdef class Displaced(Drift):
    """What those share that solve the rows on a displacement."""

    def __init__(self, StepContext context, Islands islands, PlainRows plain not None, Displacement displacement not None,
                 Articulations articulations):
        Drift.__init__(self, context, islands, None)
        self.plain, self.displacement, self.articulations = plain, displacement, articulations

    cdef void begin(self) noexcept nogil:
        self.displacement.begin(self.plain.rows, self.plain.row_count, self.context.bodies)

    cdef void finish(self) noexcept nogil:
        self.displacement.finish(self.plain.rows, self.plain.row_count, self.context.bodies)

    cdef void solve(self, Sweeps sweeps) noexcept nogil:
        """The rows, as the displacement has borrowed and aimed them, on the displacement."""
        cdef double correction = sweeps.correction
        sweeps.solve(self.displacement.twist, BIASED, sweeps.asked)
        sweeps.correction = correction

    cdef void try_rows(self) noexcept nogil:
        """The rows' errors at the end of a drift, from which a displacement goes on."""
        memcpy(self.displacement.trial, self.plain.rows, self.plain.row_count * sizeof(Row))
        self.plain.write(self.displacement.trial)
        self.displacement.keep_errors(self.displacement.trial, self.plain.row_count)

    cdef void displace(self, double part) noexcept nogil:
        """By the displacement, or where that goes too far for joints by less of it; what is left, of the `part` of
        errors that it is to mend, is noted."""
        cdef Row* moved = self.displacement.trial
        cdef Row* rows = self.plain.rows
        cdef Py_ssize_t count = self.plain.row_count
        cdef bint jointed = self.plain.joint_end > 0
        cdef int k
        if jointed:
            self.displacement.expect(rows, count, self.context.bodies)
            memcpy(moved, rows, count * sizeof(Row))
        self.displacement.move(self.context.bodies)
        for k in range(MOST_SHORTER + 1 if jointed else 0):
            self.plain.write(moved)
            if not self.displacement.shorten(rows, moved, count, self.context.bodies, k == MOST_SHORTER):
                break
            self.displacement.move(self.context.bodies)
        if self.articulations is not None and jointed:
            self.articulations.state.note_left(self.displacement, moved, self.plain.joint_end, part)


cdef class SplitImpulses(Displaced):
    """By the velocities and, beside them, by what mends a part of the errors at the start."""

    cdef void move(self, Sweeps sweeps) noexcept nogil:
        self.begin()
        self.displacement.aim_split(self.plain.rows, self.plain.row_count, self.context.bodies, self.context.settings)
        self.solve(sweeps)
        self.move_on()
        self.foresee()
        self.displacement.start_here(self.context.bodies)
        if self.plain.joint_end > 0:
            self.try_rows()
        self.displace(self.context.settings.baumgarte)
        self.finish()


cdef class AlongChords(Displaced):
    """By velocities with which joints are as open at the end of the drift as at its start (_chords.pyx). The velocities end
    along what the joints leave free there; then the bodies move until nothing is open. Moved before, they would find
    other tangents than the chord goes between, and take a speed from what was open."""

    def __init__(self, StepContext context, Islands islands, PlainRows plain, Displacement displacement,
                 Articulations articulations):
        Displaced.__init__(self, context, islands, plain, displacement, articulations)
        self.chords = Chords(displacement.body_count)

    cdef int share(self, int asked) noexcept nogil:
        """How many sweeps follow each time that chords are aimed at, also of what has no joints."""
        return max(asked // (AIMED * self.context.settings.position_rounds), 1)

    cdef void move(self, Sweeps sweeps) noexcept nogil:
        cdef bint jointed = self.plain.joint_end > 0
        cdef int k
        self.chords.begin(self.context.bodies)
        for k in range(self.context.settings.position_rounds):
            if jointed:
                self.try_drift(k == 0)
            sweeps.solve(self.context.bodies.twist, BIASED, self.share(sweeps.asked))
            if sweeps.calls.is_interrupted():
                break
        self.move_on()
        if not jointed:
            self.foresee()

    cdef void try_drift(self, bint first) noexcept nogil:
        """Aim at the chords, by where the velocities would lead. first: in the substep."""
        self.chords.try_drift(self.context.bodies, self.context.settings.h)
        if first:
            self.foresee()
        memcpy(self.displacement.trial, self.plain.rows, self.plain.joint_end * sizeof(Row))
        self.plain.write_joints(self.displacement.trial)
        self.chords.go_back(self.context.bodies)
        self.chords.aim(self.plain.rows, self.displacement.trial, self.plain.joint_end, self.context.bodies,
                        self.context.settings.h)


cdef class Ggl(AlongChords):
    """By M^-1 J' mu, with J where the drift ended, and mu such that the errors are 0 where that takes the bodies."""

    cdef void mend(self, Sweeps sweeps) noexcept nogil:
        cdef int _
        self.begin()
        memcpy(self.displacement.trial, self.plain.rows, self.plain.row_count * sizeof(Row))
        for _ in range(self.context.settings.position_rounds):
            self.displacement.aim_ggl(self.plain.rows, self.plain.row_count, self.context.settings)
            self.solve(sweeps)
            self.displace(1.0)
            if self.plain.joint_end == 0:
                self.plain.write(self.displacement.trial)
            if sweeps.calls.is_interrupted():
                break
        self.finish()
        sweeps.refresh()


cdef class Projection(AlongChords):
    """By Newton's method: rows at the present poses in every round."""

    cdef void mend(self, Sweeps sweeps) noexcept nogil:
        cdef int _
        for _ in range(self.context.settings.position_rounds):
            self.begin()
            self.displacement.aim_projection(self.plain.rows, self.plain.row_count, self.context.settings)
            self.solve(sweeps)
            self.displace(1.0)
            self.finish()
            sweeps.refresh()
            if sweeps.calls.is_interrupted():
                break
