"""Exudyn's samples of contact: particles, cams, bearings, cradles, gears."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import settle, watched
from mcsim.samples.parts import G, Y, Z, along, box, ground, prism
from mcsim.samples.registry import sample

SOURCE = "Exudyn, Examples"


def ring(radius, depth, pieces=192):
    """A tube's inner wall of triangles about y."""
    angle = 2 * np.pi * np.arange(pieces) / pieces
    outline = radius / np.cos(np.pi / pieces) * np.stack([np.cos(angle), 0 * angle, np.sin(angle)], axis=1)
    points = np.concatenate([outline - (0, depth / 2, 0), outline + (0, depth / 2, 0)])
    k = np.arange(pieces)
    after = (k + 1) % pieces
    return mc.Mesh(points, np.concatenate([np.c_[k, after, after + pieces], np.c_[k, after + pieces, k + pieces]]))


@sample("exudyn/contacts/newtons_cradle", title="newtonsCradle", source=SOURCE, overlap=None, camera="front")
def newtons_cradle(play):
    """Of five balls two come down, the last two go up as high, and the middle one stays."""
    scene, steel = mc.Scene(), mc.Material(friction=0.0, restitution=1.0)
    for k in range(5):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.05), position=(0.1002 * k, 0, 0), material=steel)
        scene.add_joint(mc.HingeJoint(None, f"ball{k}", (0.1002 * k, 0, 0.5), (0, -1, 0)))
    world = mc.World(scene, dt=1 / 480)
    for k in range(2):
        turn = mc.rotation.from_axis_angle(np.array([0, -1.0, 0]), -0.5)
        world.set_pose(f"ball{k}", (0.1002 * k - 0.5 * np.sin(0.5), 0, 0.5 - 0.5 * np.cos(0.5)), turn)
    _, angles = watched(play, world, 1.0, lambda: [joint.angle for joint in world.joints])
    play.expect("angle up to which the last two go", angles[:, 3:].max(axis=0), 0.5, within=0.001, unit="rad")
    play.between("angle of the middle one", np.abs(angles[:, 2]), upper=0.05, unit="rad")


@sample("exudyn/contacts/cam_follower", title="camFollower", source=SOURCE, camera="front")
def cam_follower(play):
    """A disc that turns about a point 0.1 m off its centre lifts a flat, sprung follower by r + e sin of its angle."""
    scene, r, e = mc.Scene(), 0.3, 0.1
    cam = mc.Cylinder(r, 0.05, position=(e, 0, 0), orientation=along(Y), material=mc.Material(friction=0.0))
    scene.add_body("cam", shape=cam, kind="kinematic", center_of_mass=(0, 0, 0), angular_velocity=(0, -2 * np.pi, 0))
    scene.add_body("follower", shape=box(1.0, 0.1, 0.1), position=(0, 0, r + 0.05))
    scene.add_joint(mc.SliderJoint(None, "follower", Z, spring=mc.Spring(2000.0, 20.0, rest=-0.2)))
    world = mc.World(scene, dt=1 / 480)
    times, height = watched(play, world, 3.0, lambda: world.body("follower").position[2])
    late = times > 0.2
    play.expect("height", height[late] - 0.05, r + e * np.sin(2 * np.pi * times[late]), within=1e-3, unit="m")


@sample("exudyn/contacts/particles_silo", title="particlesSilo", source=SOURCE, slow=True)
def particles_silo(play):
    """1000 balls of 8 cm run through the hole of a funnel, all of them, into a bin."""
    scene = ground(friction=0.2)
    for side in range(4):
        turn = mc.rotation.from_axis_angle(np.array(Z), side * np.pi / 2)
        wall = prism([(0.4, 3.0), (1.6, 5.5), (1.7, 5.4), (0.5, 2.9)], 3.6, material=mc.Material(friction=0.2))
        scene.add_body(f"funnel{side}", shape=wall, kind="static", orientation=turn)
        scene.add_body(f"bin{side}", shape=box(0.2, 3.4, 2, position=(1.6, 0, 1)), kind="static", orientation=turn)
    for n, (k, i, j) in enumerate(np.ndindex(10, 10, 10)):
        place = (0.17 * (i - 4.5) + 0.01 * (k % 3), 0.17 * (j - 4.5), 5.3 + 0.17 * k)
        scene.add_body(f"ball{n}", shape=mc.Sphere(0.08), position=place, material=mc.Material(friction=0.2))
    world = mc.World(scene)
    settle(play, world, 14.0)
    z = world.positions[9:, 2]
    play.between("heights", z, 0.0795, 1.5, unit="m")
    play.between("distance from the middle", np.abs(world.positions[9:, :2]), upper=1.43, unit="m")


@sample("exudyn/contacts/particles_test", title="particlesTest3D", source=SOURCE, slow=True)
def particles_test(play):
    """512 balls fall into a box that is open on top, and lie in it."""
    scene = ground(friction=0.3)
    for side in range(4):
        turn = mc.rotation.from_axis_angle(np.array(Z), side * np.pi / 2)
        scene.add_body(f"wall{side}", shape=box(0.2, 2.4, 3, position=(1.1, 0, 1.5)), kind="static", orientation=turn)
    for n, (k, i, j) in enumerate(np.ndindex(8, 8, 8)):
        place = (0.24 * (i - 3.5) + 0.01 * (k % 2), 0.24 * (j - 3.5), 0.2 + 0.24 * k)
        scene.add_body(f"ball{n}", shape=mc.Sphere(0.1), position=place)
    world = mc.World(scene)
    settle(play, world, 5.0)
    play.between("distance from the middle", np.abs(world.positions[5:, :2]), upper=0.902, unit="m")
    play.between("heights", world.positions[5:, 2], 0.0995, 1.8, unit="m")


@sample("exudyn/contacts/roller_bearing", title="rollerBearing", source=SOURCE, camera="front", slow=True)
def roller_bearing(play):
    """Rollers between a shaft that turns and a ring that stands go round at w r / (2 (r + rr)), and roll."""
    scene, r, rr, w, rough = mc.Scene(gravity=(0, 0, 0)), 0.5, 0.1, 4.0, mc.Material(friction=0.8)
    shaft = mc.Cylinder(r, 0.1, orientation=along(Y), material=rough)
    scene.add_body("shaft", shape=shaft, kind="kinematic", angular_velocity=(0, w, 0))
    scene.add_body("ring", shape=ring(r + 2 * rr - 1e-3, 0.6), kind="static", material=rough)
    for k in range(8):
        angle = k * np.pi / 4
        place = (r + rr) * np.array([np.cos(angle), 0, np.sin(angle)])
        shape = mc.Cylinder(rr, 0.1, orientation=along(Y), material=rough)
        scene.add_body(f"roller{k}", shape=shape, position=place)
        scene.add_joint(mc.LockJoint(None, f"roller{k}", "y", "xz"))
    world = mc.World(scene, dt=1 / 480)
    play(world, 2.0)
    start = np.arctan2(world.positions[2:, 0], world.positions[2:, 2])
    play(world, 1.0)
    gone = np.angle(np.exp(1j * (np.arctan2(world.positions[2:, 0], world.positions[2:, 2]) - start)))
    play.expect("rate at which the rollers go round", gone, w * r / (2 * (r + rr)), within=0.02, unit="rad/s")
    play.expect("spin of the rollers", world.angular_velocities[2:, 1], -w * r / (2 * rr), within=0.5, unit="rad/s")


@sample("exudyn/contacts/sphere_on_slope", title="rigid body contact: rolling sphere", source=SOURCE)
def sphere_on_slope(play):
    """A ball, a cylinder and a tube roll down 15 degrees: ways as 1 / (1 + k²/r²), from 5/7 over 2/3 to 1/2."""
    slope, rough = np.radians(15), mc.Material(friction=1.0)
    g = (G * np.sin(slope), 0, -G * np.cos(slope))
    scene = mc.Scene(gravity=g)
    scene.add_body("plane", shape=mc.Plane(Z), kind="static", material=rough)
    for k, factor in enumerate((0.4, 0.5, 1.0)):
        shape = mc.Cylinder(0.2, 0.1, orientation=along(Y), material=rough) if k else mc.Sphere(0.2, material=rough)
        inertia = factor * 10 * 0.04
        scene.add_body(f"body{k}", shape=shape, mass=10.0, inertia=(0.3, inertia, 0.3), position=(0, k, 0.2))
    world = mc.World(scene, dt=1 / 240)
    play(world, 2.0)
    wanted = G * np.sin(slope) / (1 + np.array([0.4, 0.5, 1.0])) * 2.0
    play.expect("ways", world.positions[1:, 0], wanted, within=0.005, unit="m")
    play.expect("speeds", world.velocities[1:, 0], wanted, within=0.005, unit="m/s")


@sample("exudyn/contacts/gears", title="involuteGear", source=SOURCE, camera="front", overlap=None)
def gears(play):
    """A gear of 12 teeth drives one of 24 by the contact of its teeth: at half its speed on average."""
    scene, names = mc.Scene(gravity=(0, 0, 0)), []
    for name, teeth, r, x, phase in (("small", 12, 0.6, 0.0, 0.0), ("large", 24, 1.2, 1.82, np.pi / 24)):
        parts = [mc.Cylinder(r - 0.1, 0.1, orientation=along(Y))]
        for k in range(teeth):
            outline = [(r - 0.15, -0.07), (r - 0.15, 0.07), (r + 0.09, 0.025), (r + 0.09, -0.025)]
            turn = mc.rotation.from_axis_angle(np.array(Y), phase + 2 * np.pi * k / teeth)
            parts.append(prism(outline, 0.2, orientation=turn))
        scene.add_body(name, shape=parts, position=(x, 0, 0), material=mc.Material(friction=0.1))
        names.append(name)
    motor = mc.Motor(velocity=2.0)
    scene.add_joint(mc.HingeJoint(None, "small", (0, 0, 0), Y, name="small", motor=motor))
    scene.add_joint(mc.HingeJoint(None, "large", (1.82, 0, 0), Y, name="large", friction=5.0))
    world = mc.World(scene, dt=1 / 240)
    play(world, 10.0)
    play.expect("angle of the small one", world.joint("small").angle, 20.0, within=0.01, unit="rad")
    play.expect("angle of the large one", world.joint("large").angle, -10.0, within=0.1, unit="rad")
