"""What hangs on ropes: a bridge of planks.

Lengths in m, densities in kg/m^3.
"""

from typing import Annotated

import numpy as np

from mcsim.core.rotation import from_axes, multiply
from mcsim.core.trig import arctan2, cos, sin, tan
from mcsim.scene import BallJoint, Box, Capsule, Material, Scene
from mcsim.scenes.poses import axis_angle
from mcsim.scenes.registry import Between, NonNegative, Positive, Whole, listed_scene

X, Y, Z = np.eye(3)
SIDES = (("left", 1.0), ("right", -1.0))


@listed_scene
def rope_bridge(
    *,
    planks: Annotated[int, Whole(200)] = 16,
    plank_length: Positive = 0.5,
    rope: Positive = 0.2,
    width: Positive = 1.2,
    slope: Annotated[float, Between(0.05, 1.2)] = 0.45,
    crates: Annotated[int, Whole(50, 0)] = 5,
    damping: NonNegative = 0.4,
) -> Scene:
    """Planks on two ropes sway between two banks, under crates that are dropped on them.

    From plank to plank runs a piece of rope of length `rope` on either side, with a ball joint at each end, so that the
    bridge bends, twists and sways. It starts in the balance of its own weight, where link i has the slope
    (V_i - V) / H of its load: V_i is the weight up to its middle, V half the whole and H the pull along the bridge,
    which follows from the ends' `slope` [rad]. `damping` [1/s] brings all to rest in time.
    """
    scene = Scene(name="rope_bridge")
    material = Material(friction=0.8)
    plank = Box((plank_length / 2, width / 2, 0.03))
    radius = min(0.025, rope / 4)
    piece = Capsule(radius, rope / 2 - radius)
    weights = np.array([2 * piece.volume * 900.0, plank.volume * 600.0])[np.arange(2 * planks + 1) % 2]
    lengths = np.array([rope, plank_length])[np.arange(2 * planks + 1) % 2]
    shear = np.cumsum(weights) - weights / 2 - weights.sum() / 2
    slopes = arctan2(shear * tan(slope), shear[-1] * np.ones_like(shear))
    steps = lengths[:, None] * np.stack([cos(slopes), 0 * slopes, sin(slopes)], axis=1)
    points = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    points += (-points[-1, 0] / 2, 0.0, 3.0)

    for name, end, outward in (("west_bank", points[0], -1.0), ("east_bank", points[-1], 1.0)):
        bank = Box((1.0, width / 2 + 0.3, 1.5))
        place = (end[0] + outward * 1.02, 0.0, end[2] - 1.5)
        scene.add_body(name, kind="static", shape=bank, position=place, material=material)
    before = "west_bank"
    for k in range(planks + 1):
        start, end, turn = points[2 * k], points[2 * k + 1], axis_angle(-Y, slopes[2 * k])
        after = f"plank{k}" if k < planks else "east_bank"
        if k < planks:
            scene.add_body(
                after,
                shape=plank,
                density=600.0,
                material=material,
                position=(end + points[2 * k + 2]) / 2,
                orientation=axis_angle(-Y, slopes[2 * k + 1]),
                linear_damping=damping,
                angular_damping=damping,
            )
        for side, y in SIDES:
            edge = y * width / 2 * Y
            name = f"{side}_rope{k}"
            scene.add_body(
                name,
                shape=piece,
                density=900.0,
                position=(start + end) / 2 + edge,
                orientation=multiply(turn, from_axes(X)),
                linear_damping=damping,
                angular_damping=damping,
                collision_mask=0,
            )
            scene.add_joint(BallJoint(before, name, anchor=start + edge, name=f"{side}_knot{2 * k}"))
            scene.add_joint(BallJoint(name, after, anchor=end + edge, name=f"{side}_knot{2 * k + 1}"))
        before = after

    for k in range(crates):
        at = (k - (crates - 1) / 2) * 0.7 * (points[-1, 0] - points[0, 0]) / max(crates, 1)
        height = np.interp(at, points[:, 0], points[:, 2]) + 0.6 + 0.2 * k
        scene.add_body(f"crate{k}", shape=Box((0.2,) * 3), density=300.0, material=material, position=(at, 0.0, height))
    return scene
