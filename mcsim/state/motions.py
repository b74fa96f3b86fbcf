"""Prescribed motions that are Python functions: called before each making of rows, their values put into the joint
records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.scene import Motion, Scene
from mcsim.scene.joints import Joint

MOTION_FUNCTION = 2  # of _joint.pxd


class MotionCalls:
    """Calls the motions of a world that are functions.

    motions: list of (joint number, axis number, Motion, joint name); records: (joints,) JOINT_DTYPE, written in place.
    """

    def __init__(self, motions: Sequence[tuple[int, int, Motion, str]], records: np.ndarray) -> None:
        self._motions, self._records = motions, records

    def __call__(self, time: float) -> None:
        """Position, velocity and acceleration of each motion at `time` [s] into the records."""
        for joint, axis, motion, name in self._motions:
            self._records[joint]["axes"]["motion"][axis, :3] = _values(motion, time, name)


def _values(motion: Motion, time: float, name: str) -> np.ndarray:
    """(3,) position, velocity and acceleration of a joint's motion at `time` [s]."""
    try:
        values = np.array(motion.at(time), float)
    except (OverflowError, TypeError, ValueError) as error:
        raise SimulationError(
            f"joint {name!r}: its motion failed at t = {time:.6g} s: {error}; it must give a number"
        ) from error
    if values.shape != (3,) or not np.all(np.isfinite(values)):
        raise SimulationError(
            f"joint {name!r}: its motion must give a finite number, at t = {time:.6g} s it "
            f"gives (position, velocity, acceleration) = {values.tolist()}"
        )
    return values


def check_motions(joints: Iterable[Joint], time: float) -> None:
    """SimulationError unless all of their motions that are functions give finite numbers at `time` [s]."""
    for joint in joints:
        for axis in joint.axes:
            if axis.motion is not None and axis.motion.is_function:
                _values(axis.motion, time, joint.name)


def motion_calls(scene: Scene, records: np.ndarray) -> MotionCalls | None:
    """What a world of this scene has to call before rows are made, or None."""
    if not np.any(records["axes"]["motion_mode"] == MOTION_FUNCTION):
        return None
    motions = [
        (i, k, axis.motion, joint.name)
        for i, joint in enumerate(scene.joints)
        for k, axis in enumerate(joint.axes)
        if axis.motion is not None and axis.motion.is_function
    ]
    return MotionCalls(motions, records)
