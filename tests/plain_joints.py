"""The types of joints that a point and at most one direction place, out of the registry: tests over all joints make them
without a line of their own."""

import inspect

from mcsim.scene.joints import JOINTS

ALL = {"a", "b", "name", "frame_a", "frame_b", "break_force", "break_torque", "collide", "anchor"}
DIRECTIONS = ("axis", "normal")
DRIVES = {"limits", "motor", "spring", "friction", "motion", "armature", "swing_limit", "twist_limits"}
PLAIN = {
    name: joint
    for name, joint in JOINTS.items()
    if "anchor" in (own := set(inspect.signature(joint).parameters)) and own <= {*ALL, *DIRECTIONS, *DRIVES}
}


def plain_joint(kind, a, b, anchor, direction, **more):
    """A joint of a type in PLAIN."""
    own = inspect.signature(PLAIN[kind]).parameters
    return PLAIN[kind](a, b, anchor=anchor, **{field: direction for field in DIRECTIONS if field in own}, **more)
