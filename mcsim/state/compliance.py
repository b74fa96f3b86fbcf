"""Whether a scene's surfaces give way where they have to: World(contact="compliant")."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene import Scene


def check_surfaces(scene: Scene, excluded: np.ndarray) -> None:
    """Refuse two bodies that may touch while neither has a surface that gives way. excluded: (k, 2) numbers of bodies
    that do not collide."""
    # Those with a rigid shape, by what decides with whom they collide.
    rigid: dict[tuple[bool, int, int], list[int]] = {}
    for i, body in enumerate(scene.bodies):
        if any((shape.material or body.material).stiffness is None for shape in body.shapes if not shape.sensor):
            rigid.setdefault((body.kind == "dynamic", body.collision_group, body.collision_mask), []).append(i)
    apart = {frozenset(pair) for pair in excluded.tolist()}
    classes = list(rigid.items())
    for n, (first, some) in enumerate(classes):
        for second, others in classes[n:]:
            if not (first[0] or second[0]) or not (first[1] & second[2] and second[1] & first[2]):
                continue
            pair = next(((a, b) for a in some for b in others if a != b and frozenset((a, b)) not in apart), None)
            if pair is not None:
                _refuse(*(scene.bodies[i].name for i in sorted(pair)))


def _refuse(a: str, b: str) -> NoReturn:
    raise SceneError(
        f"contact='compliant': bodies {a!r} and {b!r} may touch, and the material of neither has a stiffness "
        f"there; give body {b!r}, or {a!r}, material=Material(stiffness=..., damping=...), also its shapes "
        "that have a material of their own"
    )
