"""Joints of the user's own: their Python functions called at the present poses, what they give put where kernels read
it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import length
from mcsim.scene import Pose, Scene, UserJoint
from mcsim.state.arrays import BodyArrays
from mcsim.state.fields import JOINT_TYPES, USER_ROW_DTYPE

USER = JOINT_TYPES.index("user")
MOST_ROWS = 6  # of one joint


class UserJoints:
    """The user's joints of a world. rows: (joints * 6,) USER_ROW_DTYPE, written by `call`.

    joints: list of (joint number, UserJoint, (body a, body b)), -1 the world; bodies: BodyArrays, read at each call.
    """

    rows: np.ndarray

    def __init__(self, joints: Sequence[tuple[int, UserJoint, tuple[int, int]]], bodies: BodyArrays) -> None:
        self._joints, self._bodies = joints, bodies
        self.rows = np.zeros(MOST_ROWS * len(joints), USER_ROW_DTYPE)
        rows = [self.rows[MOST_ROWS * k : MOST_ROWS * k + joint.size] for k, (_, joint, _) in enumerate(joints)]
        self._fields = [(own["error"], own["jacobian"], own["curvature"]) for own in rows]

    def _poses(self, ends: tuple[int, int]) -> tuple[Pose, Pose]:
        """Of the two bodies; the world's row stands before the first."""
        padded = self._bodies.padded
        position, orientation = padded["position"], padded["orientation"]
        a, b = ends[0] + 1, ends[1] + 1
        return Pose(position[a].copy(), orientation[a].copy()), Pose(position[b].copy(), orientation[b].copy())

    def call(self, errors_only: bool, one: int | None = None) -> None:
        """Residuals, and unless `errors_only` Jacobians and curvatures, at the bodies' present poses and twists; of the
        joint with the number `one` among these alone, or of all."""
        for k in range(len(self._joints)) if one is None else (one,):
            _, joint, ends = self._joints[k]
            a, b = self._poses(ends)
            error, jacobian, curvature = self._fields[k]
            twist = self._bodies.padded["twist"]
            of_a, of_b = twist[ends[0] + 1], twist[ends[1] + 1]
            numbers = [number for array in (*a, *b, of_a, of_b) for number in array.tolist()]
            if not all(map(isfinite, numbers)):
                error[...] = np.nan  # as of any joint there: the step finds the body by itself
                continue
            try:
                if errors_only:
                    error[...] = joint.error_at(a, b)
                else:
                    error[...], jacobian[...], curvature[...] = joint.evaluate(a, b, of_a, of_b)
            except ValueError as wrong:
                raise SimulationError(f"joint {joint.name!r}: {wrong}") from wrong

    def fill_errors(self, out: np.ndarray, broken: np.ndarray) -> None:
        """joint_errors() of these joints: out (joints, 2) [m, rad]; broken: (joints,) bool."""
        for number, joint, ends in self._joints:
            if not broken[number]:
                error = joint.error_at(*self._poses(ends))
                angle = np.isin(np.arange(joint.size), joint.angles)
                out[number] = length(error[~angle]), length(error[angle])


def user_joints(scene: Scene, records: np.ndarray, bodies: BodyArrays) -> UserJoints | None:
    """The UserJoints of a world of this scene, or None. records: (joints,) JOINT_DTYPE."""
    found = [
        (i, joint, (int(records["body_a"][i]), int(records["body_b"][i])))
        for i, joint in enumerate(scene.joints)
        if isinstance(joint, UserJoint)
    ]
    return UserJoints(found, bodies) if found else None
