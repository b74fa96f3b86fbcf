"""What integrators that follow smooth motions to a tolerance refuse, by name and with what to do."""

from __future__ import annotations  # signatures read as they are written here

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene import Scene
from mcsim.world.driven_joint import MOTOR_POSITION


def check_smooth(who: str, scene: Scene, joints: np.ndarray) -> None:
    """Refuse joints with limits, which switch forces on and off, and motors with a largest velocity, whose law is one of
    velocities, not of accelerations. joints: JOINT_DTYPE, the records of now."""
    for joint, record in zip(scene.joints, joints):
        if _is_limited(record):
            raise beyond_reference(who, f"joint {joint.name!r}", "has limits")
        if has_paced_motor(record):
            raise beyond_reference(who, f"joint {joint.name!r}", "has a motor with a max_velocity")


def has_paced_motor(joint: np.void) -> bool:
    """Whether a motor for a position has a largest velocity."""
    axes = joint["axes"][: joint["axis_count"]]
    return bool(np.any((axes["motor_mode"] == MOTOR_POSITION) & (axes["motor_max_velocity"] < np.inf)))


def beyond_reference(who: str, part: str, what: str) -> SceneError:
    """who: the world's class and its integrator."""
    return SceneError(
        f"{who}: {part} {what}; this integrator follows smooth motions alone: take integrator='rk4', or leave that out"
    )


def _is_limited(joint: np.void) -> bool:
    axes = joint["axes"][: joint["axis_count"]]
    ends = np.isfinite(axes["lower"]) | np.isfinite(axes["upper"])
    return bool(np.any(ends) or np.isfinite(joint["swing_limit"]))
