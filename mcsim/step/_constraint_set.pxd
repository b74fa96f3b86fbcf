"""What brings rows into a step, all by the same verbs, and what such sets may know of the world."""

from libc.stdint cimport int8_t, int32_t
from mcsim.collide._manifold_store cimport ManifoldStore
from mcsim.constraints._joint_lists cimport JointLists
from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRows
from mcsim.state._settings cimport Settings
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.step._joint_efforts cimport JointEfforts
from mcsim.step._state_arrays cimport StateArrays

# Some sweeps, over velocities or a displacement.
ctypedef struct SweepPass:
    Twist* twist
    int relaxed
    bint rub                     # contacts have friction in it
    int iterations
    int k                        # which sweep this is
    int32_t* noting              # in the last one where it notes which bodies it changes (_further_sweeps.pyx), or NULL

# A further sweep over the velocities (_further_sweeps.pyx).
ctypedef struct FurtherPass:
    Twist* twist
    int k                        # its number, from 2 on
    int32_t* changed             # of bodies: the last sweep that has changed it
    const double* neighbours
    const double* sizes          # of bodies [m]
    double speed                 # a body of size r may be left with a change of its velocity of speed + rate r
    double rate

cdef class StepContext:
    # The arrays of the world.
    cdef StateArrays arrays             # behind the pointers
    cdef Bodies* bodies
    cdef Settings* settings
    cdef Joint* joints
    cdef Py_ssize_t joint_count
    cdef const int32_t* awake_joints
    cdef Py_ssize_t awake_joint_count
    cdef JointLists* joint_lists
    cdef ManifoldStore store
    cdef Noted noted
    cdef PoseCallbacks pose_callbacks
    cdef JointEfforts efforts
    cdef const double* neighbours       # of bodies, of FurtherSweeps
    # What sets have taken of joints and contacts in this step, which are then no plain rows.
    cdef const int8_t* struck           # of each joint, whether a blow may reach it
    cdef const int8_t* taken            # of each joint: its bounds (wide/_joint_bounds.pxd); NULL: none
    cdef const int32_t* in_lanes        # which joints' own rows stand in lanes; NULL: none
    cdef bint balls_alone               # and all that do are plain ball joints, which have none
    cdef bint own                       # the joints' own rows are plain ones, but for those
    cdef bint contacts                  # so are the contacts
    cdef long long steps                # made since the beginning
    cdef double start                   # time before the first one [s]
    # What there is in this step.
    cdef readonly Py_ssize_t joint_rows  # of all joints, also where their own rows stand apart
    cdef readonly Py_ssize_t contact_rows
    cdef bint swept                     # some rows beside those that are solved directly
    cdef int most_sweeps                # of a pass that do something
    cdef bint ended                     # whether a substep of this step has ended
    cdef const int8_t* joined           # of each body: joints that are solved directly move it; NULL: none do
    cdef const JointRows* own_rows      # where the joints' own impulses stand at the end of a step; NULL: in plain rows

    cdef void begin_layout(self, const int8_t* struck) noexcept nogil

cdef class ConstraintSet:
    cdef void choose(self, const int8_t* asleep) noexcept nogil
    cdef void begin_step(self) noexcept nogil
    cdef void claim(self) noexcept nogil
    cdef int prepare(self) noexcept nogil
    cdef void finish(self, double part) noexcept nogil
    cdef void warm_start(self) noexcept nogil
    cdef void warm_start_joints(self) noexcept nogil
    cdef void begin_pass(self, const SweepPass* p) noexcept nogil
    cdef void begin_sweep(self, const SweepPass* p) noexcept nogil
    cdef double sweep(self, const SweepPass* p) noexcept nogil
    cdef bint end_sweep(self, const SweepPass* p) noexcept nogil
    cdef void close(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void return_shared(self) noexcept nogil
    cdef void return_carried(self) noexcept nogil
    cdef void begin_relax(self) noexcept nogil
    cdef void end_relax(self) noexcept nogil
    cdef void end_substep(self) noexcept nogil
    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil
    cdef void note_impulses(self) noexcept nogil
    cdef void weigh_changes(self, double* along, double* alone) noexcept nogil
    cdef void leave_changes(self, const double* times) noexcept nogil
    cdef void mark_changes(self, const FurtherPass* p) noexcept nogil
    cdef bint sweep_changing(self, const FurtherPass* p) noexcept nogil
    cdef void answer_changes(self, const FurtherPass* p) noexcept nogil
    cdef void give(self) noexcept nogil
    cdef void store(self) noexcept nogil
    cdef void notes(self) noexcept nogil

cdef class ConstraintSets(ConstraintSet):
    cdef list kept
    cdef void** sets                    # borrowed of `kept`, in the order of a sweep
    cdef object pointers
    cdef Py_ssize_t count
