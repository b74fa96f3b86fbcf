"""Islands of bodies that touch or are joined, and which of them sleep."""

from libc.stdint cimport int8_t, int32_t, int64_t
from mcsim.constraints._carriers cimport Carriers
from mcsim.constraints._island_forest cimport IslandForest
from mcsim.constraints._last_seen cimport LastSeen
from mcsim.constraints._stillness cimport Stillness
from mcsim.core._touched cimport Touched
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._closing_up cimport Rows
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.state._settings cimport Settings

cdef void add_load(Twist* load, const Bodies* bodies, int32_t i, const Manifold* m, bint rolling,
                   int substeps) noexcept nogil


cdef class Islands:
    cdef Stillness stillness
    cdef Carriers carriers
    cdef IslandForest forest
    cdef readonly object touch           # (n,) near, of each body
    cdef readonly Py_ssize_t sleepers
    cdef object kept
    cdef object bodies                   # BodyArrays
    cdef int8_t* asleep
    cdef int8_t* sight                   # what is seen of a sleeper's load in a step
    cdef double* held_mass               # and with 0 for what sleeps
    cdef Mat3* held_inertia
    cdef Twist* load                     # of what sleeps: what awake bodies gave it in the last step [N s, N m s]
    cdef int32_t* bearers                # the sleepers that had some, ascending
    cdef Py_ssize_t bearing
    cdef bint followed                   # in the last step some took their load as it is
    cdef const Manifold* resting         # the contacts of sleepers with what sleeps or stands
    cdef Py_ssize_t resting_count
    cdef int32_t* first                  # the lowest sleeper of an island, at its root
    cdef double* near                    # bodies whose surfaces are nearer than this may touch [m]
    cdef int32_t* moving
    cdef LastSeen seen                   # what did not move by itself

    cdef _take(self, bodies)
    cdef edit(self, bodies, Rows rows, fresh, speeds, nearest)
    cdef void stand_in(self, Bodies* bodies) noexcept nogil
    cdef void hold(self, Bodies* bodies, Py_ssize_t i, bint held) noexcept nogil
    cdef void list_bearers(self, const Bodies* bodies) noexcept nogil
    cdef void list_moving(self, Bodies* bodies) noexcept nogil
    cdef bint wake(self, Bodies* bodies, int64_t island, double rested) noexcept nogil
    cdef bint wake_near(self, Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef void look(self, const Bodies* bodies) noexcept nogil
    cdef void look_at_moving(self, const Bodies* bodies) noexcept nogil
    cdef bint notice(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count,
                     Touched* written) noexcept nogil
    cdef bint notice_body(self, Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef bint wake_pulled(self, Bodies* bodies, int32_t i, int32_t other) noexcept nogil
    cdef bint wake_touched(self, Bodies* bodies, const Manifold* manifolds, Py_ssize_t count, double ahead) noexcept nogil
    cdef bint leans(self, const Bodies* bodies, const Manifold* m, double dt) noexcept nogil
    cdef Py_ssize_t drop_sleeping(self, const Bodies* bodies, Manifold* manifolds, Py_ssize_t count,
                                  double dt) noexcept nogil
    cdef bint rouse_laden(self, Bodies* bodies, const Manifold* manifolds, const Resistance* resistances,
                          Py_ssize_t count, const Settings* settings) noexcept nogil
    cdef void weigh_anew(self, const Bodies* bodies, int32_t i, const Settings* settings) noexcept nogil
    cdef void judge(self, Bodies* bodies, int32_t i, const Settings* settings, bint* woken) noexcept nogil
    cdef void rouse(self, Bodies* bodies, int32_t i, const Settings* settings) noexcept nogil
    cdef void rouse_alone(self, Bodies* bodies, int32_t i) noexcept nogil
    cdef bint lifts(self, const Bodies* bodies, const Manifold* m, int32_t i, const Settings* settings) noexcept nogil
    cdef void begin_bearing(self, Bodies* bodies, const Manifold* manifolds, Py_ssize_t count) noexcept nogil
    cdef bint settle(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count, const Manifold* manifolds,
                     const Resistance* resistances, Py_ssize_t count, const Vec3* position, const Quat* orientation,
                     const Settings* settings, const Manifold* resting, Py_ssize_t resting_count) noexcept nogil
    cdef void find_carried(self, const Bodies* bodies, const Manifold* manifolds, Py_ssize_t count,
                           const Settings* settings) noexcept nogil
    cdef bint fall_asleep(self, Bodies* bodies) noexcept nogil
