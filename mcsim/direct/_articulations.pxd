"""The jointed bodies of a world and their joints, solved directly."""

from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Twist
from mcsim.direct._accounts cimport EnergyAccount
from mcsim.direct._batch_drifts cimport BatchDrifts
from mcsim.direct._drifts cimport Drifts, Projections
from mcsim.direct._further_solves cimport FurtherSolves
from mcsim.direct._held_bounds cimport HeldBounds
from mcsim.direct._solves cimport JointSolves
from mcsim.direct._state cimport ArticulationPart
from mcsim.direct._warm_start_parts cimport WarmStartParts
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings


cdef class Articulations(ArticulationPart):
    cdef readonly JointSolves solves
    cdef readonly HeldBounds bounds
    cdef readonly Projections projections
    cdef readonly Drifts drifts
    cdef readonly BatchDrifts batch_drifts
    cdef readonly EnergyAccount account
    cdef readonly WarmStartParts start_parts
    cdef readonly FurtherSolves further
    cdef bint some_swept                # some articulation has rows in the sweeps of this step

    cdef void attach(self, Bodies* bodies, Joint* joints, const Settings* settings, PoseCallbacks calls,
                     Noted noted) noexcept

    cdef void begin_step(self) noexcept nogil
    cdef void find_swept(self, Row* rows, Py_ssize_t count, const Manifold* manifolds,
                         Py_ssize_t manifold_count) noexcept nogil
    cdef void sweep(self, int body) noexcept nogil
    cdef void prepare(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void aim(self) noexcept nogil
    cdef bint turns_far(self, Py_ssize_t g) noexcept nogil
    cdef void solve(self, Twist* twist, bint relaxed) noexcept nogil
    cdef void solve_swept(self, Py_ssize_t g, Twist* twist, bint relaxed) noexcept nogil
    cdef void close(self) noexcept nogil
    cdef void begin_relax(self) noexcept nogil
    cdef void end_relax(self) noexcept nogil
    cdef void give_batches(self) noexcept nogil
    cdef double residual(self) noexcept nogil
    cdef void note_open(self) noexcept nogil
    cdef void read(self, const Row* rows) noexcept nogil
    cdef void begin_pass(self) noexcept nogil
    cdef void solve_rows(self, Row* rows, Twist* twist, int relaxed, bint hold, bint solved,
                         bint rotors) noexcept nogil
    cdef void begin_blows(self, Py_ssize_t g) noexcept nogil
    cdef void end_blows(self, Py_ssize_t g) noexcept nogil
