"""What rolls by radians in a substep goes straight on: its friction about the normal looks at how its points slip,
not at all of the rolling that an axis a little askew turns into the normal (docs/theory/twist.md)."""

import numpy as np
import pytest

import mcsim as mc

# Their axes nutate by I_a / I_p of what they turn: that is to be less than half a turn in a substep, or it looks like
# another.
SHAPES = {"sphere": mc.Sphere, "cylinder": lambda r: mc.Cylinder(r, 2 * r), "capsule": lambda r: mc.Capsule(r, 2 * r)}


def disc(radius):
    return mc.Cylinder(radius, 0.3 * radius)


def rolling(kind, turn, radius=0.01, askew=1e-5, friction=0.8, **keywords):
    """By so many radians a substep over a plane, its axis along y but for a little."""
    world = mc.World(mc.Scene(), **keywords)
    speed = turn * radius / world.substep
    scene, rub = mc.Scene(), mc.Material(friction=friction)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=rub)
    half = np.pi / 4 + askew / 2
    scene.add_body(
        "b",
        shape=(disc if kind == "disc" else SHAPES[kind])(radius),
        position=(0, 0, radius),
        material=rub,
        orientation=(np.cos(half), np.sin(half), 0, 0),
        velocity=(speed, 0, 0),
        angular_velocity=(0, speed / radius, 0),
    )
    return mc.World(scene, **keywords), speed


@pytest.mark.parametrize(
    "keywords",
    (
        {},
        {"friction_points": "point"},
        {"stabilization": "baumgarte"},
        {"solver": "pgs"},
        {"stabilization": "projection"},
        {"iterations": 16},
    ),
    ids=str,
)
@pytest.mark.parametrize(
    "kind, turn", [(kind, turn) for kind in SHAPES for turn in (0.5, 2.0, 3.0, 4.0, 6.0)] + [("disc", 0.5), ("disc", 1.5)]
)
@pytest.mark.sampled(6)
def test_it_goes_straight_on(kind, turn, keywords):
    world, speed = rolling(kind, turn, **keywords)
    world.step(120)
    assert world.velocities[1] == pytest.approx([speed, 0, 0], abs=1e-3 * speed)
    assert world.angular_velocities[1] * 0.01 == pytest.approx([0, speed, 0], abs=1e-3 * speed)


@pytest.mark.parametrize("askew", (0.0, 1e-5, 1e-4))
@pytest.mark.parametrize(
    "kind, turn",
    [(kind, turn) for kind in SHAPES for turn in (0.3, 1.0, 2.0, 2.5)]
    + [("disc", 0.3), ("disc", 1.0), ("cylinder", 3.3), ("sphere", 6.0)],
)
def test_in_generalized_coordinates_too(kind, turn, askew):
    """There cylinders and capsules went astray from 2.5 rad on."""
    still, speed = rolling(kind, turn, askew=askew, dt=1 / 240, substeps=1)
    world = mc.ReducedWorld(still.scene, dt=1 / 240)
    world.step(240)
    assert world.velocities[1] == pytest.approx([speed, 0, 0], abs=1e-3 * speed)
