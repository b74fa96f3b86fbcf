"""The contacts of a world, several at a time."""

from libc.stdint cimport int8_t, int32_t, uint64_t
from mcsim.core._thread_pool cimport Work
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.state._settings cimport Settings
from mcsim.wide._blocks cimport ContactBlock, ContactRule, ContactStart, Effort, ResistanceBlock, WideKernels
from mcsim.wide._contact_work cimport ContactWork

# A loop over blocks, as its threads see it.
ctypedef struct Task:
    const WideKernels* kernels
    char* blocks
    char* starts
    char* resisting
    const Bodies* bodies
    Twist* twist
    const double* parts
    Manifold* manifolds
    const Resistance* resistances
    const int32_t* order
    const int32_t* first
    const int8_t* shares
    const int8_t* follows
    const ContactRule* rule
    double* found                # by each thread: the largest change
    double part
    int relaxed
    bint rub
    bint second
    bint ended
    int32_t* pushing
    int32_t* last
    int again
    int32_t* changed
    int32_t* stirred
    int number
    int32_t* going
    bint fewer
    const int32_t* groups
    const double* neighbours
    const Effort* efforts

cdef class WideContacts:
    cdef const WideKernels* levels[4]   # of every level up to the one in use, the widest last
    cdef int level_count
    cdef const WideKernels* kernels     # that of this step
    cdef object kept                    # the arrays behind the pointers
    cdef object kept_of_bodies
    cdef ContactBlock* blocks
    cdef ContactStart* starts
    cdef ResistanceBlock* resisting     # as many; only written where some shape resists
    cdef Py_ssize_t capacity            # blocks
    cdef Py_ssize_t manifold_capacity
    cdef uint64_t* moving               # a body's colours: of contacts between moving bodies
    cdef uint64_t* resting              # and of those against bodies that never move
    cdef int32_t* key                   # of a manifold: colour and number of points, -1: it has none
    cdef int32_t* order                 # manifolds, by key
    cdef int32_t* by_group              # and by group
    cdef Effort* efforts                # (manifolds,), of find_efforts
    cdef double* passing                # (bodies, 6), likewise
    cdef int32_t* bearers               # of bodies, of find_firmness
    cdef int32_t* stirred               # of bodies (-1: the world), of WideKernels.sweep
    cdef ContactWork work
    cdef int32_t* groups                # of bodies, of find_groups
    cdef int32_t* going                 # of WideKernels.sweep
    cdef int32_t* place                 # of sort_by_group
    cdef int number                     # of the last sweep
    cdef int32_t* first                 # of each block: where its manifolds begin in `order`
    cdef int8_t* shares                 # of each block: of WideEnds
    cdef int8_t* follows
    cdef Py_ssize_t color_begin[129]    # of each colour in use, and behind them: its first block (2 COLORS + 1)
    cdef int used                       # colours, among moving bodies as against resting ones
    cdef int threads
    cdef readonly Py_ssize_t count      # blocks; 0 where the contacts are rows
    cdef Py_ssize_t needed              # blocks that the last layout asked for
    cdef Py_ssize_t body_count, body_room
    cdef readonly Py_ssize_t row_count
    cdef public double scale            # of find_efforts; 0: a sweep solves each contact once
    cdef public double small            # likewise [m]
    cdef public double press            # likewise [s^2]
    cdef public double substep          # [s]
    cdef readonly int rounds            # of a sweep, over what bears much for its size
    cdef readonly long long rounds_made  # beside the first ones, in all steps: none where nothing would change
    cdef ContactRule rule
    cdef public double settle_speed     # of ContactRule
    cdef public double settle_rate

    cdef void color(self, const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                    const Bodies* bodies, const double* neighbours, const int8_t* joined, Vec3 gravity) noexcept nogil
    cdef bint color_parts(self, const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                          const Bodies* bodies, int turn) noexcept nogil
    cdef int layout(self, const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                    const Bodies* bodies, const double* neighbours, const int8_t* joined, Vec3 gravity, const Joint* joints,
                    const int32_t* awake, Py_ssize_t awake_count) noexcept nogil
    cdef Py_ssize_t lay_shared(self, const Manifold* manifolds, const Bodies* bodies, Py_ssize_t block, Py_ssize_t begin,
                               Py_ssize_t end) noexcept nogil
    cdef int width_of(self, int color) noexcept nogil
    cdef void choose(self, Py_ssize_t count) noexcept nogil
    cdef Task task(self) noexcept nogil
    cdef double share(self, Task* task, Work work, Py_ssize_t count) noexcept nogil
    cdef double share_by_color(self, Task* whole, Work work) noexcept nogil
    cdef void refresh(self, const Bodies* bodies, const Settings* settings, Twist* twist) noexcept nogil
    cdef void warm_start(self, Twist* twist, double part, bint ended) noexcept nogil
    cdef void keep_parts(self, const double* part, bint second) noexcept nogil
    cdef void weigh_pushes(self, const Twist* twist) noexcept nogil
    cdef void note_impulses(self) noexcept nogil
    cdef void weigh_changes(self, double* along, double* alone) noexcept nogil
    cdef void leave_changes(self, const double* times) noexcept nogil
    cdef double sweep(self, Twist* twist, int relaxed, bint rub, int32_t* changed, int number) noexcept nogil
    cdef bint sweep_changing(self, Twist* twist, int sweep, int32_t* changed) noexcept nogil
    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil
    cdef void store(self, Manifold* manifolds) noexcept nogil
