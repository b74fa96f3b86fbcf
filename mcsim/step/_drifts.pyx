"""How poses follow the velocities, and what mends their errors beside, by the stabilization's name: rows solved on a
displacement (stabilize/_displace.pyx).
"""

from libc.string cimport memcpy

from mcsim.constraints._coordinates cimport foresee_turns
from mcsim.integrate._euler cimport integrate_poses
from mcsim.stabilize._displace cimport MOST_SHORTER
from mcsim.state._row cimport BIASED, Row
from mcsim.state._settings cimport STABILIZE_GGL, STABILIZE_PROJECTION, STABILIZE_SPLIT_IMPULSE


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

    cdef void project(self, Sweeps sweeps) noexcept nogil:
        """Once rows are refreshed there."""

    cdef void move_on(self) noexcept nogil:
        """The end of a drift: bodies by their velocities, and what sleeps with what carries it."""
        cdef const int32_t* chosen = self.context.bodies.moving
        cdef Py_ssize_t count = self.context.bodies.moving_count
        if self.closed is not None:
            chosen, count = self.closed.state.others, self.closed.state.other_count
        integrate_poses(self.context.bodies, chosen, count, self.context.settings.h, self.context.settings.threads)
        foresee_turns(self.context.joints, self.context.joint_lists, self.context.bodies, self.context.settings.h)
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

    cdef void try_rows(self, bint asked) noexcept nogil:
        """The rows' errors at the end of a drift, from which a displacement goes on (asked: and that it goes by)."""
        memcpy(self.displacement.trial, self.plain.rows, self.plain.row_count * sizeof(Row))
        self.plain.write(self.displacement.trial)
        self.displacement.keep_errors(self.displacement.trial, self.plain.row_count, asked)

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
        self.displacement.start_here(self.context.bodies)
        if self.plain.joint_end > 0:
            self.try_rows(False)
        self.displace(self.context.settings.baumgarte)
        self.finish()


cdef class Ggl(Displaced):
    """By v + M^-1 J' mu, J at the start, with mu such that the errors at the end are 0."""

    cdef void move(self, Sweeps sweeps) noexcept nogil:
        cdef int _
        self.move_on()
        self.begin()
        self.try_rows(True)
        for _ in range(self.context.settings.position_rounds):
            self.displacement.aim_ggl(self.plain.rows, self.plain.row_count, self.context.settings)
            self.solve(sweeps)
            self.displace(1.0)
            if self.plain.joint_end == 0:
                self.plain.write(self.displacement.trial)
            if sweeps.calls.is_interrupted():
                break
        self.finish()


cdef class Projection(Displaced):
    """Once the drift has ended the bodies move until the errors are 0, by Newton's method: rows at the present poses in
    every round."""

    cdef void project(self, Sweeps sweeps) noexcept nogil:
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
