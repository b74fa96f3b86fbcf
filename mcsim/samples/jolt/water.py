"""Jolt's samples of water."""

import numpy as np

import mcsim as mc
from mcsim.samples.parts import X, box, heights, lean, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/Water"


@sample("jolt/water/water_shape", title="Water Shape Test", source=SOURCE)
def water_shape(play):
    """Shapes of several densities fall into water: light ones come to float by Archimedes, heavy ones sink."""
    scene = mc.Scene()
    for k, density in enumerate((250.0, 500.0, 750.0, 2000.0)):
        slow = {"density": density, "linear_damping": 1.0, "angular_damping": 1.0}
        scene.add_body(f"slab{k}", shape=box(2.0, 2.0, 1.0), position=(3 * k, 0, 2), **slow)
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(3 * k, 3, 2), **slow)
    world = mc.World(scene)
    for _ in play.steps(world, 20.0):
        world.apply_buoyancy(level=0.0, drag=0.5)
    slabs, balls = heights(world, "slab"), heights(world, "ball")
    play.expect("heights of the slabs", slabs[:3], (0.25, 0.0, -0.25), within=0.005, unit="m")
    deep = 0.5 - balls[:3]
    play.expect("volumes of the balls under water", np.pi * deep**2 * (0.5 - deep / 3) / (np.pi / 6), (0.25, 0.5, 0.75),
                within=0.005)  # fmt: skip
    play.between("those of stone", max(slabs[3], balls[3]), upper=-10.0, unit="m")


@sample("jolt/water/boat", title="Boat Test", source=SOURCE)
def boat(play):
    """A hull of two boxes with its weight low, heeled over by 40 degrees, rights itself and floats at its draught."""
    scene = mc.Scene()
    parts = [mc.Box((2.0, 1.0, 0.3)), mc.Box((1.5, 0.2, 0.3), position=(0, 0, -0.6), density=900.0)]
    scene.add_body("boat", shape=parts, density=300.0, orientation=turned(X, 40), angular_damping=1.0, linear_damping=1.0)
    world = mc.World(scene)
    for _ in play.steps(world, 15.0):
        world.apply_buoyancy(level=0.0, drag=0.5)
    deep = (world.body("boat").mass / 1000.0 - parts[1].volume) / (4.0 * 2.0)  # of the upper box, under water
    play.expect("upright", lean(world, "boat"), 0.0, within=0.01, unit="rad")
    play.expect("draught of the upper box", 0.3 - world.frames()[0][0, 2], deep, within=0.01, unit="m")
