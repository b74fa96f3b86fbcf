"""Semi-implicit Euler with the gyroscopic term implicit.

    kick    v += h (g + f / m),   w += h I^-1 tau                      then the constraints' impulses
    drift   x += h v,             q <- q turn(w_m),  w <- I(q)^-1 L      with the spin momentum L = I w kept

The gyroscopic torque lives in the drift: L does not change while the body turns, so w follows from the new orientation
and angular momentum is kept to rounding. The turn's own velocity w_m is the implicit midpoint: in body axes, with l the
spin momentum before and l' = turn(w_m)^-1 l after,   I w_m = (l + l') / 2.   Then w_m . (l' - l) = 0, because a turn
about w_m keeps the component along w_m, and so the kinetic energy l.I^-1 l / 2 changes by w_m . (l' - l) = 0: neither
|L| nor the energy of a free body drifts, at any step. The turn is Cayley's, turn(w) = (1, a w) / |(1, a w)|, by the
angle 2 atan(a |w|); then l' = (1 + a [w])^-1 (1 - a [w]) l and the equation is the polynomial

    I w_m + a w_m x (I w_m) = l.

a = tan(h |w| / 2) / |w| with w the start's: so a body that spins about a principal axis turns by h |w| exactly.
Newton's method starts from w_m without its second order. A fast body turns in several pieces, so that Newton converges.
A needle's spin about itself is fast but without momentum; it turns steadily about l. A body that spins about a principal
axis, or whose inertia is a sphere's, keeps w; by whatever angle it turns exactly.

Dynamic bodies are taken several at a time (wide/_bodies.pxi); which ones share a register does not change their bits.
Source of the splitting: B. Leimkuhler and S. Reich, "Simulating Hamiltonian Dynamics", 2004, section 8; of the Newton
step: E. Catto, "Numerical Methods", GDC 2015.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer

from mcsim.core._thread_pool cimport share_out
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.core._math cimport (add, add_scaled, cross, dot, mat_vec, quat_exp, quat_mul, quat_normalized, rotate_back,
                               scale, sub)
from mcsim.integrate._damping cimport damped_part, driven_part
from mcsim.state._bodies cimport DYNAMIC, STATIC
from mcsim.state._inertia cimport LOCKED_TURNS, refresh_inertia, spin_momentum, unlocked
from mcsim.wide._bodies cimport BodyKernels

from mcsim.wide import levels

cdef enum:
    MOST_LANES = 8
    MOST_LEVELS = 4
    LEAST_BODIES = 128           # a thread: fewer are not worth waking one
    LOCKED_ROUNDS = 4            # to find the mean angular velocity of a body that turns about two axes alone

# What threads share: a kick of all moving bodies, a drift of some.
ctypedef struct Kick:
    Bodies* bodies
    const Settings* settings
    double part

ctypedef struct Drift:
    Bodies* bodies
    const int32_t* chosen
    double h

# The kernels of every level up to the one in use, the widest last, and how many levels that are.
cdef const BodyKernels* KERNELS[MOST_LEVELS]
cdef int level_count = 0
for table in levels.tables("body_kernels"):
    KERNELS[level_count] = <const BodyKernels*>PyCapsule_GetPointer(table, "mcsim.wide.bodies")
    level_count += 1
cdef int WIDTH = KERNELS[level_count - 1].width

# Dynamic bodies to be taken together.
ctypedef struct Group:
    const BodyKernels* kernels
    int count
    int32_t body[MOST_LANES]
    int32_t place[MOST_LANES]


cdef inline bint fills(Group* group, Py_ssize_t body, Py_ssize_t place) noexcept nogil:
    """Add a body. -> whether the group is full"""
    group.body[group.count] = <int32_t>body
    group.place[group.count] = <int32_t>place
    group.count += 1
    return group.count == WIDTH


cdef inline void pad(Group* group) noexcept nogil:
    """The kernels with the fewest lanes that suffice; those that are left repeat the first body."""
    cdef int k = 0
    while KERNELS[k].width < group.count:
        k += 1
    group.kernels = KERNELS[k]
    for k in range(group.count, group.kernels.width):
        group.body[k] = group.body[0]
        group.place[k] = group.place[0]


cdef inline Vec3 damped(Vec3 before, Vec3 after, double y) noexcept nogil:
    """What is left of a kick from `before` to `after`."""
    return add_scaled(scale(1.0 - damped_part(y), before), driven_part(y), sub(after, before))


cdef void integrate_velocities(Bodies* bodies, const Settings* settings, double part) noexcept nogil:
    """Gravity, the user's forces and damping (_damping.pxd), over `part` of a substep."""
    cdef Kick kick
    kick.bodies = bodies
    kick.settings = settings
    kick.part = part
    share_out(do_kick, &kick, bodies.moving_count, LEAST_BODIES, settings.threads)


cdef void do_kick(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Kick* kick = <const Kick*>what
    cdef Bodies* bodies = kick.bodies
    cdef const Settings* settings = kick.settings
    cdef double h = kick.part * settings.h
    cdef double m
    cdef Py_ssize_t i, k
    cdef Twist before
    cdef Twist* t
    cdef Twist* f
    for k in range(begin, end):
        i = bodies.moving[k]
        if bodies.kind[i] != DYNAMIC:
            continue
        t = &bodies.twist[i]
        f = &bodies.force[i]
        m = h * bodies.inv_mass[i]
        before = t[0]
        t.v = add_scaled(t.v, h * bodies.gravity_scale[i], unlocked(bodies, i, settings.gravity))
        t.v = add_scaled(t.v, m, unlocked(bodies, i, f.v))
        if f.w.x != 0.0 or f.w.y != 0.0 or f.w.z != 0.0:
            t.w = add_scaled(t.w, h, mat_vec(bodies.inv_inertia_world[i], f.w))
        if bodies.linear_damping[i] != 0.0:
            t.v = damped(before.v, t.v, h * bodies.linear_damping[i])
        if bodies.angular_damping[i] != 0.0:
            t.w = damped(before.w, t.w, h * bodies.angular_damping[i])


cdef inline Quat turned_steadily(Quat q, Vec3 w, double h) noexcept nogil:
    """By w in world axes, which stays."""
    return quat_normalized(quat_mul(quat_exp(scale(h, w)), q))


cdef Quat turned_far(const Bodies* bodies, Py_ssize_t i, Quat q, double h) noexcept nogil:
    """A fast body's orientation after h from q where its axis stays: w itself, or a needle's momentum."""
    cdef Vec3 w = rotate_back(q, bodies.twist[i].w)
    cdef Vec3 momentum = mat_vec(bodies.inertia[i], w)
    cdef Vec3 torque = cross(w, momentum)
    if dot(torque, torque) * h * h <= 1e-34 * dot(momentum, momentum):
        return turned_steadily(q, bodies.twist[i].w, h)
    w = scale(dot(momentum, momentum) / dot(momentum, mat_vec(bodies.inertia[i], momentum)), momentum)
    return quat_normalized(quat_mul(q, quat_exp(scale(h, w))))


cdef void drift_locked(Bodies* bodies, Py_ssize_t i, double h) noexcept nogil:
    """Of a body that does not turn about some world axes. What it has of angular momentum about two others stays: with W
    the inverse of its inertia among those (state/_inertia.pxd)  w' = W(q') I(q) w,  and it turns by the mean of w and w',
    found by iteration. Where it turns about one axis alone, or none, w stays."""
    cdef Quat q = bodies.orientation[i]
    cdef Vec3 w = bodies.twist[i].w
    cdef int turns = bodies.locks[i] >> 3
    cdef Vec3 momentum, mean
    cdef int _
    bodies.position[i] = add_scaled(bodies.position[i], h, bodies.twist[i].v)
    bodies.orientation[i] = turned_steadily(q, w, h)
    refresh_inertia(bodies, i)
    if turns == 1 or turns == 2 or turns == 4:
        momentum = spin_momentum(bodies, i, q, w)
        for _ in range(LOCKED_ROUNDS):
            mean = scale(0.5, add(w, mat_vec(bodies.inv_inertia_world[i], momentum)))
            bodies.orientation[i] = turned_steadily(q, mean, h)
            refresh_inertia(bodies, i)
        bodies.twist[i].w = mat_vec(bodies.inv_inertia_world[i], momentum)


cdef void turn_group(Bodies* bodies, Group* group, const Vec3* position, const Quat* orientation,
                     double h) noexcept nogil:
    """Poses of the group's bodies after h, from position[place] and orientation[place]; twists and inertia stay."""
    cdef int k, far
    pad(group)
    far = group.kernels.turn(bodies, group.body, group.place, position, orientation, h)
    if far == 0:
        return
    for k in range(group.count):
        if far >> k & 1:
            bodies.orientation[group.body[k]] = turned_far(bodies, group.body[k], orientation[group.place[k]], h)


cdef void drift_group(Bodies* bodies, Group* group, double h) noexcept nogil:
    cdef Vec3 position[MOST_LANES]
    cdef Quat orientation[MOST_LANES]
    cdef int k
    for k in range(group.count):
        position[k] = bodies.position[group.body[k]]
        orientation[k] = bodies.orientation[group.body[k]]
    turn_group(bodies, group, position, orientation, h)
    group.kernels.settle(bodies, group.body, group.place, orientation, h)
    group.count = 0


cdef void integrate_poses(Bodies* bodies, const int32_t* chosen, Py_ssize_t count, double h,
                          int threads) noexcept nogil:
    """Drift the chosen bodies by h. Kinematic ones keep the velocity that the user gave them."""
    cdef Drift drift
    drift.bodies = bodies
    drift.chosen = chosen
    drift.h = h
    share_out(do_drift, &drift, count, LEAST_BODIES, threads)


cdef void do_drift(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef const Drift* drift = <const Drift*>what
    cdef Bodies* bodies = drift.bodies
    cdef const int32_t* chosen = drift.chosen
    cdef double h = drift.h
    cdef Py_ssize_t i, k
    cdef Group group
    group.count = 0
    for k in range(begin, end):
        i = chosen[k]
        if bodies.kind[i] == DYNAMIC:
            if bodies.locks[i] & LOCKED_TURNS:
                drift_locked(bodies, i, h)
            elif fills(&group, i, group.count):
                drift_group(bodies, &group, h)
        elif bodies.kind[i] != STATIC:
            bodies.position[i] = add_scaled(bodies.position[i], h, bodies.twist[i].v)
            bodies.orientation[i] = turned_steadily(bodies.orientation[i], bodies.twist[i].w, h)
    if group.count > 0:
        drift_group(bodies, &group, h)


cdef void try_poses(Bodies* bodies, const int32_t* chosen, const int32_t* places, Py_ssize_t count,
                    const Vec3* position, const Quat* orientation, double h) noexcept nogil:
    """The poses that integrate_poses would give the chosen bodies from the given ones (chosen[k] at position[k]);
    twists and inertia stay. places: which `count` k, NULL: the first."""
    cdef Py_ssize_t n, k
    cdef int i
    cdef Group group
    group.count = 0
    for n in range(count):
        k = n if places == NULL else places[n]
        i = chosen[k]
        if bodies.kind[i] != DYNAMIC:
            bodies.position[i] = add_scaled(position[k], h, bodies.twist[i].v)
            bodies.orientation[i] = turned_steadily(orientation[k], bodies.twist[i].w, h)
        elif fills(&group, i, k):
            turn_group(bodies, &group, position, orientation, h)
            group.count = 0
    if group.count > 0:
        turn_group(bodies, &group, position, orientation, h)


cdef void accept_poses(Bodies* bodies, const int32_t* chosen, const int32_t* places, Py_ssize_t count,
                       const Quat* orientation, double h) noexcept nogil:
    """What is left of a drift whose poses try_poses has given: inertia, and angular velocities by the momentum at the
    start. Arguments as there."""
    cdef Py_ssize_t n, k
    cdef Group group
    group.count = 0
    for n in range(count):
        k = n if places == NULL else places[n]
        if bodies.kind[chosen[k]] == DYNAMIC and fills(&group, chosen[k], k):
            KERNELS[level_count - 1].settle(bodies, group.body, group.place, orientation, h)
            group.count = 0
    if group.count > 0:
        pad(&group)
        group.kernels.settle(bodies, group.body, group.place, orientation, h)


cdef void update_inertia(Bodies* bodies) noexcept nogil:
    """World inverse inertia from the present orientations (after Python wrote them)."""
    cdef Py_ssize_t i, k
    cdef Group group
    group.count = 0
    for k in range(bodies.moving_count):
        i = bodies.moving[k]
        if bodies.kind[i] == DYNAMIC and bodies.locks[i] & LOCKED_TURNS:
            refresh_inertia(bodies, i)
        elif bodies.kind[i] == DYNAMIC and fills(&group, i, i):
            KERNELS[level_count - 1].refresh(bodies, group.body)
            group.count = 0
    if group.count > 0:
        pad(&group)
        group.kernels.refresh(bodies, group.body)
