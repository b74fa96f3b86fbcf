"""Islands of bodies that touch or are joined, and which of them sleep."""

from libc.stdint cimport int8_t, int32_t, int64_t
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.state._settings cimport Settings

cdef class Islands:
    cdef double patience                 # [s]
    cdef bint watching                   # some body may sleep
    cdef readonly object touch           # (n,) near, of each body
    cdef readonly Py_ssize_t sleepers
    cdef object kept
    cdef double* size                    # of each body: its farthest point from the centre [m]
    cdef int8_t* asleep
    cdef int8_t* tied                    # it has joints
    cdef int8_t* sight                   # what is seen of a sleeper's load in a step
    # it stays awake in an island beside something restless: it touches that, or has joints
    cdef int8_t* beside
    cdef double* free_mass               # inverse masses and inertias as if nothing slept
    cdef Mat3* free_inertia
    cdef double* held_mass               # and with 0 for what sleeps
    cdef Mat3* held_inertia
    cdef Twist* load                     # of what sleeps: what awake bodies gave it in the last step [N s, N m s]
    cdef int32_t* bearers                # the sleepers that had some, ascending
    cdef Py_ssize_t bearing
    cdef const Manifold* resting         # the contacts of sleepers with what sleeps or stands
    cdef Py_ssize_t resting_count
    cdef int32_t* carried                # the sleepers whose carrier moves, ascending
    cdef Py_ssize_t carried_count
    cdef int32_t* hops                   # over how many contacts and joints a body has what carries it, FAR: it has none
    cdef Vec3* offered                   # whose velocity is that
    cdef int32_t* first                  # the lowest sleeper of an island, at its root
    cdef int32_t* parent
    cdef int32_t* state
    cdef double* lively                  # kinetic measure of an island, by its root
    cdef double* usual
    cdef double* speeds                  # of bodies in the last step [m/s]
    cdef double* slow                    # below which they are still; 0 = never
    cdef double* near                    # bodies whose surfaces are nearer than this may touch [m]
    cdef int32_t* moving
    cdef Vec3* position                  # of what did not move by itself, where it was last seen
    cdef Quat* orientation

    cdef bint alike(self, Vec3 u, Vec3 v, int32_t i) noexcept nogil
    cdef bint active(self, const Bodies* bodies, int32_t other, int32_t i) noexcept nogil
    cdef void carry(self, Bodies* bodies, double h) noexcept nogil
    cdef void stand_in(self, Bodies* bodies) noexcept nogil
    cdef void hold(self, Bodies* bodies, Py_ssize_t i, bint held) noexcept nogil
    cdef void list_bearers(self, const Bodies* bodies) noexcept nogil
    cdef void list_tied(self, const Bodies* bodies, const Joint* joints, Py_ssize_t count) noexcept nogil
    cdef void list_moving(self, Bodies* bodies) noexcept nogil
    cdef bint wake(self, Bodies* bodies, int64_t island) noexcept nogil
    cdef bint wake_near(self, Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef bint displaced(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef void keep_sight(self, const Bodies* bodies, Py_ssize_t i) noexcept nogil
    cdef void look(self, const Bodies* bodies) noexcept nogil
    cdef void look_at_moving(self, const Bodies* bodies) noexcept nogil
    cdef bint notice(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count) noexcept nogil
    cdef bint wake_pulled(self, Bodies* bodies, int32_t i, int32_t other) noexcept nogil
    cdef bint wake_touched(self, Bodies* bodies, const Manifold* manifolds, Py_ssize_t count, double ahead) noexcept nogil
    cdef bint stirs(self, const Bodies* bodies, const Manifold* m) noexcept nogil
    cdef bint leans(self, const Bodies* bodies, const Manifold* m, double dt) noexcept nogil
    cdef Py_ssize_t drop_sleeping(self, const Bodies* bodies, Manifold* manifolds, Py_ssize_t count,
                                  double dt) noexcept nogil
    cdef int32_t bearer(self, const Bodies* bodies, const Manifold* m) noexcept nogil
    cdef bint rouse_laden(self, Bodies* bodies, const Manifold* manifolds, const Resistance* resistances,
                          Py_ssize_t count, const Settings* settings) noexcept nogil
    cdef void weigh_anew(self, const Bodies* bodies, int32_t i, const Settings* settings) noexcept nogil
    cdef void judge(self, Bodies* bodies, int32_t i, const Settings* settings, bint* woken, bint* followed) noexcept nogil
    cdef void rouse(self, Bodies* bodies, int32_t i, const Settings* settings) noexcept nogil
    cdef double pushed(self, const Bodies* bodies, const Manifold* m, int32_t i, const Settings* settings) noexcept nogil
    cdef bint lifts(self, const Bodies* bodies, const Manifold* m, int32_t i, const Settings* settings) noexcept nogil
    cdef void begin_bearing(self, Bodies* bodies, const Manifold* manifolds, Py_ssize_t count) noexcept nogil
    cdef int32_t root(self, int32_t i) noexcept nogil
    cdef void unite(self, int32_t a, int32_t b) noexcept nogil
    cdef void rest_together(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil
    cdef void touch_each_other(self, const Bodies* bodies, int32_t a, int32_t b, bint conveying) noexcept nogil
    cdef void neighbour(self, int32_t i, int32_t other) noexcept nogil
    cdef void tie(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil
    cdef void tie_joint(self, const Bodies* bodies, const Joint* joints, const Joint* joint) noexcept nogil
    cdef bint may_be_carried(self, const Bodies* bodies) noexcept nogil
    cdef bint find_carriers(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count, const Manifold* manifolds,
                            Py_ssize_t count, int32_t* room) noexcept nogil
    cdef bint hand_on(self, const Bodies* bodies, int32_t a, int32_t b) noexcept nogil
    cdef bint offer(self, const Bodies* bodies, int32_t i, int32_t other) noexcept nogil
    cdef double pace(self, const Bodies* bodies, int32_t i, const Vec3* position, const Quat* orientation,
                     double dt) noexcept nogil
    cdef bint measure(self, const Bodies* bodies, const Vec3* position, const Quat* orientation,
                      double dt) noexcept nogil
    cdef bint settle(self, Bodies* bodies, const Joint* joints, Py_ssize_t joint_count, const Manifold* manifolds,
                     const Resistance* resistances, Py_ssize_t count, const Vec3* position, const Quat* orientation,
                     const Settings* settings, const Manifold* resting, Py_ssize_t resting_count) noexcept nogil
    cdef void find_carried(self, const Bodies* bodies, const Manifold* manifolds, Py_ssize_t count,
                           const Settings* settings) noexcept nogil
    cdef bint stays(self, const Bodies* bodies, int32_t i) noexcept nogil
    cdef void find_islands(self, const Bodies* bodies, const Joint* joints, Py_ssize_t joint_count,
                           const Manifold* manifolds, const Resistance* resistances, Py_ssize_t count) noexcept nogil
    cdef bint fall_asleep(self, Bodies* bodies) noexcept nogil
    cdef bint may_sleep(self, const Bodies* bodies, int32_t i) noexcept nogil
