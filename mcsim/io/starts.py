"""Start positions of a robot's joints that lie outside of their limits, whichever file it is from."""

from math import pi

from mcsim.core.rotation import compose, relative, rotation_vector
from mcsim.scene import Joint, Scene

TOUCHING = 1e-9  # by how much a start may pass a limit that it is at, by rounding [rad or m]
ONE_COORDINATE = ("hinge", "slider")


def outside_limits(scene: Scene) -> dict[str, str]:
    """joint -> what is wrong, of the hinges and sliders that start outside of their limits as the scene has them.

    A world tells an angle by the poses of its bodies, between -pi and pi; so does this, also where the file said more.
    """
    found: dict[str, str] = {}
    for joint in scene.joints:
        if joint.type not in ONE_COORDINATE:
            continue
        (axis,), start = joint.axes, _coordinate(scene, joint)
        if not axis.lower - TOUCHING <= start <= axis.upper + TOUCHING:
            unit = "rad" if joint.type == "hinge" else "m"
            found[joint.name] = f"{start:.4g} {unit}, limits {axis.lower:.4g} to {axis.upper:.4g}"
    return found


def told_outside(scene: Scene) -> str | None:
    """One line about the joints that start outside of their limits; None if none does."""
    found = outside_limits(scene)
    if not found:
        return None
    shown = "; ".join(f"{name} ({problem})" for name, problem in list(found.items())[:5])
    more = f"; … ({len(found)} in all)" if len(found) > 5 else ""
    return (
        f"joints start outside of their limits, which will push them back: {shown}{more}; "
        "give joint_positions inside of them"
    )


def _coordinate(scene: Scene, joint: Joint) -> float:
    """Where a hinge or slider stands [rad or m], at the poses of the scene."""
    ends = []
    for name, frame in ((joint.a, joint.frame_a), (joint.b, joint.frame_b)):
        body = None if name is None else scene.body(name)
        ends.append(frame if body is None else compose((body.position, body.orientation), frame))
    place, turn = relative(*ends)
    if joint.type == "slider":
        return float(place[2])
    angle = float(rotation_vector(turn)[2])
    return pi if angle == -pi else angle
