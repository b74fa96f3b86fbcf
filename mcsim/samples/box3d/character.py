"""Box3D's samples of movers."""

import mcsim as mc
from mcsim.samples.parts import Y, box, ground, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_character.cpp"


@sample("box3d/character/mover", title="Mover", source=SOURCE, overlap=None)
def mover(play):
    """A capsule walks over a step, up a ramp and against a wall, where it stops."""
    scene = ground()
    scene.add_body("step", shape=box(2, 6, 0.25), kind="static", position=(4, 0, 0.125))
    turn = turned(Y, -20)
    scene.add_body("ramp", shape=box(8, 6, 1), kind="static", position=(10, 0, 0.35), orientation=turn)
    scene.add_body("wall", shape=box(1, 6, 10), kind="static", position=(13, 0, 5))
    scene.add_body("hero", shape=mc.Capsule(0.4, 0.5), kind="kinematic", position=(0, 0, 0.91))
    world = mc.World(scene)
    hero = mc.Character(world, "hero", step_height=0.3)
    highest = 0.0
    for _ in play.steps(world, 6.0):
        hero.walk((3.0, 0.0))
        if 3.4 < world.body("hero").position[0] < 4.6:
            highest = max(highest, world.body("hero").position[2])
    play.expect("on the step", highest, 0.25 + 0.9 + 0.01, within=0.02, unit="m")
    play.expect("at the wall", world.body("hero").position[0], 12.5 - 0.4 - 0.01, within=0.02, unit="m")
    play.between("up the ramp", world.body("hero").position[2], 2.0, unit="m")


@sample("box3d/character/mover_overlap", title="Mover Overlap", source=SOURCE, overlap=None)
def mover_overlap(play):
    """A wall comes to stand in a mover: it is pushed out of it, and goes on."""
    scene = ground()
    scene.add_body("hero", shape=mc.Capsule(0.4, 0.5), kind="kinematic", position=(0, 0, 0.91))
    world = mc.World(scene)
    hero = mc.Character(world, "hero")
    world.add_body("wall", shape=box(1, 6, 4), kind="static", position=(-0.8, 0, 2))
    for _ in play.steps(world, 2.0):
        hero.walk((0.0, 0.0))
    play.expect("beside the wall", world.body("hero").position[0], -0.3 + 0.4 + 0.01, within=0.02, unit="m")
    play.expect("on the ground", world.body("hero").position[2], 0.9 + 0.01, within=0.01, unit="m")
