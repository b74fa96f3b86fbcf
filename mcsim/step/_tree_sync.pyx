"""Bodies and the coordinates of trees, kept in agreement: bodies follow q and qd, and what users wrote into either is told
from what was given.
"""

from libc.string cimport memcmp, memcpy

import numpy as np

from mcsim.core._arrays cimport doubles


cdef class TreeSync:
    """bodies: the world's, BodyArrays; links: LINK_DTYPE, of the motion that `poses` reads."""

    def __init__(self, StepContext context not None, TreePoses poses not None, bodies, links):
        cdef TreeMotion motion = poses.motion
        self.context, self.motion, self.poses, self.bodies = context, motion, poses, bodies
        self.moved = np.zeros(bodies.count, bool)
        self.moved[links["body"]] = links["prescribed"] == 0
        self.coordinates = np.full((2, max(1, motion.tree.nq + motion.tree.nv)), np.nan)
        self.shown, self.begun = doubles(self.coordinates[0]), doubles(self.coordinates[1])
        twists, self.kept_faces = np.zeros((bodies.count + 1, 6)), np.zeros((bodies.count + 1, 4))
        self.shown_twists, self.shown_twist = twists[:bodies.count], <Twist*>doubles(twists)
        self.faces, self.faces_step = <Quat*>doubles(self.kept_faces), -1
        self.keep_twists()

    cdef void keep(self) noexcept nogil:
        """q and qd as a step begins, which `undo` gives back."""
        memcpy(self.begun, self.motion.q, self.motion.tree.nq * sizeof(double))
        memcpy(self.begun + self.motion.tree.nq, self.motion.qd, self.motion.tree.nv * sizeof(double))

    cdef void undo(self) noexcept nogil:
        memcpy(self.motion.q, self.begun, self.motion.tree.nq * sizeof(double))
        memcpy(self.motion.qd, self.begun + self.motion.tree.nq, self.motion.tree.nv * sizeof(double))

    cdef void show(self, bint moved, long long steps) noexcept nogil:
        """The tree at q and qd, factored, and the bodies as it has them. moved: kinematic ones too; else the tree follows
        them, and to give them back what it has of them would round them anew each time."""
        self.motion.place()
        self.motion.factor()
        if not moved:
            self.face(steps)
        self.poses.give_poses(moved, self.context.bodies.position, self.context.bodies.orientation)
        self.show_twists()

    cdef void face(self, long long steps) noexcept nogil:
        """Before poses are given as q, which may have been written, has them: quaternions keep to the side that they were
        on when the last step ended. What was written and looked at in between is forgotten, or looks would change signs."""
        if self.faces_step != steps:
            memcpy(self.faces, self.context.bodies.orientation, self.context.bodies.count * sizeof(Quat))
            self.faces_step = steps
        self.poses.turn_back(self.faces, self.context.bodies.orientation)

    def turned_faces(self, long long steps):
        """(k, 5) number of each body that another quaternion is kept for than it has now, and that quaternion."""
        now = self.bodies.orientation
        faces = self.kept_faces[:len(now)]
        turned = np.flatnonzero(self.moved & np.any(faces.view(np.int64) != now.view(np.int64), axis=1))
        if self.faces_step != steps:
            turned = turned[:0]
        return np.concatenate([turned[:, None], faces[turned]], axis=1)

    def take_faces(self, turned, long long steps):
        """Of the present state, what turned_faces() gave."""
        now = self.bodies.orientation
        self.kept_faces[:len(now)] = now
        self.kept_faces[turned[:, 0].astype(np.intp)] = turned[:, 1:]
        self.faces_step = steps

    cdef void show_twists(self) noexcept nogil:
        self.motion.look()
        self.give_twists()

    cdef void give_twists(self) noexcept nogil:
        """After look: the bodies as the tree has them."""
        self.poses.give_twists(self.context.bodies.twist)
        self.keep_twists()
        memcpy(self.shown, self.motion.q, self.motion.tree.nq * sizeof(double))
        memcpy(self.shown + self.motion.tree.nq, self.motion.qd, self.motion.tree.nv * sizeof(double))

    cdef void keep_twists(self) noexcept nogil:
        """The bodies' twists as they are now are the engine's own."""
        memcpy(self.shown_twist, self.context.bodies.twist, self.context.bodies.count * sizeof(Twist))

    def take_back_twists(self, twist, shown):
        """Of the bodies that the tree moves: those that users wrote, and those that they were given before."""
        self.bodies.twist[self.moved] = twist[self.moved]
        self.shown_twists[self.moved] = shown[self.moved]

    def forget_written(self):
        """What users have written into twists is not taken over."""
        self.keep_twists()

    def written(self):
        """(bodies, 2) bool: whose velocity and angular velocity users have written, of those that the tree moves;
        None where there are none."""
        if memcmp(self.shown_twist, self.context.bodies.twist, self.context.bodies.count * sizeof(Twist)) == 0:
            return None
        differs = (self.bodies.twist != self.shown_twists).reshape(-1, 2, 3)
        found = self.moved[:, None] & np.any(differs, axis=2)
        return found if np.any(found) else None

    cdef bint is_stale(self) noexcept nogil:
        """Whether q or qd were written since the bodies were made to follow."""
        return not self.is_at(self.shown)

    cdef bint is_at(self, const double* state) noexcept nogil:
        """Whether q and qd are these numbers, to the bit."""
        cdef size_t nq = self.motion.tree.nq
        return (memcmp(state, self.motion.q, nq * sizeof(double)) == 0
                and memcmp(state + nq, self.motion.qd, self.motion.tree.nv * sizeof(double)) == 0)
