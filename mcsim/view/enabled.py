"""Which bodies are drawn: those that are enabled."""

from __future__ import annotations  # signatures read as they are written here

from typing import Any

import numpy as np

from mcsim.scene import Scene


def enabled_bodies(scene: Scene) -> np.ndarray:
    """(n,) whether each body of a scene is enabled."""
    return np.array([body.enabled for body in scene.bodies], bool)


def enabled_frames(scene: Scene, recording: Any) -> np.ndarray:
    """(t, n) whether each body is in each frame of a recording: as that has kept it, else as the scene has it."""
    kept = getattr(recording, "enabled", None)
    return np.tile(enabled_bodies(scene), (len(recording.time), 1)) if kept is None else np.asarray(kept, bool)
