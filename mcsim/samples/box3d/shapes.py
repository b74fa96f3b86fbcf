"""Box3D's samples of shapes and materials."""

import numpy as np

import mcsim as mc
from mcsim.samples.parts import ground
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_shapes.cpp"


@sample("box3d/shapes/restitution_sphere", title="Restitution (sphere)", source=SOURCE, overlap=None)
def restitution_sphere(play):
    """Balls of restitution 0 to 1 fall from 40 m and come back to e² of the way."""
    scene = ground(friction=0.0)
    falls, e = 39.5, np.linspace(0, 1, 41)
    for k in range(41):
        material = mc.Material(restitution=e[k])
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(1.5 * k, 0, 40.0), material=material)
    world = mc.World(scene)
    tops, landed = np.zeros(41), np.zeros(41, bool)
    for _ in play.steps(world, 8.0):
        landed |= world.velocities[1:, 2] > 0
        tops = np.maximum(tops, np.where(landed, world.positions[1:, 2] - 0.5, 0))
    play.expect("height of the first bounce", tops / falls, e**2, within=0.02)
