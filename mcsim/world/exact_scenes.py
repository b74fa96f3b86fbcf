"""Scenes as data from which they come to the last bit, as the worlds that go on with them need."""

from __future__ import annotations  # signatures read as they are written here

from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene import Joint, Scene
from mcsim.scene.joints._joint import PLACEMENT

# What is computed of a part's arguments: a part that a running world has placed may have it with another last bit than one
# that is made of the same arguments again, because its quaternions were brought to unit length one time more or less.
COMPUTED = {
    "bodies": ("position", "orientation", "velocity", "angular_velocity", "center_of_mass"),
    "joints": ("frame_a", "frame_b"),
}
NEAR = 1e-9  # parts, within which such values are those of the same arguments


def scene_data(scene: Scene) -> dict[str, Any]:
    """A scene as a file has it, and "exact": what would not come out of it to the last bit, as [list, place, name,
    values]. SceneError where no file can hold it."""
    made = Scene.from_dict(data := scene.to_dict())
    moved = {joint.name for joint, other in zip(scene.joints, made.joints) if not _near(joint, other)}
    if moved:  # a body's centre of mass, where a joint stands by default, has moved since: frames tell where it is
        joints = [_told_by_frames(joint) if joint.name in moved else joint for joint in scene.joints]
        made = Scene.from_dict(data := scene.of_parts(scene.bodies, joints).to_dict())
    exact = []
    for kind, names in COMPUTED.items():
        for k, (part, other) in enumerate(zip(getattr(scene, kind), getattr(made, kind))):
            for name in names:
                values = _flat(getattr(part, name))
                if values.tobytes() != _flat(getattr(other, name)).tobytes():
                    exact.append([kind, k, name, values.tolist()])
    return {"scene": data} | ({"exact": exact} if exact else {})


def _near(joint: Joint, other: Joint) -> bool:
    """Whether two joints are in the same place, but for rounding."""
    return all(
        np.allclose(_flat(getattr(joint, name)), _flat(getattr(other, name)), NEAR, NEAR) for name in COMPUTED["joints"]
    )


def _told_by_frames(joint: Joint) -> Joint:
    """The joint, whose arguments tell its frames."""
    return joint.changed(_arguments=joint._told_by_frames(), _written=joint._written.difference(PLACEMENT))


def scene_of(data: dict[str, Any]) -> Scene:
    """A scene from data. SceneError where it is none."""
    scene = Scene.from_dict(data.get("scene", {}))
    try:
        for kind, k, name, numbers in data.get("exact", []):
            names, values = COMPUTED[kind], np.array(numbers, float)
            part = getattr(scene, kind)[k]
            now = _flat(getattr(part, name)) if name in names else None
            if now is None or now.shape != values.shape or not np.allclose(values, now, NEAR, NEAR):
                raise ValueError(f"{kind}[{k}] has no {name} of these numbers")
            part._set(**{name: (values[:3], values[3:]) if kind == "joints" else values})
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise SceneError(f"exact: {type(error).__name__} {error}") from None
    return scene


def _flat(value: Any) -> np.ndarray:
    return np.concatenate(value) if isinstance(value, tuple) else value
