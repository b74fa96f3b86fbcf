"""Box3D's samples of stacks, walls and arches."""

import numpy as np

import mcsim as mc
from mcsim.samples.parts import cube, ground, heights
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_stacking.cpp"


@sample("box3d/stacking/box_stack_40", title="Box Stack", source=SOURCE)
def box_stack_40(play):
    """Forty cubes of 1 m stand on each other and fall asleep."""
    scene = ground()
    for k in range(40):
        scene.add_body(f"box{k}", shape=cube(1.0), position=(0, 0, 0.5 + k))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights of the boxes", heights(world, "box"), 0.5 + np.arange(40), within=0.05, unit="m")
    play.check("the stack sleeps", play.asleep(world))
