"""What removes position error: each stabilized row's error C becomes its bias and compliance.

Equality rows (joints), with h the substep:
    none        bias 0: the constraint holds at velocity level and drifts
    baumgarte   bias = beta C / h                                     J. Baumgarte 1972; Featherstone 2008, section 8.3
    soft        bias = bias_rate C + h/2 d2C/dt2 and a compliance in the biased pass, rigid in the relax pass
                (core/_softness.pxd). The second derivative of the free drift turns the move from the tangent into the
                chord; with the relax pass, which projects the velocity at the new pose, that is the pattern of RATTLE
                (H. Andersen 1983): without it a swinging joint loses energy at first order in h
A row without position error (a nonholonomic constraint) has the soft one's curvature term alone. Where the error
depends on time itself (a prescribed motion), dC/dt = J v + rate: the rate is added to the bias of both passes.
One-sided rows (limits, contacts) with C > 0 are speculative under every name, and in both passes: J v + C / h >= 0 lets
them close the gap and no more. Soft contacts yield there as they do in touch, with bias C / h: a spring and damper on
what the drift presses in. With C < 0:
    none        bias 0
    baumgarte   bias = max(beta min(C + slop, 0) / h, -push)   (limits: no slop)
    soft        bias = max(bias_rate C, -push) and a compliance; a contact with a body that never moves is twice as
                stiff (hertz times 2, damping ratio by 2)             E. Catto, "Solver2D", 2024
                With one that sleeps, which has no inverse mass, it is as stiff as it was when that was awake
                The n > 4 points of a patch are together as stiff as four: n / 4 times the compliance each. The damping
                ratio grows where the contact rests (core/_softness.pxd)
"""

from libc.math cimport sqrt

from mcsim.core._dense cimport invert_symmetric
from mcsim.core._math cimport vec3
from mcsim.core._numbers cimport HUGE
from mcsim.core._softness cimport Softness, rigid_rate, soften, steadiness, steadying
from mcsim.state._inertia cimport answer_awake, never_moves
from mcsim.state._row cimport BLOCK_BORDER, BLOCK_TREE, BLOCK_WIDE, ROW_JOINT, ROW_NORMAL, BIASED, RELAXED
from mcsim.state._settings cimport STABILIZE_BAUMGARTE, STABILIZE_SOFT
from mcsim.state._rows cimport find_unfelt, row_coupling, without_slop
from mcsim.wide._blocks cimport ALIKE
from mcsim.wide._efforts cimport may_steady


cdef inline void set_bias(Row* row, double bias, double compliance, double relax_bias) noexcept nogil:
    row.bias[BIASED] = bias
    row.bias[RELAXED] = relax_bias
    row.compliance[BIASED] = compliance
    row.compliance[RELAXED] = 0.0


cdef inline void set_soft_bias(Row* row, const Softness* soft, double moved, double h, double slowest) noexcept nogil:
    """moved: the inverse of the mass that the spring moves."""
    cdef double bias = soft.bias_rate * row.error + 0.5 * h * row.curvature
    if soft.stiffness <= 0.0:
        set_bias(row, 0.0, 0.0, 0.0)
        return
    set_bias(row, bias if bias > slowest else slowest, moved / soft.stiffness, 0.0)


cdef inline double chord(const Row* row, const Settings* settings) noexcept nogil:
    """The bias of a joint's row that turns the move from the tangent into the chord, where a relax pass follows."""
    return 0.5 * settings.h * row.curvature if row.kind == ROW_JOINT and settings.relaxes else 0.0


cdef inline bint meets_unmoved(const Row* row, const Bodies* bodies) noexcept nogil:
    return never_moves(bodies, row.body_a) or never_moves(bodies, row.body_b)


cdef inline double awake_diagonal(const Row* row, const Bodies* bodies) noexcept nogil:
    """Of a contact, as if none of the two slept: its spring is as stiff then."""
    cdef const double* j = row.jacobian
    cdef double d = row.diagonal
    if bodies.island[row.body_a] >= 0:
        d += answer_awake(bodies, row.body_a, vec3(j[3], j[4], j[5]))
    if bodies.island[row.body_b] >= 0:
        d += answer_awake(bodies, row.body_b, vec3(j[9], j[10], j[11]))
    return d


cdef inline void set_contact_bias(Row* row, double stiffer, double firmer, const Bodies* bodies, const double* neighbours,
                                  double part, const Settings* settings) noexcept nogil:
    """stiffer: what hertz are multiplied by; firmer: what the compliance is divided by at the same rate (wide/_firm.pxd).
    part: what of its impulse acts in the biased pass."""
    cdef double k = 2.0 if meets_unmoved(row, bodies) else 1.0
    cdef double hertz = k * stiffer * settings.contact_hertz
    cdef double ratio = settings.contact_damping_ratio / k
    cdef double steadied = steadying(settings.contact_damping_ratio) * (2.0 if row.coupling < 1.0 else 1.0)
    cdef double turned = 6.283185307179586 * hertz * settings.h
    cdef double moved = awake_diagonal(row, bodies) / (settings.first_kick * row.coupling)
    cdef double pressed = firmer * turned * turned * max(-row.error, 0.0) / settings.h
    cdef Softness soft
    if moved > 0.0 and may_steady(bodies, row.body_a, row.body_b, neighbours):
        ratio *= 1.0 + (steadied - 1.0) * steadiness(pressed / moved, part * row.impulse)
    soft = soften(hertz, ratio, settings.h)
    soft.stiffness *= firmer
    set_soft_bias(row, &soft, moved, settings.h, -row.push)
    if row.error > 0.0:
        row.bias[BIASED] = row.bias[RELAXED] = row.error / settings.h


cdef void effective_diagonals(const Row* rows, int n, double* out) noexcept nogil:
    """1 / (K^-1)_ii of a joint's block K = J M^-1 J': a row's diagonal with the block's other rows holding.

    The bare diagonal would do for a row alone; with a lever it counts a turning that the other rows forbid (a light
    rod's end: by l^2 m / I too much), and the joint would be that much too soft.
    """
    cdef double k[36]
    cdef int i, j, c
    for i in range(n):
        for j in range(i + 1):
            k[6 * i + j] = 0.0
            for c in range(12):
                k[6 * i + j] += rows[i].jacobian[c] * rows[j].inv_mass_jacobian[c]
            k[6 * j + i] = k[6 * i + j]
    if invert_symmetric(k, n):
        for i in range(n):
            out[i] = 1.0 / k[7 * i]
    else:
        for i in range(n):
            out[i] = rows[i].diagonal


cdef void stabilize_rows(Row* rows, Py_ssize_t count, const Bodies* bodies,
                         const double* neighbours, double part, const Settings* settings) noexcept nogil:
    """Bias and compliance of the stabilized rows, then mass = 1 / (diagonal + compliance) of every row. Soft rows bear the
    part `first_kick` of a substep's load in the biased pass; their springs are as stiff whatever it is. part: that of the
    impulses that they have which acts in the biased pass, `first_kick` before it and 1 after. neighbours: of
    FurtherSweeps."""
    cdef double h = settings.h
    cdef Softness joint = soften(settings.joint_hertz, settings.joint_damping_ratio, h)
    cdef Softness rigid = joint
    cdef double error, d
    cdef bint soft_contact
    cdef Row* row
    cdef Py_ssize_t i, head = 0
    cdef double moved[6]
    cdef int p
    rigid.bias_rate = rigid_rate(joint.bias_rate, h)
    for i in range(count):
        row = &rows[i]
        if row.stabilized:
            error = row.error
            soft_contact = row.kind == ROW_NORMAL and settings.stabilization == STABILIZE_SOFT
            if row.kind != ROW_JOINT and error > 0.0 and not soft_contact:
                set_bias(row, error / h, 0.0, error / h)
            elif settings.stabilization == STABILIZE_SOFT:
                if row.block_kind == BLOCK_TREE or row.block_kind == BLOCK_BORDER:
                    set_bias(row, 0.0, 0.0, 0.0)         # aim_joints sets it from the poses at the drift's end
                elif row.block_kind == BLOCK_WIDE:
                    set_soft_bias(row, &joint, row.coupling / settings.first_kick, h, -HUGE)
                elif row.kind == ROW_JOINT:
                    if row.block > 0:
                        head = i
                        effective_diagonals(row, row.block, moved)
                    set_soft_bias(row, &joint, moved[i - head] / settings.first_kick, h, -HUGE)
                elif row.kind != ROW_NORMAL:
                    # Pushed as a soft row is, but rigid: a limit yields to nothing, not even a motor without bound.
                    set_soft_bias(row, &rigid, 0.0, h, -row.push)
                else:
                    set_contact_bias(row, 1.0, 1.0, bodies, neighbours, part, settings)
            elif settings.stabilization == STABILIZE_BAUMGARTE:
                if row.kind == ROW_NORMAL:
                    error = without_slop(row, error, settings)
                error = settings.baumgarte * error / h
                if row.kind != ROW_JOINT and error < -row.push:
                    error = -row.push
                set_bias(row, error, 0.0, 0.0)
            else:
                set_bias(row, chord(row, settings), 0.0, 0.0)
        if row.kind == ROW_JOINT:
            if not row.stabilized:
                set_bias(row, chord(row, settings), 0.0, 0.0)
            row.bias[BIASED] += row.rate
            row.bias[RELAXED] += row.rate
        for p in range(2):
            d = row.diagonal + row.compliance[p]
            row.mass[p] = 1.0 / d if d > 0.0 else 0.0


cdef inline Py_ssize_t end_of_points(const Row* rows, Py_ssize_t i, Py_ssize_t count) noexcept nogil:
    """-> the end of a manifold's normal rows, of which i is the first"""
    cdef Py_ssize_t end = i + 1
    while end < count and rows[end].kind == ROW_NORMAL and rows[end].source == rows[i].source:
        end += 1
    return end


cdef inline bint are_alike(const Row* rows, Py_ssize_t i, Py_ssize_t end) noexcept nogil:
    """Whether some two of a manifold's points are all but alike (wide/_faces.pxi)."""
    cdef double c
    cdef Py_ssize_t j, k
    for j in range(i + 1, end):
        for k in range(i, j):
            c = ALIKE * max(row_coupling(&rows[j], &rows[k]), 0.0)
            if c * c > (ALIKE - 1) * (ALIKE - 1) * rows[j].diagonal * rows[k].diagonal:
                return 1
    return 0


cdef void share_load(Row* p, double part) noexcept nogil:
    """The part of the impulses of four points that is no rigid body's goes: wide/_springs.pxi, share_load."""
    cdef int i
    cdef double e[4]
    cdef double along = 0.0
    cdef double square = 0.0
    find_unfelt(p, e)
    for i in range(4):
        along += e[i] * p[i].impulse
        square += e[i] * e[i]
    along = along / square if square > 0.0 else 0.0
    for i in range(4):
        if along * e[i] > p[i].impulse:
            part = min(part, p[i].impulse / (along * e[i]))
    for i in range(4):
        p[i].impulse = max(p[i].impulse - part * along * e[i], 0.0)


cdef void stiffen_contacts(Row* rows, Py_ssize_t begin, Py_ssize_t count, const Effort* efforts, const Bodies* bodies,
                           const double* neighbours, double part, const Settings* settings) noexcept nogil:
    """After stabilize_rows, of the contacts' rows [begin, count): those that bear much for their size have stiffer springs,
    what bears a body alone yields less, by efforts (manifolds,) (wide/_blocks.pxd, effort_of; wide/_firm.pxd)."""
    cdef double d
    cdef double firmness = 1.0
    cdef const Effort* effort
    cdef Row* row
    cdef Py_ssize_t i
    cdef Py_ssize_t end = begin                          # of the normal rows of its manifold
    for i in range(begin, count):
        row = &rows[i]
        effort = &efforts[row.source]
        if row.kind != ROW_NORMAL or effort.stiffness <= 1.0 and effort.firmness <= 1.0:
            continue
        if i >= end:
            end = end_of_points(rows, i, count)
            firmness = 1.0 if effort.firmness > 1.0 and are_alike(rows, i, end) else effort.firmness
            if firmness > 1.0 and end - i == 4:
                share_load(row, 1.0 - 1.0 / firmness)
        set_contact_bias(row, sqrt(effort.stiffness), firmness, bodies, neighbours, part, settings)
        d = row.diagonal + row.compliance[BIASED]
        row.mass[BIASED] = 1.0 / d if d > 0.0 else 0.0


cdef void leave_open(Row* rows, Py_ssize_t begin, Py_ssize_t count) noexcept nogil:
    """Before the relax pass, of the contacts' rows [begin, count): what has not touched in the drift, and is open at
    its end, is the next substep's. To stop it now, at C / h, would take its speed where it is not yet, and a substep
    sooner where a contact happens to be found sooner."""
    cdef Row* row
    cdef Py_ssize_t i
    for i in range(begin, count):
        row = &rows[i]
        if row.kind == ROW_NORMAL and row.error > 0.0 and row.impulse == 0.0 and row.carry == 0.0:
            row.mass[RELAXED] = 0.0
