"""Contacts several at a time: manifolds that share no moving body, a lane each. Unused lanes are zero, on the world.

What the sweeps read stands in ContactBlock, what it is made of once a substep or a step in ContactStart. Their size
depends on the level that a module is compiled for: only kernels look into them, others ask their table for it.
"""

from libc.stdint cimport int8_t, int32_t
from libc.string cimport memset
from mcsim.core._types cimport Twist, Vec3
from mcsim.core._math cimport dot, sub
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.state._pull cimport external_acceleration
from mcsim.wide._ends cimport WideEnds
from mcsim.wide._lanes cimport Wide, Wide3

# One point's normal row. Its arms are those of the manifold's centre and an offset, which is the same for both bodies:
# so arm x n is the centre's, and turn[0] tangent + turn[1] second tangent.
ctypedef struct WidePoint:
    Wide turn[2]                 # offset x n [m]
    Wide bias                    # of the biased pass [m/s]; above 0 there is a gap, and the relax pass closes it too
    Wide diagonal                # J M^-1 J'
    Wide mass                    # its inverse; 0: no such point
    Wide soft_mass               # likewise of the biased pass: 1 / (J M^-1 J' + compliance)
    Wide compliance              # and this compliance
    Wide impulse                 # [N s]
    Wide coupling[3]             # J M^-1 J' with the points after it

# Two rows along (or about) the tangents whose impulse stays within a circle. J M^-1 J' is [[d0, c], [c, d1]].
ctypedef struct WideCone:
    Wide d0
    Wide d1
    Wide c
    Wide inv_det
    Wide step                    # the inverse of its larger eigenvalue
    Wide impulse[2]

# Turning about the normal beside them.
ctypedef struct WideSpin:
    Wide3 axis                   # n - lean_of (constraints/_contacts.pyx)
    Wide d                       # J M^-1 J'
    Wide c[2]                    # and with the two rows along the tangents
    Wide lag[2]                  # by those two alone, what holds them in place against an impulse about the normal
    Wide mass                    # of an impulse about the normal while those two hold

# Friction of one point along the tangents.
ctypedef struct WideRub:
    Wide impulse[2]              # [N s]

ctypedef struct ContactBlock:
    int32_t manifold[8]          # -1: the lane is not used
    int32_t point_count          # the most of a lane
    int32_t rubs                 # 1: some lane has friction
    int32_t resists              # 1: some lane has a Resistance that is not 0, and the block a ResistanceBlock
    # 1: some lane's normal goes with something (state/_contact_reference.pxd, Turns); 2: some is between
    int32_t turns
                                 # roundings; 4: at right angles to two edges; 8: some touches by a rim; and their sums
    int32_t crosses              # 1: some lane has a point where edges cross
    int32_t twists               # 1: some lane has friction about the normal
    int32_t rounds               # how many times a sweep goes over the block: the most of a lane
    int32_t firm                 # 1: some lane's springs are firmer, and it has four points
    int32_t thins                # 1: some lane's manifold is part of a patch of more than four points
    int32_t group[8]             # of find_groups
    int32_t mixed                # 1: the lanes are of several
    int32_t solves_faces         # 1: some lane's points are `alike`; -1: is not known before the step's first refresh
    int32_t reserved[6]
    WideEnds ends
    Wide3 normal                 # from a to b, world
    Wide3 tangent                # the second one is normal x tangent
    Wide friction                # coefficient
    Wide3 arm_a                  # to the manifold's centre, where friction acts [m]
    Wide3 arm_b
    Wide effort                  # Effort.rounds
    Wide undone                  # the inverse of the change of a velocity that a round of a sweep may leave undone [s/m]
    Wide settled                 # the inverse of the change of a velocity that may be left undone [s/m]; 0: any may
    Wide alike                   # 1: its points are all but alike (_faces.pxi)
    WideCone slide               # friction of all points along the tangents [N s]
    WideSpin spin
    Wide twist                   # and about the normal [N m s]
    Wide inverse[2][10]          # of the points' A, of the biased and the relax pass (_faces.pxi)
    WidePoint points[4]
    WideRub rub[4]              # only in use where the block `rubs`

ctypedef struct StartPoint:
    Wide3 local_a                # the rounding's centre behind the point on a's surface, a's axes [m]
    Wide3 local_b
    Wide weight                  # of the point in the manifold's centre
    Wide share                   # of b's motion in its own (collide/_carrying.pxd)
    Wide error                   # C [m]
    Wide total                   # normal impulses, summed over the substeps that have ended [N s]
    Wide carry                   # the warm start of the second half, then the first half as it came out [N s]

# What the normals go with: state/_contact_reference.pxd, normal_goes_with.
ctypedef struct WideTurning:
    Wide between                 # 1: it is between roundings
    Wide edges                   # 1: at right angles to two edges
    Wide ring                    # 1, -1: a rim of a, of b touches
    Wide3 of_a                   # directions on the two, in their axes
    Wide3 of_b

ctypedef struct ContactStart:
    Wide size                    # Manifold.size [m]
    Wide stiffer                 # what hertz are multiplied by: the root of Effort.stiffness
    Wide firmer                  # Effort.firmness
    Wide faded                   # how fast a point's weight in the centre falls with its separation [1/m]
    Wide rounding_a              # of the two surfaces [m]
    Wide rounding_b
    Wide ground                  # 1: one of the two never moves
    Wide steadies                # 1: may_steady
    Wide outweighed              # 1: what one of the two touches weighs far more
    Wide points_there            # how many points the lane has
    Wide twists                  # 1: friction about the normal
    Wide slide_total[2]          # friction impulses, summed likewise [N s]
    Wide slide_carry[2]
    Wide twist_carry
    StartPoint points[4]
    Wide cross[4][3]             # of the points (ManifoldPoint.cross); only where the block `crosses`
    Wide thinning                # of the stiffness (Manifold.thinning); only where the block `thins`
    WideTurning turning          # only where the block `turns`

# Beside each block where some shape of the world has rolling or torsional friction or a surface velocity.
ctypedef struct ResistanceBlock:
    Wide surface[2]              # velocity of b's surface against that of a, along the tangents [m/s]
    Wide rolling                 # coefficients [m]
    Wide torsional
    Wide bore                    # the part of the twist impulse that this does [N m s]
    WideCone roll                # friction about the tangents [N m s]
    Wide roll_carry[2]

cdef enum:
    MOST_EFFORT = 512            # how many times as stiff loads make a contact at most, and rounds of lanes;
    MOST_TREE_EFFORT = 128       # rounds over generalized velocities
    MOST_STIFFNESS = 16384       # how many times as stiff outer forces make a contact at most
    SLIGHT = 262144              # of what further sweeps may leave, a round of a sweep may leave one of so many parts
    LOAD_STEPS = 16
    HALF_SLOPS = 4000            # of a pair's size: what is left of an overlap is two of them (docs/theory/twist.md)

# A contact's load is a mean over LOAD_STEPS steps. A spring whose stiffness follows its load at once is the more pressed in
# the less it bears: the load must change slowly against a column's own swings, or those are pumped up.
cdef inline double lasting_load(double last, double now) noexcept nogil:
    """[m/s]; last: until this step. A contact that bore nothing before begins with what it bears now."""
    return now if last == 0.0 else last + (now - last) / <double>LOAD_STEPS


cdef enum:
    # two points are all but alike where so many times c > (ALIKE - 1) sqrt(d_1 d_2) (_faces.pxi)
    ALIKE = 16
    OUTWEIGHED = 10              # how many times its own mass a body's neighbours weigh where sweeps are slow,
    FAR_OUTWEIGHED = 80          # and where they do not follow what a steady spring leaves of an error


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


# A manifold's, of find_efforts; all 1 or more.
ctypedef struct Effort:
    double rounds                # so many times, rounded up, a sweep solves it
    double stiffness             # as many times as stiff its springs are as others
    double firmness              # and so many times less they yield, at the same rate (wide/_firm.pxd)


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
    cdef double pressed = press * dot(m.normal, sub(external_acceleration(bodies, m.body_a, gravity),
                                                    external_acceleration(bodies, m.body_b, gravity)))
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
        a = external_acceleration(bodies, bodies.moving[k], gravity)
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
    if bodies.inv_mass[m.body_a] == 0.0:
        return b
    return a if bodies.inv_mass[m.body_b] == 0.0 else min(a, b)


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
    memset(passing, 0, 6 * bodies.count * sizeof(double))
    for k in range(count):
        m = &manifolds[k]
        inv_mass = bodies.inv_mass[m.body_a] + bodies.inv_mass[m.body_b]
        if inv_mass > 0.0:
            add_passing(passing + 6 * m.body_a, m.load / inv_mass, m.normal)
            add_passing(passing + 6 * m.body_b, m.load / inv_mass, m.normal)
    while i < count:
        m = &manifolds[i]
        end = patch_end(manifolds, count, i, &load)
        inv_mass = bodies.inv_mass[m.body_a] + bodies.inv_mass[m.body_b]
        through = max(load, passes(passing, m, bodies) * inv_mass)
        effort = effort_of(load, through, m.size, scale, small, MOST_EFFORT)
        rounds = min(effort_of(through, through, m.size, scale, small, MOST_EFFORT) if networks else effort, most_rounds)
        most = max(most, rounds)
        for k in range(i, end):
            efforts[k].rounds = max(efforts[k].rounds, rounds)
            efforts[k].stiffness = max(efforts[k].stiffness, effort)
        i = end
    return most


# How errors become biases (stabilize/_stabilize.pyx); [0] between two moving bodies, [1] against one that never moves.
ctypedef struct ContactRule:
    double inv_h                 # [1/s]
    double rate                  # bias = rate (C + slop) where C + slop < 0, of contacts without springs [1/s]
    double slop                  # this [m], and
    double slop_part             # so much of the lane's `size`
    double push_speed            # this [m/s], and
    double push_rate             # so many times its `size` in a second
    double h                     # [s]
    double first                 # the part of a substep's forces that the biased pass bears
    double settle_speed          # a change of a velocity that may be left undone: this [m/s], and
    double settle_rate           # so many times the lane's `size` in a second
    double omega[2]              # of springs: 2 pi hertz, 0: there are none; and
    double damping[2]            # twice the damping ratio, and
    double steadying             # how many times as large it becomes in contacts that rest (core/_softness.pxd)

# One level's kernels. blocks, starts, resisting: `count` of each, those of one colour one after the other. resistances,
# resisting: not read where the former is NULL, or no block resists.
ctypedef struct WideKernels:
    int width                    # lanes
    Py_ssize_t block_size        # bytes
    Py_ssize_t start_size
    Py_ssize_t resistance_size
    # Clear a block, then fill its lanes with the chosen manifolds, of which the first has the most points;
    # efforts: of find_efforts; neighbours: of FurtherSweeps; groups, going: of find_groups.
    void (*fill)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t block,
                 const Manifold* manifolds, const Resistance* resistances, const int32_t* chosen, int count,
                 const Bodies* bodies, const double* neighbours, const Effort* efforts, const int32_t* groups,
                 const int32_t* going) noexcept nogil
    # What of the last impulses lasts, the step's totals, and the separations into the manifolds. doubling: of second
    # halves, to be those of whole substeps.
    void (*store)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                  double doubling, Manifold* manifolds) noexcept nogil
    # Jacobians, errors, biases, masses at the present poses. twist: what warm_start has carried acts there; or NULL.
    void (*refresh)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                    const Bodies* bodies, const ContactRule* rule, Twist* twist) noexcept nogil
    # `part` of the impulses acts, the rest of them is carried. ended: they are those of a substep of this step, whose
    # totals they are added to.
    void (*warm_start)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                       Twist* twist, double part, bint ended) noexcept nogil
    # Of warm starts of impulses that have acted `part` of each body is kept, in [0, 1], 1 of what does not move;
    # part[-1] is of the world. second: of what refresh has made act. The bodies' twists are left to the caller.
    void (*keep_parts)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                       const double* part, bint second) noexcept nogil
    # Of bearing impulses where nothing acts in halves, and what a sweep changes them by, d: they go into `carry` before it;
    # after it impulse D d and d D d are added to those of a body of each, D = J M^-1 J'; then `carry` becomes `times` d, of
    # the lane's bodies (-1: the world) the larger: what does not last.
    void (*note_impulses)(ContactBlock* blocks, ContactStart* starts, Py_ssize_t count) noexcept nogil
    void (*weigh_changes)(const ContactBlock* blocks, const ContactStart* starts, Py_ssize_t count, double* along,
                          double* alone) noexcept nogil
    void (*leave_changes)(ContactBlock* blocks, ContactStart* starts, Py_ssize_t count, const double* times) noexcept nogil
    # One sweep of projected Gauss-Seidel, or its round `again`, from 1 on, over the lanes that it goes over more often.
    # rub: friction too, as always in the relax pass. changed: of bodies, becomes 1 where the first round of a relax pass
    # changes a velocity by more than may be left undone; or NULL. stirred: of bodies, the last round that has changed them,
    # counted from 1, by more than it may leave: what none has changed since its own last one is passed by; NULL: there is
    # one round. number: of the sweep since the contacts were laid out, from 1 on. going: of groups, the last sweep that
    # has changed something in them by more than a round may leave; or NULL. fewer: what the last one has not is passed by.
    # -> the largest change of a velocity [m/s]
    double (*sweep)(ContactBlock* blocks, ResistanceBlock* resisting, Py_ssize_t count, Twist* twist, int relaxed,
                    bint rub, int again, int32_t* changed, int32_t* stirred, int number, int32_t* going,
                    bint fewer) noexcept nogil
    # Sweep number k, from 2 on, after the last one of the relax pass: over the lanes with a body that the sweep
    # before it, or this one by now, has changed by more than may be left undone. changed: in which sweep that was. ->
    # whether there are any
    double (*sweep_changing)(ContactBlock* blocks, ResistanceBlock* resisting, Py_ssize_t count, Twist* twist, int k,
                             int32_t* changed) noexcept nogil
    # The largest change that a row would make of its impulse [N s, N m s].
    double (*residual)(ContactBlock* blocks, ResistanceBlock* resisting, Py_ssize_t count, Twist* twist,
                       int relaxed) noexcept nogil
