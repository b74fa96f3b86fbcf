"""What an actor asks of the world around it."""

from __future__ import annotations

import numpy as np

from mcsim.scene import Scene
from mcsim.world.handles import BodyHandle


def apart_from(scene: Scene, name: str) -> list[str]:
    """The names of the bodies that a body never meets: ignored pairs, and those whose masks leave its group out."""
    own = scene.body(name)
    ignored = [b if a == name else a for a, b in scene.ignored_pairs if name in (a, b)]
    return ignored + [body.name for body in scene.bodies if not body.collision_mask & own.collision_group]


def velocity_at(body: BodyHandle, point: np.ndarray) -> np.ndarray:
    """(..., 3) of a body's material at points (..., 3) of the world [m/s]."""
    return body.velocity + np.cross(body.angular_velocity, point - body.position)
