"""The bounded coordinates of joints as pairs of features: limits as contacts without friction or restitution, velocity
motors and joints' friction as drives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import dot
from mcsim.core.rotation import matrix
from mcsim.event.features import Drive, Pairs, PointPlane, PointPoint, TurnLimit
from mcsim.scene import Scene

# Joint type -> what each of its axes is: a turning about z, a sliding along z, or the distance of the two anchors.
AXES: dict[str, tuple[str, ...]] = {
    "hinge": ("turn",),
    "slider": ("slide",),
    "cylindrical": ("slide", "turn"),
    "distance": ("length",),
}
VELOCITY = 1  # motor_mode of a velocity motor


def joint_pairs(scene: Scene, records: np.ndarray, where: str) -> list[Pairs]:
    """Of the joints of a scene, records: JOINT_DTYPE; where: for messages. Pairs' `shapes` are (joint, axis)."""
    found: dict[str, list[tuple[Any, list[Any]]]] = {}
    for number, (record, joint) in enumerate(zip(records, scene.joints)):
        if record["broken"]:
            continue
        axes = record["axes"][: record["axis_count"]]
        bounded = (
            np.isfinite(axes["lower"])
            | np.isfinite(axes["upper"])
            | (axes["friction"] > 0.0)
            | (axes["motor_mode"] == VELOCITY)
        )
        if not np.any(bounded) and not np.isfinite(record["swing_limit"]):
            continue
        if joint.type not in AXES:
            raise SceneError(
                f"{where}: joint {joint.name!r} has limits, friction or a velocity motor, which a "
                f"{joint.type} joint has only with contact='rigid'; there they are those of "
                f"{', '.join(AXES)} joints: "
                "take them away, or make the world with contact='rigid'"
            )
        frame = _Frame(record, len(scene.bodies))
        for i in np.flatnonzero(bounded).tolist():
            for kind, *data in _bounds(frame, AXES[joint.type][i], axes[i], where, joint.name):
                found.setdefault(kind, []).append(((frame.bodies, (number, i), 0.0, 0.0), data))
    return [
        KINDS[kind](
            [list(part) for part in zip(*(common for common, _ in rows))],
            *(list(part) for part in zip(*(data for _, data in rows))),
        )
        for kind, rows in found.items()
    ]


class _Frame:
    """A joint's frames in its bodies: numbers of the bodies (`count`: the world), anchors, axes in rows."""

    def __init__(self, record: np.void, count: int) -> None:
        self.bodies = tuple(int(record[name]) if record[name] >= 0 else count for name in ("body_a", "body_b"))
        self.anchors = record["anchor_a"].copy(), record["anchor_b"].copy()
        self.axes = matrix(record["basis_a"]).T, matrix(record["basis_b"]).T


def _bounds(frame: _Frame, what: str, axis: np.void, where: str, name: str) -> list[tuple[Any, ...]]:
    """(kind, ...) of each limit and drive of one axis."""
    found: list[tuple[Any, ...]] = []
    along, (start, end) = frame.axes[0][2], frame.anchors
    for bound, sign in ((axis["lower"], 1.0), (axis["upper"], -1.0)):
        if not np.isfinite(bound):
            continue
        if what == "turn":
            found.append(("turn", frame.axes, sign, bound))
        elif what == "slide":
            found.append(("slide", sign * along, sign * (dot(along, start) + bound), end, 0.0))
        elif bound > 0.0 or sign < 0.0:
            found.append(("length", frame.anchors, (bound, 0.0), sign))
    drives = [(axis["friction"], 0.0)] if axis["friction"] > 0.0 else []
    if axis["motor_mode"] == VELOCITY and axis["motor_max_force"] > 0.0:
        drives.append((axis["motor_max_force"], axis["motor_velocity"]))
    for most, speed in drives:
        if what == "length" or not np.isfinite(most):
            raise SceneError(
                f"{where}: the velocity motor of joint {name!r} must have a max_force and act along a line or "
                "about an axis: give it Motor(max_force=...), or take another joint"
            )
        found.append(("drive", along, end, speed, most, what == "turn"))
    return found


def _drives(common: Sequence[Any], axis: Any, point: Any, speed: Any, most: Any, about: Any) -> Drive:
    bodies, numbers, friction, restitution = common
    return Drive((bodies, numbers, np.ones(len(friction)), restitution), axis, point, speed, most, about)


KINDS: dict[str, Callable[..., Any]] = {"turn": TurnLimit, "slide": PointPlane, "length": PointPoint, "drive": _drives}
