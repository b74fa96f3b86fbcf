"""The algorithms over a tree from Python: one state, or many by a leading axis.

One state runs through the kernels compiled here for one lane, many through those of the widest level, a state a lane.
The answers are the same to the bit.
"""

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBuffer_Release, PyObject_GetBuffer
from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._thread_pool cimport MOST_WORKERS, share_out
from mcsim.core._turn cimport Turn
from mcsim.reduced._ltl cimport factor_ltl, solve_ltl
from mcsim.reduced._pitch cimport SINGULAR_PITCH

from mcsim.core.arrays import aligned
from mcsim.core.errors import SceneError
from mcsim.wide import levels

include "_kernels.pxi"
include "_readings.pxi"

cdef enum Task:
    FORWARD = 0
    INVERSE = 1
    MASS = 2
    BIAS = 3                     # inverse dynamics at qdd = 0

TASKS = ("forward_dynamics", "inverse_dynamics", "mass_matrix", "bias_force")

BUSY = ("Dynamics.{doing}: it is at work in another thread, or in a function that it calls; a Dynamics belongs to one "
        "thread at a time: make another one of its system")

cdef double SHORTEST = 1e-12     # square of a quaternion's length below which it says no rotation


cdef void do_states(void* what, Py_ssize_t first, Py_ssize_t end, int worker) noexcept nogil:
    """Groups [first, end) of as many states as there are lanes."""
    cdef Batch* batch = <Batch*>what
    cdef const TreeKernels* kernels = batch.kernels
    cdef Tree* tree = &batch.trees[worker]
    cdef const Given* given
    cdef Wide* numbers[4]
    cdef Wide* found
    cdef Wide* at
    cdef Py_ssize_t group, state
    cdef int k, count
    for group in range(first, end):
        state = group * kernels.width
        count = <int>min(kernels.width, batch.count - state)
        at = batch.buffers[worker]
        for k in range(4):
            given = &batch.given[k]
            numbers[k] = NULL
            if given.rows != NULL:
                numbers[k] = at
                kernels.load(at, given.rows + state * given.stride, given.size, given.stride, count)
                at = beyond(kernels, at, given.size)
        found = at
        kernels.place(tree, numbers[0])
        if batch.task == MASS:
            kernels.mass_matrix(tree, found)
        else:
            kernels.move(tree, numbers[0], numbers[1])
            if batch.task == FORWARD:
                kernels.forward_dynamics(tree, numbers[2], numbers[3], found)
            else:
                kernels.inverse_dynamics(tree, numbers[2], numbers[3], found)
        kernels.store(found, batch.found + state * batch.found_size, batch.found_size, batch.found_size, count)


cdef class Dynamics:
    """links: LINK_DTYPE (n,). turns (n, 3, 3): each body's axes in its link's. positions, orientations (bodies, 3),
    (.., 4): of all bodies of the scene, for those that nothing moves. names: what
    messages call the links' joints. user: (link number, callable) of users' joints.
    threads: among which batches are shared out."""

    def __init__(self, links, Py_ssize_t nq, Py_ssize_t nv, turns, positions, orientations, names, user=(), int threads=1):
        cdef Py_ssize_t bodies = len(positions)
        if links.dtype.itemsize != sizeof(Link):
            raise ValueError(f"a link's record has {sizeof(Link)} bytes here, {links.dtype.itemsize} there")
        self.turn = Turn(BUSY)
        self.links = np.ascontiguousarray(links)
        self.nq, self.nv, self.body_count, self.threads = nq, nv, bodies, min(threads, MOST_WORKERS)
        self.user = tuple(user)
        self.expanded_parent = expanded(self.links, nv)
        self.names = tuple(names)
        delicate = np.flatnonzero((links["quaternion"] >= 0) | (links["kind"] == ANGLES_ZYX)).astype(np.int32)
        self.delicate, self.delicate_count = integers(delicate), len(delicate)
        self.shape, self.square = (nv,), (nv, nv)
        self.user_numbers = np.zeros(sum(USER_SUBSPACE + 36 for _ in self.user))
        self.tree.links = <const Link*>records(self.links)
        self.tree.count = self.tree.end = len(links)
        self.tree.first = 0
        self.tree.nq, self.tree.nv = nq, nv
        self.tree.user = doubles(self.user_numbers)
        self.turns = np.ascontiguousarray(turns, float)
        self.link_of = np.full(bodies, -1)
        self.link_of[self.links["body"]] = range(len(links))
        self.rest = np.array(positions, float), np.array(orientations, float)
        self.kept = [delicate, self._fit(&KERNELS, &self.tree)]
        self.wide = NULL

    cdef _fit(self, const TreeKernels* kernels, Tree* tree):
        """Room for the states of a tree. -> what to keep alive"""
        room = [aligned((tree.count + 1) * kernels.link_size), aligned(max(1, tree.nv) * kernels.axis_size)]
        tree.states, tree.axes = <LinkState*>doubles(room[0]), <AxisState*>doubles(room[1])
        kernels.begin(tree)
        return room

    cdef int _widen(self) except -1:
        """Make ready for batches."""
        cdef int k
        cdef Py_ssize_t numbers = self.nq + 2 * self.nv + 6 * self.body_count + max(self.nv * self.nv, self.nv) + 1
        self.wide = <const TreeKernels*>PyCapsule_GetPointer(levels.table("trees", package="mcsim.reduced"),
                                                             "mcsim.reduced")
        self.batch.kernels = self.wide
        for k in range(self.threads):
            self.batch.trees[k] = self.tree
            room = aligned(numbers * self.wide.wide_size)
            self.batch.buffers[k] = <Wide*>doubles(room)
            self.kept.append((self._fit(self.wide, &self.batch.trees[k]), room))
        return 0

    # ---- what a caller gives -----------------------------------------------------------------------------------------

    cdef _take(self, object array, str name, Py_ssize_t size, Given* given, Py_ssize_t* count):
        """The doubles of an array (size,), or (n, size) of n states. count: that n, -1 while all were single. -> what
        to keep alive."""
        cdef Py_ssize_t i, n = 1
        cdef double spoilt = 0.0
        cdef Py_ssize_t shape[2]
        if not find_doubles(array, &given.rows, shape):
            array = as_doubles(array, name)
            find_doubles(array, &given.rows, shape)
        if shape[1] != size:
            raise SceneError(f"{name} must be ({size},), or (n, {size}) of n states, got {np.shape(array)}")
        given.size = size
        given.stride = 0
        if shape[0] >= 0:
            n = shape[0]
            given.stride = size
            if 0 <= count[0] != n:
                raise SceneError(f"{name} has {n} states, what stands before it {count[0]}")
            count[0] = n
        for i in range(n * size):
            spoilt += given.rows[i] - given.rows[i]
        if spoilt != 0.0:
            raise SceneError(f"{name} has values that are not finite")
        return array

    cdef int _check_coordinates(self, const Given* q, Py_ssize_t count, bint solving) except -1:
        """Refuse quaternions of no length, and where H is solved yaw, pitch and roll that are singular."""
        cdef const double* at
        cdef Py_ssize_t state, i, k
        cdef const Link* link
        cdef double s, c
        for state in range(1 if q.stride == 0 else count):
            for k in range(self.delicate_count):
                i = self.delicate[k]
                link = &self.tree.links[i]
                at = q.rows + state * q.stride + link.q
                if link.kind == ANGLES_ZYX and solving:
                    sine_cosine(at[1], &s, &c)
                    if fabs(c) < SINGULAR_PITCH:
                        raise SceneError(f"q of {self.names[i]} has a pitch of ±π/2, where yaw and roll are one: describe "
                                         "the joint by a quaternion (ball='quaternion')")
                elif link.quaternion >= 0:
                    at += link.quaternion
                    if not at[0] * at[0] + at[1] * at[1] + at[2] * at[2] + at[3] * at[3] > SHORTEST:
                        raise SceneError(f"q of {self.names[i]} has a quaternion of no length; (1, 0, 0, 0) is no "
                                         "rotation")
        return 0

    cdef _take_forces(self, object forces, Given* given, Py_ssize_t* count):
        """(bodies, 6), or (n, bodies, 6)."""
        array = np.ascontiguousarray(as_doubles(forces, "forces", 3))
        if array.shape[array.ndim - 2:] != (self.body_count, 6):
            raise SceneError(f"forces must be ({self.body_count}, 6), or (n, {self.body_count}, 6) of n states, got "
                             f"{array.shape}")
        flat = array.reshape((*array.shape[:array.ndim - 2], 6 * self.body_count))
        return self._take(flat, "forces", 6 * self.body_count, given, count)

    cdef _run(self, int task, object q, object qd, object x, object forces):
        """The answer of one of the algorithms, for one state or many."""
        cdef Given given[4]
        cdef Py_ssize_t count = -1
        cdef Py_ssize_t size = self.nv * self.nv if task == MASS else self.nv
        cdef tuple shape = self.square if task == MASS else self.shape
        cdef double* found
        cdef int k
        for k in range(4):
            given[k].rows = NULL
            given[k].size = 0
            given[k].stride = 0
        q = self._take(q, "q", self.nq, &given[0], &count)
        self._check_coordinates(&given[0], count, task == FORWARD)
        if task != MASS:
            qd = self._take(qd, "qd", self.nv, &given[1], &count)
        if task == FORWARD or task == INVERSE:
            x = self._take(x, "tau" if task == FORWARD else "qdd", self.nv, &given[2], &count)
        if forces is not None:
            forces = self._take_forces(forces, &given[3], &count)
        out = empty(shape) if count < 0 else empty((count, *shape))
        if self.nv and count:
            find_any(out, &found)
            self._begin(TASKS[task])
            try:
                if count < 0:
                    self._one_state(task, given, found)
                else:
                    self._states(task, given, count, found, size)
            finally:
                self.turn.give()
        return out

    cdef int _begin(self, doing) except -1:
        """Take the turn, which its give() gives back."""
        if not self.turn.take():
            self.turn.refuse(doing)
        return 0

    cdef int _one_state(self, int task, const Given* given, double* found) except -1:
        self._ask_users(given[0].rows, given[1].rows)
        place(&self.tree, <const Wide*>given[0].rows)
        if task == MASS:
            mass_matrix(&self.tree, <Wide*>found)
            return 0
        move(&self.tree, <const Wide*>given[0].rows, <const Wide*>given[1].rows)
        if task == FORWARD:
            forward_dynamics(&self.tree, <const Wide*>given[2].rows, <const Wide*>given[3].rows, <Wide*>found)
        else:
            inverse_dynamics(&self.tree, <const Wide*>given[2].rows, <const Wide*>given[3].rows, <Wide*>found)
        return 0

    cdef int _states(self, int task, const Given* given, Py_ssize_t count, double* found, Py_ssize_t size) except -1:
        cdef Given one[4]
        cdef Py_ssize_t i, groups
        cdef int k
        if self.user:                                # they are asked state by state
            for i in range(count):
                for k in range(4):
                    one[k] = given[k]
                    if given[k].rows != NULL:
                        one[k].rows = given[k].rows + i * given[k].stride
                self._one_state(task, one, found + i * size)
            return 0
        if self.wide == NULL:
            self._widen()
        self.batch.task = task
        self.batch.count = count
        for k in range(4):
            self.batch.given[k] = given[k]
        self.batch.found = found
        self.batch.found_size = size
        groups = (count + self.wide.width - 1) // self.wide.width
        with nogil:
            share_out(do_states, &self.batch, groups, LEAST_GROUPS, self.threads)
        return 0

    cdef int _ask_users(self, const double* q, const double* qd) except -1:
        """What the users' joints say at a state."""
        cdef const Link* link
        for number, ask in self.user:
            link = &self.tree.links[<Py_ssize_t>number]
            ask(np.array([q[link.q + k] for k in range(link_coordinates(&self.tree, number, self.nq))]),
                np.array([qd[link.v + k] if qd != NULL else 0.0 for k in range(link.freedoms)]),
                self.user_numbers[link.user:link.user + USER_SUBSPACE + 36])
        return 0

    # ---- the algorithms ----------------------------------------------------------------------------------------------

    def forward_dynamics(self, q, qd, tau, forces=None):
        """Accelerations qdd (nv,) of a tree at q (nq,), qd (nv,) under joint forces tau (nv,) [N, N m], gravity and
        `forces` (bodies, 6): [f; torque] at the centres of mass, world axes [N, N m].

        Any of them may have a leading axis of n states; then qdd is (n, nv). Articulated bodies (Featherstone, table
        7.1): exact but for rounding, some 1e-13 relative."""
        return self._run(FORWARD, q, qd, tau, forces)

    def inverse_dynamics(self, q, qd, qdd, forces=None):
        """Joint forces tau (nv,) [N, N m] that give the accelerations qdd (nv,) at q (nq,), qd (nv,) under gravity and
        `forces` (bodies, 6) as of forward_dynamics. Any may have a leading axis of n states. Recursive Newton-Euler
        (table 5.1)."""
        return self._run(INVERSE, q, qd, qdd, forces)

    def bias_force(self, q, qd, forces=None):
        """C (nv,) of tau = H qdd + C: what Coriolis and centrifugal forces, gravity and `forces` ask of the joints. As
        inverse_dynamics at qdd = 0."""
        return self._run(BIAS, q, qd, None, forces)

    def mass_matrix(self, q):
        """H (nv, nv) at q (nq,) [kg, kg m, kg m2], symmetric; (n, nv, nv) for q (n, nq). Composite rigid bodies (table
        6.2)."""
        return self._run(MASS, q, None, None, None)

    # ---- bodies ------------------------------------------------------------------------------------------------------

    def poses(self, q):
        """Positions (bodies, 3) [m] of the centres of mass and orientations (bodies, 4), unit quaternions (w, x, y, z),
        of all bodies at q (nq,); (n, bodies, ...) for q (n, nq)."""
        return self._of_bodies(q, None)[:2]

    def state(self, q, qd):
        """Positions (bodies, 3) [m], orientations (bodies, 4), velocities (bodies, 3) [m/s] of the centres of mass and
        angular velocities (bodies, 3) [rad/s], world axes, of all bodies at q (nq,), qd (nv,): what a World has. Either
        may have a leading axis of n states."""
        return self._of_bodies(q, qd)

    cdef _of_bodies(self, object q, object qd):
        cdef Given given[2]
        cdef Py_ssize_t count = -1
        cdef Py_ssize_t i, n
        cdef double* position = NULL
        cdef double* orientation = NULL
        cdef double* twist = NULL
        cdef const double* at
        q = self._take(q, "q", self.nq, &given[0], &count)
        self._check_coordinates(&given[0], count, False)
        given[1].rows = NULL
        given[1].stride = 0
        if qd is not None:
            qd = self._take(qd, "qd", self.nv, &given[1], &count)
        n = max(count, 1) if count else 0
        positions, orientations = (np.repeat(part[None], n, axis=0) for part in self.rest)
        twists = np.zeros((n, self.body_count, 6))
        if n and self.body_count:
            find_any(positions, &position)
            find_any(orientations, &orientation)
            find_any(twists, &twist)
        self._begin("state")
        try:
            for i in range(n if self.tree.count else 0):
                at = given[0].rows + i * given[0].stride
                self._ask_users(at, NULL)
                place(&self.tree, <const Wide*>at)
                give_poses(&self.tree, <const Mat3*>doubles(self.turns), True, <Vec3*>position + i * self.body_count,
                           <Quat*>orientation + i * self.body_count)
                if qd is not None:
                    move(&self.tree, <const Wide*>at, <const Wide*>(given[1].rows + i * given[1].stride))
                    give_twists(&self.tree, True, <Twist*>twist + i * self.body_count)
        finally:
            self.turn.give()
        if count < 0:
            positions, orientations, twists = positions[0], orientations[0], twists[0]
        return positions, orientations, twists[..., :3].copy(), twists[..., 3:].copy()

    def accelerations(self, q, qd, qdd):
        """Accelerations (bodies, 3) [m/s2] of the centres of mass and angular accelerations (bodies, 3) [rad/s2], world
        axes, of all bodies at q (nq,), qd (nv,), qdd (nv,): the rates of what `state` gives. With qdd = 0 the velocity
        products J' qd of all bodies. Any may have a leading axis of n states."""
        cdef Given given[3]
        cdef Py_ssize_t count = -1
        cdef Py_ssize_t i, n
        cdef double* tau
        cdef double* out = NULL
        cdef const double* at[3]
        cdef int k
        q = self._take(q, "q", self.nq, &given[0], &count)
        qd = self._take(qd, "qd", self.nv, &given[1], &count)
        qdd = self._take(qdd, "qdd", self.nv, &given[2], &count)
        self._check_coordinates(&given[0], count, False)
        n = max(count, 1) if count else 0
        found = np.zeros((n, self.body_count, 6))
        unused = empty(self.nv + 1)
        find_any(unused, &tau)
        if n and self.body_count:
            find_any(found, &out)
        self._begin("accelerations")
        try:
            for i in range(n if self.tree.count else 0):
                for k in range(3):
                    at[k] = given[k].rows + i * given[k].stride
                self._ask_users(at[0], at[1])
                place(&self.tree, <const Wide*>at[0])
                move(&self.tree, <const Wide*>at[0], <const Wide*>at[1])
                inverse_dynamics(&self.tree, <const Wide*>at[2], NULL, <Wide*>tau)
                give_accelerations(&self.tree, <Twist*>out + i * self.body_count)
        finally:
            self.turn.give()
        if count < 0:
            found = found[0]
        return found[..., :3].copy(), found[..., 3:].copy()

    def _jacobian(self, Py_ssize_t link, q):
        """(6, nv), or (n, 6, nv): of a link's body."""
        cdef Given given
        cdef Py_ssize_t count = -1
        cdef Py_ssize_t i, n
        cdef double wrench[6]
        cdef double* out
        cdef int k, j
        q = self._take(q, "q", self.nq, &given, &count)
        self._check_coordinates(&given, count, False)
        n = max(count, 1) if count else 0
        found = np.zeros((n, 6, self.nv))
        if n and self.nv and link >= 0:
            find_any(found, &out)
            self._begin("body_jacobian")
            try:
                for i in range(n):
                    self._ask_users(given.rows + i * given.stride, NULL)
                    place(&self.tree, <const Wide*>(given.rows + i * given.stride))
                    for k in range(6):
                        for j in range(6):
                            wrench[j] = j == k
                        project(&self.tree, link, wrench, out + (6 * i + k) * self.nv)
            finally:
                self.turn.give()
        return found if count >= 0 else found[0]

    # ---- the factor of H ---------------------------------------------------------------------------------------------

    def _ltl(self, q):
        """-> L of ltl, the velocity at which some H is not positive definite (-1: none)."""
        cdef double* at
        cdef const int32_t* parent
        cdef Py_ssize_t i, failed = -1
        h = self.mass_matrix(q)
        if h.size:
            parent = <const int32_t*>records(self.expanded_parent)
            find_any(h, &at)
            for i in range(h.size // (self.nv * self.nv)):
                failed = max(failed, factor_ltl(at + i * self.nv * self.nv, parent, self.nv))
        return h, failed

    def ltl_solve(self, factor, b):
        """H^-1 b for b (nv,), or (nv, k) of k columns, with the factor (nv, nv) that `ltl` gave."""
        cdef double* x
        cdef const double* numbers
        cdef const int32_t* parent
        cdef Py_ssize_t i
        cdef Py_ssize_t shape[2]
        factor, columns = as_doubles(factor, "factor"), as_doubles(b, "b")
        if factor.shape != self.square:
            raise SceneError(f"factor must be {self.square}, got {factor.shape}")
        if columns.shape[0] != self.nv:
            raise SceneError(f"b must be ({self.nv},), or ({self.nv}, k), got {columns.shape}")
        rows = np.array(columns.T, order="C", ndmin=2)
        if rows.size:
            find_doubles(factor, &numbers, shape)
            parent = <const int32_t*>records(self.expanded_parent)
            find_any(rows, &x)
            for i in range(rows.shape[0]):
                solve_ltl(numbers, parent, self.nv, x + i * self.nv)
        return np.ascontiguousarray(rows.T) if columns.ndim == 2 else rows[0]


# ---- bodies, one state -----------------------------------------------------------------------------------------------

cdef void give_accelerations(const Tree* tree, Twist* out) noexcept nogil:
    """After inverse_dynamics: d/dt [v; w] of the centres of mass, by the bodies' numbers. A spatial acceleration lacks
    w x v of the point that it is about (Featherstone, 2.11): it tells how the velocity field changes in space."""
    cdef const LinkState* s
    cdef Twist* at
    cdef Py_ssize_t i
    cdef Wide3 v, a
    for i in range(tree.count):
        s = &tree.states[i + 1]
        v = w_add(s.velocity.v, w_cross(s.velocity.w, s.com))
        a = w_add(s.acceleration.v, w_cross(s.acceleration.w, s.com))
        a = w_add(a, w_cross(s.velocity.w, v))
        at = &out[tree.links[i].body]
        at.v = vec3(a.x, a.y, a.z)
        at.w = vec3(s.acceleration.w.x, s.acceleration.w.y, s.acceleration.w.z)


# ---- arrays ----------------------------------------------------------------------------------------------------------

empty = np.empty


def expanded(links, Py_ssize_t nv):
    """(nv,) int32: the parent array as if each velocity had a link of its own."""
    parent = np.arange(-1, nv - 1, dtype=np.int32)           # within a joint: the one before
    last = {-1: -1}                                          # of each link: the last velocity on its way to the base
    for number, link in enumerate(links):
        before = last[int(link["parent"])]
        if link["freedoms"]:
            parent[link["v"]] = before
            before = int(link["v"] + link["freedoms"] - 1)
        last[number] = before
    return parent


cdef Py_ssize_t link_coordinates(const Tree* tree, Py_ssize_t number, Py_ssize_t nq) noexcept nogil:
    """How many coordinates a link's joint has."""
    return (tree.links[number + 1].q if number + 1 < tree.count else nq) - tree.links[number].q


cdef bint find_doubles(object array, const double** rows, Py_ssize_t* shape) except -1:
    """Whether it is a contiguous array of doubles with one or two axes; its numbers and its shape, (-1, n) of one axis.
    Whoever takes the numbers keeps the array alive."""
    cdef Py_buffer view
    cdef bint fits
    try:
        PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    except (BufferError, TypeError, ValueError):
        return False
    fits = (view.format != NULL and view.format[0] == b"d" and view.format[1] == 0 and 1 <= view.ndim <= 2)
    if fits:
        rows[0] = <const double*>view.buf
        shape[0] = view.shape[0] if view.ndim == 2 else -1
        shape[1] = view.shape[view.ndim - 1]
    PyBuffer_Release(&view)
    return fits


cdef int find_any(object array, double** numbers) except -1:
    """The numbers of an array that was made here."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS)
    numbers[0] = <double*>view.buf
    PyBuffer_Release(&view)
    return 0


def as_doubles(value, name, most=2):
    """A contiguous array of doubles with at most so many axes, from anything that is numbers."""
    try:
        if np.iscomplexobj(value):
            raise TypeError
        array = np.require(value, float, "CA")
    except (OverflowError, TypeError, ValueError):
        raise SceneError(f"{name} must be real numbers, got {value!r:.60}") from None
    if not most - 1 <= np.ndim(value) <= most:
        raise SceneError(f"{name} must have {most - 1} axes, or {most} for many states, got the shape {np.shape(value)}")
    return array
