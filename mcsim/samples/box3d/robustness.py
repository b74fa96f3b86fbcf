"""Box3D's samples of what is hard: mass ratios, small things, overlaps."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import stands
from mcsim.samples.parts import cube, ground, heights
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_robustness.cpp"


@sample("box3d/robustness/high_mass_ratio_100", title="High Mass Ratio 1", source=SOURCE, camera="front")
def high_mass_ratio_100(play):
    """A cube 100 times as heavy as each of those below rests on a pyramid of ten rows, which stands."""
    scene = ground()
    for row in range(10):
        for k in range(10 - row):
            density = 1000.0 if row < 9 else 1e5
            scene.add_body(shape=cube(1.0), position=(k + 0.5 * row, 0, 0.5 + row), density=density)
    world = mc.World(scene)
    stands(play, world, 6.0, sinking=0.05, aside=0.02)


@sample("box3d/robustness/tiny_pyramid", title="Tiny Pyramid", source=SOURCE, camera="front", slow=True, overlap=2.5e-4)
def tiny_pyramid(play):
    """A pyramid of thirty rows of cubes of 5 cm stands and sleeps."""
    scene, size = ground(), 0.05
    for row in range(30):
        for k in range(30 - row):
            scene.add_body(shape=cube(size), position=(size * (k + 0.5 * row - 14.5), 0, size * (0.5 + row)))
    world = mc.World(scene)
    stands(play, world, 5.0, sinking=0.003, aside=0.001)


@sample("box3d/robustness/overlap_recovery", title="Overlap Recovery", source=SOURCE, camera="front")
def overlap_recovery(play):
    """Ten cubes that stand in each other by a quarter are pushed apart gently, and stand or lie as they can."""
    scene = ground()
    for row in range(4):
        for k in range(4 - row):
            scene.add_body(f"box{row}_{k}", shape=cube(1.0), position=(0.75 * (k + 0.5 * row), 0, 0.4 + 0.75 * row))
    world = mc.World(scene)
    fastest = max(np.linalg.norm(world.velocities, axis=1).max() for _ in play.steps(world, 6.0))
    play.between("fastest", fastest, upper=6.0, unit="m/s")
    play.between("heights", heights(world, "box"), 0.49, 4.0, unit="m")
    play.check("all sleep", play.asleep(world))
