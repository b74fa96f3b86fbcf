"""Steps that would take very long: those that can be made end soon, the others answer Ctrl-C or are refused."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

MOST = 1_000_000


def pile(kind, **keywords):
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(8):
        scene.add_body(f"box{i}", shape=mc.Box((0.1, 0.1, 0.1)), position=(0.01 * i, 0, 0.1 + 0.199 * i))
    scene.add_body("arm", shape=mc.Sphere(0.1), position=(3, 0, 2))
    scene.add_joint(mc.HingeJoint(None, "arm", (2, 0, 2), (0, 1, 0), name="pin", friction=0.1, limits=(-0.1, 0.1)))
    return kind(scene, **keywords)


LONG = {
    "sweeps": (mc.World, {"iterations": MOST}),
    "rows": (mc.World, {"joint_solver": "rows", "iterations": MOST}),
    "matrix": (mc.World, {"solver": "pgs", "iterations": MOST}),
    "substeps": (mc.World, {"substeps": 10_000, "iterations": 500}),
    "rounds": (mc.World, {"stabilization": "projection", "position_rounds": MOST}),
    "ggl": (mc.World, {"stabilization": "ggl", "position_rounds": MOST}),
    "split": (mc.World, {"stabilization": "split_impulse", "iterations": MOST}),
    "pyramid": (mc.World, {"friction": "pyramid", "iterations": MOST}),
    "rk4": (mc.World, {"integrator": "rk4", "stabilization": "none", "iterations": MOST}),
    "rattle": (mc.World, {"integrator": "rattle", "stabilization": "none", "iterations": MOST}),
    "reduced": (mc.ReducedWorld, {"iterations": MOST}),
    "compliant": (mc.World, {"iterations": MOST, "contact": "compliant"}),
    "laboratory": (mc.World, {"solver": "jacobi", "iterations": MOST, "tolerance": 0.0}),
    "residual": (mc.World, {"stop": "residual", "tolerance": 0.0, "iterations": 1, "substeps": 10_000}),
}


@pytest.mark.parametrize("name", LONG)
def test_a_single_step_answers_ctrl_c(name):
    """Ctrl-C was answered between steps only: a step with a million rounds went on for minutes."""
    kind, keywords = LONG[name]
    soft = {"contact": "compliant"} if "contact" in keywords else {}
    make = (lambda **k: soft_pile(**k)) if soft else (lambda **k: pile(kind, **k))
    world = make(**keywords)
    before = world.state_hash()

    def interrupt(*_):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        began = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            world.step(1_000_000)
        took = time.perf_counter() - began
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert took < 10.0  # 0.3 s, and what a busy machine adds
    steps = round(world.time / world.dt)
    if steps == 0:
        assert world.state_hash() == before  # the step that it met left nothing behind
    else:
        other = make(**keywords)
        if steps * took < 3.0:
            other.step(steps)
            assert other.state_hash() == world.state_hash()
    assert np.isfinite(world.positions).all()


def soft_pile(**keywords):
    scene = mc.Scene()
    soft = mc.Material(stiffness=1e5, damping=100.0)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=soft)
    for i in range(8):
        scene.add_body(f"box{i}", shape=mc.Box((0.1, 0.1, 0.1)), position=(0.01 * i, 0, 0.1 + 0.199 * i), material=soft)
    return mc.World(scene, **keywords)


# ---- what spins or flies near a mesh -------------------------------------------------------------------------------------

SPINS = """
import sys, time
import numpy as np
import mcsim as mc

octahedron = mc.Mesh(np.vstack([np.eye(3), -np.eye(3)]) * 0.8, [(0, 1, 2), (3, 5, 4), (0, 5, 1), (3, 4, 2)])
field = mc.HeightField(0.1 * np.random.default_rng(0).random((60, 60)), spacing=0.3)
slowest, every, turn = 0.0, int(sys.argv[1]), 0
for ground in (octahedron, field):
    for shape in (mc.Box((0.5, 0.5, 0.5)), mc.Box((0.1, 0.1, 0.5)), mc.Cylinder(0.5, 0.001)):
        for kind in ("static", "kinematic"):
            for spin in (0.0, 1e8, 1e9, 1e60):
                for speed in (0.0, 1e3, 1e18):
                    turn += 1
                    if turn % every:
                        continue
                    scene = mc.Scene(gravity=(0, 0, 0))
                    scene.add_body("ground", shape=ground, kind=kind,
                                   angular_velocity=(0, 0, spin) if kind == "kinematic" else (0, 0, 0))
                    scene.add_body("b", shape=shape, position=(0.1, 0, 1), velocity=(0, 0, -speed),
                                   angular_velocity=(0, spin, 0.1 * spin))
                    world = mc.World(scene)
                    began = time.perf_counter()
                    try:
                        world.step()
                    except mc.SimulationError:
                        pass
                    took = time.perf_counter() - began
                    slowest = max(slowest, took)
                    if took > 4.0:
                        sys.exit(f"{ground.type} {kind} {shape}, {spin} rad/s, {speed} m/s: {took} s")
print(slowest)
"""


def test_nothing_that_spins_or_flies_near_a_mesh_takes_long():
    """Strides of the search are half of the thickness long: at 1e9 rad/s there were hundreds of millions of them."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SPINS, str(amount(5, 1))],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-1000:]


def test_long_searches_find_what_short_ones_do():
    """A thin plate that flies along a wavy field, so that strides have doubled long before: it does not pass through."""
    x = np.arange(400) * 0.05
    heights = np.tile(0.01 * np.sin(x)[:, None], (1, 9))
    for thickness in (0.02, 0.001):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("field", shape=mc.HeightField(heights, spacing=0.05), kind="static")
        scene.add_body(
            "plate",
            shape=mc.Box((0.1, 0.05, thickness)),
            position=(-8, 0, 0.1),
            velocity=(600, 0, -7),
            angular_velocity=(0, 30, 0),
        )
        world = mc.World(scene)
        for _ in range(3):
            world.step()
            if abs(world.positions[1, 0]) < 9.9:
                assert world.positions[1, 2] > -0.01


# ---- loops in generalized coordinates ------------------------------------------------------------------------------------


def wheels_on(scene, first, second):
    """Two wheels that a gear couples, on bodies of a net: beside a gear loops are one dense matrix."""
    for name, body in (("wheel", first), ("pinion", second)):
        scene.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=scene.body(body).position)
        scene.add_joint(mc.HingeJoint(body, name, scene.body(body).position, (0, 0, 1), name=f"of {name}"))
    scene.add_joint(mc.GearJoint("of wheel", "of pinion", ratio=-2.0))
    return scene


@pytest.mark.slow
def test_a_net_of_loops_beside_a_gear_is_refused_with_the_reason():
    """The constructor did not return: all loops are one dense matrix there."""
    net = mc.load("grid", n=30)
    scene = wheels_on(mc.load("grid", n=30), "ball0_0", "ball1_1")
    began = time.perf_counter()
    with pytest.raises(mc.SceneError, match=r"843 of the joints close loops, 2532 rows.*take World"):
        mc.ReducedWorld(scene)
    assert time.perf_counter() - began < 60.0
    world = mc.ReducedWorld(wheels_on(mc.load("grid", n=6), "ball0_0", "ball1_1"))
    before = world.state_hash()
    bodies = [{"name": f"x{b.name}", "shape": mc.Sphere(0.1), "position": b.position + (0, 0, 50)} for b in net.bodies]
    world.add_bodies(bodies)
    joints = [
        mc.BallJoint(f"x{j.a}", f"x{j.b}", anchor=0.5 * (net.body(j.a).position + net.body(j.b).position) + (0, 0, 50))
        for j in net.joints
        if j.a is not None
    ]
    with pytest.raises(mc.SceneError, match="close loops"):
        world.add_joints([*joints, mc.BallJoint("wheel", "xball3_3", anchor=(0, 0, 20))])
    world.remove_bodies([body["name"] for body in bodies])
    assert world.state_hash() == before
    world.step()


def test_many_small_loops_are_not_refused():
    """It is the loops of one tree that count."""
    scene = mc.Scene()
    one = mc.load("four_bar")
    for k in range(40):
        for body in one.bodies:
            scene.add_body(f"{body.name}{k}", shape=mc.Sphere(0.05), kind=body.kind, position=body.position + (0, 3 * k, 0))
        for joint in one.joints:
            ends = [None if end is None else f"{end}{k}" for end in (joint.a, joint.b)]
            point = (one.body(joint.b).position if joint.b else one.body(joint.a).position) + (0, 3 * k, 0)
            scene.add_joint(mc.HingeJoint(*ends, anchor=point, axis=(0, 1, 0)))
    world = mc.ReducedWorld(scene)
    assert len(world.system.loops) == 40
    world.step()
