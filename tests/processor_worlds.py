"""Worlds of every kind, stepped and hashed: `python processor_worlds.py` prints their names and hashes as JSON.

``test_processors.py`` runs it under settings that stand for other processors. Arguments: names, if not all are meant.
"""

import json
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import mcsim as mc
from mcsim.reduced.tables import dh_scene
from mcsim.reduced.user_joint import JointModel
from mcsim.scenes import SCENES
from mcsim.solve import SOLVERS
from mcsim.solve.problems import SOLVERS as LABORATORY

SMALL = {
    "bridge": {"planks": 8},
    "stack": {"count": 6},
    "wall": {"width": 4, "height": 4},
    "dominoes": {"count": 8},
    "wrecking_ball": {"width": 4, "height": 4},
    "tumbler": {"count": 20},
    "ragdolls": {"count": 4},
    "ragdolls11": {"n": 4},
    "pyramid": {"base": 6},
    "tower": {"n": 6},
    "rain": {"n": 40},
    "chain": {"n": 20},
    "grid": {"n": 6},
    "marbles": {"count": 20},
    "terrain": {"count": 25},
}
TREES = (
    "pendulum",
    "double_pendulum",
    "cardan_shaft",
    "slider_crank",
    "four_bar",
    "spinning_top",
    "dzhanibekov",
    "bridge",
    "ragdolls",
    "free_ragdoll",
    "chain",
    "newton_cradle",
)
PRESSED = {"stiffness": 1e5, "damping": 100.0}


@cache
def scene_of(name):
    return mc.load(name, **SMALL.get(name, {}))


@cache
def hulls(own=True, **material):
    """Random hulls on a tilted plane, two of them on a hinge, and two, if `own`, on a joint that a function is."""
    rng = np.random.default_rng(7)
    scene, material = mc.Scene(), mc.Material(**material)
    scene.add_body("floor", kind="static", shape=mc.Plane((0.2, 0.1, 1.0)), material=material)
    for i in range(8):
        turn = rng.uniform(-1, 1, 4)
        hull = mc.ConvexHull(rng.uniform(-0.4, 0.4, (4 + 3 * i, 3)))
        scene.add_body(
            f"b{i}",
            shape=[hull, mc.Sphere(0.1, position=(0.2, 0.1, 0.3))],
            material=material,
            position=(0.9 * (i % 3), 0.9 * (i // 3 % 2), 0.5 + 0.7 * (i // 6)),
            orientation=turn / np.sqrt((turn * turn).sum()),
        )
    scene.add_joint(mc.HingeJoint("b1", "b2", (1.3, 0, 0.5), (0.3, 0.4, 0.5), limits=(-0.5, 0.7)))
    if own:
        scene.add_joint(mc.UserJoint("b3", "b4", lambda p, q: q.position[:2] - p.position[:2] - (0.9, 0.0)))
    return scene


def rounded():
    """Boxes, cylinders, cones and hulls with a rounding, on each other, a rounded box and a mesh."""
    rng, scene = np.random.default_rng(11), mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Mesh(*mc.HeightField(np.zeros((4, 4)), 1.5).triangles()))
    scene.add_body("block", kind="static", shape=mc.Box((0.6, 0.6, 0.1), rounding=0.05), position=(0, 0, 0.1))
    shapes = [
        mc.Box((0.1, 0.15, 0.2), rounding=0.03),
        mc.Cylinder(0.12, 0.15, rounding=0.02),
        mc.Cone(0.15, 0.15, rounding=0.02),
        mc.ConvexHull(rng.uniform(-0.2, 0.2, (10, 3)), rounding=0.02),
    ]
    for i in range(12):
        turn = rng.uniform(-1, 1, 4)
        place = (0.5 * (i % 2), 0.5 * (i // 2 % 2), 0.5 + 0.4 * (i // 4))
        scene.add_body(f"b{i}", shape=shapes[i % 4], position=place, orientation=turn / np.sqrt((turn * turn).sum()))
    return scene


def driven():
    """What a function of time moves."""
    scene = mc.Scene()
    scene.add_body("arm", shape=mc.Box((0.5, 0.1, 0.1)), position=(0.5, 0, 0))
    scene.add_body("hand", shape=mc.Capsule(0.05, 0.2), position=(1.2, 0, 0.1), orientation=(0.8, 0, 0.6, 0))
    scene.add_joint(
        mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0), motion=mc.Motion(amplitude=0.5, frequency=0.7, phase=0.3))
    )
    scene.add_joint(mc.BallJoint("arm", "hand", (1, 0, 0), swing_limit=0.6))
    return scene


def controlled(kind):
    """Joints that PD motors and forces along their coordinates drive."""
    scene = mc.Scene()
    for i in range(4):
        scene.add_body(f"b{i}", shape=mc.Box((0.3, 0.1, 0.05)), position=(0.3 + 0.6 * i, 0.1 * i, 0))
    pd = {"motor": mc.Motor(position=0.7, velocity=0.3, kp=30.0, kd=2.0, max_force=9.0)}
    scene.add_joint(mc.HingeJoint(None, "b0", (0, 0, 0), (0.1, 1, 0.3), name="hinge", **pd))
    scene.add_joint(mc.BallJoint("b0", "b1", (0.6, 0, 0), name="ball"))
    scene.add_joint(mc.PlanarJoint("b1", "b2", (1.2, 0, 0), (0.2, 0.3, 1), name="planar"))
    scene.add_joint(mc.SliderJoint("b2", "b3", (0.3, 1, 0.2), name="slider", **pd))
    scene.add_joint(mc.HingeJoint(None, "b3", (2.3, 0, 0.3), (1, 0.1, 0), name="loop"))
    world = kind(scene, dt=1 / 120)
    for joint in world.joints:
        count = np.size(joint.position)
        joint.tau = 0.7 if count == 1 else (0.5, -0.3, 0.2)
    return world


def contested():
    """A wheel that a crank presses against the floor, and a box between two walls that come together."""
    scene, bouncing = mc.Scene(), mc.Material(restitution=0.6, friction=0.5)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=bouncing)
    scene.add_body("crank", mass=5, inertia=(0.1, 0.2, 0.3), position=(0, 0, 0.7))
    scene.add_body("wheel", shape=mc.Box((0.3, 0.3, 0.3)), material=bouncing, position=(0.5, 0, 0.7))
    scene.add_joint(mc.HingeJoint(None, "crank", (-0.5, 0, 0.7), (0, 1, 0), motion=mc.Motion(velocity=1.3)))
    scene.add_joint(mc.BallJoint("crank", "wheel", (0.5, 0, 0.7)))
    for side in (-1, 1):
        scene.add_body(
            kind="kinematic", shape=mc.Box((0.1, 1, 1)), position=(5 + 0.65 * side, 0, 1), velocity=(-0.3 * side, 0, 0)
        )
    scene.add_body("squeezed", shape=mc.Box((0.5, 0.4, 0.3)), position=(5, 0, 0.3))
    return scene


def locked(kind):
    """A pile with locks of every sort, on a ledge that bears from one side alone."""
    scene, rng = mc.Scene(), np.random.default_rng(4)
    scene.add_body("ledge", shape=mc.Box((2, 2, 0.1)), kind="static", material=mc.Material(one_way=(0.1, 0.0, 1.0)))
    for i, (along, about) in enumerate((("y", "xz"), ("", "xyz"), ("x", "y"), ("xy", "z"), ("", "x"), ("z", "yz"))):
        scene.add_body(
            f"b{i}",
            shape=mc.Box((0.2, 0.15, 0.1)),
            position=(*rng.uniform(-0.2, 0.2, 2), 0.3 + 0.3 * i),
            velocity=rng.uniform(-1, 1, 3),
            angular_velocity=rng.uniform(-2, 2, 3),
        )
        scene.add_joint(mc.LockJoint(None, f"b{i}", along, about))
    return kind(scene, dt=1 / 120)


def own_joint():
    """With a joint that only a function knows."""

    def placement(q):
        cosine, sine, scale = 1.0 - q[0] * q[0], 2.0 * q[0], 1.0 + q[0] * q[0]
        turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, scale]]) / scale
        return turn, np.array([0.1 * q[0], 0.0, 0.2 * q[0]])

    scene = mc.Scene()
    for i in range(3):
        scene.add_body(f"b{i}", shape=mc.Box((0.3, 0.1, 0.05)), position=(0.3 + 0.6 * i, 0, 0))
        before = f"b{i - 1}" if i else None
        scene.add_joint(mc.HingeJoint(before, f"b{i}", (0.6 * i, 0, 0), (0.1, 1, 0.3), name=f"j{i}"))
    return mc.ReducedWorld(scene, models={"j1": JointModel(1, placement)})


def robot():
    """From a file with its own frames, and a mesh."""
    points = np.random.default_rng(3).uniform(-0.2, 0.2, (400, 3))
    with tempfile.TemporaryDirectory() as folder:
        facets = (
            "".join(f"vertex {x!r} {y!r} {z!r}\n" for x, y, z in corners)
            for corners in points[:399].reshape(-1, 3, 3).tolist()
        )
        mesh = "".join(f"facet normal 0 0 0\nouter loop\n{facet}endloop\nendfacet\n" for facet in facets)
        Path(folder, "body.stl").write_text(f"solid body\n{mesh}endsolid body\n")
        inertial = (
            '<inertial><origin xyz="0.1 0 0.05" rpy="0.3 0.2 0.1"/><mass value="1.5"/>'
            '<inertia ixx="0.1" ixy="0.01" ixz="0.02" iyy="0.12" iyz="0.005" izz="0.09"/></inertial>'
        )
        hull = (
            '<collision><origin xyz="0.1 0 0" rpy="0.1 0.4 0.2"/><geometry><mesh filename="body.stl"/></geometry>'
            "</collision>"
        )
        links = "".join(f'<link name="l{i}">{inertial}{hull}</link>' for i in range(4))
        joints = "".join(
            f'<joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
            f'<origin xyz="0.6 0.1 0.2" rpy="0.4 {0.3 * i} 1.1"/><axis xyz="0.2 1 {i}"/>'
            '<limit lower="-1" upper="2" effort="10" velocity="1"/></joint>'
            for i, kind in enumerate(("revolute", "prismatic", "continuous"))
        )
        Path(folder, "robot.urdf").write_text(f'<robot name="robot">{links}{joints}</robot>')
        return mc.load(str(Path(folder, "robot.urdf")))


def worlds():
    """name -> what makes the world, and how many steps it takes."""
    every = {}

    def add(name, steps, kind, scene, *arguments, **keywords):
        every[name] = lambda: kind(scene(*arguments), **keywords), steps

    for name in SCENES:
        add(name, 50, mc.World, scene_of, name)
    for name in TREES:
        add(f"reduced {name}", 50, mc.ReducedWorld, scene_of, name)
    for integrator in ("rk4", "rattle", "variational"):
        for name in ("four_bar", "cardan_shaft", "free_ragdoll"):
            add(f"{integrator} {name}", 30, mc.World, scene_of, name, integrator=integrator)
    for solver in dict.fromkeys((*LABORATORY, *SOLVERS)):
        keywords = {"solver": solver} | ({"contact_model": "pyramid"} if solver in ("lemke", "dantzig") else {})
        add(f"{solver} hulls", 3, mc.World, hulls, iterations=100, **keywords)
        add(f"reduced {solver}", 3, mc.ReducedWorld, scene_of, "ragdolls", dt=1 / 60, iterations=100, **keywords)
    for stabilization in ("none", "baumgarte", "split_impulse", "projection", "ggl"):
        add(f"{stabilization} hulls", 8, mc.World, hulls, stabilization=stabilization)
        add(f"{stabilization} contested", 50, mc.World, contested, stabilization=stabilization)
    add("rounded", 60, mc.World, rounded)
    add("reduced rounded", 60, mc.ReducedWorld, rounded, dt=1 / 60)
    add("driven", 50, mc.World, driven)
    add("reduced driven", 50, mc.ReducedWorld, driven)
    every["compliant hulls"] = lambda: mc.World(hulls(**PRESSED), contact="compliant"), 12
    every["reduced compliant"] = lambda: mc.ReducedWorld(hulls(False, **PRESSED), contact="compliant"), 30
    every["event stack"] = lambda: mc.World(mc.load("stack", count=2), contact="event"), 3
    every["event four_bar"] = lambda: mc.World(mc.load("four_bar", driven=False), contact="event"), 2
    add("event incline", 8, mc.World, scene_of, "incline", contact="event")
    add("reduced event", 12, mc.ReducedWorld, scene_of, "double_pendulum", contact="event", dt=1 / 60)
    add("reduced rk4", 30, mc.ReducedWorld, scene_of, "ragdolls", integrator="rk4")
    add("reduced reference", 3, mc.ReducedWorld, scene_of, "free_ragdoll", integrator="reference")
    add("robot", 40, mc.World, robot)
    add("reduced robot", 40, mc.ReducedWorld, robot)
    add("table", 40, mc.ReducedWorld, dh_scene, [(0.3, 0.7, 0.3, 0.2), (0.1, 0.4, 0.5, 0.9), (0, 0.2, 0.1, 0.3)])
    every["own joint"] = own_joint, 40
    every["controlled"] = lambda: controlled(mc.World), 60
    every["locked"] = lambda: locked(mc.World), 60
    every["reduced locked"] = lambda: locked(mc.ReducedWorld), 60
    every["reduced controlled"] = lambda: controlled(mc.ReducedWorld), 60
    return every


def changed(name, world):
    """What else a world's user does to its state."""
    last = world.body_names[-1]
    world.apply_impulse(last, (0.01, 0.02, 0.03), world.body(last).position + (0.03, 0.01, 0.02))
    if "hulls" in name:
        world.set_pose(last, orientation=(0.8, 0.2, 0.4, 0.4))


def main():
    found = {}
    for name, (make, steps) in worlds().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        world = make()
        found[name] = [world.state_hash()]
        world.step(steps)
        changed(name, world)
        world.step(3)
        found[name].append(world.state_hash())
    print(json.dumps(found))


if __name__ == "__main__":
    main()
