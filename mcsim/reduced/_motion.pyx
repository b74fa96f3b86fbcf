"""One state of a tree as a step moves it: poses and twists of its bodies, kicks of the forces, drifts of the
coordinates, and what rows over the bodies are over its velocities.
"""

from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._noted cimport NOTE_ENERGY
from mcsim.core._math cimport add, cross, neg, quat_exp, quat_mul, rotate, rotate_back, scale, sub, turn_rate
from mcsim.state._inertia cimport gyroscopic_acceleration
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.core.arrays import aligned

include "_kernels.pxi"
include "_readings.pxi"

# What rounding leaves of a sum of energies, as a part of their magnitudes.
cdef double ROUNDED = 1e-14


cdef inline void take_pose(double* q, Vec3 x, Quat turn) noexcept nogil:
    """q of a free joint from the world to the centre of mass."""
    q[0], q[1], q[2] = x.x, x.y, x.z
    q[3], q[4], q[5], q[6] = turn.w, turn.x, turn.y, turn.z


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
        stages = np.zeros((4, max(1, len(q) + len(qd))))
        link_of, blocks, trees = _blocks(links, len(qd), bodies)
        sums = np.zeros((12, len(trees)))
        self.kept = links, q, qd, tau, qdd, turns, room, scratch, stages, link_of, blocks, trees, sums
        self.tree_count, self.trees = len(trees) - 1, <Block*>integers(trees)
        self.kinetic, self.gained, self.lead = doubles(sums[0]), doubles(sums[1]), doubles(sums[2])
        self.total, self.handled, self.shared = doubles(sums[3]), doubles(sums[4]), <Wide3*>doubles(sums[5:8])
        self.course = <Wide3*>doubles(sums[9:12])
        self.lightest = doubles(sums[8])
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
        self.failed = False
        self.q, self.qd, self.tau, self.qdd = doubles(q), doubles(qd), doubles(tau), doubles(qdd)
        self.trial, self.nothing = doubles(scratch[0]), doubles(scratch[1])
        self.first, self.rate, self.sum = doubles(stages[0]), doubles(stages[1]), doubles(stages[2])
        self.turned = doubles(stages[3])
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

    cdef void take_poses(self, const Vec3* position, const Quat* orientation, const int8_t* chosen) noexcept nogil:
        """The coordinates of those of the bodies on their own that are chosen from their poses."""
        cdef const Link* link
        cdef Py_ssize_t i
        for i in range(self.tree.count):
            link = &self.tree.links[i]
            if chosen[link.body]:
                take_pose(&self.q[link.q], position[link.body], orientation[link.body])

    cdef void follow(self, const Vec3* position, const Quat* orientation, const Twist* twist) noexcept nogil:
        """Kinematic bodies, whose coordinates are those of their poses."""
        cdef const Link* link
        cdef const Twist* t
        cdef Py_ssize_t i
        cdef Vec3 w
        cdef double* qd
        for i in range(self.tree.count):
            link = &self.tree.links[i]
            if link.prescribed:
                t = &twist[link.body]
                qd = &self.qd[link.v]
                take_pose(&self.q[link.q], position[link.body], orientation[link.body])
                w = rotate_back(orientation[link.body], t.w)
                qd[0], qd[1], qd[2] = t.v.x, t.v.y, t.v.z
                qd[3], qd[4], qd[5] = w.x, w.y, w.z

    cdef void turn_back(self, const Quat* to, Quat* orientation) noexcept nogil:
        """The orientations of the bodies that give_poses(False, ...) is to give, those that they are to keep near to."""
        cdef const Link* link
        cdef Py_ssize_t i, r
        for r in range(self.chosen_count):
            self.enter(r)
            for i in range(self.tree.first, self.tree.end):
                link = &self.tree.links[i]
                if not link.prescribed:
                    orientation[link.body] = to[link.body]
        self.leave()

    cdef void give_poses(self, bint prescribed, Vec3* position, Quat* orientation) noexcept nogil:
        """Of the bodies; prescribed: of kinematic ones too, which have moved with the tree."""
        cdef Py_ssize_t r
        for r in range(self.chosen_count):
            self.enter(r)
            give_poses(&self.tree, self.turns, prescribed, position, orientation)
        self.leave()

    cdef void give_twists(self, Twist* twist) noexcept nogil:
        """After look."""
        cdef Py_ssize_t r
        for r in range(self.chosen_count):
            self.enter(r)
            give_twists(&self.tree, False, twist)
        self.leave()

    cdef void give_shared(self, Py_ssize_t first, Py_ssize_t end, Vec3* shared) noexcept nogil:
        """After look: by bodies of these trees, what all of one has."""
        cdef Wide3 v
        cdef Py_ssize_t i, k
        for k in range(first, end):
            v = self.find_shared(k)
            for i in range(self.trees[k].first_link, self.trees[k].end_link):
                shared[self.tree.links[i].body] = vec3(v.x, v.y, v.z)

    cdef void give_swings(self, Twist* swing) noexcept nogil:
        """After look: the bodies' accelerations, of the centres of mass and angular, at qdd = 0."""
        cdef Wide3 w, v, arm
        cdef LinkState* s
        cdef const LinkState* parent
        cdef Motion a
        cdef Py_ssize_t i, r
        for r in range(self.chosen_count):
            self.enter(r)
            for i in range(self.tree.first, self.tree.end):
                s = &self.tree.states[i + 1]
                parent = &self.tree.states[self.tree.links[i].parent + 1]
                a = moved_out(parent.acceleration, s.arm)
                a.w = w_add(a.w, s.bias.w)
                a.v = w_add(a.v, s.bias.v)
                s.acceleration = a
                w = s.velocity.w
                arm = w_cross(w, s.com)
                v = w_add(w_add(a.v, w_cross(a.w, s.com)), w_cross(w, w_add(s.velocity.v, arm)))
                swing[self.tree.links[i].body].v = vec3(v.x, v.y, v.z)
                swing[self.tree.links[i].body].w = vec3(a.w.x, a.w.y, a.w.z)
        self.leave()

    cdef void find_least(self, double speed, double* least) noexcept nogil:
        """least: at the first velocity of each tree, the kinetic energy of its lightest link at that speed [J]."""
        cdef Py_ssize_t k
        for k in range(self.tree_count):
            if self.trees[k].count > 0:
                least[self.trees[k].first] = 0.5 * self.lightest[k] * speed * speed

    cdef bint is_lone(self, Py_ssize_t k) noexcept nogil:
        """Whether a tree is one body that nothing holds."""
        return self.trees[k].end_link == self.trees[k].first_link + 1 and self.is_loose(k)

    cdef void give_spins(self, const Bodies* bodies, const int32_t* told, Twist* swing) noexcept nogil:
        """After give_swings: of lone bodies what leave_spins leaves out of a kick is part of how their paths bend."""
        cdef Py_ssize_t k
        cdef int32_t body
        for k in range(self.tree_count):
            if self.is_lone(k) and not told[k]:
                body = self.tree.links[self.trees[k].first_link].body
                swing[body].w = add(swing[body].w, gyroscopic_acceleration(bodies, body))

    cdef void leave_spins(self, double h, const Bodies* bodies, const int32_t* told, Py_ssize_t first,
                          Py_ssize_t end) noexcept nogil:
        """Out of what the last kick of h, at the twists of `bodies`, has made of lone bodies goes what turns their angular
        velocity by itself. told: (trees,) of which it stays; trees [first, end)."""
        cdef const Link* link
        cdef double* qd
        cdef Vec3 a
        cdef Py_ssize_t k
        for k in range(first, end):
            if self.is_lone(k) and not told[k]:
                link = &self.tree.links[self.trees[k].first_link]
                a = rotate_back(bodies.orientation[link.body], gyroscopic_acceleration(bodies, link.body))
                qd = &self.qd[link.v]
                qd[3] -= h * a.x
                qd[4] -= h * a.y
                qd[5] -= h * a.z

    # ---- in time -----------------------------------------------------------------------------------------------------

    cdef void kick(self, double h, const double* forces, int rounds) noexcept nogil:
        """qd += h qdd, qdd at the velocities that come out, by fixed-point rounds; one: at those that are there."""
        cdef Py_ssize_t i, nv = self.tree.nv
        cdef int _
        memcpy(self.trial, self.qd, nv * sizeof(double))
        for _ in range(rounds):
            self.look()
            self.find_accelerations(forces)
            for i in range(nv):
                self.qd[i] = self.trial[i] + h * self.qdd[i]
        self.see_leads()

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
        self.see_leads()

    cdef void begin_account(self, double h, const double* forces, const int32_t* told) noexcept nogil:
        """Of what the last kick, of h, gained beyond the work of forces. Where it is too fast it gains much by itself: a
        tree that it gives as much again is slowed at once, and goes on as one as forces say: qd + h qdd of a loose
        tree moves its centre of mass also by what its coordinates leave to velocity products. told: (trees,) of which
        that is noted, or NULL."""
        cdef size_t size = self.tree.nv * sizeof(double)
        cdef Py_ssize_t k
        memset(self.gained, 0, self.tree_count * sizeof(double))
        memset(self.handled, 0, self.tree_count * sizeof(double))
        memcpy(self.sum, self.qd, size)
        memcpy(self.qd, self.trial, size)
        self.look()
        self.account(-1.0, True)
        self.credit(0.5 * h, forces)
        for k in range(self.tree_count):
            self.course[k] = w_add_scaled(self.shared[k], h, self.fall(k, forces))
        memcpy(self.qd, self.sum, size)
        self.look()
        self.account(1.0, True)
        self.credit(0.5 * h, forces)
        self.tame(0.5, told, True)

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

    cdef Wide3 fall(self, Py_ssize_t k, const double* forces) noexcept nogil:
        """The acceleration of a loose tree's centre of mass: of gravity, `forces` on its bodies and that on its root.
        0 of others, whose shared velocity is given."""
        cdef const Link* link = &self.tree.links[self.trees[k].first_link]
        cdef const double* f
        cdef Wide zero = 0.0
        cdef Wide mass = 0.0
        cdef Wide3 force = wide3(zero, zero, zero)
        cdef Py_ssize_t i
        if not self.is_loose(k):
            return force
        for i in range(3):
            force = w_add_scaled(force, self.tau[link.v + i], splat3(&link.turn[3 * i]))
        for i in range(self.trees[k].first_link, self.trees[k].end_link):
            link = &self.tree.links[i]
            mass += link.mass
            force = w_add_scaled(force, link.mass, wide3(link.weight.x, link.weight.y, link.weight.z))
            if forces != NULL:
                f = forces + 6 * link.body
                force = w_add(force, wide3(f[0], f[1], f[2]))
        return w_scale(1.0 / mass, force)

    cdef void push(self, Py_ssize_t k, double* rates, Wide3 velocity) noexcept nogil:
        """A loose tree's root also at this velocity."""
        cdef const Link* link = &self.tree.links[self.trees[k].first_link]
        cdef int i
        for i in range(3):
            rates[link.v + i] += w_dot(velocity, splat3(&link.turn[3 * i]))

    cdef void account(self, double part, bint apart) noexcept nogil:
        """Of all trees."""
        self.account_trees(0, self.tree_count, part, apart)

    cdef void account_trees(self, Py_ssize_t first, Py_ssize_t end, double part, bint apart) noexcept nogil:
        """After look: `gained` of these trees by this part of its kinetic energy, less that of prescribed bodies.
        apart: of its velocities beyond the shared one, which are the same from all frames."""
        cdef Wide zero = 0.0
        cdef Py_ssize_t k
        for k in range(first, end):
            self.shared[k] = self.find_shared(k) if apart and not self.resting[k] else wide3(zero, zero, zero)
            self.kinetic[k] = self.kinetic_energy(k, self.shared[k])
            self.gained[k] += part * self.kinetic[k]
            self.handled[k] += fabs(part) * self.kinetic[k]

    cdef double kinetic_energy(self, Py_ssize_t k, Wide3 shared) noexcept nogil:
        """After look: of a tree's velocities beyond this one [J]."""
        cdef const LinkState* s
        cdef const Link* link
        cdef Wide3 v, w
        cdef double found = 0.0
        cdef Py_ssize_t i
        if self.resting[k]:
            return 0.0
        for i in range(self.trees[k].first_link, self.trees[k].end_link):
            s = &self.tree.states[i + 1]
            link = &self.tree.links[i]
            w = s.velocity.w
            v = w_sub(w_add(s.velocity.v, w_cross(w, s.com)), shared)
            found += 0.5 * (link.mass * w_dot(v, v) + w_dot(w, w_times(&s.about_com, w)))
        return found

    cdef double tree_power(self, Py_ssize_t k, const double* forces, Wide3 shared, double* weight) noexcept nogil:
        """After look: of joint forces and `forces` on a tree at these velocities beyond `shared`, and of gravity [W]."""
        cdef const LinkState* s
        cdef const Link* link
        cdef const Block* block = &self.trees[k]
        cdef const double* f
        cdef Wide3 v
        cdef double found = 0.0
        cdef Py_ssize_t i
        weight[0] = 0.0
        for i in range(block.first, block.first + block.count):
            found += self.tau[i] * self.qd[i]
        for i in range(3 if self.is_loose(k) else 0):
            found -= self.tau[block.first + i] * w_dot(shared, splat3(&self.tree.links[block.first_link].turn[3 * i]))
        for i in range(block.first_link, block.end_link):
            s = &self.tree.states[i + 1]
            link = &self.tree.links[i]
            v = w_sub(w_add(s.velocity.v, w_cross(s.velocity.w, s.com)), shared)
            weight[0] += link.mass * w_dot(v, wide3(link.weight.x, link.weight.y, link.weight.z))
            if forces != NULL:
                f = forces + 6 * link.body
                found += w_dot(v, wide3(f[0], f[1], f[2])) + w_dot(s.velocity.w, wide3(f[3], f[4], f[5]))
        return found

    cdef void credit(self, double h, const double* forces) noexcept nogil:
        """After look: less what gravity, joint forces, `forces` and prescribed bodies, as in the last kick, do in h at
        these velocities, apart from the shared ones."""
        cdef double found, weight
        cdef Py_ssize_t k
        for k in range(self.tree_count):
            found = self.tree_power(k, forces, self.find_shared(k), &weight)
            self.gained[k] -= h * (found + weight + self.lead[k])
            self.handled[k] += h * (fabs(found) + fabs(weight) + fabs(self.lead[k]))

    cdef double height_energy(self, Py_ssize_t i, Vec3 gravity) noexcept nogil:
        """After look: of a link under this gravity [J]."""
        cdef const LinkState* s = &self.tree.states[i + 1]
        return -self.tree.links[i].mass * w_dot(w_add(s.position, s.com), wide3(gravity.x, gravity.y, gravity.z))

    cdef void sum_total(self, double part) noexcept nogil:
        """After look: `total` of every tree by this part of its kinetic energy and that of gravity, which are exact."""
        cdef Py_ssize_t i, k
        self.account(0.0, False)
        for k in range(self.tree_count):
            self.total[k] = (self.total[k] if part > 0.0 else 0.0) + part * self.kinetic[k]
            for i in range(self.trees[k].first_link, self.trees[k].end_link):
                self.total[k] += part * self.height_energy(i, self.tree.links[i].weight)

    cdef void spend(self, double h, const double* forces) noexcept nogil:
        """After look: `total` less what joint forces and `forces` do in h at these velocities."""
        cdef Wide zero = 0.0
        cdef double weight
        cdef Py_ssize_t k
        for k in range(self.tree_count):
            self.total[k] -= h * self.tree_power(k, forces, wide3(zero, zero, zero), &weight)

    cdef void see_leads(self) noexcept nogil:
        """After accelerate: the power of prescribed bodies, which are roots, on their trees, as seen from where they
        are."""
        cdef const LinkState* s
        cdef Force f
        cdef Py_ssize_t k
        for k in range(self.tree_count):
            if self.trees[k].led:
                s = &self.tree.states[self.trees[k].first_link + 1]
                f = articulated_force(&s.inertia, &s.acceleration)
                self.lead[k] = w_dot(s.velocity.w, w_add(f.n, s.force.n))

    cdef void tame(self, double part, const int32_t* told, bint others) noexcept nogil:
        """Velocities of trees that have gained more than this part of their kinetic energy lose what they gained, but
        for what rounding leaves of the sums. told: (trees,) of which that is noted, or NULL; others: whether it is done
        to the others too, and all stay on their course."""
        cdef bint noting
        cdef Py_ssize_t k
        for k in range(self.tree_count):
            noting = told != NULL and told[k]
            if not (noting or others) or not self.gained[k] > part * self.kinetic[k] + ROUNDED * self.handled[k]:
                continue
            self.take_energy(k, self.gained[k], min(self.gained[k], self.kinetic[k]) if noting else 0.0,
                             self.course if others else self.shared)
            self.gained[k] = 0.0

    cdef void take_energy(self, Py_ssize_t k, double gained, double off, const Wide3* course) noexcept nogil:
        """Out of its motion, by slow_tree: what it has more [J], > 0, as far as it has that much."""
        self.slow_tree(k, sqrt(max(1.0 - gained / self.kinetic[k], 0.0)), off, course)

    cdef void slow_tree(self, Py_ssize_t k, double factor, double off, const Wide3* course) noexcept nogil:
        """Its velocities times a factor, not what is given of them, nor what it shares in the last account, which becomes
        that of its `course`. off: the energy that was wrong [J], for the notes."""
        cdef const Block* block = &self.trees[k]
        cdef Py_ssize_t i
        if off > 0.0:
            self.noted.add(NOTE_ENERGY, self.tree.links[min(block.first_link + block.led, block.end_link - 1)].body, off)
        if self.is_loose(k):
            self.push(k, self.qd, w_scale(-1.0, self.shared[k]))
        for i in range(block.first + 6 * block.led, block.first + block.count):
            self.qd[i] *= factor
        if self.is_loose(k):
            self.push(k, self.qd, course[k])

    cdef void take_back(self, double h) noexcept nogil:
        """The last kick of h."""
        cdef Py_ssize_t i
        for i in range(self.tree.nv):
            self.qd[i] -= h * self.qdd[i]

    cdef void begin_carry(self) noexcept nogil:
        """The joints' own forces, to which rows between links are added."""
        memcpy(self.trial, self.tau, self.tree.nv * sizeof(double))

    cdef void carry(self, const double* forces) noexcept nogil:
        """Forces across the joints at the present state, which is placed and factored, under these and `forces`."""
        cdef Py_ssize_t r
        for r in range(self.chosen_count):
            self.enter(r)
            move(&self.tree, <const Wide*>self.q, <const Wide*>self.qd)
            accelerate(&self.tree, <const Wide*>self.trial, <const Wide*>forces, <Wide*>self.qdd)
            move(&self.tree, <const Wide*>self.q, <const Wide*>self.qd)
            inverse_dynamics(&self.tree, <const Wide*>self.qdd, <const Wide*>forces, <Wide*>self.nothing)
        self.leave()

    cdef void give_wrench(self, Py_ssize_t link, double h, const Bodies* bodies, Joint* joint) noexcept nogil:
        """After carry: h times what a link's joint puts on its successor, about its point there."""
        cdef const LinkState* s = &self.tree.states[link + 1]
        cdef Vec3 f = vec3(s.force.f.x, s.force.f.y, s.force.f.z)
        cdef Vec3 n = vec3(s.force.n.x, s.force.n.y, s.force.n.z)
        cdef Vec3 point
        if self.tree.links[link].reversed:
            point = add(bodies.position[joint.body_b], rotate(bodies.orientation[joint.body_b], joint.anchor_b))
            n = add(n, cross(sub(vec3(s.position.x, s.position.y, s.position.z), point), f))
            f, n = neg(f), neg(n)
        joint.wrench_impulse.v = scale(h, f)
        joint.wrench_impulse.w = scale(h, n)

    cdef void drift(self, double h) noexcept nogil:
        """q after h at the velocities qd."""
        self.drift_links(0, self.tree.count, h, self.qd)

    cdef void drift_links(self, Py_ssize_t first, Py_ssize_t end, double h, const double* rates) noexcept nogil:
        """q of the links [first, end) after h at these velocities."""
        cdef const Link* link
        cdef double* q
        cdef const double* w
        cdef Py_ssize_t i
        cdef int k
        for i in range(first, end):
            link = &self.tree.links[i]
            q = &self.q[link.q]
            w = &rates[link.v]
            if link.quaternion >= 0:
                for k in range(link.quaternion):
                    q[k] += h * w[k]
                turn_by(&q[link.quaternion], h, &w[link.quaternion])
            elif link.kind == PLANAR:
                drift_planar(q, h, w)
            else:
                for k in range(link.freedoms):
                    q[k] += h * w[k]

    cdef void rates(self, const double* forces, double* out) noexcept nogil:
        """dq/dt (nq,) and qdd (nv,) at q and qd; of a quaternion that of `turned`, and 0 for its fourth number."""
        cdef const Link* link
        cdef const double* q
        cdef const double* w
        cdef double* r
        cdef double s, c
        cdef Py_ssize_t i
        cdef int k
        self.place()
        self.factor()
        move(&self.tree, <const Wide*>self.q, <const Wide*>self.qd)
        accelerate(&self.tree, <const Wide*>self.tau, <const Wide*>forces, <Wide*>self.qdd)
        for i in range(self.tree.count):
            link = &self.tree.links[i]
            q, w, r = &self.q[link.q], &self.qd[link.v], &out[link.q]
            if link.quaternion >= 0:
                for k in range(link.quaternion):
                    r[k] = w[k]
                write_turn_rate(&self.turned[link.q + link.quaternion], &w[link.quaternion], &r[link.quaternion])
            elif link.kind == PLANAR:
                sine_cosine(q[2], &s, &c)
                r[0] = c * w[0] - s * w[1]
                r[1] = s * w[0] + c * w[1]
                r[2] = w[2]
            else:
                for k in range(link.freedoms):
                    r[k] = w[k]
        memcpy(out + self.tree.nq, self.qdd, self.tree.nv * sizeof(double))

    cdef void turn_from_first(self, const double* turns, double part) noexcept nogil:
        """Quaternions at `part` of these turns (nq,) from where the step began, which `turned` keeps."""
        cdef Py_ssize_t i
        cdef int k, at
        for i in range(self.tree.count):
            if self.tree.links[i].quaternion >= 0:
                at = self.tree.links[i].q + self.tree.links[i].quaternion
                memcpy(&self.q[at], &self.first[at], 4 * sizeof(double))
                for k in range(3):
                    self.turned[at + k] = part * turns[at + k]
                turn_by(&self.q[at], 1.0, &self.turned[at])

    cdef void runge_kutta(self, double h, const double* forces) noexcept nogil:
        """The classical method of fourth order on the coordinates themselves, quaternions as turns from the step's start:
        integrate/_rk4.pyx, with angular velocities in the turned axes."""
        cdef double at[4]
        cdef double weight[4]
        cdef Py_ssize_t i, nq = self.tree.nq, size = nq + self.tree.nv
        cdef double* value
        cdef int k
        at[0], at[1], at[2], at[3] = 0.0, 0.5 * h, 0.5 * h, h
        weight[0], weight[1], weight[2], weight[3] = h / 6.0, h / 3.0, h / 3.0, h / 6.0
        memcpy(self.first, self.q, nq * sizeof(double))
        memcpy(self.first + nq, self.qd, self.tree.nv * sizeof(double))
        memset(self.sum, 0, size * sizeof(double))
        memset(self.turned, 0, nq * sizeof(double))
        for k in range(4):
            for i in range(size if k > 0 else 0):
                value = &self.q[i] if i < nq else &self.qd[i - nq]
                value[0] = self.first[i] + at[k] * self.rate[i]
            if k > 0:
                self.turn_from_first(self.rate, at[k])
            self.rates(forces, self.rate)
            for i in range(size):
                self.sum[i] += weight[k] * self.rate[i]
        for i in range(size):
            value = &self.q[i] if i < nq else &self.qd[i - nq]
            value[0] = self.first[i] + self.sum[i]
        self.turn_from_first(self.sum, 1.0)

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


cdef inline void write_turn_rate(const double* u, const double* w, double* out) noexcept nogil:
    """u' of q = q0 exp(u), and 0."""
    cdef Vec3 r = turn_rate(vec3(-u[0], -u[1], -u[2]), vec3(w[0], w[1], w[2]))
    out[0], out[1], out[2], out[3] = r.x, r.y, r.z, 0.0


cdef inline void turn_by(double* q, double h, const double* w) noexcept nogil:
    """q <- q exp(h w / 2): w in the turned axes."""
    cdef Quat r = quat_normalized(quat_mul(quat(q[0], q[1], q[2], q[3]), quat_exp(vec3(h * w[0], h * w[1], h * w[2]))))
    q[0], q[1], q[2], q[3] = r.w, r.x, r.y, r.z


cdef inline void drift_planar(double* q, double h, const double* w) noexcept nogil:
    """Velocities are in F_s, the position in F_p: turned by the angle half-way."""
    cdef double s, c
    sine_cosine(q[2] + 0.5 * h * w[2], &s, &c)
    q[0] += h * (c * w[0] - s * w[1])
    q[1] += h * (s * w[0] + c * w[1])
    q[2] += h * w[2]


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
