"""The trees of several worlds that nothing but gravity and their joints' forces moves, a world a lane: the flights of
_flight.pyx, to the same bits, as many at a time as a register of the processor holds numbers.

Worlds know nothing of each other, nor trees without rows: so one tree is flown through all steps before the next one, and
each lane goes its own way. In every round of the loop each makes one piece, whatever step it is at and however long its
piece is; one whose world is at its end takes the next world. What differs from lane to lane is decided by numbers of that
lane alone, by the functions that decide for one world. Lanes that need fewer rounds than others begin each further round
as they began their last one, and so come to the same numbers again.

A world of which a step would have to be noted, or of which a number is not finite, is lost: whoever asked makes its steps
one by one.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.float cimport DBL_EPSILON
from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.reduced._flight cimport ARRIVED, NOT_GOOD
from mcsim.reduced._motion cimport Block
from mcsim.reduced._piece cimport Account, Piece, Rider, account_of

from mcsim.core.arrays import aligned
from mcsim.wide import levels

include "_kernels.pxi"
include "_readings.pxi"

# How much of a body's size rounding may be off by for a world to go on side by side: half of what is noted
# (step/_state_arrays.pyx).
cdef double NEAR = 1.0 / 2048.0

cdef enum:
    LOOK = 4096                  # pieces between two looks for Ctrl-C


cdef Given given(object array, int size) except *:
    """array: float64, (worlds, steps, size), by strides of whole numbers; (worlds, size) has no steps."""
    cdef Given r
    if array.dtype != np.float64 or any(stride % 8 for stride in array.strides) or array.shape[array.ndim - 1] != size:
        raise ValueError("what is given is float64, a row for each world")
    r.at = <const double*><size_t>array.ctypes.data
    r.world, r.number = array.strides[0] // 8, array.strides[array.ndim - 1] // 8
    r.step = array.strides[1] // 8 if array.ndim == 3 else 0
    return r


cdef int look_for_signals() except -1 with gil:
    PyErr_CheckSignals()
    return 0


cdef class SideBySide:
    """motion: of one of the worlds, whose links the others have too. sizes (bodies,) [m], not 0."""

    def __init__(self, TreeMotion motion not None, sizes, double dt, int substeps):
        self.kernels = <const FlightKernels*>PyCapsule_GetPointer(levels.table("flights", package="mcsim.reduced"),
                                                                  "mcsim.reduced")
        self.motion, self.judge, self.width = motion, TreeFlight(motion), self.kernels.width
        self.h, self.substeps, self.body_count = dt / substeps, substeps, len(sizes)
        if self.width > MOST_LANES:
            raise ValueError("there are more lanes than room")
        parts = self._parts(motion.kept[0], np.asarray(sizes, float), dt)
        self.parts = doubles(parts)
        self.kept = parts, self._room(), self._read_room()

    def _parts(self, links, sizes, double dt):
        """(links + 1, 2) as of FlightKernels.reach."""
        parts = np.full((len(links) + 1, 2), DBL_EPSILON / NEAR)
        parts[:len(links), 0] /= sizes[links["body"]]
        parts[:, 1] *= dt
        return parts

    def _room(self):
        """Of all lanes."""
        cdef const FlightKernels* kernels = self.kernels
        cdef Flight* f = &self.flight
        cdef Py_ssize_t wide = kernels.wide_size, nq = self.motion.tree.nq, nv = self.motion.tree.nv
        f.tree, f.trees, f.turns_rotors = self.motion.tree, self.motion.trees, self.motion.turns_rotors
        f.drift = self.judge.flight.drift
        room = [aligned((size + 1) * wide) for size in (nq, nv, nv, nv, nq + nv, nv, nv, nv, 1, 1, 1)]
        f.q, f.qd, f.tau, f.qdd = (<Wide*>doubles(room[0]), <Wide*>doubles(room[1]), <Wide*>doubles(room[2]),
                                   <Wide*>doubles(room[3]))
        f.start, f.mean, f.given = <Wide*>doubles(room[4]), <Wide*>doubles(room[5]), <Wide*>doubles(room[6])
        self.guess, self.step_sizes = doubles(room[7]), doubles(room[8])
        self.gains, self.reached = doubles(room[9]), doubles(room[10])
        more = [aligned((f.tree.count + 1) * kernels.link_size), aligned((nv + 1) * kernels.axis_size),
                aligned((f.tree.count + 1) * kernels.rider_size),
                aligned((self.motion.tree_count + 1) * kernels.piece_size)]
        f.tree.states, f.tree.axes = <LinkState*>doubles(more[0]), <AxisState*>doubles(more[1])
        f.riders, f.pieces = <Rider*>doubles(more[2]), <Piece*>doubles(more[3])
        kernels.begin_tree(&f.tree)
        return room, more

    def _read_room(self):
        """Of one lane that is looked at."""
        states = np.zeros((self.motion.tree.count + 1) * sizeof(LinkState) // 8)
        n = self.body_count + 1
        bodies = np.zeros((n, 3)), np.zeros((n, 6)), np.zeros((self.width * n, 4)), np.zeros((n, 4))
        self.tree, self.states = self.motion.tree, <LinkState*>doubles(states)
        self.tree.states = self.states
        self.positions, self.twists = <Vec3*>doubles(bodies[0]), <Twist*>doubles(bodies[1])
        self.kept_faces = bodies[3]
        self.faces, self.faces_at_start = <Quat*>doubles(bodies[2]), <const Quat*>doubles(bodies[3])
        return states, bodies

    @property
    def lanes(self):
        """How many worlds go at a time."""
        return self.width

    def fly(self, Py_ssize_t first, Py_ssize_t end, long long steps, long long every, q, qd, tau, faces, out, lost,
            stopped):
        """Worlds [first, end) through so many steps. q (worlds, nq), qd (worlds, nv): at the beginning; tau (worlds,
        steps, nv); all may have strides of 0. faces (bodies, 4): to whose side quaternions keep at the beginning. out:
        name -> (worlds, rows, ...) contiguous float64, of which the bodies and coordinates that the trees move are
        written, a row after every so many steps: "q", "qd", "position", "orientation", "twist". lost: (worlds,) int8,
        written: 1, what is to be made one by one; what has been written of it is worth nothing. stopped: (1,) int8; not 0:
        the call ends soon, wherever worlds are."""
        cdef Py_ssize_t k
        worlds = len(lost)
        if not 0 <= first <= end <= worlds or lost.dtype != np.int8 or stopped.dtype != np.int8 or every < 1:
            raise ValueError("worlds are counted by `lost`")
        self.q, self.qd = given(q, self.motion.tree.nq), given(qd, self.motion.tree.nv)
        self.tau = given(tau, self.motion.tree.nv)
        if len(q) != worlds or len(qd) != worlds or tau.shape[:2] != (worlds, steps):
            raise ValueError("what is given is given of all worlds and steps")
        self.steps, self.every, self.row_count = steps, every, steps // every
        n = self.body_count
        sizes = {"q": self.motion.tree.nq, "qd": self.motion.tree.nv, "position": 3 * n, "orientation": 4 * n,
                 "twist": 6 * n}
        for name, array in out.items():
            if not array.flags.c_contiguous or array.dtype != np.float64 or array.shape[:2] != (worlds, steps // every) or (
                    array.size != worlds * (steps // every) * sizes[name]):
                raise ValueError("what is kept is contiguous, a row for each world and so many steps")
        self.kept_faces[:n] = faces
        at = {name: <size_t>out[name].ctypes.data if name in out else 0 for name in sizes}
        self.out_q, self.out_qd = <double*><size_t>at["q"], <double*><size_t>at["qd"]
        self.out_position, self.out_orientation = <double*><size_t>at["position"], <double*><size_t>at["orientation"]
        self.out_twist, self.lost = <double*><size_t>at["twist"], <int8_t*><size_t>lost.ctypes.data
        self.stopped = <const int8_t*><size_t>stopped.ctypes.data
        self.rows = q, qd, tau, out, lost, stopped
        for k in range(self.motion.tree_count):
            self.next_world, self.end_world = first, end
            with nogil:
                self.fly_tree(k)
        self.rows = None

    # ---- one tree ----------------------------------------------------------------------------------------------------

    cdef int fly_tree(self, Py_ssize_t k) except -1 nogil:
        """Of all worlds, through all steps."""
        cdef const FlightKernels* kernels = self.kernels
        cdef Flight* f = &self.flight
        cdef long long made = 0
        cdef int lane
        for lane in range(self.width):
            self.begin_world(k, lane)
        self.look_at_worlds(k)
        while self.running > 0:
            for lane in range(self.width):
                self.step_sizes[lane] = 0.0
                if self.lanes[lane].world >= 0:
                    self.step_sizes[lane] = self.h / (1 << self.lanes[lane].way.level)
            kernels.begin_piece(f, k, k + 1, <const Wide*>self.step_sizes, NULL)
            self.make_rounds(k)
            kernels.end_piece(f, k, k + 1, <const Wide*>self.step_sizes, NULL)
            self.end_pieces(k)
            self.end_substeps(k)
            made += 1
            if made % LOOK == 0:
                if self.stopped[0]:
                    return 0
                look_for_signals()
        return 0

    cdef void begin_world(self, Py_ssize_t k, int lane) noexcept nogil:
        """The next one into a lane that is free."""
        cdef const Block* block = &self.flight.trees[k]
        cdef Lane* at = &self.lanes[lane]
        cdef double* q = <double*>self.flight.q
        cdef double* qd = <double*>self.flight.qd
        cdef Py_ssize_t i, world = self.next_world
        at.world, at.step, at.over = -1, 0, False
        if world >= self.end_world:
            return
        at.world, at.fresh = world, True
        self.next_world += 1
        for i in range(self.motion.first_q(k), self.motion.first_q(k + 1)):
            q[i * self.width + lane] = self.q.at[world * self.q.world + i * self.q.number]
        for i in range(block.first, block.first + block.count):
            qd[i * self.width + lane] = self.qd.at[world * self.qd.world + i * self.qd.number]
        self.begin_step(k, lane)

    cdef void look_at_worlds(self, Py_ssize_t k) noexcept nogil:
        """After begin_world: they stand where they begin."""
        cdef int lane
        self.kernels.stand(&self.flight, k, True)
        self.running = 0
        for lane in range(self.width):
            if self.lanes[lane].world < 0:
                continue
            self.running += 1
            if self.lanes[lane].fresh and self.out_orientation != NULL:
                memcpy(self.faces + lane * self.body_count, self.faces_at_start, self.body_count * sizeof(Quat))
                self.face(k, lane)
            self.lanes[lane].fresh = False

    cdef void begin_step(self, Py_ssize_t k, int lane) noexcept nogil:
        cdef const Block* block = &self.flight.trees[k]
        cdef Lane* at = &self.lanes[lane]
        cdef double* tau = <double*>self.flight.tau
        cdef const double* row = self.tau.at + at.world * self.tau.world + at.step * self.tau.step
        cdef Py_ssize_t i
        for i in range(block.first, block.first + block.count):
            tau[i * self.width + lane] = row[i * self.tau.number]
        at.substep = 0
        self.judge.set_out(&at.way)

    cdef void make_rounds(self, Py_ssize_t k) noexcept nogil:
        """As many as each lane asks for. What is known of a piece after one round may say that it is not good: it goes on
        with more at once."""
        cdef const Block* block = &self.flight.trees[k]
        cdef double* mean = <double*>self.flight.mean
        cdef Py_ssize_t first = block.first * self.width, i
        cdef int lane, made = 0
        cdef bint more = True
        while more:
            memcpy(self.guess + first, mean + first, block.count * self.width * sizeof(double))
            self.kernels.make_round(&self.flight, k, k + 1, <const Wide*>self.step_sizes, NULL)
            made += 1
            more = False
            if made == 1 and self.some_miss(k):
                self.kernels.mirror(&self.flight, k, k + 1, <const Wide*>self.step_sizes, NULL)
                self.give_more_rounds(k)
            for lane in range(self.width):
                self.lanes[lane].more = self.asks_for_more(k, lane, made)
                more = more or self.lanes[lane].more
            for lane in range(self.width if more else 0):
                if not self.lanes[lane].more:                # as it began this one: the same again
                    for i in range(block.first, block.first + block.count):
                        mean[i * self.width + lane] = self.guess[i * self.width + lane]

    cdef bint some_miss(self, Py_ssize_t k) noexcept nogil:
        """Whether the only round of any lane's piece has come to other velocities than it began with."""
        cdef Account account
        cdef int lane
        for lane in range(self.width):
            if self.lanes[lane].world >= 0 and self.lanes[lane].way.rounds == 1:
                account = self.account(k, lane)
                if not self.judge.meets(&account):
                    return True
        return False

    cdef void give_more_rounds(self, Py_ssize_t k) noexcept nogil:
        cdef Account account
        cdef int lane
        for lane in range(self.width):
            if self.lanes[lane].world >= 0:
                account = self.account(k, lane)
                self.judge.asks_for_rounds(&self.lanes[lane].way, &account, False)

    cdef bint asks_for_more(self, Py_ssize_t k, int lane, int made) noexcept nogil:
        cdef Account account
        if self.lanes[lane].world < 0 or self.lanes[lane].way.rounds <= made:
            return False
        account = self.account(k, lane)
        return not self.judge.meets(&account)

    cdef Account account(self, Py_ssize_t k, int lane) noexcept nogil:
        return account_of(<const double*>(<const char*>self.flight.pieces + k * self.kernels.piece_size), self.width, lane)

    cdef void end_pieces(self, Py_ssize_t k) noexcept nogil:
        """What has become of them: those that are good are settled, others back where they began."""
        cdef Account account
        cdef double lost
        cdef Lane* at
        cdef int lane, went
        cdef bint anew = False
        for lane in range(self.width):
            at = &self.lanes[lane]
            at.back = at.there = False
            self.gains[lane] = 1.0
            if at.world < 0:
                continue
            account = self.account(k, lane)
            went = self.judge.go_on(&at.way, &account, False)
            if went == NOT_GOOD:
                at.back = anew = True
            else:
                self.gains[lane] = self.judge.kept(&account, False, &lost)
                at.there = went == ARRIVED
                if lost > 0.0:
                    self.lose(lane)
        self.kernels.settle(&self.flight, k, <const Wide*>self.gains)
        for lane in range(self.width if anew else 0):
            if self.lanes[lane].back:
                self.go_back(k, lane)
        self.kernels.stand(&self.flight, k, anew)

    cdef void go_back(self, Py_ssize_t k, int lane) noexcept nogil:
        """To where the piece began."""
        cdef const Block* block = &self.flight.trees[k]
        cdef const double* start = <const double*>self.flight.start
        cdef double* q = <double*>self.flight.q
        cdef double* qd = <double*>self.flight.qd
        cdef Py_ssize_t i
        for i in range(self.motion.first_q(k), self.motion.first_q(k + 1)):
            q[i * self.width + lane] = start[i * self.width + lane]
        for i in range(block.first, block.first + block.count):
            qd[i * self.width + lane] = start[(self.motion.tree.nq + i) * self.width + lane]

    cdef void end_substeps(self, Py_ssize_t k) noexcept nogil:
        """Of lanes that have come to the end of one. Those whose world is at its end take the next one."""
        cdef Lane* at
        cdef int lane
        cdef bint arrived = False, fresh = False
        for lane in range(self.width):
            arrived = arrived or (self.lanes[lane].world >= 0 and self.lanes[lane].there)
        if arrived:
            self.kernels.reach(&self.flight, k, self.parts, <Wide*>self.reached)
        for lane in range(self.width):
            at = &self.lanes[lane]
            if at.world >= 0 and at.there and not at.over:
                self.end_substep(k, lane)
            if at.world >= 0 and at.over:
                self.begin_world(k, lane)
                fresh = True
        if fresh:
            self.look_at_worlds(k)

    cdef void end_substep(self, Py_ssize_t k, int lane) noexcept nogil:
        """And, where it is its last one, of a step."""
        cdef Lane* at = &self.lanes[lane]
        if self.out_orientation != NULL:
            self.face(k, lane)
        at.substep += 1
        if at.substep < self.substeps:
            self.judge.set_out(&at.way)
            return
        if not self.reached[lane] <= 1.0:
            self.lose(lane)
            return
        at.step += 1
        if at.step % self.every == 0:
            self.record(k, lane)
        if at.step < self.steps:
            self.begin_step(k, lane)
        else:
            at.over = True

    cdef void lose(self, int lane) noexcept nogil:
        """Its world is to be made one by one."""
        self.lost[self.lanes[lane].world] = True
        self.lanes[lane].over = True

    # ---- what is read off ----------------------------------------------------------------------------------------------

    cdef const double* state(self, Py_ssize_t i) noexcept nogil:
        """Of link i, in all lanes."""
        return <const double*>(<const char*>self.flight.tree.states + (i + 1) * self.kernels.link_size)

    cdef void read(self, Py_ssize_t k, int lane) noexcept nogil:
        """Poses and velocities of a tree's links in one lane."""
        cdef const Block* block = &self.flight.trees[k]
        cdef const double* at
        cdef double* to
        cdef Py_ssize_t i, j, count = <double*>&self.states.bias - <double*>self.states
        self.tree.first, self.tree.end = block.first_link, block.end_link
        for i in range(block.first_link, block.end_link):
            at, to = self.state(i), <double*>&self.states[i + 1]
            for j in range(count):
                to[j] = at[j * self.width + lane]

    cdef void face(self, Py_ssize_t k, int lane) noexcept nogil:
        """Quaternions keep to the side of the last ones."""
        self.read(k, lane)
        give_poses(&self.tree, self.motion.turns, True, self.positions, self.faces + lane * self.body_count)

    cdef void record(self, Py_ssize_t k, int lane) noexcept nogil:
        """A row of what is kept."""
        cdef const Block* block = &self.flight.trees[k]
        cdef const double* q = <const double*>self.flight.q
        cdef const double* qd = <const double*>self.flight.qd
        cdef Py_ssize_t nq = self.motion.tree.nq, nv = self.motion.tree.nv, n = self.body_count, i, body
        cdef Py_ssize_t row = self.lanes[lane].world * self.row_count + self.lanes[lane].step // self.every - 1
        for i in range(self.motion.first_q(k), self.motion.first_q(k + 1) if self.out_q != NULL else 0):
            self.out_q[row * nq + i] = q[i * self.width + lane]
        for i in range(block.first, block.first + block.count if self.out_qd != NULL else 0):
            self.out_qd[row * nv + i] = qd[i * self.width + lane]
        if self.out_twist != NULL:
            self.read(k, lane)
            give_twists(&self.tree, True, self.twists)
        for i in range(block.first_link, block.end_link):
            body = self.motion.tree.links[i].body
            if self.out_position != NULL:
                self.record_position(i, lane, self.out_position + 3 * (row * n + body))
            if self.out_orientation != NULL:
                (<Quat*>self.out_orientation)[row * n + body] = self.faces[lane * n + body]
            if self.out_twist != NULL:
                (<Twist*>self.out_twist)[row * n + body] = self.twists[body]

    cdef void record_position(self, Py_ssize_t i, int lane, double* out) noexcept nogil:
        """Of a link's centre of mass, as give_poses has it."""
        cdef const double* at = self.state(i)
        cdef Py_ssize_t origin = <double*>&self.states.position - <double*>self.states, j
        cdef Py_ssize_t arm = <double*>&self.states.com - <double*>self.states
        for j in range(3):
            out[j] = at[(origin + j) * self.width + lane] + at[(arm + j) * self.width + lane]
