"""Trees that sleep, and what carries them: they stand where they are, nothing is found of them, and rows do not move
them.
"""

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from mcsim.core._math cimport is_zero
from mcsim.core._types cimport Vec3
from mcsim.reduced._motion cimport Block
from mcsim.state._bodies cimport DYNAMIC


cdef inline bint is_free(const Link* root) noexcept nogil:
    """Whether the first link of a tree has its place in the world for coordinates."""
    return root.parent < 0 and root.ways == 7 and not root.reversed


cdef class TreeRest:
    """islands: who sleeps."""

    def __init__(self, StepContext context not None, TreeMotion motion not None, TreePoses poses not None,
                 TreeSync body_sync not None, TreeLoads loads not None, Islands islands not None):
        self.context, self.motion, self.poses, self.body_sync = context, motion, poses, body_sync
        self.loads, self.islands = loads, islands

    cdef void follow(self) noexcept nogil:
        """Trees of which all that may move sleeps rest. As they fall asleep, their joints keep what they carried in the
        step that ends."""
        cdef const Block* block
        cdef int32_t* resting = self.motion.resting
        cdef bint fresh = False
        cdef int32_t body
        cdef Py_ssize_t i, k
        cdef int now
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            now = -1                                     # no body yet that may move
            for i in range(block.first_link, block.end_link):
                body = self.motion.tree.links[i].body
                if self.context.bodies.kind[body] == DYNAMIC:
                    now = now != 0 and self.islands.asleep[body]
            if now > 0 and not resting[k]:
                resting[k] = 2
                fresh = True
            elif now <= 0:
                resting[k] = 0
            for i in range(block.first_link, block.end_link):
                self.motion.blocks[self.motion.tree.links[i].body].count = 0 if resting[k] else block.count
        if fresh:
            self.loads.give_last()
            self.stop()
        self.motion.list_runs(False)

    cdef void stop(self) noexcept nogil:
        """Those that fall asleep now have the velocity of what carries them."""
        cdef const Block* block
        cdef int32_t* resting = self.motion.resting
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            if resting[k] == 2:
                memset(self.motion.qd + block.first, 0, block.count * sizeof(double))
                memset(self.motion.qdd + block.first, 0, block.count * sizeof(double))
                self.carry_root(&self.motion.tree.links[block.first_link], self.motion.qd, 1.0, True)
                resting[k] = 1
        self.motion.look()
        self.poses.give_twists(self.context.bodies.twist)
        self.body_sync.keep_twists()
        memcpy(self.body_sync.shown + self.motion.tree.nq, self.motion.qd, self.motion.tree.nv * sizeof(double))

    cdef bint wake_driven(self) noexcept nogil:
        """What has been given forces of joints wakes. -> whether anything has"""
        cdef bint woken = False
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            if self.motion.resting[k] and self.is_driven(k):
                woken |= self.islands.wake(self.context.bodies, self.context.bodies.island[
                    self.motion.tree.links[self.motion.trees[k].first_link].body], 0.0)
        return woken

    cdef void keep_driven_awake(self) noexcept nogil:
        """What is driven does not rest."""
        cdef const Block* block
        cdef Py_ssize_t i, k
        for k in range(self.motion.tree_count if self.islands.stillness.watching else 0):
            if not self.motion.resting[k] and self.is_driven(k):
                block = &self.motion.trees[k]
                for i in range(block.first_link, block.end_link):
                    self.context.bodies.still_time[self.motion.tree.links[i].body] = 0.0

    cdef bint is_driven(self, Py_ssize_t k) noexcept nogil:
        """Whether anything moves a tree by itself: forces of its joints, given motions, a joint of the user's own; or
        it does not stand on what carries it alone."""
        cdef const Block* block = &self.motion.trees[k]
        cdef const Link* link
        cdef Py_ssize_t i
        for i in range(block.first, block.first + block.count):
            if self.motion.tau[i] != 0.0:
                return True
        for i in range(block.first_link, block.end_link):
            link = &self.motion.tree.links[i]
            if link.given or link.prescribed or link.user >= 0:
                return True
        link = &self.motion.tree.links[block.first_link]
        return not is_free(link) and not is_zero(self.context.bodies.carrier[link.body])

    cdef void carry(self, double h) noexcept nogil:
        """What rests on something that moves goes with it, and so do the coordinates."""
        cdef const Link* root
        cdef Py_ssize_t k
        if self.islands.carriers.carried_count == 0:
            return
        self.islands.carriers.carry(self.context.bodies, h)
        for k in range(self.motion.tree_count):
            if self.motion.resting[k]:
                root = &self.motion.tree.links[self.motion.trees[k].first_link]
                self.carry_root(root, self.motion.q, h, False)
                self.carry_root(root, self.body_sync.shown, h, False)

    cdef void carry_root(self, const Link* root, double* x, double h, bint speed) noexcept nogil:
        """x += h u of the position of a free root, or its velocity, u that of its carrier."""
        cdef Vec3 u = self.context.bodies.carrier[root.body]
        cdef double* to = x + (root.v if speed else root.q)
        cdef int i
        for i in range(3 if is_free(root) else 0):
            to[i] += h * ((root.turn[3 * i] * u.x + root.turn[3 * i + 1] * u.y) + root.turn[3 * i + 2] * u.z)
