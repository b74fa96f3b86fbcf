"""Box3D's samples of ragdolls: people of 16 segments, with masses and ranges of humans."""

import numpy as np

import mcsim as mc
from mcsim.samples.parts import Y, Z, box, flat_mesh, ground, person, slope, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_ragdoll.cpp"


@sample("box3d/ragdoll/box", title="Ragdoll (box)", source=SOURCE, overlap=None)
def box_(play):
    """A ragdoll falls on a floor, lies still, and sleeps."""
    world = mc.World(mc.scenes.ragdolls(count=1))
    play(world, 10.0)
    play.between("heights of all segments", world.positions[1:, 2], 0.0, 0.6, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("box3d/ragdoll/pile", title="Ragdoll (pile)", source=SOURCE, slow=True, overlap=None)
def pile(play):
    """Sixteen ragdolls fall into a pit of 3 m and make a pile: joints stay closed, and nobody leaves it."""
    scene, doll = ground(), person()
    for k, (x, y) in enumerate(((2, 0), (-2, 0), (0, 2), (0, -2))):
        scene.add_body(f"wall{k}", shape=box(1 if x else 5, 5 if x else 1, 30), kind="static", position=(x, y, 15))
    for k in range(16):
        place = (0.2 * (k % 3) - 0.2, 0.2 * (k % 2), 1.5 + 1.6 * k)
        scene.add(doll, position=place, orientation=turned(Z, 50 * k), prefix=f"{k}_")
    world = mc.World(scene)
    play(world, 12.0)
    play.between("inside the walls", np.abs(world.positions[5:, :2]), upper=1.6, unit="m")
    play.between("height of the pile", world.positions[5:, 2], 0.0, 5.0, unit="m")


@sample("box3d/ragdoll/incline", title="Ragdoll (incline)", source=SOURCE, overlap=None)
def incline(play):
    """A ragdoll on a slope of 45 degrees slides and tumbles down, and does not go through it."""
    scene = slope(45, friction=0.3, length=120.0)
    place = mc.rotation.rotate(turned(Y, 45), (-40, 0, 1.2))
    scene.add(person(), position=place)
    world = mc.World(scene)
    play(world, 3.0)
    masses = world.masses[1:] / world.masses.sum()
    down = mc.rotation.rotate(turned(Y, 45), (1, 0, 0))
    # A block that slides goes g (sin - mu cos) t^2 / 2 = 18 m; a free fall along it, 31 m.
    play.between("way down", (masses @ world.positions[1:] - place) @ down, 10.0, 31.0, unit="m")
    play.between("above the slope", world.positions[1:] @ mc.rotation.rotate(turned(Y, 45), Z), 0.0, 2.0, unit="m")


@sample("box3d/ragdoll/mesh", title="Ragdoll (mesh)", source=SOURCE, overlap=None)
def mesh(play):
    """Four ragdolls fall on a mesh of waves, lie on it, and sleep."""
    scene, doll = mc.Scene(), person()
    scene.add_body("mesh", shape=flat_mesh(20, 1.0, lambda x, y: 0.3 * np.sin(x) * np.cos(y)), kind="static")
    for k in range(4):
        place = (3 * (k % 2) - 1.5, 3 * (k // 2) - 1.5, 2.0)
        scene.add(doll, position=place, orientation=turned(Z, 80 * k), prefix=f"{k}_")
    world = mc.World(scene)
    play(world, 12.0)
    x, y, z = world.positions[1:].T
    play.between("above the mesh", z - 0.3 * np.sin(x) * np.cos(y), -0.05, 0.7, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("box3d/ragdoll/pose", title="Ragdoll (pose)", source=SOURCE, slow=True, overlap=None)
def pose(play):
    """A ragdoll that hangs by its hips keeps its pose by motors in all its joints, its arms and legs in the air."""
    scene = mc.Scene()
    scene.add(person(), position=(0, 0, 3))
    scene.add_joint(mc.FixedJoint(None, scene.bodies[0].name))
    world = mc.World(scene)
    for joint in list(world.joints)[:-1]:
        joint.set_motor(mc.Motor(position=joint.position, hertz=8.0, max_force=300.0))
    start = world.positions.copy()
    play(world, 4.0)
    play.expect("segments have not moved", np.linalg.norm(world.positions - start, axis=1), 0.0, within=0.01, unit="m")
