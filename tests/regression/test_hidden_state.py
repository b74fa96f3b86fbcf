"""What a step knows beside the state, and functions of the user's that reach into it: each was a defect."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc


def two(residual=lambda a, b: [np.linalg.norm(b.position - a.position) - 0.5], **keywords):
    """Two balls, the first on a ball joint, the second on a joint of the user's."""
    scene = mc.Scene()
    for name, x in (("a", 0.5), ("b", 1.0)):
        scene.add_body(name, shape=mc.Sphere(0.1), position=(x, 0, 0))
    scene.add_joint(mc.BallJoint(None, "a", (0, 0, 0), name="ball"))
    scene.add_joint(mc.UserJoint("a", "b", residual, name="own"))
    return mc.World(scene, **keywords)


CALLS = {
    "step": lambda world: world.step(),
    "rows": lambda world: world.rows,
    "kkt": lambda world: world.kkt(),
    "restore": lambda world: world.restore(world.snapshot()),
    "set_pose": lambda world: world.set_pose("a", (3, 3, 3)),
    "set_velocity": lambda world: world.set_velocity("a", (3, 3, 3)),
    "apply_force": lambda world: world.apply_force("a", (0, 0, 1)),
}


@pytest.mark.parametrize("integrator", ["semi_implicit", "rattle", "rk4"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_residual_cannot_step_or_change_the_world(call, integrator):
    """The call is refused, the step with it, nothing has changed, and the world goes on. It ran on half-done steps
    before."""
    reach = {}

    def residual(a, b):
        world = reach.pop("world", None)  # once only: no recursion that would stop by itself
        if world is not None:
            call(world)
        return [np.linalg.norm(b.position - a.position) - 0.5]

    world = two(residual, integrator=integrator)
    world.step(3)
    before = world.state_hash()
    reach["world"] = world
    with pytest.raises(mc.SimulationError, match="in the middle of a step"):
        world.step(2)
    assert world.state_hash() == before
    world.step(2)
    assert np.abs(world.joint_errors()).max() < 1e-3


def test_a_motion_may_look_at_joints_before_it_fails():
    """Looking wrote over the joints' part of the state that a failed step goes back to."""
    reach = {}

    def motion(t):
        if "world" in reach:
            world = reach["world"]
            world.joint("swing").position, world.energy(), world.joint("swing").velocity
            reach["calls"] = reach.get("calls", 0) + 1
            if reach["calls"] > 12:
                raise KeyError("enough")
        return np.sin(3.0 * t)

    scene = mc.Scene()
    for i in range(2):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(i + 1.0, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "b0", (0, 0, 0), (0, 1, 0), name="driven", motion=mc.Motion(motion)))
    scene.add_joint(mc.HingeJoint("b0", "b1", (1.5, 0, 0), (0, 1, 0), name="swing", friction=0.1))
    world = mc.World(scene)
    world.step(5)
    before = world.state_hash()
    reach["world"] = world
    with pytest.raises(KeyError):
        world.step(20)
    steps = round((world.time - 5 * world.dt) / world.dt)
    reach.clear()
    other = mc.World(scene)
    other.step(5)
    assert other.state_hash() == before
    other.step(steps)
    assert other.state_hash() == world.state_hash()


def test_poses_given_to_a_residual_are_read_only():
    """Several differences share an array: `a.position -= x` moved the body for the calls that followed."""

    def residual(a, b):
        gap = b.position
        gap -= a.position
        return [np.linalg.norm(gap) - 0.5]

    with pytest.raises(mc.SceneError, match="read-only"):
        two(residual)


@pytest.mark.parametrize("keywords", [{}, {"integrator": "rk4"}, {"joint_solver": "rows"}], ids=["tree", "rk4", "rows"])
def test_a_pose_that_is_not_finite_is_not_blamed_on_the_residual(keywords):
    world = two(**keywords)
    world.forces[1] = 1e308
    with pytest.raises(mc.SimulationError, match="the state of body '[ab]' is not finite"):
        world.step(3)


def test_numbers_of_numpy_serve():
    joint = mc.UserJoint(None, "a", lambda a, b: b.position, size=np.int64(3), angles=np.arange(2))
    assert joint.size == 3
    assert mc.GearJoint("j", "k", 2.0, axis_a=np.int32(1)) is not None


def test_a_motion_without_a_position_is_refused():
    """It prescribed NaN."""
    with pytest.raises(mc.SceneError, match="position must be a number or a function of time"):
        mc.Motion(None)


def hung(**keywords):
    """Bodies in a row, each on a distance joint of these keywords."""
    scene = mc.Scene()
    for i in range(12):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(0.5 * i + 0.5, 0, 0))
        scene.add_joint(
            mc.DistanceJoint(f"b{i - 1}" if i else None, f"b{i}", (0.5 * i, 0, 0), (0.5 * i + 0.5, 0, 0), **keywords)
        )
    return mc.World(scene)


def test_a_snapshot_with_other_rows_is_refused():
    """A rod's record in the world of a rope gave rows that the factorization has no room for."""
    rod, rope, longer = hung(), hung(limits=(None, 0.5)), hung(length=0.6)
    for world, other in ((rod, rope), (rope, rod), (rod, longer)):
        before = world.state_hash()
        with pytest.raises(mc.SceneError, match="joint 'joint0' holds other coordinates or another length"):
            world.restore(other.snapshot())
        assert world.state_hash() == before
        world.restore(world.snapshot())


def test_broken_joints_leave_no_stiffness_behind():
    """One call of step(n) went on with the stiffened inertia of bodies whose joints had broken; n calls did not."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", position=(0, 0, -0.1))
    for i in range(4):
        scene.add_body(
            f"b{i}",
            shape=mc.Capsule(0.08, 0.1, orientation=(0.5**0.5, 0, 0.5**0.5, 0)),
            position=(0.5 * i + 0.5, 0, 0),
            angular_velocity=(0.1, 0.2, 0.3 * i),
        )
        scene.add_joint(mc.BallJoint(f"b{i - 1}" if i else None, f"b{i}", (0.5 * i + 0.25, 0, 0), break_force=8.0))
    once, often = (mc.World(scene) for _ in range(2))
    once.step(30)
    for _ in range(30):
        often.step()
    assert len(once.events.broken) == 4
    assert once.state_hash() == often.state_hash()


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
@pytest.mark.parametrize("keywords", [{"substeps": 1}, {"dt": 1 / 20, "substeps": 2}], ids=["1/60", "1/40"])
def test_a_step_does_not_depend_on_how_the_one_before_was_divided(name, keywords):
    """How well a loop that was torn open is closed went by the substep of the step before, which no snapshot has."""
    world = mc.World(mc.load(name), **keywords)
    world.step(18)
    other = pickle.loads(pickle.dumps(world))
    for each in (world, other):
        each.velocities[-1] += 0.3
        each.positions[-1] += 0.01
        each.apply_force(each.body_names[-1], (0, 0, 20))
        each.step(3)
    assert world.state_hash() == other.state_hash()


def test_wrong_arguments_that_were_taken():
    """A motor of a joint that has no coordinate, and tolerances that are none."""
    world = two()
    with pytest.raises(mc.SceneError, match="joint 'own': is a user joint, which has no coordinate"):
        world.joint("own").set_motor(max_force=3.0)
    for tolerance in (np.nan, -1.0, "x", None):
        with pytest.raises(mc.SceneError, match="World.redundancy: tolerance must"):
            world.redundancy(tolerance)


@pytest.mark.filterwarnings("error")
def test_a_joint_that_flies_apart_warns_of_nothing():
    """Squares of tiny steps were zero, and divided by."""
    world = two(integrator="rk4")
    world.velocities[1] = 1e170
    with pytest.raises(mc.SimulationError):
        world.step(3)


# ---- a step that fails ---------------------------------------------------------------------------------------------------

FAILING = {
    "tree": {},
    "rows": {"joint_solver": "rows"},
    "rk4": {"integrator": "rk4", "stabilization": "none"},
    "rattle": {"integrator": "rattle", "stabilization": "none"},
    "variational": {"integrator": "variational"},
    "pgs": {"solver": "pgs"},
    "projection": {"stabilization": "projection"},
    "ggl": {"stabilization": "ggl"},
    "admm": {"solver": "admm"},
    "reduced": None,
}


def busy(keywords, motion=None):
    """A chain on the world with a limit and a motor, a gear, a box on the floor; or with a joint that is led."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    for i in range(3):
        scene.add_body(f"b{i}", shape=mc.Box((0.1, 0.1, 0.1)), position=(0.4 * i, 0, 1))
    for i in range(3):
        scene.add_joint(
            mc.HingeJoint(
                f"b{i - 1}" if i else None,
                f"b{i}",
                (0.4 * i - 0.2, 0, 1),
                (0, 1, 0),
                name=f"h{i}",
                limits=(-1, 0.05),
                motor=mc.Motor(velocity=1, max_force=1),
            )
        )
    scene.add_joint(mc.GearJoint("h1", "h2", ratio=2.0))
    scene.add_body("box", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 2, 0.1))
    if motion:
        scene.add_body("led", shape=mc.Sphere(0.1), position=(0, 5, 1))
        scene.add_joint(mc.HingeJoint(None, "led", (0.3, 5, 1), (0, 1, 0), motion=mc.Motion(motion)))
    return mc.ReducedWorld(scene) if keywords is None else mc.World(scene, **keywords)


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_step_that_failed_leaves_nothing_behind(name):
    """0 times infinity stayed in the world's row of arrays that the kernels work in; and in generalized coordinates joint
    forces were those of the rows of the step that was undone."""
    world, other = busy(FAILING[name]), busy(FAILING[name])
    for each in (world, other):
        each.step(20)
    for value in (1e300, 1e200, 1e160):
        for body in ("b1", "b2", "box"):
            for what in (
                lambda: world.apply_impulse(body, (value, 0, value)),
                lambda: world.apply_torque(body, (value, 0, value)),
            ):
                snapshot = world.snapshot()
                what()
                try:
                    world.step(3)
                except mc.SimulationError:
                    pass
                world.restore(snapshot)
                world.step(), other.step()
                assert world.state_hash() == other.state_hash(), (value, body)


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("looked", [False, True])
def test_joint_forces_are_those_of_the_last_step_that_stands(looked, steps):
    """In generalized coordinates they are found when they are asked for, from rows that a failed step has overwritten."""
    ends = [np.inf]

    def motion(t):
        if t > ends[0]:
            raise KeyError("enough")
        return np.sin(t)

    world, other = busy(None, motion), busy(None, motion)
    for each in (world, other):
        each.step(20)
    other.step(steps - 1)
    if looked:
        world.joint("h0").force
    ends[0] = world.time + (steps - 0.5) * world.dt
    with pytest.raises(KeyError):
        world.step(20)
    ends[0] = np.inf
    assert world.time == other.time
    for name in ("h0", "h1", "h2"):
        assert np.array_equal(world.joint(name).force, other.joint(name).force)
        assert np.array_equal(world.joint(name).torque, other.joint(name).torque)
    assert world.state_hash() == other.state_hash()
    world.step(3), other.step(3)
    assert world.state_hash() == other.state_hash()


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.set_body("box", gravity_scale=0.5),
        lambda w: w.add_body("new", shape=mc.Sphere(0.1), position=(9, 9, 9)),
        lambda w: w.remove_body("box"),
        lambda w: w.set_shape("box", mc.Sphere(0.1)),
        lambda w: w.add_joint(mc.FreeJoint(None, "box")),
    ],
)
def test_joint_forces_stay_when_something_else_changes(change):
    """In generalized coordinates they were found anew, without the rows of the last step."""
    world = busy(None)
    world.step(20)
    other = busy(None)
    other.step(20)
    change(world)
    for name in ("h0", "h1", "h2"):
        assert np.array_equal(world.joint(name).force, other.joint(name).force)
        assert np.array_equal(world.joint(name).torque, other.joint(name).torque)


@pytest.mark.parametrize("keywords", [{}, {"stabilization": "projection"}, {"substeps": 2}], ids=str)
@pytest.mark.parametrize("speed", [20.0, 50.0, 120.0, 200.0, 500.0])
def test_a_fast_tree_beside_a_loop_is_the_same_in_a_copy(keywords, speed):
    """Which trees had flown in the last substep decided which were slowed in the first kick of the next, where they were
    too fast for it: a world of loops forgot that when it was copied."""
    scene = mc.Scene()
    for i in range(3):
        scene.add_body(f"l{i}", mass=2.0, inertia=(0.05, 0.05, 0.01), position=(0.5 * i + 0.25, 0, 2))
        scene.add_joint(
            mc.HingeJoint(
                f"l{i - 1}" if i else None,
                f"l{i}",
                (0.5 * i, 0, 2),
                (0, 1, 0),
                name=f"h{i}",
                motor=mc.Motor(velocity=0.0, max_force=0.1),
            )
        )
    for i in range(2):
        scene.add_body(f"m{i}", mass=1.0, inertia=(0.01,) * 3, position=(5 + i, 0, 1))
    for a, b, x, z in ((None, "m0", 5, 1.5), ("m0", "m1", 5.5, 1), ("m1", None, 6, 1.5)):
        scene.add_joint(mc.BallJoint(a, b, (x, 0, z)))
    world = mc.ReducedWorld(scene, dt=1 / 60, **keywords)
    for i in range(3):
        world.qd[world.index(f"h{i}")[1]] = (speed, -2 * speed, 3 * speed)[i]
    for _ in range(6):
        world.step(2)
        other = copy.deepcopy(world)
        world.step(1)
        other.step(1)
        assert world.state_hash() == other.state_hash()


@pytest.mark.parametrize("integrator", ["rk4", "reference", "radau"])
def test_a_worlds_first_step_closes_what_is_open(integrator):
    """Errors were weighed by numbers that only a step before had found: the first one took an open joint for closed, and
    the same step after a restore closed it."""
    scene = mc.Scene()
    for name, x in (("a", 0.0), ("b", 0.3)):
        scene.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.3), position=(x, 0.1 * x, 0))
    frame_a, frame_b = ((0.1, 0, 0), (1, 0, 0, 0)), ((0, 0.01, 0), (1, 0, 0, 0))
    scene.add_joint(mc.HingeJoint("a", "b", frame_a=frame_a, frame_b=frame_b))
    world = mc.World(scene, integrator=integrator, dt=1e-3)
    begun = world.snapshot()
    world.step()
    first = world.state_hash()
    world.restore(begun)
    world.step()
    assert world.state_hash() == first
    assert world.joint_errors().max() < 1e-8
