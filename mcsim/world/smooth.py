"""What integrators that follow smooth motions to a tolerance refuse, by name and with what to do."""

from __future__ import annotations  # signatures read as they are written here

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene import Scene
from mcsim.world.handles import MOTOR_POSITION


def check_smooth(who: str, scene: Scene, joints: np.ndarray) -> None:
    """Refuse joints with what has bounds, which switches forces on and off. joints: JOINT_DTYPE, the records of now."""
    for joint, record in zip(scene.joints, joints):
        found = _bounds(record)
        if found:
            raise beyond_reference(who, f"joint {joint.name!r}", f"has {found[0]}")


def beyond_reference(who: str, part: str, what: str) -> SceneError:
    """who: name of the world's class."""
    return SceneError(
        f"{who}(integrator='reference'): {part} {what}; this integrator follows smooth motions alone: take "
        "integrator='rk4', or leave that out"
    )


def _bounds(joint: np.void) -> list[str]:
    """What gives a JOINT_DTYPE record rows with bounds, or motors that no smooth force is, by name."""
    axes = joint["axes"][: joint["axis_count"]]
    limited = np.any(np.isfinite(axes["lower"]) | np.isfinite(axes["upper"])) or np.isfinite(joint["swing_limit"])
    mode = axes["motor_mode"]
    found = {
        "limits": limited,
        "a motor for a position": np.any(mode == MOTOR_POSITION),
        "a motor without max_force": np.any((mode != 0) & np.isinf(axes["motor_max_force"])),
    }
    return [name for name, is_there in found.items() if is_there]
