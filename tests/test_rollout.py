"""Many variants of one world in one call: the same as one by one, to the bit, whatever is steered, kept or changed."""

import numpy as np
import pytest

import mcsim as mc


def cart_pole():
    scene = mc.Scene()
    scene.add_body("cart", shape=mc.Box((0.2, 0.1, 0.05)), mass=1.0)
    scene.add_body("pole", shape=mc.Capsule(0.02, 0.25), mass=0.1, position=(0, 0, 0.3))
    motor = mc.Motor(velocity=0.0, max_force=20.0)
    scene.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), name="slide", motor=motor))
    scene.add_joint(mc.HingeJoint("cart", "pole", anchor=(0, 0, 0.05), axis=(0, 1, 0), name="hinge"))
    return scene


def falling():
    """Boxes that fall onto a floor."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for i in range(3):
        scene.add_body(f"box{i}", shape=mc.Box((0.2, 0.2, 0.2)), density=500, position=(0.05 * i, 0, 0.4 + 0.5 * i))
    return scene


BOTH = pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
SPEEDS = np.random.default_rng(1).uniform(-2, 2, (5, 40))


@BOTH
@pytest.mark.parametrize("threads", [1, 3])
def test_the_same_bits_as_one_by_one(kind, threads):
    """A motor steered step by step, of several worlds at once."""
    world = kind(cart_pole(), dt=1 / 100)
    world.step(5)
    before = world.state_hash()
    record = ("positions", "orientations", "velocities", "angular_velocities")
    runs = mc.rollout(world, 40, controls={("slide", "motor_velocity"): SPEEDS}, record=record, every=4, threads=threads)
    assert world.state_hash() == before and not runs.failures and not runs.notes
    for i, speeds in enumerate(SPEEDS):
        other = kind(cart_pole(), dt=1 / 100)
        other.step(5)
        for k, speed in enumerate(speeds):
            other.joint("slide").set_motor(velocity=speed)
            other.step()
            if k % 4 == 3:
                for name in record:
                    assert np.array_equal(getattr(runs, name)[i, k // 4], getattr(other, name)), (name, i, k)
                assert runs.time[i, k // 4] == pytest.approx(other.time)
    assert np.ptp(runs.positions[:, -1, 0, 0]) > 0.05


@BOTH
def test_forces_of_joints(kind):
    """tau of each world and step; in generalized coordinates q and qd are kept."""
    world = kind(cart_pole(), dt=1 / 100)
    nv = len(world.tau)
    tau = np.random.default_rng(2).uniform(-1, 1, (4, 30, nv))
    runs = mc.rollout(world, 30, controls={"tau": tau}, threads=2)
    for i in range(4):
        other = kind(cart_pole(), dt=1 / 100)
        for k in range(30):
            other.tau = tau[i, k]
            other.step()
        if kind is mc.World:
            assert np.array_equal(runs.positions[i, -1], other.positions) and runs.q is None
        else:
            assert np.array_equal(runs.q[i, -1], other.q) and np.array_equal(runs.qd[i, -1], other.qd)


def test_what_broadcasts_is_enough():
    world = mc.ReducedWorld(cart_pole(), dt=1 / 100)
    one = mc.rollout(world, 20, controls={"tau": np.ones((20, 2))}, worlds=3)
    assert one.q.shape == (3, 20, 2) and np.array_equal(one.q[0], one.q[2])
    each = mc.rollout(world, 20, controls={"tau": np.arange(3.0)[:, None, None]})
    assert each.q.shape == (3, 20, 2) and np.array_equal(each.q[1], one.q[0]) and not np.array_equal(each.q[2], one.q[0])
    motor = mc.rollout(world, 20, controls={("slide", "motor_velocity"): np.arange(3.0)[:, None]})
    assert motor.q.shape == (3, 20, 2) and np.ptp(motor.q[:, -1, 0]) > 0.1


def test_states_of_generalized_coordinates():
    world = mc.ReducedWorld(cart_pole(), dt=1 / 100)
    q, qd = np.random.default_rng(3).uniform(-1, 1, (2, 6, 2))
    runs = mc.rollout(world, 25, states={"q": q, "qd": qd}, threads=2)
    for i in range(6):
        other = mc.ReducedWorld(cart_pole(), dt=1 / 100)
        other.q, other.qd = q[i], qd[i]
        other.step(25)
        assert np.array_equal(runs.q[i, -1], other.q)


def test_states_of_bodies_and_snapshots():
    world = mc.World(falling(), dt=1 / 60)
    positions = world.positions + np.random.default_rng(4).uniform(0, 0.05, (4, 4, 3)) * [[0], [1], [1], [1]]
    velocities = np.zeros((4, 3)) + [[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0], [0, 0, -1]]
    runs = mc.rollout(world, 50, states={"positions": positions, "velocities": velocities}, threads=2)
    snapshots = []
    for i in range(4):
        other = mc.World(falling(), dt=1 / 60)
        for k in range(1, 4):
            other.set_pose(k, positions[i, k])
            other.set_velocity(k, velocities[k])
        snapshots.append(other.snapshot())
        other.step(50)
        assert np.array_equal(runs.positions[i, -1], other.positions)
    again = mc.rollout(world, 50, states=snapshots, threads=2)
    assert np.array_equal(again.positions, runs.positions)


def test_what_is_prepared():
    """Masses, friction and forces of each, and what one is given does not reach the next."""
    world = mc.World(falling(), dt=1 / 60)

    def prepare(world, i):
        if i == 1:
            world.set_material("box0", mc.Material(friction=0.0))
        if i == 2:
            world.remove_body("box2")
            world.add_body("box2", shape=mc.Sphere(0.2), position=(0.1, 0, 1.4), density=500)
        world.apply_force("box0", (200.0 * (i == 3), 0, 0))

    runs = mc.rollout(world, 40, prepare=prepare, worlds=5, threads=1)
    for i in range(5):
        other = mc.World(falling(), dt=1 / 60)
        prepare(other, i)
        other.step(40)
        assert np.array_equal(runs.positions[i, -1], other.positions), i
    assert np.array_equal(runs.positions[0], runs.positions[4]) and not np.array_equal(runs.positions[0], runs.positions[3])


def test_one_that_fails_ends_alone():
    world = mc.World(falling(), dt=1 / 60)

    def prepare(world, i):
        if i == 1:
            world.set_velocity("box2", (0, 0, 1e300))

    runs = mc.rollout(world, 20, prepare=prepare, worlds=3, threads=2, every=5)
    assert list(runs.failures) == [1] and "box2" in str(runs.failures[1])
    assert np.isnan(runs.positions[1]).all() and np.isnan(runs.time[1]).all()
    assert np.isfinite(runs.positions[[0, 2]]).all() and "1 failed" in repr(runs)


def test_what_sleeps_wakes_by_a_control():
    """As by hand: a motor that is told to go wakes what it moves."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1), material=mc.Material(friction=0.2)))
    scene.add_body("cart", mass=1.0, shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.2))
    motor = mc.Motor(velocity=0.0, max_force=20.0)
    scene.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), name="slide", motor=motor))
    world = mc.World(scene, dt=1 / 60, sleep=mc.Sleep(time=0.1))
    world.step(60)
    assert world.asleep[1]
    speeds = np.repeat([0.0, 1.0], 20)[None, :]
    runs = mc.rollout(world, 40, controls={("slide", "motor_velocity"): speeds})
    world.step(20)
    world.joint("slide").set_motor(velocity=1.0)
    world.step(20)
    assert runs.positions[0, -1, 1, 0] > 0.1
    assert np.array_equal(runs.positions[0, -1], world.positions)


def test_rows_and_shapes():
    world = mc.ReducedWorld(cart_pole(), dt=1 / 100)
    runs = mc.rollout(world, 10, record=("q", "positions", "angular_velocities"), every=3)
    assert runs.time == pytest.approx(np.array([[0.03, 0.06, 0.09]]))
    assert runs.q.shape == (1, 3, 2) and runs.positions.shape == runs.angular_velocities.shape == (1, 3, 2, 3)
    assert runs.qd is runs.velocities is runs.orientations is None
    assert mc.rollout(world, 10, every=20).q.shape == (1, 0, 2)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"steps": 0}, "rollout: steps must be"),
        ({"controls": {"tua": np.zeros((1, 5, 2))}}, r"controls\['tua'\] is no control"),
        ({"controls": {"tau": np.zeros((1, 4, 2))}}, "does not fit 5 steps of 2 numbers"),
        ({"controls": {"tau": np.zeros((1, 5, 3))}}, "does not fit 5 steps of 2 numbers"),
        ({"controls": {"tau": [[np.nan, 0]] * 5}}, "must be finite"),
        ({"controls": {("hinge", "motor_velocity"): 1.0}}, "joint 'hinge' has no motor"),
        ({"controls": {("slid", "motor_velocity"): 1.0}}, "did you mean 'slide'"),
        ({"controls": {("slide", "motor_speed"): 1.0}}, "motor_velocity"),
        ({"controls": [1, 2]}, "controls must be a dict"),
        ({"states": {"q": np.zeros((3, 3))}}, r"states\['q'\] must be \(worlds, 2\)"),
        ({"states": {"positions": np.zeros((3, 2, 3))}}, "states"),
        ({"states": [1]}, "must be snapshots"),
        ({"states": {"q": np.zeros((3, 2))}, "worlds": 2}, "different numbers of worlds: worlds for 2, q for 3"),
        ({"record": ("q", "speed")}, "record"),
        ({"every": 0}, "every"),
        ({"threads": 0}, "threads"),
        ({"prepare": 3}, "prepare must be a function"),
        ({"worlds": 1 << 31}, "more to keep than memory"),
    ],
)
def test_what_it_refuses(arguments, words):
    world = mc.ReducedWorld(cart_pole(), dt=1 / 100)
    with pytest.raises(mc.SceneError, match=words):
        mc.rollout(world, **({"steps": 5} | arguments))


def test_worlds_that_it_does_not_take():
    with pytest.raises(mc.SceneError, match="world must be a World"):
        mc.rollout(cart_pole(), 5)
    with pytest.raises(mc.SceneError, match="from event to event"):
        mc.rollout(mc.World(cart_pole(), contact="event"), 5)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"states": []}, "states are none"),
        ({"controls": {"tau": np.zeros((0, 5, 2))}}, "is for no world"),
        ({"controls": {"tau": np.ones((1, 5, 2), complex)}}, "must be an array of numbers"),
        ({"controls": {"tau": np.zeros((1, 5, 2), "M8[s]")}}, "must be an array of numbers"),
        ({"controls": {"tau": [["1", "2"]] * 5}}, "must be an array of numbers"),
        ({"controls": {("slide", "motor_max_force"): -1.0}}, "must not be negative"),
        ({"worlds": 1 << 20, "record": (), "steps": 1 << 40}, "more to keep than memory"),
    ],
)
def test_arrays_that_are_for_nobody_or_no_numbers(kind, threads, arguments, words):
    """They came through as errors of NumPy's, or as numbers that nobody gave."""
    world = kind(cart_pole(), dt=1 / 100)
    before = world.state_hash()
    with pytest.raises(mc.SceneError, match=f"rollout: .*{words}"):
        mc.rollout(world, **({"steps": 5, "threads": threads} | arguments))
    assert world.state_hash() == before
    world.check()


@pytest.mark.parametrize("name", ["positions", "q"])
def test_states_of_no_world(name):
    kind = mc.World if name == "positions" else mc.ReducedWorld
    world = kind(cart_pole(), dt=1 / 100)
    with pytest.raises(mc.SceneError, match="is for no world"):
        mc.rollout(world, 5, states={name: np.zeros((0, *np.shape(getattr(world, name))))})


def add_body(world):
    world.add_body("more", mass=1.0, inertia=(1, 1, 1), position=(5, 5, 5))


def other_order(world):
    world.remove_body("cart")
    world.add_body("cart", shape=mc.Box((0.2, 0.1, 0.05)), mass=1.0)
    motor = mc.Motor(velocity=0.0, max_force=20.0)
    world.add_joints(
        [
            mc.SliderJoint(None, "cart", axis=(1, 0, 0), name="slide", motor=motor),
            mc.HingeJoint("cart", "pole", anchor=(0, 0, 0.05), axis=(0, 1, 0), name="hinge"),
        ]
    )


def other_joints(world):
    """The same ones, in another order."""
    world.remove_joint("slide")
    motor = mc.Motor(velocity=0.0, max_force=20.0)
    world.add_joint(mc.SliderJoint(None, "cart", axis=(1, 0, 0), name="slide", motor=motor))


OTHER = {
    "other bodies": (lambda world: world.remove_body("pole"), {}),
    "other bodies, one more": (add_body, {}),
    "other bodies, or in another order": (other_order, {}),
    "other joints": (lambda world: world.remove_joint("hinge"), {"controls": {"tau": np.zeros((1, 2))}}),
    "other joints, or in another order": (other_joints, {"controls": {"tau": np.zeros((1, 2))}}),
    "without the motor": (
        lambda world: world.remove_joint("slide"),
        {"controls": {("slide", "motor_velocity"): 1.0}},
    ),
}


@pytest.mark.parametrize("words", OTHER)
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("threads", [1, 2])
def test_what_is_prepared_so_that_rows_differ_is_refused(kind, threads, words):
    """Rows would be of other bodies, or joints steered by what is another one's. The world itself is as it was."""
    change, arguments = OTHER[words]
    world = kind(cart_pole(), dt=1 / 100)
    before, called = world.state_hash(), []

    def prepare(world, i):
        called.append(i)
        if i == 1:
            change(world)

    arguments = {"record": ("positions",), "worlds": 40} | arguments
    with pytest.raises(mc.SceneError, match="rollout: prepare has .*" + words.split(",")[0]):
        mc.rollout(world, 5, prepare=prepare, threads=threads, **arguments)
    assert world.state_hash() == before
    mc.rollout(world, 5, worlds=3)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_a_joint_is_steered_by_its_name(kind):
    """Also where `prepare` has made it anew, and it has another number."""
    world = kind(cart_pole(), dt=1 / 100)
    arguments = {"controls": {("slide", "motor_velocity"): 1.0}, "record": ("positions",), "worlds": 2}
    runs = mc.rollout(world, 20, prepare=lambda world, i: other_joints(world) if i else None, **arguments)
    assert runs.positions[0, -1, 0, 0] > 0.1
    np.testing.assert_allclose(runs.positions[1], runs.positions[0], atol=1e-9)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyboardInterrupt("mine"), mc.SimulationError("mine")], ids=repr)
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_what_prepare_raises_comes_out_and_ends_the_call(threads, error):
    """Other threads made all that was left first."""
    world = mc.World(cart_pole(), dt=1 / 100)
    before, called = world.state_hash(), []

    def prepare(world, i):
        called.append(i)
        if i == 1:
            raise error

    with pytest.raises(type(error), match="mine"):
        mc.rollout(world, 5, prepare=prepare, worlds=500, threads=threads)
    assert len(called) < 250 and world.state_hash() == before
    assert not mc.rollout(world, 5, worlds=3, threads=threads).failures


WRITTEN = [(mc.World, name) for name in ("positions", "velocities", "orientations", "angular_velocities", "tau")]
WRITTEN += [(mc.ReducedWorld, name) for name in ("q", "qd", "velocities", "tau")]


@pytest.mark.parametrize("kind, name", WRITTEN)
def test_what_prepare_writes_that_is_not_finite_ends_that_world(kind, name):
    world = kind(cart_pole(), dt=1 / 100)

    def prepare(world, i):
        if i == 2:
            getattr(world, name)[0] = np.nan

    runs = mc.rollout(world, 5, prepare=prepare, worlds=4, threads=2, record=("positions", "velocities"))
    assert list(runs.failures) == [2] and np.isnan(runs.positions[2]).all() and np.isnan(runs.time[2]).all()
    assert np.isfinite(runs.positions[[0, 1, 3]]).all() and np.isfinite(runs.velocities[[0, 1, 3]]).all()


@pytest.mark.parametrize("layout", ["F", "reversed", "every second", ">f8", "int32", "float32", "longdouble"])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_arrays_of_any_layout(layout, threads):
    """Worlds side by side (more than lanes) take what one by one do."""
    world = mc.ReducedWorld(cart_pole(), dt=1 / 100)
    world.joint("slide").set_motor(None)
    whole = np.random.default_rng(1).integers(-3, 4, (19, 5, 2)).astype(float)
    wide = np.zeros((38, 10, 4))
    wide[::2, ::2, ::2] = whole
    given = {
        "F": np.asfortranarray(whole),
        "reversed": np.ascontiguousarray(whole[::-1, ::-1, ::-1])[::-1, ::-1, ::-1],
        "every second": wide[::2, ::2, ::2],
    }
    tau = given[layout] if layout in given else whole.astype(layout)
    qd = tau[:, 0]
    found = mc.rollout(world, 5, controls={"tau": tau}, states={"qd": qd}, threads=threads)
    right = mc.rollout(world, 5, controls={"tau": whole}, states={"qd": whole[:, 0]}, threads=1)
    assert np.array_equal(found.q, right.q) and np.array_equal(found.qd, right.qd)
