"""One state of a tree as a step moves it: kicks of the forces, drifts of the coordinates, and what rows over the bodies
are over its velocities.
"""

from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core.arrays import aligned
from mcsim.reduced._turn cimport drift_joint

include "_kernels.pxi"

cdef class TreeMotion:
    """links: LINK_DTYPE (n,). q (nq,), qd (nv,), tau (nv,), qdd (nv,): arrays that are worked in. turns (n, 3, 3): the
    body's axes in the link's. bodies: how many the scene has. users: [(link number, JointModel.fill)]; noted: of the
    world."""

    def __init__(self, links, q, qd, tau, qdd, turns, Py_ssize_t bodies, users, Noted noted not None):
        cdef Py_ssize_t count = len(links)
        self.noted = noted
        links, turns = np.ascontiguousarray(links), np.ascontiguousarray(turns, float)
        room = aligned((count + 1) * sizeof(LinkState)), aligned(max(1, len(qd)) * sizeof(AxisState))
        scratch = np.zeros((2, max(1, len(qd))))
        link_of, blocks, trees = _blocks(links, len(qd), bodies)
        lightest = np.zeros(len(trees))
        self.kept = links, q, qd, tau, qdd, turns, room, scratch, link_of, blocks, trees, lightest
        self.tree_count, self.trees = len(trees) - 1, <Block*>integers(trees)
        self.lightest = doubles(lightest)
        self.kept_runs = np.zeros(3 * len(trees), np.int32)
        self.resting = integers(self.kept_runs)
        self.runs = self.resting + len(trees)
        self.tree.links = <const Link*>records(links)
        self.tree.count, self.tree.nq, self.tree.nv = count, len(q), len(qd)
        self.tree.first, self.tree.end = 0, count
        self.tree.states, self.tree.axes = <LinkState*>doubles(room[0]), <AxisState*>doubles(room[1])
        self.users, self.state = tuple(users), (q, qd)
        self.user_numbers = np.zeros((len(users) + 1, USER_SUBSPACE + 36))
        self.tree.user = doubles(self.user_numbers)
        self.asking = len(users) > 0
        self.giving = bool(np.any(links["given"]))
        self.turns_rotors = bool(np.any(links["armature"][links["given"] == 0]))
        self.failed = False
        self.q, self.qd, self.tau, self.qdd = doubles(q), doubles(qd), doubles(tau), doubles(qdd)
        self.trial, self.nothing = doubles(scratch[0]), doubles(scratch[1])
        self.turns = <const Mat3*>doubles(turns)
        self.link_of, self.blocks = integers(link_of), <Block*>integers(blocks)
        begin(&self.tree)
        self.list_runs(True)
        for k in range(self.tree_count):
            own = links[self.trees[<Py_ssize_t>k].first_link:self.trees[<Py_ssize_t>k].end_link]
            self.lightest[<Py_ssize_t>k] = min(own["mass"][own["prescribed"] == 0], default=0.0)

    # ---- which trees are worked on -----------------------------------------------------------------------------------

    cdef void list_runs(self, bint every) noexcept nogil:
        """All that moves is worked on; every: also what rests."""
        cdef Py_ssize_t k = 0
        self.run_count = 0
        while k < self.tree_count:
            if self.resting[k] and not every:
                k += 1
                continue
            self.runs[2 * self.run_count] = <int32_t>k
            while k < self.tree_count and (every or not self.resting[k]):
                k += 1
            self.runs[2 * self.run_count + 1] = <int32_t>k
            self.run_count += 1
        self.narrow(0, self.tree_count)

    cdef void narrow(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """place, factor, look, find_accelerations and what is given go over these trees; all: over those that move."""
        self.chosen_runs, self.chosen_count = self.runs, self.run_count
        if first > 0 or end < self.tree_count:
            self.one_run[0], self.one_run[1] = <int32_t>first, <int32_t>end
            self.chosen_runs, self.chosen_count = self.one_run, 1 if first < end else 0
        self.leave()

    cdef void enter(self, Py_ssize_t run) noexcept nogil:
        """Kernels work on the trees of a run that is chosen."""
        self.tree.first = self.trees[self.chosen_runs[2 * run]].first_link
        self.tree.end = self.trees[self.chosen_runs[2 * run + 1] - 1].end_link

    cdef void leave(self) noexcept nogil:
        """They work on all again."""
        self.tree.first, self.tree.end = 0, self.tree.count

    # ---- poses -------------------------------------------------------------------------------------------------------

    cdef void ask(self) noexcept with gil:
        """What the users' joints say at q and qd. If one fails, `failure` tells."""
        cdef Py_ssize_t k
        cdef const Link* link
        q, qd = self.state
        try:
            for k, (number, fill) in enumerate(self.users):
                link = &self.tree.links[<Py_ssize_t>number]
                fill(q[link.q:link.q + link.freedoms].copy(), qd[link.v:link.v + link.freedoms].copy(),
                     self.user_numbers[k])
        except BaseException as error:
            self.failure = error
            self.failed = True

    cdef void place(self) noexcept nogil:
        cdef Py_ssize_t r
        if self.asking and not self.failed:
            self.ask()
        for r in range(self.chosen_count):
            self.enter(r)
            place(&self.tree, <const Wide*>self.q)
        self.leave()

    cdef void factor(self) noexcept nogil:
        cdef Py_ssize_t r
        for r in range(self.chosen_count):
            self.enter(r)
            factor(&self.tree)
        self.leave()

    cdef void look(self) noexcept nogil:
        """Velocities of the links."""
        cdef Py_ssize_t r
        if self.asking and not self.failed:
            self.ask()
        for r in range(self.chosen_count):
            self.enter(r)
            move(&self.tree, <const Wide*>self.q, <const Wide*>self.qd)
        self.leave()

    cdef void find_least(self, double speed, double* least) noexcept nogil:
        """least: at the first velocity of each tree, the kinetic energy of its lightest link at that speed [J]."""
        cdef Py_ssize_t k
        for k in range(self.tree_count):
            if self.trees[k].count > 0:
                least[self.trees[k].first] = 0.5 * self.lightest[k] * speed * speed

    # ---- in time -----------------------------------------------------------------------------------------------------

    cdef void kick(self, double h, const double* forces, int rounds, bint looked) noexcept nogil:
        """qd += h qdd, qdd at the velocities that come out, by fixed-point rounds; one: at those that are there. looked: it
        has been looked at those."""
        cdef Py_ssize_t i, nv = self.tree.nv
        cdef int _
        memcpy(self.trial, self.qd, nv * sizeof(double))
        for _ in range(rounds):
            if not looked:
                self.look()
            looked = False
            self.find_accelerations(forces)
            for i in range(nv):
                self.qd[i] = self.trial[i] + h * self.qdd[i]

    cdef void find_accelerations(self, const double* forces) noexcept nogil:
        """After look: qdd."""
        self.accelerate(self.tau, forces)

    cdef void accelerate(self, const double* tau, const double* forces) noexcept nogil:
        cdef Py_ssize_t r
        for r in range(self.chosen_count):
            self.enter(r)
            accelerate(&self.tree, <const Wide*>tau, <const Wide*>forces, <Wide*>self.qdd)
        self.leave()

    cdef void kick_some(self, double h, const double* forces, const int32_t* chosen, bint anew) noexcept nogil:
        """The same of these trees alone, at the velocities that are there. anew: the last such kick again, at the
        velocities that came out, and of what else has changed them since."""
        cdef const Block* block
        cdef Py_ssize_t i, k
        for k in range(self.tree_count):
            block = &self.trees[k]
            if not chosen[k] or block.count == 0:
                continue
            for i in range(block.first, block.first + block.count):
                self.trial[i] = self.qd[i] - h * self.qdd[i] if anew else self.qd[i]
                self.qd[i] = self.trial[i] + h * self.qdd[i] if anew else self.trial[i]
            self.narrow(k, k + 1)
            self.look()
            self.find_accelerations(forces)
            for i in range(block.first, block.first + block.count):
                self.qd[i] = self.trial[i] + h * self.qdd[i]
        self.narrow(0, self.tree_count)

    cdef bint is_loose(self, Py_ssize_t k) noexcept nogil:
        """Whether nothing holds a tree's root."""
        return self.tree.links[self.trees[k].first_link].loose

    cdef Wide3 find_shared(self, Py_ssize_t k) noexcept nogil:
        """After look: the velocity that all of a tree has, in which velocity products have no part: of the centre of
        mass of a loose tree, of the kinematic body that one hangs on."""
        cdef const LinkState* s = &self.tree.states[self.trees[k].first_link + 1]
        cdef Wide zero = 0.0
        cdef Wide mass = 0.0
        cdef Wide3 momentum = wide3(zero, zero, zero)
        cdef Py_ssize_t i
        if self.trees[k].led:
            return s.velocity.v
        if not self.is_loose(k):
            return momentum
        for i in range(self.trees[k].first_link, self.trees[k].end_link):
            s = &self.tree.states[i + 1]
            mass += self.tree.links[i].mass
            momentum = w_add_scaled(momentum, self.tree.links[i].mass, w_add(s.velocity.v, w_cross(s.velocity.w, s.com)))
        return w_scale(1.0 / mass, momentum)

    cdef void push(self, Py_ssize_t k, double* rates, Wide3 velocity) noexcept nogil:
        """A loose tree's root also at this velocity."""
        cdef const Link* link = &self.tree.links[self.trees[k].first_link]
        cdef int i
        for i in range(3):
            rates[link.v + i] += w_dot(velocity, splat3(&link.turn[3 * i]))

    cdef void take_back(self, double h) noexcept nogil:
        """The last kick of h."""
        cdef Py_ssize_t i
        for i in range(self.tree.nv):
            self.qd[i] -= h * self.qdd[i]

    cdef void drift(self, double h) noexcept nogil:
        """q after h at the velocities qd."""
        self.drift_links(0, self.tree.count, h, self.qd)

    cdef void drift_links(self, Py_ssize_t first, Py_ssize_t end, double h, const double* rates) noexcept nogil:
        """q of the links [first, end) after h at these velocities."""
        cdef const Link* link
        cdef Py_ssize_t i
        for i in range(first, end):
            link = &self.tree.links[i]
            drift_joint(link, &self.q[link.q], h, &rates[link.v])

    # ---- rows --------------------------------------------------------------------------------------------------------

    cdef Py_ssize_t first_q(self, Py_ssize_t k) noexcept nogil:
        """Where a tree's coordinates begin."""
        return self.tree.links[self.trees[k].first_link].q if k < self.tree_count else self.tree.nq

    cdef Factored factored(self, const Block* block) noexcept nogil:
        """The tree of a block as it is placed and factored."""
        cdef Factored r
        r.links, r.first, r.end, r.size = self.tree.links, block.first_link, block.end_link, block.count
        r.axes = <const AxisFactor*>self.tree.axes
        r.arms, r.coms = <const double*>&self.tree.states[1].arm, <const double*>&self.tree.states[1].com
        r.stride = sizeof(LinkState) // sizeof(double)
        return r


def _blocks(links, nv, bodies):
    """link_of (bodies,), Block (bodies, 6) and Block (trees, 6): each tree's velocities and links are consecutive."""
    link_of, blocks = np.full(bodies + 1, -1, np.int32), np.zeros((bodies + 1, 6), np.int32)
    roots = [i for i in range(len(links)) if links["parent"][i] < 0] + [len(links)]
    for number, (first, end) in enumerate(zip(roots, roots[1:])):
        v = int(links["v"][first])
        count = (int(links["v"][end]) if end < len(links) else nv) - v
        blocks[links["body"][first:end]] = v, count, first, end, number, links["prescribed"][first]
        link_of[links["body"][first:end]] = range(first, end)
    return link_of, blocks, np.concatenate([blocks[links["body"][roots[:len(roots) - 1]]], blocks[bodies:]])
