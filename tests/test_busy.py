"""A world that is in the middle of a step: whatever another thread, or a function that the step calls, asks of it is
answered or refused by one message, and nothing breaks. All public names are gone through, so that none is forgotten."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.world.capabilities import CHANGEABLE
from mcsim.world.handles import BodyHandle, JointHandle

ROOT = Path(__file__).parents[1]
BUSY = "is in the middle of a step"
UP = (0, 0, 1)
BALL = mc.Sphere(0.1)
CUBE = mc.Box((0.1, 0.1, 0.1))

# What is there to be asked of a world at any time: names, settings made once, and views of its arrays.
ALWAYS = {
    "contact_filter",
    "dt",
    "substep",
    "time",
    "body_names",
    "joint_names",
    "scene",
    "body",
    "joint",
    "bodies",
    "joints",
    "positions",
    "orientations",
    "velocities",
    "angular_velocities",
    "forces",
    "masses",
    "q",
    "qd",
    "tau",
    "system",
    "dynamics",
    "index",
}
ALWAYS |= {*CHANGEABLE, "gravity"}
# What only reads these arrays: a function that the step calls may do it, too.
LOOKS = {
    "energy",
    "momentum",
    "joint_errors",
    "frames",
    "shape_bodies",
    "shape_poses",
    "asleep",
    "settings",
    "loop_errors",
    "forward_dynamics",
    "inverse_dynamics",
    "mass_matrix",
    "bias_force",
    "body_jacobian",
    "to_maximal",
}
BODY_ALWAYS = {
    "name",
    "removed",
    "index",
    "kind",
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "asleep",
    "mass",
    "inertia",
    "gravity_scale",
    "linear_damping",
    "angular_damping",
    "bullet",
    "enabled",
    "user_data",
    "user_data=",
}
BODY_LOOKS = {"frame"}
JOINT_ALWAYS = {"name", "removed", "index", "type"}
JOINT_LOOKS = {"enabled", "position", "velocity", "angle", "force", "torque", "broken", "motor_force", "error"}
JOINT_LOOKS |= {"motor_velocity", "motor_position", "motor_max_force", "motor_max_velocity", "motor_kp", "motor_kd", "tau"}

FOLDER = TemporaryDirectory()
# How each name is asked; those that are not here are read, and called without arguments if they can be. A "=" behind a
# name: it is written.
CALLS = {
    "step": lambda w: w.step(),
    "body": lambda w: w.body("arm"),
    "joint": lambda w: w.joint("pin"),
    "index": lambda w: w.index("pin"),
    "apply_force": lambda w: w.apply_force("arm", UP),
    "apply_forces": lambda w: w.apply_forces([UP], ["arm"]),
    "apply_wind": lambda w: w.apply_wind(UP, ["arm"]),
    "apply_torque": lambda w: w.apply_torque("arm", UP),
    "apply_impulse": lambda w: w.apply_impulse("arm", UP),
    "apply_impulses": lambda w: w.apply_impulses([UP], ["arm"]),
    "set_pose": lambda w: w.set_pose("ball0", (0, 0, 3)),
    "set_velocity": lambda w: w.set_velocity("ball0", UP),
    "move_to": lambda w: w.move_to("tray", (0, 0, -3)),
    "wake": lambda w: w.wake("ball0"),
    "ray_cast": lambda w: w.ray_cast((0, 0, 9), (0, 0, -1)),
    "ray_casts": lambda w: w.ray_casts([(0, 0, 9)], (0, 0, -1)),
    "overlap": lambda w: w.overlap(BALL),
    "shape_cast": lambda w: w.shape_cast(BALL, (0, 0, 9), (1, 0, 0, 0), (0, 0, -1)),
    "overlaps": lambda w: w.overlaps("gate"),
    "distance": lambda w: w.distance("arm", "tray"),
    "add_body": lambda w: w.add_body(shape=BALL, position=(0, 0, 9)),
    "add_bodies": lambda w: w.add_bodies([{"shape": BALL, "position": (0, 0, 9)}]),
    "remove_body": lambda w: w.remove_body(w.body_names[-1]),
    "remove_bodies": lambda w: w.remove_bodies(w.body_names[-1:]),
    "add_joint": lambda w: w.add_joint(mc.FreeJoint(None, w.body_names[-1])),
    "add_joints": lambda w: w.add_joints([mc.FreeJoint(None, w.body_names[-1])]),
    "ignore_collision": lambda w: w.ignore_collision(w.body_names[-1], w.body_names[0]),
    "apply_buoyancy": lambda w: w.apply_buoyancy(0.5),
    "set_material_pair": lambda w: w.set_material_pair("ice", "wood", friction=0.1),
    "set_pair": lambda w: w.set_pair(w.body_names[-1], w.body_names[0], friction=0.1),
    "remove_joint": lambda w: w.remove_joint((w.joint_names or ("gone",))[-1]),
    "set_shape": lambda w: w.set_shape("ball0", CUBE),
    "set_material": lambda w: w.set_material("ball0", mc.Material()),
    "set_kind": lambda w: w.set_kind("ball1", "dynamic"),
    "set_body": lambda w: w.set_body("ball0", gravity_scale=0.5),
    "restore": lambda w: w.restore(w.snapshot()),
    "save_state": lambda w: w.save_state(Path(FOLDER.name) / "world.npz"),
    "contact_filter=": lambda w: setattr(w, "contact_filter", w.contact_filter),
    "gravity=": lambda w: setattr(w, "gravity", (0, 0, -5)),
    "q=": lambda w: setattr(w, "q", w.q),
    "qd=": lambda w: setattr(w, "qd", w.qd),
    "tau=": lambda w: setattr(w, "tau", w.tau),
    "mass_matrix": lambda w: w.mass_matrix(w.q),
    "forward_dynamics": lambda w: w.forward_dynamics(w.q, w.qd, w.tau),
    "inverse_dynamics": lambda w: w.inverse_dynamics(w.q, w.qd, w.tau),
    "bias_force": lambda w: w.bias_force(w.q, w.qd),
    "body_jacobian": lambda w: w.body_jacobian("arm"),
    "from_maximal": lambda w: w.from_maximal(w.positions, w.orientations),
}
HANDLE_CALLS = {
    "gravity_scale=": lambda h: setattr(h, "gravity_scale", 1.0),
    "linear_damping=": lambda h: setattr(h, "linear_damping", 0.0),
    "bullet=": lambda h: setattr(h, "bullet", True),
    "angular_damping=": lambda h: setattr(h, "angular_damping", 0.0),
    "position=": lambda h: setattr(h, "position", (0, 0, 4)),
    "orientation=": lambda h: setattr(h, "orientation", (1, 0, 0, 0)),
    "velocity=": lambda h: setattr(h, "velocity", UP),
    "angular_velocity=": lambda h: setattr(h, "angular_velocity", UP),
    "user_data=": lambda h: setattr(h, "user_data", UP),
    "motor_velocity=": lambda h: setattr(h, "motor_velocity", 1.0),
    "motor_position=": lambda h: setattr(h, "motor_position", 0.1),
    "motor_max_force=": lambda h: setattr(h, "motor_max_force", 1.0),
    "enabled=": lambda h: setattr(h, "enabled", False),
    "motor_max_velocity=": lambda h: (setattr(h, "motor_position", 0.1), setattr(h, "motor_max_velocity", 1.0)),
    "tau=": lambda h: setattr(h, "tau", 0.1),
    "set_motor": lambda h: h.set_motor(velocity=1.0),
    "set_limits": lambda h: h.set_limits(-1, 1),
    "set_spring": lambda h: h.set_spring(None),
}


def public_names(thing):
    """All public names of an object, and those that may be written with a "=" behind."""
    names = {name for name in {*dir(type(thing)), *getattr(thing, "__dict__", {})} if not name.startswith("_")}
    return names | {
        name + "="
        for name in names
        if isinstance(getattr(type(thing), name, None), property) and getattr(type(thing), name).fset
    }


def ask(thing, name, calls):
    if name in calls:
        return calls[name](thing)
    found = getattr(thing, name)
    return found() if callable(found) else found


def make(kind, motion=None, **keywords):
    """A world with a bit of everything. kind: "world", "event" or "reduced"."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane(UP), kind="static")
    if kind != "event":
        scene.add_body("tray", shape=CUBE, position=(0, 0, -3), kind="kinematic")
        scene.add_body("gate", shape=mc.Box((1, 1, 1), sensor=True), kind="static")
    scene.add_body("arm", shape=BALL, position=(1.0, 0, 2.0))
    if kind != "event":
        scene.add_body("crank", shape=BALL, position=(3.0, 0, 2.0))
        scene.add_joint(
            mc.HingeJoint(None, "crank", (3, 0, 2), (0, 1, 0), name="drive", motion=mc.Motion(motion or (lambda t: 0.0)))
        )
    scene.add_joint(
        mc.HingeJoint(None, "arm", (0, 0, 2), (0, 1, 0), name="pin", motor=mc.Motor(velocity=1.0, max_force=1.0))
    )
    for i in range(2):
        scene.add_body(f"ball{i}", shape=BALL, position=(0.0, 0.3 * i, 0.3), material=mc.Material(restitution=0.9))
    if kind == "event":
        keywords["contact"] = "event"
    return (mc.ReducedWorld if kind == "reduced" else mc.World)(scene, **keywords)


class Step:
    """A world in the middle of a step, which another thread makes."""

    def __init__(self, kind):
        self.entered, self.leave = threading.Event(), threading.Event()
        self.world = make(kind, self.motion)
        self.world.step(2)
        self.stats, self.arm, self.pin = self.world.stats, self.world.body("arm"), self.world.joint("pin")
        self.thread = threading.Thread(target=self.world.step)

    def motion(self, t):
        if hasattr(self, "thread") and threading.current_thread() is self.thread:
            self.entered.set()
            self.leave.wait(60)
        return 0.0

    def __enter__(self):
        self.thread.start()
        assert self.entered.wait(60)
        return self

    def __exit__(self, *_):
        self.leave.set()
        self.thread.join()


def things(kind):
    """[(what to ask, calls, names that are answered in another thread, those answered in a function of the step's)]"""
    return [
        (lambda step: step.world, CALLS, ALWAYS, LOOKS),
        (lambda step: step.arm, HANDLE_CALLS, BODY_ALWAYS, BODY_LOOKS),
        (lambda step: step.pin, HANDLE_CALLS, JOINT_ALWAYS, JOINT_LOOKS),
    ]


@pytest.mark.parametrize("kind", ["world", "reduced"])
def test_another_thread_is_answered_or_refused_by_every_public_name(kind):
    """All that only another thread's view of the arrays could answer wrongly is refused, by its name."""
    with Step(kind) as step:
        before = step.world.q.copy() if kind == "reduced" else None
        for get, calls, always, _ in things(kind):
            thing = get(step)
            for name in sorted(public_names(thing)):
                if name in always:
                    ask(thing, name, calls)
                    continue
                with pytest.raises(mc.SimulationError, match=BUSY):
                    ask(thing, name, calls)
                    raise AssertionError(f"{type(thing).__name__}.{name} was answered in the middle of a step")
        with pytest.raises(mc.SimulationError, match=f"World.stats: the world {BUSY}"):
            step.stats.residuals["primal"]
        with pytest.raises(mc.SimulationError, match=re.escape(f"World.joint('pin').set_limits: the world {BUSY}")):
            step.pin.set_limits(-1, 1)
        assert before is None or np.array_equal(before, step.world.q)
    step.world.step()
    assert step.world.energy().total < 1e6


@pytest.mark.parametrize("kind", ["world", "reduced"])
def test_a_function_of_the_step_is_answered_or_refused_by_every_public_name(kind):
    """And looking in the middle of a step changes not a bit of its outcome."""
    found = []

    def motion(t):
        for get, calls, always, looks in things(kind) if reach else ():
            thing = get(reach[0])
            for name in sorted(public_names(thing)):
                try:
                    ask(thing, name, calls)
                    assert name in always | looks, f"{type(thing).__name__}.{name} was answered in the middle of a step"
                except mc.SimulationError as error:
                    assert BUSY in str(error) and name not in always | looks
                    found.append(name)
        return 0.0

    reach = []
    world = make(kind, motion)
    world.step(2)
    other = make(kind)
    other.step(2)
    assert world.state_hash() == other.state_hash()
    step = type("Reach", (), {"world": world, "arm": world.body("arm"), "pin": world.joint("pin")})
    reach.append(step)
    world.step(2)
    reach.clear()
    other.step(2)
    assert len(found) > 40 and world.state_hash() == other.state_hash()


def test_the_names_of_handles_and_worlds_that_are_listed_here_exist():
    """So that what is renamed is listed anew."""
    worlds = public_names(make("world")) | public_names(make("reduced"))
    assert ALWAYS | LOOKS | set(CALLS) <= worlds
    body, joint = (public_names(handle.__new__(handle)) for handle in (BodyHandle, JointHandle))
    assert BODY_ALWAYS | BODY_LOOKS <= body and JOINT_ALWAYS | JOINT_LOOKS <= joint
    assert set(HANDLE_CALLS) <= body | joint


HAMMER = """
import sys, threading, time
sys.path.insert(0, {tests!r})
from test_busy import *
sys.setswitchinterval(1e-6)
kind, keywords = {kind!r}, {keywords!r}
world = make(kind, **keywords)
if kind != "event":
    world.add_bodies([dict(shape=BALL, position=(i % 12 * 0.25 - 1.5, i // 12 * 0.25 - 1.5, 1 + 0.01 * i),
                           material=mc.Material(restitution=0.8)) for i in range({balls})])
names, ends, failures = {names!r}, time.time() + {seconds}, []

def look():
    handles = [(world, CALLS), (world.body("arm"), HANDLE_CALLS), (world.joint("pin"), HANDLE_CALLS)]
    todo = [(thing, name, calls) for thing, calls in handles for name in sorted(public_names(thing))
            if not names or name in names]
    i = 0
    while time.time() < ends and len(world.body_names) > 2:              # some calls take bodies away
        thing, name, calls = todo[i % len(todo)]
        i += 1
        try:
            ask(thing, name, calls)
        except (mc.SimulationError, mc.SceneError, mc.StaleHandleError):
            pass
        except BaseException as error:
            failures.append(f"{{type(thing).__name__}}.{{name}}: {{error!r}}")
            return
thread = threading.Thread(target=look)
thread.start()
while thread.is_alive():
    try:
        world.step()
    except mc.SimulationError as error:
        if BUSY not in str(error):
            failures.append(repr(error))
thread.join()
if failures:
    sys.exit(failures[0])
world.step()
world.state_hash()
"""


@pytest.mark.parametrize(
    "kind, keywords, balls, names",
    [
        ("world", {}, 150, ["events"]),
        ("world", {}, 150, ["contacts"]),
        ("world", {}, 150, ["stats", "event_log", "overlaps"]),
        ("world", {}, 40, []),
        ("reduced", {}, 20, []),
        ("reduced", {}, 20, ["positions", "position", "velocities"]),
        ("event", {}, 0, []),
        ("world", {"solver": "admm", "iterations": 4}, 3, []),
    ],
)
@pytest.mark.sampled(4)
def test_one_thread_steps_and_another_asks_for_everything(kind, keywords, balls, names):
    """The process aborted within a second where another thread read events or contacts."""
    code = HAMMER.format(
        tests=str(ROOT / "tests"), kind=kind, keywords=keywords, balls=balls, names=names, seconds=amount(1.0, 2.5)
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_two_worlds_in_two_threads_ask_with_one_shape():
    """A shape that is asked with is placed for that, by every thread for itself."""
    worlds = [make("world") for _ in range(2)]
    places = [np.random.default_rng(k).uniform(-3, 3, (amount(1000, 3000), 3)) for k in range(2)]

    def answers(k):
        return [[body.name for body in worlds[k].overlap(mc.Sphere(0.75), place)] for place in places[k]]

    alone = [answers(k) for k in range(2)]
    together = [None, None]

    def run(k):
        together[k] = answers(k)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(k,)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert together == alone


ALGORITHMS = """
import sys, threading, time
import numpy as np
import mcsim as mc
sys.setswitchinterval(1e-6)
dynamics = mc.ReducedWorld(mc.load("ragdolls", count=1)).dynamics
rng = np.random.default_rng(0)
states = {n: (rng.normal(size=(n, dynamics.nq)), *rng.normal(size=(2, n, dynamics.nv))) for n in (1, 7, 40)}
calls = {
    "forward_dynamics": lambda q, qd, x: dynamics.forward_dynamics(q, qd, x),
    "inverse_dynamics": lambda q, qd, x: dynamics.inverse_dynamics(q[0], qd[0], x[0]),
    "mass_matrix": lambda q, qd, x: dynamics.mass_matrix(q), "state": lambda q, qd, x: dynamics.state(q, qd)[2],
    "accelerations": lambda q, qd, x: dynamics.accelerations(q, qd, x)[1],
    "jacobian": lambda q, qd, x: dynamics.body_jacobian(dynamics.system.links[5].body, q),
    "hybrid_dynamics": lambda q, qd, x: dynamics.hybrid_dynamics(q, qd, x, x, np.arange(dynamics.nv) >= 6)[0],
}
alone = {(name, n): call(*states[n]) for name, call in calls.items() for n in states}
ends, refused, failures = time.time() + float(sys.argv[1]), [0], []

def ask(seed):
    rng = np.random.default_rng(seed)
    while time.time() < ends and not failures:
        name, n = list(alone)[rng.integers(len(alone))]
        try:
            if not np.array_equal(calls[name](*states[n]), alone[name, n]):
                failures.append(f"{name} of {n} states: another answer")
        except mc.SimulationError as error:
            refused[0] += "belongs to one thread at a time" in str(error)
threads = [threading.Thread(target=ask, args=(k,)) for k in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(failures[0] if failures else 0 if refused[0] else "nothing was refused")
"""


def test_dynamics_in_several_threads_answer_rightly_or_refuse():
    """They wrote into each other's answers, and beyond them: double free or corruption."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", ALGORITHMS, str(amount(1.0, 3.0))],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_ctrl_c_never_leaves_a_world_busy():
    """Interrupts at random moments of short calls: the turn is given back by whoever had it."""
    code = """
import signal
import mcsim as mc

scene = mc.Scene()
scene.add_body("b", shape=mc.Sphere(0.1))
world, armed, caught = mc.World(scene, sleep=False), False, 0

def interrupt(*_):
    global armed
    if armed:
        armed = False
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.00037)
while caught < COUNT:
    try:
        armed = True
        while True:
            world.step()
            world.body("b").frame
            world.ray_cast((0, 0, 9), (0, 0, -1))
    except KeyboardInterrupt:
        caught += 1
signal.setitimer(signal.ITIMER_REAL, 0)
""".replace("COUNT", str(amount(1000, 3000)))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
