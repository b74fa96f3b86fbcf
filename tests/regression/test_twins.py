"""Twins under random operations: from a seed, the same calls are made on several worlds. One is only stepped and
changed, one is looked at everywhere in between, one is copied at random places by all the ways there are, one forgets
all but its record before every step, and one is built from nothing at the end by the same calls. Their hashes are the
same, what one refuses all refuse in the same words, and what is refused changes nothing.

MCSIM_OPERATIONS sets how many operations the long run makes (--slow), 100,000 if it is not set. A failure names the
seed and the last operations.
"""

import copy
import os
import pickle

import numpy as np
import pytest

import mcsim as mc
from plain_joints import PLAIN, plain_joint

OPERATIONS = int(os.environ.get("MCSIM_OPERATIONS", 100_000))
MOST_BODIES, MOST_JOINTS, MOST_KEPT = 12, 8, 3
FASTEST = 30.0  # beyond which everything is stopped [m/s, rad/s]

WORLDS = {
    "default": (mc.World, {}),
    "reduced": (mc.ReducedWorld, {}),
    "rows": (mc.World, {"joint_solver": "rows"}),
    "reduced rk4": (mc.ReducedWorld, {"integrator": "rk4"}),
    "pgs": (mc.World, {"solver": "pgs"}),
    "reduced projection": (mc.ReducedWorld, {"stabilization": "projection"}),
    "rk4": (mc.World, {"integrator": "rk4"}),
    "reduced baumgarte": (mc.ReducedWorld, {"stabilization": "baumgarte"}),
    "rattle": (mc.World, {"integrator": "rattle"}),
    "split": (mc.World, {"stabilization": "split_impulse", "friction_points": "point"}),
    "reduced threads": (mc.ReducedWorld, {"threads": 2, "stop": "residual"}),
    "ggl": (mc.World, {"stabilization": "ggl"}),
}

LOOKS = (
    "rows",
    "contacts",
    "joint_errors",
    "energy",
    "momentum",
    "jacobian",
    "delassus",
    "kkt",
    "redundancy",
    "problem",
    "state_hash",
    "snapshot",
    "maximal",
    "loop_errors",
    "to_maximal",
    "frames",
    "asleep",
    "stats",
    "events",
    "settings",
    "scene",
)
REFUSED = (mc.SceneError, mc.SimulationError, ValueError)


def unit(q):
    return q / np.linalg.norm(q)


class Together:
    """A user's joint: one coordinate of b less that of a stays what it is given as."""

    def __init__(self, k, gap):
        self.k, self.gap = k, gap

    def __call__(self, a, b):
        return [b.position[self.k] - a.position[self.k] - self.gap]


def shape_of(rng, solid=True):
    size = rng.uniform(0.05, 0.3, 3)
    kind = rng.integers(6)
    place = dict(position=rng.uniform(-0.1, 0.1, 3), orientation=unit(rng.normal(size=4))) if rng.random() < 0.2 else {}
    sensor = {"sensor": True} if not solid and rng.random() < 0.3 else {}
    return [
        lambda: mc.Sphere(size[0], **place, **sensor),
        lambda: mc.Box(size, **place, **sensor),
        lambda: mc.Capsule(size[0], size[1], **place),
        lambda: mc.Cylinder(size[0], size[1], **place),
        lambda: mc.ConvexHull(rng.normal(size=(8, 3)) * 0.15, **place),
        lambda: [mc.Sphere(size[0]), mc.Box(size, **place)],
    ][kind]()


def material_of(rng):
    return mc.Material(
        rng.uniform(0, 1),
        rng.choice([0.0, 0.0, 0.6]),
        rolling_friction=rng.choice([0.0, 0.01]),
        surface_velocity=rng.choice([0.0, 0.3]) * rng.normal(size=3),
    )


def joint_of(rng, a, b, at, name, joints):
    """What makes a joint: each world gets one of its own."""
    axis, other = np.eye(3)[rng.permutation(3)[:2]]
    anchor = at + rng.uniform(-0.3, 0.3, 3)
    driven = {
        "limits": [(-0.5, 0.7), None][rng.integers(2)],
        "friction": [0.0, 0.2][rng.integers(2)],
        "motor": mc.Motor(velocity=rng.uniform(-2, 2), max_force=5.0) if rng.random() < 0.3 else None,
        "spring": mc.Spring(20.0, 1.0) if rng.random() < 0.3 else None,
    }
    common = {"name": name, "collide": bool(rng.random() < 0.2)} | ({"break_force": 200.0} if rng.random() < 0.15 else {})
    k, gap = int(rng.integers(3)), float(rng.normal())
    makers = [
        lambda: mc.BallJoint(a, b, anchor, axis, 1.0, **common),
        lambda: mc.BallJoint(a, b, anchor, **common),
        lambda: mc.HingeJoint(a, b, anchor, axis, **driven, **common),
        lambda: mc.HingeJoint(a, b, anchor, axis, **driven, **common),
        lambda: mc.SliderJoint(a, b, axis, **driven, **common),
        lambda: mc.FixedJoint(a, b, **common),
        lambda: mc.UniversalJoint(a, b, anchor, axis, other, **common),
        lambda: mc.CylindricalJoint(a, b, anchor, axis, **common),
        lambda: mc.PlanarJoint(a, b, anchor, axis, **common),
        lambda: mc.ScrewJoint(a, b, anchor, axis, 0.1, **common),
        lambda: mc.DistanceJoint(a, b, anchor, anchor + (0, 0, 0.5), limits=(None, 0.2), **common),
        lambda: mc.DistanceJoint(a, b, anchor, anchor + (0.5, 0, 0), **common),
        lambda: mc.RackPinionJoint(a, b, anchor, axis, other, 0.2, **common),
        lambda: mc.FreeJoint(a, b, **common),
        lambda: mc.HingeJoint(a, b, anchor, axis, motion=mc.Motion(amplitude=0.3, frequency=1.0), **common),
        lambda: mc.UserJoint(a, b, Together(k, gap), name=name),
        lambda: mc.GearJoint(*(joints + ["x", "y"])[:2], 1.5, name=name),
        lambda: plain_joint(list(PLAIN)[int(1e3 * abs(gap)) % len(PLAIN)], a, b, anchor, axis, **common),
    ]
    return makers[rng.integers(len(makers))]


def start(seed):
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, -9.81) if seed % 4 else (0, 0, 0))
    scene.add_body(
        "floor", shape=[mc.Plane((0, 0, 1)), mc.Box((4, 4, 0.2), position=(0, 0, -0.2))][seed % 2], kind="static"
    )
    for i in range(4):
        scene.add_body(
            f"b{i}", shape=shape_of(rng), position=rng.uniform((-1, -1, 0.3), (1, 1, 1.5)), material=material_of(rng)
        )
    scene.add_joint(mc.HingeJoint("b0", "b1", scene.body("b0").position, (0, 1, 0), name="j0"))
    return scene


def drawn(rng, world, count):
    """(name, what it does to a world and what that world keeps): one operation, the same for all twins. world: to
    choose from."""
    bodies, joints = list(world.body_names), list(world.joint_names)
    body = bodies[rng.integers(len(bodies))]
    i = bodies.index(body)
    joint = joints[rng.integers(len(joints))] if joints else "none"
    at, q, v = rng.uniform((-1, -1, 0.2), (1, 1, 2)), unit(rng.normal(size=4)), rng.normal(size=6)
    which = rng.integers(MOST_KEPT)
    other = bodies[rng.integers(len(bodies))]
    reduced = isinstance(world, mc.ReducedWorld)
    x = float(rng.random())
    if len(bodies) < MOST_BODIES:
        shape, material, kind = (
            shape_of(rng, False),
            material_of(rng),
            str(rng.choice(["dynamic", "dynamic", "kinematic", "static"])),
        )
        added = dict(name=f"n{count}", shape=shape, material=material, kind=kind, position=at, orientation=q)
        if kind != "static":
            added |= dict(velocity=v[:3], angular_velocity=v[3:])
    maker = joint_of(rng, [body, None][int(x < 0.3)], other, world.positions[i].copy(), f"m{count}", joints)

    def view(w, k):
        if reduced:
            w.qd[...] = 0.9 * w.qd + 0.05 * v[0]
        w.velocities[i] += 0.1 * v[:3]
        if not reduced:
            w.positions[i] += 0.001 * v[3:]

    def written(w, k):
        if reduced:
            w.tau[...] = 0.1 * v[1]
            w.angular_velocities[...] *= 0.9
        elif w.body(body).kind != "static":
            w.orientations[i] *= 1.5

    def handle(w, k):
        w.body(body).gravity_scale, w.body(body).linear_damping = x, 0.1 * x

    def drive(w, k):
        w.joint(joint).set_motor(velocity=v[0], max_force=3.0)

    operations = {
        "step": (14, lambda w, k: w.step(1 + int(3 * x))),
        "set_pose": (2, lambda w, k: w.set_pose(body, at, q if x < 0.5 else None)),
        "set_velocity": (2, lambda w, k: w.set_velocity(body, v[:3], v[3:])),
        "apply_impulse": (1, lambda w, k: w.apply_impulse(body, v[:3], at)),
        "apply_force": (1, lambda w, k: w.apply_force(body, 20 * v[:3], at)),
        "apply_forces": (1, lambda w, k: w.apply_forces(0.1 * v * np.ones((len(bodies), 6)))),
        "view": (2, view),
        "written": (1, written),
        "move_to": (1, lambda w, k: w.move_to(body, at)),
        "wake": (1, lambda w, k: w.wake()),
        "set_body": (1, lambda w, k: w.set_body(body, density=100 + 900 * x, linear_damping=x)),
        "set_shape": (1, lambda w, k: w.set_shape(body, shape_of(np.random.default_rng(count)))),
        "set_material": (1, lambda w, k: w.set_material(body, mc.Material(x, x))),
        "set_kind": (1, lambda w, k: w.set_kind(body, ["static", "kinematic", "dynamic"][int(3 * x)])),
        "handle": (1, handle),
        "drive": (1, drive),
        "spring": (1, lambda w, k: w.joint(joint).set_spring(mc.Spring(10.0 * x, x) if x < 0.6 else None)),
        "limits": (1, lambda w, k: w.joint(joint).set_limits(-x, x if x < 0.6 else None)),
        "add_joint": (3, lambda w, k: w.add_joint(maker()) if len(joints) < MOST_JOINTS else w.remove_joint(joint)),
        "remove_joint": (1, lambda w, k: w.remove_joint(joint)),
        "add_body": (2, lambda w, k: w.add_body(**added) if len(bodies) < MOST_BODIES else w.remove_body(body)),
        "remove_body": (1, lambda w, k: w.remove_body(body) if len(bodies) > 3 else None),
        "keep": (1, lambda w, k: k.__setitem__(which, w.snapshot())),
        "restore": (1, lambda w, k: w.restore(k[which]) if which in k else None),
        "bad pose": (1, lambda w, k: w.set_pose(body, (0, 0, np.nan))),
        "bad body": (1, lambda w, k: w.add_body(body, shape=mc.Sphere(0.1))),
    }
    weights = np.array([weight for weight, _ in operations.values()], float)
    name = list(operations)[rng.choice(len(operations), p=weights / weights.sum())]
    return name, operations[name][1]


def calm(world, kept):
    if isinstance(world, mc.ReducedWorld):
        world.qd[...] = 0.0
    else:
        world.velocities[...] = world.angular_velocities[...] = 0.0


def done(operation, world, kept):
    """-> None, or the kind of error and its words; what is refused has changed nothing, unless a step was half of a
    call."""
    try:
        operation(world, kept)
    except REFUSED as error:
        return type(error), str(error)


def look(world, rng):
    for name in rng.permutation(LOOKS)[:6]:
        try:
            seen = getattr(world, name, None)
            seen = seen() if callable(seen) else seen
            if name == "stats":
                dict(seen.residuals)
        except (*REFUSED, np.linalg.LinAlgError):
            pass
    (
        repr(world),
        [world.joint(name).force for name in world.joint_names],
        [world.body(name).frame for name in world.body_names],
    )
    world.overlap(mc.Sphere(0.5), (0, 0, 1)), world.ray_cast((0, 0, 5), (0.1, 0, -1))


def copied(world, kept, rng):
    """Another world in its place, by one of the ways there are."""
    way = rng.integers(5)
    users = any(joint.type == "user" for joint in (*world.scene.joints, *world._origin.joints))
    if way == 0 or users:
        return copy.deepcopy(world)
    if way == 1:
        return pickle.loads(pickle.dumps(world))
    if way == 2:
        world.restore(world.snapshot())
        return world
    if way == 3:
        snapshot = pickle.loads(pickle.dumps(world.snapshot()))
        done(lambda world, kept: world.step(1), world, kept)
        world.restore(snapshot)
        return world
    for key in kept:
        kept[key] = pickle.loads(pickle.dumps(kept[key]))
    return copy.copy(world)


def differing(world, other):
    """Names of the entries of the record in which two worlds differ."""
    here, there = world._holder(), other._holder()
    return [
        entry.name
        for entry in world._RECORD
        if np.array(entry.read(here)).tobytes() != np.array(entry.read(there)).tobytes()
    ]


def play(seed, kind, keywords, operations, monkeypatch):
    rng, eyes = np.random.default_rng(seed), np.random.default_rng(seed + 1)
    made = lambda: kind(start(seed), dt=1 / 120, **keywords)
    worlds = {name: made() for name in ("plain", "looking", "copied")}
    monkeypatch.setenv("MCSIM_FORGET", "1")
    worlds["forgetting"] = made()
    monkeypatch.delenv("MCSIM_FORGET")
    kept = {name: {} for name in worlds}
    script, hashes, log = [], [], []
    try:
        for count in range(operations):
            name, operation = drawn(rng, worlds["plain"], count)
            log.append(name)
            script.append(operation)
            before = worlds["looking"].state_hash() if name not in ("step", "handle") else None
            answers = {twin: done(operation, world, kept[twin]) for twin, world in worlds.items()}
            assert len({*answers.values()}) == 1, answers
            if answers["plain"] is not None and before is not None:
                assert worlds["looking"].state_hash() == before, "what was refused changed something"
            fast = worlds["plain"].velocities, worlds["plain"].angular_velocities
            if not all(np.abs(part).max(initial=0.0) < FASTEST for part in fast):
                script.append(calm)
                for twin, world in worlds.items():
                    calm(world, kept[twin])
            look(worlds["looking"], eyes)
            if eyes.random() < 0.25:
                worlds["copied"] = copied(worlds["copied"], kept["copied"], eyes)
            hashes.append(worlds["looking"].state_hash())
            for twin in ("copied", "forgetting"):
                assert worlds[twin].state_hash() == hashes[-1], (twin, differing(worlds["looking"], worlds[twin]))
            if count % 5 == 4:
                assert worlds["plain"].state_hash() == hashes[-1]
        anew, own = made(), {}
        for operation in script:
            done(operation, anew, own)
        assert anew.state_hash() == worlds["plain"].state_hash() == hashes[-1]
    except BaseException as error:
        error.add_note(
            f"seed {seed}, {kind.__name__} {keywords}, operation {len(log)}: the last were {', '.join(log[-12:])}"
        )
        raise


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.sampled(5)
def test_twins_stay_alike(name, monkeypatch):
    kind, keywords = WORLDS[name]
    play(list(WORLDS).index(name), kind, keywords, 16, monkeypatch)


@pytest.mark.parametrize("turns", [(2.0, 4.0), (3.5, 5.5, 1.0), (-2.5, 3.0)])
def test_looking_between_two_poses_changes_no_sign(turns):
    """A body's quaternion had the sign nearer to the pose before, or to the one that was last looked at."""
    worlds = [mc.ReducedWorld(start(1), dt=1 / 120) for _ in range(2)]
    for world, looks in zip(worlds, (False, True)):
        name = next(body.name for body in world.scene.bodies if body.kind == "dynamic")
        for turn in turns:
            world.set_pose(name, orientation=(np.cos(turn / 2), 0, np.sin(turn / 2), 0))
            if looks:
                world.orientations
    assert worlds[0].state_hash() == worlds[1].state_hash()


@pytest.mark.parametrize("integrator", ["semi_implicit", "reference"])
@pytest.mark.parametrize("turns", [(2.0, 4.0), (3.5, 5.5, 1.0), (-2.5, 3.0), (2.0, 4.0, 0.0)])
def test_looking_between_two_writings_of_q_changes_no_sign(turns, integrator):
    """... whoever writes the coordinates themselves: nor do copies that are made in between, or steps that fail."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("a", shape=mc.Box((0.1, 0.2, 0.3)), position=(0, 0, 1), angular_velocity=(0, 0.5, 0))
    scene.add_body("b", shape=mc.Box((0.1, 0.2, 0.3)), position=(0, 0, 2))
    scene.add_joint(mc.HingeJoint("a", "b", (0, 0, 1.5), (0, 1, 0)))
    worlds = [mc.ReducedWorld(scene, dt=1 / 120, integrator=integrator) for _ in range(4)]
    for world in worlds:
        world.step(2)
    before = worlds[0].q.copy()
    for k, turn in enumerate(turns):
        for i, world in enumerate(worlds):
            world.q[...] = before
            if turn:
                world.q[3:7] = np.cos(turn / 2), 0, np.sin(turn / 2), 0
            if i == 1:
                world.orientations
            if i == 2:
                world.restore(pickle.loads(pickle.dumps(world.snapshot())))
            if i == 3:
                worlds[3] = copy.deepcopy(world)
        if k == 0 and integrator == "semi_implicit":
            for i in (1, 2):
                worlds[i].apply_force("a", (1e308, 0, 1e308))
                worlds[i].apply_force("b", (1e308, 0, 1e308))
                with pytest.raises(mc.SimulationError):
                    worlds[i].step()
    assert len({world.state_hash() for world in worlds}) == 1
    for world in worlds:
        world.step(2)
        world.q[3:7] *= -1
        world.step(2)
    assert len({world.state_hash() for world in worlds}) == 1


def test_coordinates_of_kinematic_bodies_are_those_of_their_poses_whoever_looks():
    """q had them as the last step had made them, and as their poses have them, another rounding, once somebody had
    looked."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body(
        "a", shape=mc.Box((0.1, 0.2, 0.3)), kind="kinematic", position=(0, 0, 1), angular_velocity=(0.3, 0.5, 0.7)
    )
    scene.add_body("b", shape=mc.Box((0.1, 0.2, 0.3)), position=(0, 0, 2))
    scene.add_joint(mc.UniversalJoint("a", "b", (0, 0, 1.5), (0, 1, 0), (1, 0, 0)))
    worlds = [mc.ReducedWorld(scene, dt=1 / 120) for _ in range(3)]
    for _ in range(10):
        for world, looks in zip(worlds, (False, True, False)):
            world.step(2)
            if looks:
                world.energy()
        seen = [np.concatenate([world.q, world.qd, *map(np.ravel, world.to_maximal())]) for world in worlds[:2]]
        assert seen[0].tobytes() == seen[1].tobytes()
        assert worlds[2].body_jacobian("b").tobytes() == worlds[1].body_jacobian("b").tobytes()
        worlds[2].set_velocity("a", (0.1, 0, 0))
        for world in worlds[:2]:
            world.set_velocity("a", (0.1, 0, 0))
        assert worlds[0].qd.tobytes() == worlds[2].qd.tobytes()


def test_what_joints_carried_before_a_step_that_failed_is_not_lost(monkeypatch):
    """A step made it, the next one of the same call failed and was undone, and then q or qd was written, or kinematic
    bodies took theirs: the forces of the step before both stood there."""
    play(4503, mc.ReducedWorld, {"integrator": "rk4"}, 57, monkeypatch)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_how_still_a_body_was_does_not_hang_on_calls(monkeypatch):
    """On a joint to a kinematic body the way of a step began, within a call, where the drift had ended, and else where its
    coordinates put it: another rounding."""
    play(3101, mc.ReducedWorld, {}, 48, monkeypatch)


def test_an_impact_at_the_begin_of_a_step_is_of_that_step():
    """In generalized coordinates what bounced then was weighed by the accelerations of the step before, which no copy had:
    a copy of a falling body with a motor's force on it bounced to another height."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("arm", shape=mc.Box((0.1, 0.2, 0.1)), position=(0, 0, 0.9), material=mc.Material(restitution=0.6))
    scene.add_body("hand", shape=mc.Box((0.1, 0.2, 0.1)), position=(0, 0.4, 0.9), material=mc.Material(restitution=0.6))
    scene.add_joint(mc.BallJoint("arm", "hand", (0, 0.2, 0.9)))
    for keywords in ({}, {"integrator": "rk4"}, {"stabilization": "baumgarte"}):
        world, other = (mc.ReducedWorld(scene, dt=1 / 120, **keywords) for _ in range(2))
        world.tau[-3:] = other.tau[-3:] = (-0.3, 0.2, 0.1)
        for _ in range(20):
            world.step(4)
            other.step(4)
            other = copy.deepcopy(other)
            assert world.state_hash() == other.state_hash()


@pytest.mark.parametrize("keywords", [{}, {"integrator": "rattle"}, {"integrator": "rk4"}, {"stabilization": "baumgarte"}])
@pytest.mark.parametrize("load_first", [True, False])
def test_a_rope_between_two_articulations_is_in_the_matrix_of_neither(keywords, load_first):
    """Bounded rows of what has motors are solved with its joints in them; of a rope's other end the answer was that to the
    impulse before, of whatever row that was. A load that was added before the arm flew off."""
    scene = mc.Scene()
    names = ["load", "upper", "fore"] if load_first else ["upper", "fore", "load"]
    places = {"load": (1.2, 0, 1), "upper": (0.3, 0, 2), "fore": (0.9, 0, 2)}
    for name in names:
        scene.add_body(name, shape=mc.Box((0.3, 0.1, 0.1)), position=places[name])
    for name, a, b, x in (("shoulder", None, "upper", 0), ("elbow", "upper", "fore", 0.6)):
        scene.add_joint(
            mc.HingeJoint(
                a,
                b,
                (x, 0, 2),
                (0, 1, 0),
                name=name,
                limits=(-1, 1),
                friction=0.1,
                motor=mc.Motor(position=0.2, max_force=2e3, hertz=4),
            )
        )
    scene.add_joint(mc.DistanceJoint("fore", "load", (1.2, 0, 2), (1.2, 0, 1), limits=(None, 1.0), name="rope"))
    world = mc.World(scene, dt=1 / 120, **keywords)
    for _ in range(20):
        other = copy.deepcopy(world)
        world.step(2)
        other.step(2)
        assert world.state_hash() == other.state_hash()
        assert np.ravel(world.joint("rope").position)[0] < 1.001


@pytest.mark.parametrize(
    "keywords", [{}, {"integrator": "rk4"}, {"integrator": "rattle"}, {"joint_solver": "rows"}, {"stabilization": "ggl"}]
)
@pytest.mark.parametrize("kind", ["static", "kinematic"])
def test_a_step_that_failed_leaves_nothing_behind(keywords, kind):
    """What does not move took 0 times the infinite impulse of a step that failed, and kept it: its rows were passed by."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("post", shape=mc.Box((0.1, 0.1, 0.5)), position=(0, 0, 0.5), kind=kind)
    scene.add_body("arm", shape=mc.Sphere(0.1), position=(0.3, 0, 1), material=mc.Material(restitution=0.5))
    scene.add_body("hand", shape=mc.Sphere(0.1), position=(0.6, 0, 1), material=mc.Material(restitution=0.5))
    scene.add_joint(
        mc.HingeJoint(
            "post",
            "arm",
            (0, 0, 1),
            (0, 1, 0),
            name="shoulder",
            limits=(-0.2, 0.2),
            motor=mc.Motor(velocity=1, max_force=1),
        )
    )
    scene.add_joint(mc.HingeJoint("arm", "hand", (0.3, 0, 1), (0, 1, 0), name="elbow", friction=0.1))
    scene.add_joint(mc.UserJoint("post", "hand", Together(1, 0.0), name="flat"))
    world = mc.World(scene, dt=1 / 120, **keywords)
    world.step(5)
    other = copy.deepcopy(world)
    for force in (1e300, 1e305, 1e308):
        world.apply_force("hand", (force, 0, force))
        with pytest.raises(mc.SimulationError):
            world.step()
    world.step(10)
    other.step(10)
    assert world.state_hash() == other.state_hash()


def test_what_was_written_into_velocities_does_not_outlast_a_restore():
    """Until the next step only observers follow it. After them it was put back: over the state just restored."""
    world = mc.ReducedWorld(start(1), dt=1 / 120)
    world.step(3)
    snapshot, before = world.snapshot(), world.state_hash()
    world.velocities[1] += 0.3
    written, after = world.snapshot(), world.state_hash()
    for kept, hashed in ((snapshot, before), (written, after), (snapshot, before)):
        world.restore(kept)
        assert world.state_hash() == hashed
        world.angular_velocities[1:3] *= 1.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", WORLDS)
def test_twins_stay_alike_for_long(name, monkeypatch):
    kind, keywords = WORLDS[name]
    each = 80
    for k in range(1, 1 + max(1, OPERATIONS // (each * len(WORLDS)))):
        play(100 * k + list(WORLDS).index(name), kind, keywords, each, monkeypatch)
