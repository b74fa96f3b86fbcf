"""A tour through mcsim for builds that watch themselves (sanitizers, asserts): every scene, solver and observer.

    python tests/smoke.py [FOLDER]    FOLDER: where the mcsim to be tried is installed; by default Python's own packages

Prints "smoke: ok" at the end. Whether anything was wrong, the build itself says.
"""

import copy
import itertools
import math
import pickle
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import mcsim as mc
from mcsim.world.capabilities import STABILIZATIONS

# Small editions of the large scenes.
SMALL = {
    "ragdolls": {"count": 3},
    "ragdolls11": {"n": 2},
    "rain": {"n": 60},
    "pyramid": {"base": 6},
    "tower": {"n": 6},
    "chain": {"n": 20},
    "grid": {"n": 6},
    "wall": {"width": 4, "height": 4},
    "tumbler": {"count": 15},
    "dominoes": {"count": 6},
    "stack": {"count": 5},
    "wrecking_ball": {"links": 4},
    "domino_spiral": {"count": 12},
    "galton_board": {"count": 16},
    "jansen_walker": {"pairs": 1},
    "ragdoll_stairs": {"count": 1},
}


def observe(world):
    """Every observer once."""
    world.contacts, world.rows, world.stats, world.energy(), world.momentum(), world.joint_errors(), world.frames()
    world.jacobian(), world.delassus(), repr(world), world.masses, world.state_hash()
    for name in world.joint_names[:3]:
        joint = world.joint(name)
        joint.position, joint.velocity, joint.force, joint.torque, joint.motor_force, joint.error, repr(joint)
    for name in world.body_names[:3]:
        body = world.body(name)
        body.position, body.velocity, body.inertia, body.frame, repr(body)


def every_scene(steps):
    """All scenes at default settings; back to a snapshot in the middle and on to the same bits."""
    for name in mc.scenes.SCENES:
        world = mc.World(mc.load(name, **SMALL.get(name, {})))
        world.step(steps)
        saved = world.snapshot()
        world.step(steps)
        reached = world.state_hash()
        observe(world)
        world.restore(saved)
        world.step(steps)
        assert world.state_hash() == reached, name


def every_setting(steps):
    """All solvers, stabilizations and kinds of friction on a scene with every kind of row."""
    for solver, stabilization, friction, points in itertools.product(
        ("si", "pgs"), STABILIZATIONS, ("cone", "pyramid"), ("central", "point")
    ):
        world = mc.World(every_row(), solver=solver, stabilization=stabilization, friction=friction, friction_points=points)
        world.step(steps)
        assert np.isfinite(world.positions).all()
        observe(world)


def every_row():
    """Each shape on a bouncing floor, each joint with limits, motors, springs and friction."""
    scene = mc.Scene(name="every row")
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0.1, 1)), material=mc.Material(0.5, 0.4))
    cube = [(x, y, z) for x in (-0.2, 0.2) for y in (-0.3, 0.3) for z in (-0.1, 0.1)]
    shapes = (
        mc.Sphere(0.2),
        mc.Box((0.2, 0.1, 0.3)),
        mc.Capsule(0.1, 0.2),
        mc.Cylinder(0.2, 0.1),
        mc.ConvexHull(cube),
        [mc.Box((0.1, 0.1, 0.3)), mc.Sphere(0.2, position=(0, 0, 0.4))],
    )
    for layer, (i, shape) in itertools.product(range(2), enumerate(shapes)):
        scene.add_body(
            f"{layer}{i}",
            shape=shape,
            position=(0.35 * i, 0.1 * layer, 0.6 + 0.7 * layer),
            angular_velocity=(1, 2, 3),
            linear_damping=0.1,
            angular_damping=0.1,
        )
    scene.add_body("moved", kind="kinematic", shape=mc.Box((0.2, 0.2, 0.2)), position=(3, 0, 1), velocity=(-1, 0, 0))
    spring, motor = mc.Spring(50.0, 1.0, 0.1), mc.Motor(velocity=1.0, max_force=2.0)
    scene.add_joint(
        mc.BallJoint(
            "00",
            "01",
            (0.2, 0, 0.6),
            swing_limit=0.1,
            twist_limits=(-0.1, 0.1),
            friction=0.1,
            spring=mc.Spring(5.0),
            motor=mc.Motor(velocity=(1, 0, 1), max_force=1.0),
        )
    )
    scene.add_joint(
        mc.UniversalJoint(
            "01",
            "02",
            (0.5, 0, 0.6),
            (1, 0, 0),
            (0, 1, 0),
            motor=(motor, None),
            spring=(None, spring),
            limits=((-0.1, 0.1), None),
            friction=(0.1, 0.2),
        )
    )
    scene.add_joint(
        mc.HingeJoint(
            "02",
            "03",
            (0.9, 0, 0.6),
            (0, 1, 0),
            limits=(-0.2, 0.2),
            friction=0.2,
            spring=spring,
            motor=mc.Motor(position=0.5, max_force=50.0),
        )
    )
    scene.add_joint(mc.SliderJoint("03", "04", (1, 0, 0), limits=(-0.1, 0.1), motor=motor, friction=1.0))
    scene.add_joint(mc.FixedJoint("04", "05"))
    scene.add_joint(mc.SliderJoint(None, "10", (0, 0, 1), spring=mc.Spring(500.0, 10.0, -0.2)))
    return scene


def bad_calls():
    """What is refused, and that the world goes on."""
    world = mc.World(mc.load("stack", count=3))
    wrong = (
        lambda: world.step(-1),
        lambda: world.body("nobody"),
        lambda: world.body(99),
        lambda: world.joint(0),
        lambda: world.apply_force("floor", (0, 0, 1)),
        lambda: world.apply_force(1, (0, 0, math.nan)),
        lambda: world.set_pose(1, orientation=(0, 0, 0, 0)),
        lambda: world.restore(None),
        lambda: world.restore(mc.World(mc.load("chain", n=2)).snapshot()),
        lambda: mc.World(None),
        lambda: mc.World(mc.Scene(), dt=0.0),
        lambda: mc.World(mc.Scene(), solver="best"),
        lambda: mc.load("nothing"),
        lambda: mc.ConvexHull([(0, 0, 0)] * 5),
        lambda: mc.Box((1, 1, -1)),
    )
    for call in wrong:
        try:
            call()
        except (mc.SceneError, FileNotFoundError):
            continue
        raise AssertionError("a wrong call was taken")
    for view in (world.positions, world.orientations, world.velocities, world.forces):
        before = view[1].copy()
        for poison in (math.nan, math.inf):
            view[1] = poison
            try:
                world.step()
            except mc.SimulationError:
                view[1] = before
                world.step()
            else:
                raise AssertionError("a state that is not finite was taken")
    world.velocities[1] = 1e200  # overflows within the step
    try:
        world.step(3)
    except mc.SimulationError:
        world.velocities[1] = 0.0
    world.step()


def corners():
    """Worlds without bodies, without contacts, far away, at one place, with ten thousand turns a second."""
    empty = mc.World(mc.Scene())
    empty.step(3)
    observe(empty)
    scene = mc.Scene()
    for k in range(6):
        scene.add_body(shape=mc.Box((0.1, 0.2, 0.3)), angular_velocity=(0, 6e4 * (k == 0), k))
    scene.add_body(shape=mc.Sphere(0.1), position=(1e9, 0, 0), velocity=(1e6, 0, 0))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    world = mc.World(scene)
    world.step(20)
    observe(world)


def copies_and_files():
    """Pickles, deep copies, scene files, recordings."""
    world = mc.World(mc.load("ragdolls", count=1))
    world.step(50)
    twins = (pickle.loads(pickle.dumps(world)), copy.deepcopy(world))
    world.step(10)
    for twin in twins:
        twin.step(10)
        assert twin.state_hash() == world.state_hash()
    from mcsim.io import Recorder, Recording

    with tempfile.TemporaryDirectory() as folder:
        world.scene.save(Path(folder) / "scene.json")
        assert mc.load(str(Path(folder) / "scene.json")) == world.scene
        recorder = Recorder(world, 2)
        recorder.step()
        recorder.recording().save(Path(folder) / "recording.npz")
        assert len(Recording.load(Path(folder) / "recording.npz")) == 2


def comings_and_goings():
    """Bodies and joints added, changed, taken away and brought back, under every pipeline."""
    for integrator in ("semi_implicit", "rk4", "rattle"):
        world = mc.World(every_row(), integrator=integrator)
        world.step(10)
        start = world.snapshot()
        shapes = (mc.Sphere(0.1), mc.ConvexHull(np.vstack([np.eye(3), -np.eye(3)]) * 0.2), mc.Box((0.1, 0.1, 0.1)))
        added = world.add_bodies([{"shape": shape, "position": (i, 2, 1)} for i, shape in enumerate(shapes)])
        world.add_joints(
            [mc.BallJoint(added[0], added[1], (0.5, 2, 1)), mc.HingeJoint(None, added[2], (2, 2, 1), (0, 1, 0))]
        )
        world.step(10)
        for name in ("00", "12", "04"):
            world.remove_body(name)
            world.step(3)
        world.set_shape(added[1], shapes)
        world.set_kind(added[0], "kinematic")
        world.set_material("floor", mc.Material(0.1))
        world.step(5)
        twin = pickle.loads(pickle.dumps(world))
        for each in (world, twin):
            each.step(5)
        assert twin.state_hash() == world.state_hash()
        observe(world)
        world.restore(start)
        world.step(5)


def loops_of_short_trees():
    """A loop between trees of one velocity each, added to a ReducedWorld."""
    world = mc.ReducedWorld(mc.load("newton_cradle"))
    world.add_joint(mc.SliderJoint("ball2", "ball4", anchor=(0.361, 0.131, 0.412), axis=(0, 1, 0), collide=True))
    world.step(8)


def main(folder):
    assert Path(mc.__file__).resolve().is_relative_to(Path(folder).resolve()), f"tried {mc.__file__}, not {folder}"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert not sys._is_gil_enabled(), "a module brought the GIL back"
    every_scene(steps=40)
    every_setting(steps=30)
    bad_calls()
    corners()
    copies_and_files()
    comings_and_goings()
    loops_of_short_trees()
    print("smoke: ok")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_path("platlib"))
