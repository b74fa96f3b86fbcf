"""Derivatives of the algorithms over a tree from Python: of one state, or of many by a leading axis.

As in _dynamics.pyx one state runs through the kernels compiled here for one lane, many through those of the widest level.
What H^-1 is multiplied by goes through the widest level in both cases, a column a lane. The answers are the same to the
bit.
"""

from libc.math cimport isfinite
from libc.stdint cimport int32_t
from libc.string cimport memcpy
from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport vec3
from mcsim.core._thread_pool cimport MOST_WORKERS, share_out
from mcsim.reduced._dynamics cimport LEAST_GROUPS, Dynamics, Given, beyond, find_any

from mcsim.core.arrays import aligned
from mcsim.core.errors import SceneError
from mcsim.wide import levels

include "_kernels.pxi"
include "_deriving.pxi"

# Room to solve in, of one state: the transpose of W, the columns to solve for, and their solution's.
ctypedef struct Own:
    double* transposed
    double* columns
    double* work


# Many states, and what comes of them. The numbers of a worker: derivatives of tau by q and qd, and H; W; accelerations;
# then what is given, q, qd, tau or qdd, and forces. What is always 0 in them is 0 from the beginning.
ctypedef struct Spread:
    const TreeKernels* kernels
    const DerivativeKernels* deriving
    Tree trees[MOST_WORKERS]
    Deriving rooms[MOST_WORKERS]
    Wide* buffers[MOST_WORKERS]
    double* parted[MOST_WORKERS]         # of each lane the first four
    Own own[MOST_WORKERS]
    Py_ssize_t failed[MOST_WORKERS]      # a velocity at which H was not positive definite; -1: none
    bint forward
    Py_ssize_t count
    Given given[4]
    double* found[3]


cdef inline void give_motion(const Motion* m, double* out) noexcept nogil:
    """[w; v]"""
    out[0], out[1], out[2] = m.w.x, m.w.y, m.w.z
    out[3], out[4], out[5] = m.v.x, m.v.y, m.v.z


cdef inline Own own_of(double* room, Py_ssize_t nv) noexcept nogil:
    cdef Own own
    own.transposed = room
    own.columns = own.transposed + in_eights(nv * nv)
    own.work = own.columns + nv * in_eights(3 * nv)
    return own


cdef inline Py_ssize_t own_size(Py_ssize_t nv) noexcept nogil:
    return in_eights(nv * nv) + 2 * nv * in_eights(3 * nv)


cdef void set_columns(const Tree* tree, const Deriving* room, const double* numbers, const Own* own) noexcept nogil:
    """What to solve for and with, of one state, from derivatives by q and qd, H and W. Given accelerations do not change by
    q and qd; of their columns of H free rows count."""
    cdef Py_ssize_t nv = tree.nv
    cdef Py_ssize_t square = nv * nv
    cdef Py_ssize_t stride = in_eights(3 * nv)
    cdef const Link* link
    cdef Py_ssize_t i, j, k, m
    for k in range(nv):
        memcpy(own.columns + k * stride, numbers + k * nv, nv * sizeof(double))
        memcpy(own.columns + k * stride + nv, numbers + square + k * nv, nv * sizeof(double))
        j = k
        while j >= 0:
            own.transposed[j * nv + k] = numbers[3 * square + k * nv + j]
            j = room.above[j]
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        if not link.given:
            continue
        for k in range(link.v, link.v + link.freedoms):
            memset(own.columns + k * stride, 0, stride * sizeof(double))
        for m in range(tree.first, tree.end):
            if not tree.links[m].given:
                for k in range(tree.links[m].v, tree.links[m].v + tree.links[m].freedoms):
                    for j in range(link.v, link.v + link.freedoms):
                        own.columns[k * stride + 2 * nv + j] = numbers[2 * square + k * nv + j]


cdef Py_ssize_t find_failed(const double* inverse, Py_ssize_t nv) noexcept nogil:
    """The velocity at which H was not positive definite; -1: none."""
    cdef Py_ssize_t k
    for k in range(nv - 1, -1, -1):
        if not (isfinite(inverse[k * (nv + 1)]) and inverse[k * (nv + 1)] > 0.0):
            return k
    return -1


cdef void solve_state(const Tree* tree, const Deriving* room, const DerivativeKernels* deriving, const double* numbers,
                      const Own* own, double** found, Py_ssize_t at, Py_ssize_t* failed) noexcept nogil:
    """What is found of one state, into matrices from `at` on."""
    cdef Py_ssize_t nv = tree.nv
    cdef const double* inverse = numbers + 3 * nv * nv
    cdef Py_ssize_t k = find_failed(inverse, nv)
    cdef int i
    if k >= 0:
        failed[0] = k
    set_columns(tree, room, numbers, own)
    deriving.solve(tree, room, inverse, own.transposed, own.columns, own.work)
    for k in range(nv):
        for i in range(3):
            memcpy(found[i] + at + k * nv, own.columns + k * in_eights(3 * nv) + i * nv, nv * sizeof(double))


cdef void differentiate_states(void* what, Py_ssize_t first, Py_ssize_t end, int worker) noexcept nogil:
    """Groups [first, end) of as many states as there are lanes."""
    cdef Spread* spread = <Spread*>what
    cdef const TreeKernels* kernels = spread.kernels
    cdef const DerivativeKernels* deriving = spread.deriving
    cdef Tree* tree = &spread.trees[worker]
    cdef const Deriving* room = &spread.rooms[worker]
    cdef const Given* given
    cdef Py_ssize_t group, state, nv = tree.nv
    cdef Py_ssize_t square = nv * nv
    cdef Wide* numbers[4]
    cdef Wide* found[4]
    cdef Wide* growth
    cdef Wide* at
    cdef int k, lane, count
    for group in range(first, end):
        state = group * kernels.width
        count = <int>min(kernels.width, spread.count - state)
        for k in range(4):
            found[k] = beyond(kernels, spread.buffers[worker], k * square)
        growth = beyond(kernels, spread.buffers[worker], 4 * square)
        at = beyond(kernels, growth, nv)
        for k in range(4):
            given = &spread.given[k]
            numbers[k] = NULL
            if given.rows != NULL:
                numbers[k] = at
                kernels.load(at, given.rows + state * given.stride, given.size, given.stride, count)
                at = beyond(kernels, at, given.size)
        kernels.place(tree, numbers[0])
        if not spread.forward:
            deriving.differentiate(tree, room, numbers[1], numbers[2], numbers[3], found[0], found[1], found[2], nv)
            for k in range(3):
                kernels.store(found[k], spread.found[k] + state * square, square, square, count)
            continue
        kernels.move(tree, numbers[0], numbers[1])
        kernels.forward_dynamics(tree, numbers[2], numbers[3], growth)
        deriving.differentiate(tree, room, numbers[1], growth, numbers[3], found[0], found[1], found[2], nv)
        deriving.invert_factor(tree, room, found[2], found[3])
        kernels.store(found[0], spread.parted[worker], 4 * square, 4 * square, count)
        for lane in range(count):
            solve_state(tree, room, deriving, spread.parted[worker] + 4 * square * lane, &spread.own[worker], spread.found,
                        (state + lane) * square, &spread.failed[worker])


# ---- bodies, one state -----------------------------------------------------------------------------------------------

cdef inline void put_column(double* out, Py_ssize_t stride, Wide3 a) noexcept nogil:
    out[0], out[stride], out[2 * stride] = a.x, a.y, a.z


cdef void give_body(const Tree* tree, const AxisRates* rates, Py_ssize_t i, double** out) noexcept nogil:
    """After place: what link i's centre of mass and axes move by with each velocity above it; with rates, after ride, how
    its velocity and angular velocity change with the coordinates. out: (3, nv) of each, zeros before."""
    cdef const LinkState* s = &tree.states[i + 1]
    cdef const Link* link
    cdef const Motion* axis
    cdef const Motion* first
    cdef Py_ssize_t k, nv = tree.nv
    cdef Wide3 arm = s.com
    cdef Wide3 speed = w_add(s.velocity.v, w_cross(s.velocity.w, s.com))
    cdef Wide3 spin = s.velocity.w
    while i >= 0:
        link = &tree.links[i]
        for k in range(link.v, link.v + link.freedoms):
            axis = &tree.axes[k].axis
            put_column(out[0] + k, nv, w_add(axis.v, w_cross(axis.w, arm)))
            put_column(out[1] + k, nv, axis.w)
            if rates != NULL:
                first = &rates[k].first
                put_column(out[2] + k, nv, w_add(w_cross(axis.w, speed), w_add(first.v, w_cross(first.w, arm))))
                put_column(out[3] + k, nv, w_add(w_cross(axis.w, spin), first.w))
        arm = w_add(arm, tree.states[i + 1].arm)
        i = link.parent


cdef class Derivatives(Dynamics):
    """Dynamics with derivatives."""

    cdef Deriving room                   # of one state
    cdef Wide* growth                    # of it: accelerations, then as a worker's of many
    cdef Own own
    cdef const DerivativeKernels* deriving
    cdef Spread spread

    # ---- room --------------------------------------------------------------------------------------------------------

    cdef int _fit_derivatives(self) except -1:
        """Make ready for the first derivatives."""
        cdef Py_ssize_t nv = self.nv
        if self.deriving != NULL:
            return 0
        if self.user:
            number = self.user[0][0]
            raise SceneError(f"{self.names[number]} has a JointModel, which does not tell how its subspace changes with q: "
                             "take differences of the dynamics themselves, or describe the joint by one of the scene's "
                             "types")
        above, run, end, gravity, uneven = self._layout()
        self.room.above, self.room.run, self.room.end = integers(above), integers(run), integers(end)
        self.room.gravity = vec3(gravity[0], gravity[1], gravity[2])
        self.room.uneven = uneven
        growth, own = aligned((nv + 4 * nv * nv + 1) * 8), aligned(own_size(nv) * 8)
        self.kept.extend((above, run, end, growth, own, self._fit_room(&DERIVATIVES, &self.room)))
        self.growth, self.own = <Wide*>doubles(growth), own_of(doubles(own), nv)
        self.deriving = <const DerivativeKernels*>PyCapsule_GetPointer(
            levels.table("derivatives", package="mcsim.reduced"), "mcsim.reduced")
        return 0

    cdef _fit_room(self, const DerivativeKernels* kernels, Deriving* room):
        """-> what to keep alive"""
        found = aligned((self.tree.count + 1) * kernels.link_size), aligned((self.nv + 1) * kernels.axis_size)
        room.links, room.axes = <LinkTurning*>doubles(found[0]), <AxisRates*>doubles(found[1])
        return found

    cdef _layout(self):
        """-> of each velocity the one above it that is free, where those one after the other begin, and the end of those it
        bears; gravity, and whether links with mass differ in it."""
        links = self.links
        above = np.array(self.expanded_parent)
        end = np.arange(1, self.nv + 1, dtype=np.int32)
        given = np.zeros(self.nv, bool)
        for link in links[links["given"] == 1]:
            given[link["v"]:link["v"] + link["freedoms"]] = True
        for k in range(self.nv - 1, -1, -1):
            if above[k] >= 0:
                end[above[k]] = max(end[above[k]], end[k])
        above[given | ((above >= 0) & given[above])] = -1
        run = np.arange(self.nv, dtype=np.int32)
        for k in range(1, self.nv):
            if above[k] == k - 1:
                run[k] = run[k - 1]
        weights = links["weight"][links["mass"] > 0.0]
        gravity = weights[0] if len(weights) else np.zeros(3)
        return above, run, end, gravity, bool(np.any(weights != gravity))

    cdef int _widen_derivatives(self) except -1:
        """Make ready for batches."""
        cdef int k
        cdef Py_ssize_t nv = self.nv
        cdef Py_ssize_t numbers = self.nq + 3 * nv + 6 * self.body_count + 4 * nv * nv + 1
        if self.spread.kernels != NULL:
            return 0
        if self.wide == NULL:
            self._widen()
        self.spread.deriving = self.deriving
        for k in range(self.threads):
            self.spread.trees[k] = self.batch.trees[k]
            self.spread.rooms[k] = self.room
            buffer, own = aligned(numbers * self.wide.wide_size), aligned(own_size(nv) * 8)
            parted = aligned(4 * nv * nv * self.wide.wide_size)
            self.spread.buffers[k], self.spread.own[k] = <Wide*>doubles(buffer), own_of(doubles(own), nv)
            self.spread.parted[k] = doubles(parted)
            self.kept.append((buffer, own, parted, self._fit_room(self.deriving, &self.spread.rooms[k])))
        self.spread.kernels = self.wide
        return 0

    # ---- derivatives -------------------------------------------------------------------------------------------------

    def _differentiate(self, bint forward, q, qd, x, forces):
        """-> three arrays (nv, nv), or (n, nv, nv): of qdd by q, qd and tau, or of tau by q, qd and qdd."""
        cdef Given given[4]
        cdef Py_ssize_t count = -1
        cdef double* found[3]
        cdef int k
        for k in range(4):
            given[k].rows = NULL
            given[k].size = given[k].stride = 0
        q = self._take(q, "q", self.nq, &given[0], &count)
        self._check_coordinates(&given[0], count, forward)
        qd = self._take(qd, "qd", self.nv, &given[1], &count)
        x = self._take(x, "tau" if forward else "qdd", self.nv, &given[2], &count)
        if forces is not None:
            forces = self._take_forces(forces, &given[3], &count)
        shape = self.square if count < 0 else (count, *self.square)
        make = np.empty if forward or count >= 0 else np.zeros
        out = [make(shape) for _ in range(3)]
        if self.nv and count:
            for k in range(3):
                find_any(out[k], &found[k])
            self._begin("forward_dynamics_derivatives" if forward else "inverse_dynamics_derivatives")
            try:
                self._fit_derivatives()
                if count < 0:
                    self._one(forward, given, found)
                else:
                    self._many(forward, given, count, found)
            finally:
                self.turn.give()
        return out

    cdef int _one(self, bint forward, const Given* given, double** found) except -1:
        cdef Py_ssize_t nv = self.nv
        cdef Py_ssize_t failed = -1
        cdef Wide* out = self.growth + nv
        cdef const Wide* q = <const Wide*>given[0].rows
        cdef const Wide* qd = <const Wide*>given[1].rows
        cdef const Wide* x = <const Wide*>given[2].rows
        cdef const Wide* forces = <const Wide*>given[3].rows
        place(&self.tree, q)
        if not forward:
            differentiate(&self.tree, &self.room, qd, x, forces, <Wide*>found[0], <Wide*>found[1], <Wide*>found[2], nv)
            return 0
        move(&self.tree, q, qd)
        forward_dynamics(&self.tree, x, forces, self.growth)
        differentiate(&self.tree, &self.room, qd, self.growth, forces, out, out + nv * nv, out + 2 * nv * nv, nv)
        invert_factor(&self.tree, &self.room, out + 2 * nv * nv, out + 3 * nv * nv)
        solve_state(&self.tree, &self.room, self.deriving, <const double*>out, &self.own, found, 0, &failed)
        self._check_factor(failed)
        return 0

    cdef int _many(self, bint forward, const Given* given, Py_ssize_t count, double** found) except -1:
        cdef Py_ssize_t groups
        cdef int k
        self._widen_derivatives()
        self.spread.forward = forward
        self.spread.count = count
        for k in range(4):
            self.spread.given[k] = given[k]
        for k in range(3):
            self.spread.found[k] = found[k]
        for k in range(self.threads):
            self.spread.failed[k] = -1
        groups = (count + self.wide.width - 1) // self.wide.width
        with nogil:
            share_out(differentiate_states, &self.spread, groups, LEAST_GROUPS, self.threads)
        for k in range(self.threads):
            self._check_factor(self.spread.failed[k])
        return 0

    def take_rates(self, axes, states):
        """Of the one state that was differentiated last, into axes (nv, 24): the motions S, first, second and both of each
        velocity (AxisRates); into states (links + 1, 15): origin, velocity and acceleration less gravity of each link, the
        base first. Motions are [w; v] about the link's origin, world axes."""
        cdef double* out = doubles(axes)
        cdef double* own = doubles(states)
        cdef const LinkState* s
        cdef const AxisRates* r
        cdef Py_ssize_t i
        for i in range(self.nv):
            r = &self.room.axes[i]
            give_motion(&self.tree.axes[i].axis, out + 24 * i)
            give_motion(&r.first, out + 24 * i + 6)
            give_motion(&r.second, out + 24 * i + 12)
            give_motion(&r.both, out + 24 * i + 18)
        memset(own, 0, 15 * sizeof(double))
        own[12], own[13], own[14] = -self.room.gravity.x, -self.room.gravity.y, -self.room.gravity.z
        for i in range(self.tree.count):
            s = &self.tree.states[i + 1]
            own += 15
            own[0], own[1], own[2] = s.position.x, s.position.y, s.position.z
            give_motion(&s.velocity, own + 3)
            give_motion(&s.acceleration, own + 9)

    cdef int _check_factor(self, Py_ssize_t failed) except -1:
        cdef Py_ssize_t i
        for i in range(self.tree.count if failed >= 0 else 0):
            if self.tree.links[i].v <= failed < self.tree.links[i].v + self.tree.links[i].freedoms:
                raise SceneError(f"the mass matrix is not positive definite at {self.names[i]}: nothing that has mass "
                                 "moves with it, or its coordinates are singular")
        return 0

    def _differentiate_bodies(self, q, qd, bint moving):
        """-> arrays (bodies, 3, nv), or (n, bodies, 3, nv): of positions and turnings by q, and where they are moving of
        velocities and angular velocities at qd by q."""
        cdef Given given[2]
        cdef Py_ssize_t count = -1
        cdef Py_ssize_t i, k, n, at
        cdef double* out[4]
        cdef double* own[4]
        cdef const Wide* still
        cdef const AxisRates* rates = NULL
        cdef int j, kinds = 4 if moving else 2
        q = self._take(q, "q", self.nq, &given[0], &count)
        self._check_coordinates(&given[0], count, False)
        if moving:
            qd = self._take(qd, "qd", self.nv, &given[1], &count)
        n = max(count, 1) if count else 0
        found = [np.zeros((n, self.body_count, 3, self.nv)) for _ in range(kinds)]
        zeros = aligned((self.nv + 1) * 8)
        still = <const Wide*>doubles(zeros)
        if n and self.body_count and self.nv:
            for j in range(kinds):
                find_any(found[j], &out[j])
            self._begin("velocity_derivatives" if moving else "pose_derivatives")
            try:
                if moving:
                    self._fit_derivatives()
                    rates = self.room.axes
                for i in range(n):
                    self._ask_users(given[0].rows + i * given[0].stride, NULL)
                    place(&self.tree, <const Wide*>(given[0].rows + i * given[0].stride))
                    if moving:
                        ride(&self.tree, &self.room, <const Wide*>(given[1].rows + i * given[1].stride), still)
                    for k in range(self.tree.count):
                        at = 3 * self.nv * (i * self.body_count + self.tree.links[k].body)
                        for j in range(kinds):
                            own[j] = out[j] + at
                        give_body(&self.tree, rates, k, own)
            finally:
                self.turn.give()
        return found if count >= 0 else [part[0] for part in found]
