"""How often a sweep solves a contact, and as how stiff a spring, for the loads that pass through its bodies and for what
outer forces press (Effort of _blocks.pxd); and which contacts are outweighed by what their bodies touch.
"""

from libc.stdint cimport int8_t
from libc.string cimport memset
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport dot, sub
from mcsim.state._bodies cimport Bodies
from mcsim.state._inertia cimport never_moves
from mcsim.state._manifold cimport Manifold
from mcsim.state._pull cimport acceleration_awake
from mcsim.wide._blocks cimport FAR_OUTWEIGHED, LOAD_STEPS, MOST_EFFORT, OUTWEIGHED, Effort

# A contact's load is a mean over LOAD_STEPS steps. A spring whose stiffness follows its load at once is the more pressed in
# the less it bears: the load must change slowly against a column's own swings, or those are pumped up.
cdef inline double lasting_load(double last, double now) noexcept nogil:
    """[m/s]; last: until this step. A contact that bore nothing before begins with what it bears now."""
    return now if last == 0.0 else last + (now - last) / <double>LOAD_STEPS


cdef inline bint is_outweighed(int a, int b, const double* neighbours) noexcept nogil:
    """Whether contacts of two bodies are swept further. neighbours: of FurtherSweeps."""
    return max(neighbours[a], neighbours[b]) > OUTWEIGHED and min(neighbours[a], neighbours[b]) >= 0.0


# Swept one after the other, the parts of a patch find again what the first of them has found: in turn with those of others,
# each of them passes on what these did (docs/theory/stabilization.md, what rests).
cdef inline int next_part(const Manifold* manifolds, Py_ssize_t i, int last) noexcept nogil:
    """The number of a manifold among the parts of its patch, 0 of what is none; last: that of the one before it."""
    return last + 1 if i > 0 and manifolds[i].thinning < 1.0 and manifolds[i].key == manifolds[i - 1].key else 0


cdef inline bint may_steady(const Bodies* bodies, int a, int b, const double* neighbours) noexcept nogil:
    """Whether springs between two bodies may have a larger damping ratio (core/_softness.pxd)."""
    return bodies.inv_mass[a] > 0.0 and bodies.inv_mass[b] > 0.0 and max(neighbours[a], neighbours[b]) <= FAR_OUTWEIGHED


# As how many times as stiff a spring a contact is solved, and with U for u how often in a sweep, for the load u that
# its two shapes bear on each other (the sum of Manifold.load), as the change of velocity that it gives their bodies in a
# substep: max(1, scale u U / size), but no more than (small / size)^2 or `bound`. U >= u is what passes through the two
# bodies: half of the sum of what all contacts of a body bear along this one's normal, n' (sum of load n n') n / 2 (what its
# mean stress is made of), as the velocity that it would give these two; the less of both bodies'. A brick that rests on two
# others has half its load on each: so that they are together as stiff as one that bears it all, n contacts of u = U / n are
# U^2 / n each.
#
# A column of n bodies of size t whose contacts are springs of m w^2 buckles from about n^2 g = w^2 t / 2 on, and hw is
# bounded by the root of the number of sweeps (docs/theory/stabilization.md): so both must grow with n^2 g h^2 / t, where
# n g h = u. For cubes of 1 cm at h = 1/240 s that is from 4 on each other on. What is larger than `small`, 0.2 m
# there, would have to bear tens of its like before it buckles, and what is heavy on light bodies asks for more sweeps
# than these, with springs that are no stiffer: so for it a contact is solved once a sweep.
cdef inline double effort_of(double load, double through, double size, double scale, double small,
                             double bound) noexcept nogil:
    cdef double effort = scale * load * max(load, through)
    cdef double most
    if size >= small:
        return 1.0
    most = min(small / size * (small / size), bound)
    return min(effort / size, most) if effort > size else 1.0


# How many times as stiff a contact is for what outer forces press: max(1, press p / (thinning size)), press = PRESSED h^2,
# with p the acceleration along the normal at which gravity and the user's forces would drive the two into each other. So
# where a point bears all of that, what it is pressed in by is the same part of the size however large the force is. By
# size alone the springs of a disc's rim are as stiff as those of its middle, but three of 16 bear what is pressed there,
# each thinned to a quarter: a load at 0.95 of the way to the rim tilts it by 3.3 times the rim's depth by its radius, a
# box by half of that depth. p is known before anything is pressed, not by what is pressed: springs are as stiff at once.
#
# What presses goes into what moves without a way over other contacts, so a manifold that is solved as a whole needs no
# more rounds for it; but the parts of a patch must hear of each other, 1 + (1 - thinning) (stiffness - 1) times a sweep
# (rounds_of_pull).
cdef inline double stiffness_of_pull(const Manifold* m, const Bodies* bodies, Vec3 gravity, double press,
                                     double bound) noexcept nogil:
    cdef double pressed = press * dot(m.normal, sub(acceleration_awake(bodies, m.body_a, gravity),
                                                acceleration_awake(bodies, m.body_b, gravity)))
    cdef double size = m.size * m.thinning
    return min(pressed / size, bound) if pressed > size else 1.0


cdef inline double rounds_of_pull(const Manifold* m, double stiffness) noexcept nogil:
    return 1.0 + (1.0 - m.thinning) * (stiffness - 1.0)


cdef inline double strongest_pull(const Bodies* bodies, Vec3 gravity) noexcept nogil:
    """The square of the largest acceleration of a body by gravity and the user's forces [m2/s4]."""
    cdef Vec3 a
    cdef double most = 0.0
    cdef Py_ssize_t k
    for k in range(bodies.moving_count):
        a = acceleration_awake(bodies, bodies.moving[k], gravity)
        most = max(most, dot(a, a))
    return most


cdef inline void add_passing(double* passing, double load, Vec3 n) noexcept nogil:
    """passing: of a body, half the sum of load n n' over its contacts [N s], above the diagonal."""
    cdef double part = 0.5 * load
    passing[0] += part * n.x * n.x
    passing[1] += part * n.y * n.y
    passing[2] += part * n.z * n.z
    passing[3] += part * n.y * n.z
    passing[4] += part * n.z * n.x
    passing[5] += part * n.x * n.y


cdef inline double passes_along(const double* passing, Vec3 n) noexcept nogil:
    return passing[0] * n.x * n.x + passing[1] * n.y * n.y + passing[2] * n.z * n.z + 2.0 * (
        passing[3] * n.y * n.z + passing[4] * n.z * n.x + passing[5] * n.x * n.y)


cdef inline double passes(const double* passing, const Manifold* m, const Bodies* bodies) noexcept nogil:
    """Along the normal, through those of the two bodies that move, the less of it [N s]."""
    cdef double a = passes_along(passing + 6 * m.body_a, m.normal)
    cdef double b = passes_along(passing + 6 * m.body_b, m.normal)
    if never_moves(bodies, m.body_a):
        return b
    return a if never_moves(bodies, m.body_b) else min(a, b)


cdef inline bint has_joints(const int8_t* joined, const Manifold* m) noexcept nogil:
    """joined: of each body, whether joints move it; or NULL."""
    return joined != NULL and (joined[m.body_a] or joined[m.body_b])


# What outer forces would drive a link by is for its joints to say: none of what is `joined`.
#
# Of what other bodies press on one no acceleration is known beforehand. Where its patch bears evenly, springs lean by
# nothing; so what counts of a part's load u is what it bears more than its share of all n parts, as p = (u - sum u /
# n) / h.
cdef inline double follow_pulls(Effort* efforts, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies,
                                const int8_t* joined, Vec3 gravity, double press, double h, double most_rounds,
                                double most_stiffness) noexcept nogil:
    """efforts: of each manifold, anew; joined: as of has_joints; h: the substep [s]. -> the most rounds"""
    cdef const Manifold* m
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t end, k
    cdef double reach = 4.0 * press * press * strongest_pull(bodies, gravity)
    cdef double most = 1.0
    cdef double size, beyond, load
    while i < count:
        end = patch_end(manifolds, count, i, &load)
        for k in range(i, end):
            m = &manifolds[k]
            efforts[k].stiffness = efforts[k].rounds = efforts[k].firmness = 1.0
            size = m.size * m.thinning
            beyond = press / h * (m.load - load / (end - i))
            if not (size * size < reach or beyond > size):       # too large for all that pulls and is pressed
                continue
            if not has_joints(joined, m):
                efforts[k].stiffness = max(stiffness_of_pull(m, bodies, gravity, press, most_stiffness),
                                           min(beyond / size, most_stiffness))
                efforts[k].rounds = min(rounds_of_pull(m, efforts[k].stiffness), most_rounds)
                most = max(most, efforts[k].rounds)
        i = end
    return most


cdef inline Py_ssize_t patch_end(const Manifold* manifolds, Py_ssize_t count, Py_ssize_t i, double* load) noexcept nogil:
    """load: of manifold i and the other parts of its patch. -> the number after the last of these"""
    cdef Py_ssize_t end = i + 1
    load[0] = manifolds[i].load
    while end < count and manifolds[end].key == manifolds[i].key:
        load[0] += manifolds[end].load
        end += 1
    return end


cdef inline double find_efforts(Effort* efforts, double* passing, const Manifold* manifolds, Py_ssize_t count,
                                const Bodies* bodies, double scale, double small, double most_rounds,
                                bint networks) noexcept nogil:
    """After follow_pulls. efforts: of each manifold; passing: (bodies, 6), is overwritten; networks: rounds are by U^2.
    -> the most rounds"""
    cdef const Manifold* m
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t end, k
    cdef double load, inv_mass, effort, through, rounds
    cdef double most = 1.0
    cdef bint some = False
    for k in range(count):
        some = some or manifolds[k].size < small
    if scale == 0.0 or not some:
        return most
    for k in range(count):
        memset(passing + 6 * manifolds[k].body_a, 0, 6 * sizeof(double))
        memset(passing + 6 * manifolds[k].body_b, 0, 6 * sizeof(double))
    for k in range(count):
        m = &manifolds[k]
        inv_mass = bodies.awake_inv_mass[m.body_a] + bodies.awake_inv_mass[m.body_b]
        if inv_mass > 0.0:
            add_passing(passing + 6 * m.body_a, m.load / inv_mass, m.normal)
            add_passing(passing + 6 * m.body_b, m.load / inv_mass, m.normal)
    while i < count:
        m = &manifolds[i]
        end = patch_end(manifolds, count, i, &load)
        inv_mass = bodies.awake_inv_mass[m.body_a] + bodies.awake_inv_mass[m.body_b]
        through = max(load, passes(passing, m, bodies) * inv_mass)
        effort = effort_of(load, through, m.size, scale, small, MOST_EFFORT)
        rounds = min(effort_of(through, through, m.size, scale, small, MOST_EFFORT) if networks else effort, most_rounds)
        most = max(most, rounds)
        for k in range(i, end):
            efforts[k].rounds = max(efforts[k].rounds, rounds)
            efforts[k].stiffness = max(efforts[k].stiffness, effort)
        i = end
    return most
