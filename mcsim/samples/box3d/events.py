"""Box3D's samples of events: sensors, hits, contacts that begin and end, joints that break."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, X, Y, box, cube, ground
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_events.cpp"


@sample("box3d/events/sensor_visit", title="Sensor Visit", source=SOURCE, overlap=None)
def sensor_visit(play):
    """A ball that falls through a sensor is told of when it comes in and when it goes out, once each."""
    scene = mc.Scene()
    scene.add_body("gate", shape=box(4, 4, 1, sensor=True), kind="static", position=(0, 0, 5))
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 10))
    world = mc.World(scene)
    begins, ends = [], []
    for _ in play.steps(world, 2.0):
        begins += [world.time] * len(world.events.sensor_begin)
        ends += [world.time] * len(world.events.sensor_end)
    begins += [world.time] * len(world.events.sensor_begin)
    play.expect("visits and leavings", (len(begins), len(ends)), (1, 1), within=0)
    play.expect("comes in", begins[0], math.sqrt(2 * 4.0 / G), within=1 / 30, unit="s")
    play.expect("goes out", ends[0], math.sqrt(2 * 6.0 / G), within=1 / 30, unit="s")


@sample("box3d/events/hit", title="Hit", source=SOURCE)
def hit(play):
    """A ball that falls on the ground begins one contact, with the impulse that stops it."""
    scene = ground()
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 5.5), mass=2.0)
    world = mc.World(scene)
    found = []
    for _ in play.steps(world, 3.0):
        found += list(world.events.begin)
    play.expect("contacts that began", len(found), 1, within=0)
    play.expect("impulse", found[0]["impulse"], 2.0 * math.sqrt(2 * G * 5.0), within=0.5, unit="N s")
    play.expect("where", found[0]["position"][:2], (0, 0), within=1e-9, unit="m")
    play.expect("step", found[0]["step"], math.sqrt(2 * 5.0 / G) * 60, within=1.5)


@sample("box3d/events/contact", title="Contact", source=SOURCE)
def contact(play):
    """A crate slides over the edge of a table: its contact with the table ends, and one with the ground begins."""
    scene = ground()
    scene.add_body("table", shape=box(4, 4, 1), kind="static", position=(0, 0, 0.5))
    scene.add_body("crate", shape=cube(0.5), position=(0, 0, 1.25), velocity=(6, 0, 0), material=mc.Material(friction=0.1))
    world = mc.World(scene)
    order = []
    for _ in play.steps(world, 5.0):
        for kind in ("begin", "end"):
            for event in getattr(world.events, kind):
                order.append((kind, world.body_names[min(event["body_a"], event["body_b"])]))
    play.check("first the table, last the ground", order[0] == ("begin", "table") and order[-1] == ("begin", "ground"))
    play.check("the table's has ended", ("end", "table") in order)
    touching = {world.body_names[k] for k in world.contacts["body_a"]} | {
        world.body_names[k] for k in world.contacts["body_b"]
    }
    play.check("it lies on the ground", touching == {"ground", "crate"})


@sample("box3d/events/persistent_contact", title="Persistent Contact", source=SOURCE)
def persistent_contact(play):
    """A ball that rolls in a bowl of triangles keeps a contact from its landing on, and its points bear its weight."""
    scene = mc.Scene()
    x = np.arange(21) - 10.0
    bowl = 0.02 * (x[:, None] ** 2 + x[None, :] ** 2)
    scene.add_body("bowl", shape=mc.HeightField(bowl, 1.0), kind="static")
    material = mc.Material(rolling_friction=0.05)
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(4, 0.3, 0.9), mass=10.0, material=material)
    world = mc.World(scene)
    play(world, 1.0)
    missing = sum(len(world.contacts) == 0 for _ in play.steps(world, 20.0))
    play.expect("steps without contact", missing, 0, within=0)
    play.expect("force on it", world.contacts["normal_impulse"].sum() / world.dt, 10 * G, within=1.0, unit="N")


@sample("box3d/events/move", title="Move", source=SOURCE)
def move(play):
    """What moved in a step is told by what sleeps: ten crates fall asleep one by one, and a struck one wakes."""
    scene = ground()
    for k in range(10):
        scene.add_body(f"crate{k}", shape=cube(1.0), position=(3 * k, 0, 0.5 + k))
    world = mc.World(scene)
    asleep = [world.asleep[1:].sum() for _ in play.steps(world, 6.0)]
    play.check("none wakes by itself", (np.diff(asleep) >= 0).all())
    play.check("all sleep", play.asleep(world))
    world.apply_impulse("crate4", (2000.0, 0, 0))
    play(world, 0.1)
    play.check("the struck one alone is awake", [k for k in range(10) if not world.asleep[1 + k]] == [4])


@sample("box3d/events/joint", title="Joint", source=SOURCE, overlap=None)
def joint(play):
    """Joints of five kinds bear a weight up to a force of 2,000 N; under twice as much each breaks, and says so."""
    kinds = [mc.BallJoint, mc.FixedJoint, mc.HingeJoint, mc.SliderJoint, mc.DistanceJoint]
    scene = mc.Scene()
    for k, kind in enumerate(kinds):
        scene.add_body(f"box{k}", shape=cube(1.0), position=(3 * k, 0, 5), mass=100.0)
        top = (3 * k, 0, 5.5)
        more = {mc.HingeJoint: dict(anchor=top, axis=Y), mc.SliderJoint: dict(axis=X, anchor=top), mc.DistanceJoint:
                dict(anchor_a=(3 * k, 0, 7), anchor_b=top)}.get(kind, dict(anchor=top))  # fmt: skip
        scene.add_joint(kind(None, f"box{k}", break_force=2000.0, **more))
    world = mc.World(scene)
    for _ in play.steps(world, 1.0):
        world.apply_forces(np.tile([0, 0, -900.0], (5, 1)))
    play.check("all hold 1,881 N", not any(joint.broken for joint in world.joints))
    broken = set()
    for _ in play.steps(world, 1.0):
        broken |= set(world.events.broken.tolist())
        world.apply_forces(np.tile([0, 0, -3000.0], (5, 1)))
    play.expect("joints that broke", sorted(broken), np.arange(5), within=0)
    play.between("all fall", world.velocities[:, 2], upper=-5.0, unit="m/s")
