"""Contacts several at a time: manifolds that share no moving body, a lane each. Unused lanes are zero, on the world.

What the sweeps read stands in ContactBlock, what it is made of once a substep or a step in ContactStart. Their size
depends on the level that a module is compiled for: only kernels look into them, others ask their table for it.
"""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.wide._contact_frame cimport ContactAnchors
from mcsim.wide._contact_work cimport WorkSums
from mcsim.wide._ends cimport WideEnds
from mcsim.wide._lane_types cimport Wide, Wide3

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
    Wide3 axis                   # n - lean (_contact_frame.pxd)
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
    int32_t twists               # 1: some lane has friction about the normal
    int32_t rounds               # how many times a sweep goes over the block: the most of a lane
    int32_t firm                 # 1: some lane's springs are firmer, and it has four points
    int32_t thins                # 1: some lane's manifold is part of a patch of more than four points
    int32_t group[8]             # of find_groups
    int32_t mixed                # 1: the lanes are of several
    int32_t lacks_mass           # 1: joints may leave no mass to slide or to turn, as in rows over trees
    int32_t solves_faces         # 1: some lane's points are `alike`; -1: is not known before the step's first refresh
    int32_t reserved[7]
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
    Wide total                   # normal impulses, summed over the substeps that have ended [N s]
    Wide carry                   # the warm start of the second half, then the first half as it came out [N s]

ctypedef struct ContactStart:
    Wide stiffer                 # what hertz are multiplied by: the root of Effort.stiffness
    Wide firmer                  # Effort.firmness
    Wide ground                  # 1: one of the two never moves
    Wide inv_mass                # of the two together, as if both were awake
    Wide as_awake                # what the springs' stiffness is multiplied by since one of the two sleeps
    Wide steadies                # 1: may_steady
    Wide outweighed              # 1: what one of the two touches weighs far more
    int32_t group[8]             # of free_group
    Wide twists                  # 1: friction about the normal
    Wide goes_on                 # of weigh_pushes
    Wide slide_total[2]          # friction impulses, summed likewise [N s]
    Wide slide_carry[2]
    Wide twist_carry
    Wide thinning                # of the stiffness (Manifold.thinning); only where the block `thins`
    StartPoint points[4]
    ContactAnchors anchors       # the last: not all of it is in use everywhere

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
    LOAD_STEPS = 16              # [steps] over which the mean of a load goes (_efforts.pxd)
    # two points are all but alike where so many times c > (ALIKE - 1) sqrt(d_1 d_2) (_faces.pxi)
    ALIKE = 16
    OUTWEIGHED = 10              # how many times its own mass a body's neighbours weigh where sweeps are slow,
    FAR_OUTWEIGHED = 80          # and where they do not follow what a steady spring leaves of an error

# A manifold's, of find_efforts; all 1 or more.
ctypedef struct Effort:
    double rounds                # so many times, rounded up, a sweep solves it
    double stiffness             # as many times as stiff its springs are as others
    double firmness              # and so many times less they yield, at the same rate (wide/_firm.pxd)

# How errors become biases (stabilize/_stabilize.pyx); [0] between two moving bodies, [1] against one that never moves.
ctypedef struct ContactRule:
    double inv_h                 # [1/s]
    double rate                  # bias = rate (C + slop) where C + slop < 0, of contacts without springs [1/s]
    double slop                  # this [m], and
    double slop_part             # so much of the lane's `size`
    double push_speed            # this [m/s], and
    double push_rate             # so many times its `size` in a second
    double h                     # [s]
    bint pushed                  # weigh_pushes has told what goes on
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
    # efforts: of find_efforts; neighbours: of FurtherSweeps; groups, going: of find_groups; shares, follows: of WideEnds.
    void (*fill)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t block,
                 const Manifold* manifolds, const Resistance* resistances, const int32_t* chosen, int count,
                 const Bodies* bodies, const double* neighbours, const Effort* efforts, const int32_t* groups,
                 const int32_t* going, int shares, int follows) noexcept nogil
    # What of the last impulses lasts, the step's totals, and the separations into the manifolds. doubling: of second
    # halves, to be those of whole substeps.
    void (*store)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                  double doubling, Manifold* manifolds) noexcept nogil
    # Jacobians, errors, biases, masses at the present poses. twist: what warm_start has carried acts there; or NULL.
    void (*refresh)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                    const Bodies* bodies, const ContactRule* rule, Twist* twist) noexcept nogil
    # `part` of the impulses acts, the rest of them is carried. ended: they are those of a substep of this step, whose
    # totals they are added to. pushing, number, last: of ContactWork; number: 0 where nobody asks.
    void (*warm_start)(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                       Twist* twist, double part, bint ended, int32_t* pushing, int32_t number,
                       int32_t* last) noexcept nogil
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
    # What of the change of the first halves in the biased pass may go on into the relax pass, into `goes_on`; all as of
    # ContactWork.
    void (*weigh_pushes)(ContactBlock* blocks, ContactStart* starts, Py_ssize_t count, const Twist* twist,
                         const Twist* started, const Twist* kicked, WorkSums* sums, const int32_t* pushing,
                         int32_t number) noexcept nogil
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
