"""A floor under what a scene has, for robots' files, which bring none."""

import numpy as np

from mcsim.core.linear import length, product
from mcsim.core.rotation import compose, matrix
from mcsim.scene import Body, Plane, Scene
from mcsim.scene.checks import FieldError
from mcsim.world import World


def with_floor(scene: Scene) -> Scene:
    """A copy of a scene with one more body, a plane that the scene's lowest point touches: "floor", or "floor_" where a
    body has that name. Down is where gravity points; -z without gravity. Planes that are there do not count.

    scene: of any file or name. SceneError if no body has a shape.

        world = mc.World(mc.scenes.with_floor(mc.load("robot.urdf")))
    """
    gravity = scene.gravity
    up = -gravity / length(gravity) if gravity.any() else np.array([0.0, 0.0, 1.0])
    corners = {body.name: low for body in scene.bodies if (low := _lowest_corner(body, up)) is not None}
    if not corners:
        raise FieldError("", "a floor would be under nothing: no body has a shape", "with_floor")
    world, lowest = World(scene), min(corners.values())
    for body in scene.bodies:
        # Corners of round shapes lie on them, not at their lowest point: the distance from a plane far below says more.
        if body.name in corners and all(shape.massive for shape in body.shapes):
            far = corners[body.name] - max(1.0, abs(corners[body.name]))
            found = world.distance(body.name, Plane(up), position=far * up)
            lowest = min(lowest, far + found.distance) if found is not None else lowest
    name = "floor"
    while name in world.body_names:
        name += "_"
    copy = scene.copy()
    copy.add_body(name, shape=Plane(up), kind="static", position=lowest * up)
    return copy


def _lowest_corner(body: Body, up: np.ndarray) -> float | None:
    """How high [m] the lowest corner of a body's shapes in triangles is; None if it has none but planes."""
    heights = []
    for shape in body.shapes:
        if not isinstance(shape, Plane):
            own = compose((body.position, body.orientation), (shape.position, shape.orientation))
            vertices = product(shape.triangles()[0], matrix(own[1]).T) + own[0]
            heights.append(float(product(vertices, up).min()))
    return min(heights, default=None)
