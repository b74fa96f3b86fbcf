"""The derivatives of a step against differences of steps, closed forms, and what they must have in common."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from mcsim.rotation import from_rotation_vector, multiply
from step_differences import TIGHT, apart, assert_differentiated, did, difference, made, stepped, with_floor

G = 9.81
TURNED = from_rotation_vector([0.3, 0.2, -0.5])
LYING = from_rotation_vector([0.0, np.pi / 2, 0.0])
STICKY = mc.Material(friction=0.5, torsional_friction=0.05, rolling_friction=0.01)


def on_floor(shape, height, velocity=(0, 0, 0), spin=(0, 0, 0), **more):
    scene = with_floor()
    scene.add_body(
        "body", shape=shape, density=500, position=(0, 0, height), velocity=velocity, angular_velocity=spin, **more
    )
    return scene


def stacked(velocity):
    scene = with_floor()
    scene.add_body("lower", shape=mc.Box((0.2, 0.2, 0.1)), density=500, position=(0, 0, 0.09998))
    scene.add_body("upper", shape=mc.Box((0.1, 0.1, 0.1)), density=500, position=(0.02, 0, 0.29996), velocity=velocity)
    return scene


BOX, BALL = mc.Box((0.1, 0.2, 0.3)), mc.Sphere(0.1)
ROUND = mc.Box((0.08, 0.18, 0.28), rounding=0.02)
CONTACTS = {
    "rests": (lambda: on_floor(BOX, 0.29995), {("friction", "stick")}),
    "slides": (lambda: on_floor(BOX, 0.29995, (1, 0.4, 0)), {("friction", "slide")}),
    "slides and turns": (lambda: on_floor(BOX, 0.29995, (1, 0.4, 0), (0, 0, 2)), {("twist", "slide")}),
    "rounded slides and turns": (lambda: on_floor(ROUND, 0.29995, (1, 0.4, 0), (0, 0, 2)), {("twist", "slide")}),
    "is pressed in": (lambda: on_floor(BOX, 0.2997, (1, 0.4, -0.2), (0, 0, 2)), {("twist", "slide")}),
    "lands": (lambda: on_floor(BALL, 0.1005, (1, 0.4, -0.3)), {("normal", "closed")}),
    "is not touched yet": (lambda: on_floor(BALL, 0.105, (1, 0.4, 0.3)), {("normal", "open")}),
    "rolls": (lambda: on_floor(BALL, 0.09999, (1, 0.4, 0), (-4, 10, 0)), {("friction", "stick")}),
    "ball slides": (lambda: on_floor(BALL, 0.09999, (1, 0.4, 0), (-4, 3, 2)), {("friction", "slide")}),
    "resists": (
        lambda: on_floor(BALL, 0.09999, (1, 0.4, 0), (-4, 3, 2), material=STICKY),
        {("rolling", "slide"), ("friction", "slide")},
    ),
    "box resists": (
        lambda: on_floor(BOX, 0.29995, (1, 0.4, 0), (0, 0, 2), material=STICKY),
        {("rolling", "slide"), ("twist", "slide")},
    ),
    "capsule": (
        lambda: on_floor(mc.Capsule(0.1, 0.3), 0.09999, (1, 0.4, 0), (-4, 3, 2), orientation=LYING),
        {("twist", "slide")},
    ),
    "box on a box": (lambda: stacked((0, 0, 0)), {("friction", "stick")}),
    "slides on a box": (lambda: stacked((0.5, 0.2, 0)), {("friction", "slide"), ("friction", "stick")}),
}


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("case", CONTACTS)
def test_contacts(case, substeps):
    """Every state of friction, by poses, velocities, forces, masses and coefficients."""
    scene, expected = CONTACTS[case]
    found = assert_differentiated(made(scene(), substeps=substeps), 2e-6)
    assert expected <= did(found)
    assert found.notes == () or (case == "lands" and "at an edge of its law" in found.notes[0]), "what has landed touches"


@pytest.mark.parametrize(
    "keywords", [{"friction": "pyramid"}, {"friction_points": "point"}, {"solver": "pgs"}, {"stabilization": "none"}]
)
@pytest.mark.parametrize("velocity", [(0, 0, 0), (1, 0.4, 0)])
def test_other_settings(keywords, velocity):
    assert_differentiated(made(on_floor(BOX, 0.29995, velocity), substeps=2, **keywords), 2e-6)


@pytest.mark.parametrize("substeps", [1, 4])
def test_a_body_in_flight(substeps):
    """Gyroscopic terms, damping and forces."""
    scene = mc.Scene()
    flying = {"velocity": (1, 2, 3), "angular_velocity": (4, -7, 5), "linear_damping": 0.3, "angular_damping": 0.4}
    scene.add_body("body", shape=BOX, density=500, orientation=TURNED, **flying)
    world = made(scene, substeps=substeps)
    world.forces[0] = 1, 2, 3, 4, 5, 6
    assert len(assert_differentiated(world).rows) == 0


def test_a_fast_body():
    """One that turns by more than a piece of a turn in a substep."""
    scene = mc.Scene()
    scene.add_body("body", shape=BOX, density=500, orientation=TURNED, angular_velocity=(40, -70, 50))
    assert_differentiated(made(scene, substeps=1), 1e-5)


# ---- joints ----------------------------------------------------------------------------------------------------------


def at(joint, **more):
    """A joint of two links at x."""
    return lambda a, b, x: joint(a, b, anchor=(x, 0, 2), **more)


AXIS = (0.1, 1, 0.2)
JOINTS = {
    "ball": at(mc.BallJoint),
    "hinge": at(mc.HingeJoint, axis=AXIS),
    "slider": at(mc.SliderJoint, axis=AXIS),
    "universal": at(mc.UniversalJoint, axis_a=(0, 1, 0), axis_b=(0, 0, 1)),
    "fixed": lambda a, b, x: mc.FixedJoint(a, b),
    "cylindrical": at(mc.CylindricalJoint, axis=AXIS),
    "planar": at(mc.PlanarJoint, normal=AXIS),
    "screw": at(mc.ScrewJoint, axis=AXIS, pitch=0.1),
    "distance": lambda a, b, x: mc.DistanceJoint(a, b, anchor_a=(x - 0.2, 0, 2), anchor_b=(x + 0.2, 0.1, 2)),
    "free": lambda a, b, x: mc.FreeJoint(a, b),
    "sprung distance": lambda a, b, x: mc.DistanceJoint(
        a, b, anchor_a=(x - 0.2, 0, 2), anchor_b=(x + 0.2, 0.1, 2), spring=mc.Spring(100, 3)
    ),
}
DRIVES = {
    "spring": {"spring": mc.Spring(30, 2, 0.1)},
    "motor": {"motor": mc.Motor(velocity=2, max_force=50)},
    "weak motor": {"motor": mc.Motor(velocity=2, max_force=0.5)},
    "friction": {"friction": 0.5},
    "limit": {"limits": (0.001, 0.5)},
}


def chain(joint):
    """Two links in motion, one on the world and one on the other."""
    scene = mc.Scene()
    for name, x in (("a", 0.25), ("b", 0.75)):
        scene.add_body(
            name,
            shape=mc.Box((0.25, 0.05, 0.08)),
            density=800,
            position=(x, 0, 2),
            orientation=from_rotation_vector([0.2, 0.1, 0]),
            velocity=(0.3, -0.2, 0.5),
            angular_velocity=(1, -2, 0.7),
            collision_mask=0,
        )
    scene.add_joint(joint(None, "a", 0.0))
    scene.add_joint(joint("a", "b", 0.5))
    return scene


@pytest.mark.parametrize("joint_solver", ["tree", "rows"])
@pytest.mark.parametrize("kind", JOINTS)
def test_joints(kind, joint_solver):
    world = made(chain(JOINTS[kind]), substeps=2, joint_solver=joint_solver)
    world.tau[:] = np.linspace(-1.0, 2.0, len(world.tau))
    assert_differentiated(world, 2e-6, rounding=1e-6, defect=1e-6)


@pytest.mark.parametrize("drive", DRIVES)
def test_drives(drive):
    expected = {"weak motor": ("motor", "bound"), "motor": ("motor", "closed"), "spring": ("spring", "closed")}
    expected |= {"friction": ("joint_friction", "bound"), "limit": ("limit", "closed")}
    found = assert_differentiated(
        made(chain(at(mc.HingeJoint, axis=AXIS, **DRIVES[drive])), substeps=1), 2e-6, 1e-6, defect=1e-6
    )
    assert expected[drive] in did(found)


def test_a_position_motor():
    """Its row depends on the velocity that a substep begins with."""
    motor = mc.Motor(position=0.3, max_force=500, hertz=3, damping_ratio=1)
    world = made(chain(at(mc.HingeJoint, axis=AXIS, motor=motor)), substeps=2)
    assert_differentiated(world, 2e-6, 1e-6, defect=1e-6)


def test_a_gear_and_a_loop():
    scene = mc.Scene()
    for k, x in enumerate((0.0, 1.0)):
        scene.add_body(
            f"wheel{k}", shape=mc.Box((0.3, 0.2, 0.05)), density=500, position=(x, 0, 2), angular_velocity=(0, 0, 1 + k)
        )
        scene.add_joint(mc.HingeJoint(None, f"wheel{k}", anchor=(x, 0, 2), axis=(0, 0, 1), name=f"axle{k}"))
    scene.add_joint(mc.GearJoint("axle0", "axle1", ratio=2.0))
    assert_differentiated(made(scene, substeps=2))
    assert_differentiated(made(mc.load("four_bar")), 1e-5, 1e-6, names=("by_velocity", "by_force"), defect=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name, parameters", [("ragdolls", {"count": 1}), ("chain", {"count": 10}), ("bridge", {})])
def test_ready_scenes(name, parameters):
    """Seventeen jointed bodies that touch the floor, a long chain, a bridge of boards: along random directions."""
    world = made(mc.load(name, **parameters), iterations=3000)
    world.step(10)
    found, random = mc.step_derivatives(world), np.random.default_rng(0)
    moving = world.masses[:, None] > 0.0
    way, push = (random.standard_normal((len(moving), 6)) * moving for _ in range(2))
    push *= world.masses[:, None]

    def change(other, size):
        other.velocities[...] += size * way[:, :3]
        other.angular_velocities[...] += size * way[:, 3:]
        other.forces[...] += size * push

    expected = difference(world, change, 1e-6)
    got = found.by_velocity @ way.ravel() + found.by_force @ push.ravel()
    assert got == pytest.approx(expected, abs=1e-5 * np.abs(expected).max()) and found.defect < 1e-9


def test_what_a_moving_platform_carries():
    scene = mc.Scene()
    moving = {"kind": "kinematic", "velocity": (0.3, 0, 0.5), "angular_velocity": (0, 0.1, 0.4)}
    scene.add_body("lift", shape=mc.Box((1, 1, 0.1)), **moving)
    scene.add_body("body", shape=BOX, density=500, position=(0.3, 0, 0.39995), velocity=(0.3, 0, 0.5))
    found = assert_differentiated(made(scene, substeps=2))
    assert not found.by_state[:6].any() and not found.by_state[:, :6].any(), "what is told how to move is held"


# ---- closed forms ----------------------------------------------------------------------------------------------------


def test_a_sliding_box_by_its_friction():
    """v+ = v - mu g dt along the way: by a factor on one of two coefficients half of that, by the mass nothing."""
    dt = 1 / 60
    world = made(on_floor(BALL, 0.09999, (2, 0, 0)), dt=dt, substeps=3)
    found = mc.step_derivatives(world)
    x = found.index("body", "velocity").start
    mu = 0.6
    assert found.by_friction[x, 1] == pytest.approx(-0.5 * mu * G * dt, rel=1e-9)
    assert found.by_mass[x] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert found.by_force[x, 6] == pytest.approx(dt / world.masses[1], rel=1e-9)
    assert found.by_force[x, 8] == pytest.approx(mu * dt / world.masses[1], rel=1e-9), "lifting takes load"


def test_friction_that_is_told_of_a_pair_is_no_bodys():
    scene = on_floor(BALL, 0.09999, (2, 0, 0))
    scene.set_pair(*(body.name for body in scene.bodies), friction=0.2)
    found = mc.step_derivatives(made(scene))
    x = found.index("body", "velocity").start
    assert not found.by_friction.any() and found.twists[1, 0] == pytest.approx(2 - 0.2 * G / 60, rel=1e-6)
    assert found.by_force[x, 8] == pytest.approx(0.2 / 60 / scene.bodies[1].mass, rel=1e-6)


ICE, STEEL = (mc.Material(friction=0.6, name=name) for name in ("ice", "steel"))


@pytest.mark.parametrize("of", [(ICE, STEEL), (ICE, ICE), (STEEL, ICE)])
@pytest.mark.parametrize("told", [0.2, None])
def test_friction_that_is_told_of_two_materials_is_no_bodys(told, of):
    """Names of materials were looked for among the bodies: a KeyError, or another pair's."""
    scene = mc.Scene()
    scene.add_body("steel", kind="static", shape=mc.Plane((0, 0, 1)), material=of[0])
    scene.add_body("ice", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, 0.09999), velocity=(2, 0, 0), material=of[1])
    scene.set_material_pair(of[0], of[1], friction=told, restitution=0.0)
    scene.set_material_pair("rubber", "steel", friction=0.1)
    found = mc.step_derivatives(made(scene, dt=1 / 60))
    x = found.index("ice", "velocity").start
    assert found.twists[1, 0] == pytest.approx(2 - (0.6 if told is None else told) * G / 60, rel=1e-6)
    expected = -0.5 * 0.6 * G / 60 if told is None else 0.0
    assert found.by_friction[x, 1] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_each_shape_has_the_friction_of_its_material():
    """One body on two feet, of which one is of a material that is told together with the floor's."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=STEEL)
    feet = [mc.Sphere(0.1, position=(0, y, 0), material=material) for y, material in ((-0.5, ICE), (0.5, STEEL))]
    scene.add_body("b", shape=feet, mass=1.0, position=(0, 0, 0.09999), velocity=(2, 0, 0))
    scene.set_material_pair("ice", "steel", friction=0.2)
    found = mc.step_derivatives(made(scene, dt=1 / 60))
    x = found.index("b", "velocity").start
    assert found.by_friction[x, 1] == pytest.approx(-0.25 * 0.6 * G / 60, rel=1e-3), "half of the weight is on each foot"


def test_what_sticks_has_no_derivative():
    """A box that rests stays: by forces, masses, friction."""
    found = mc.step_derivatives(made(on_floor(BOX, 0.29995)))
    for name in ("by_velocity", "by_force", "by_effort", "by_mass", "by_mass_alone", "by_friction"):
        assert np.abs(getattr(found, name)).max() < 1e-9, name


def test_momentum_of_bodies_that_only_joints_hold():
    """The sum of m v+ is the sum of m v, and what forces give."""
    scene = chain(JOINTS["ball"])
    scene = scene.of_parts(scene.bodies, scene.joints[1:], scene.ignored_pairs)
    world = made(scene, dt=1 / 50)
    found = mc.step_derivatives(world)
    masses = np.kron(world.masses, np.hstack([np.eye(3), np.zeros((3, 3))]))
    assert masses @ found.by_velocity[12:] == pytest.approx(masses, abs=1e-9)
    assert masses @ found.by_force[12:] == pytest.approx(np.kron(np.ones(2), np.eye(3, 6)) / 50, abs=1e-11)
    assert np.abs(masses @ found.by_pose[12:]).max() < 1e-6


# ---- symmetries ------------------------------------------------------------------------------------------------------

angles = st.floats(-3.0, 3.0)
speeds = st.floats(-1.0, 1.0)


def scattered(v, w, turn=0.0, shift=(0.0, 0.0)):
    """A box and a marble that slide, and a ball on a rod above; all turned about the vertical and moved."""
    q = from_rotation_vector([0.0, 0.0, turn])
    R = mc.rotation.matrix(q)
    place = lambda x: R @ np.array(x) + np.array([*shift, 0.0])
    scene = with_floor()
    bodies = {
        "box": (mc.Box((0.3, 0.25, 0.1)), (0.3, -0.2, 0.09995), (v, 0.5, 0), (0, 0, 0)),
        "marble": (BALL, (-1, 0, 0.09998), (0.4, v, 0), (1 + w, 0.3, w)),
        "ball": (BALL, (2, 1, 1.5), (0.3, v, 0.2), (w, 0.4, -0.2)),
    }
    for name, (shape, x, velocity, spin) in bodies.items():
        moves = {"velocity": R @ np.array(velocity), "angular_velocity": R @ np.array(spin)}
        scene.add_body(name, shape=shape, density=500, position=place(x), orientation=q, **moves)
    scene.add_joint(mc.BallJoint(None, "ball", anchor=place((2, 0.5, 1.9))))
    return made(scene, substeps=2)


@given(v=st.floats(1.0, 2.0), w=speeds, turn=angles)
@settings(max_examples=amount(4, 25))
def test_a_turned_scene_has_turned_derivatives(v, w, turn):
    """By all vectors, blocks of 3: R D R'."""
    one, other = mc.step_derivatives(scattered(v, w)), mc.step_derivatives(scattered(v, w, turn, (3.0, -4.0)))
    R = np.kron(np.eye(16), mc.rotation.matrix(from_rotation_vector([0.0, 0.0, turn])))
    scale = np.abs(one.by_state).max()
    assert other.by_state == pytest.approx(R @ one.by_state @ R.T, abs=1e-7 * scale)
    assert other.by_force == pytest.approx(R @ one.by_force @ R[:24, :24].T, abs=1e-7)
    assert other.by_mass == pytest.approx(R @ one.by_mass, abs=1e-8)
    assert other.by_friction == pytest.approx(R @ one.by_friction, abs=1e-8)


@given(v=st.floats(1.0, 2.0), w=speeds, seed=st.integers(0, 1000))
@settings(max_examples=amount(4, 25))
def test_along_any_direction(v, w, seed):
    """A change of everything at once is the sum of the derivatives."""
    world = scattered(v, w)
    found, way = mc.step_derivatives(world), np.random.default_rng(seed).standard_normal(48)
    way[[*range(6), *range(24, 30)]] = 0.0  # the floor

    def change(other, size):
        moves = size * way.reshape(2, 4, 6)
        other.positions[...] += moves[0, :, :3]
        for i, turn in enumerate(moves[0, :, 3:]):
            other.orientations[i] = multiply(from_rotation_vector(turn), other.orientations[i])
        other.velocities[...] += moves[1, :, :3]
        other.angular_velocities[...] += moves[1, :, 3:]

    size = 1e-6
    expected = apart(stepped(world, change, size), stepped(world, change, -size)) / (2 * size)
    assert found.by_state @ way == pytest.approx(expected, abs=3e-6 * np.abs(expected).max())


@given(v=st.floats(1.0, 2.0), w=speeds)
@settings(max_examples=amount(3, 15))
def test_what_is_apart_does_not_depend_on_each_other(v, w):
    """Box and ball: blocks of 0; and the box as it would be alone."""
    found = mc.step_derivatives(scattered(v, w))
    box = np.r_[found.index("box", "position"), found.index("box", "rotation"), found.index("box", "velocity")]
    ball = np.r_[found.index("ball", "position"), found.index("ball", "angular_velocity")]
    assert not found.by_state[np.ix_(box, ball)].any() and not found.by_state[np.ix_(ball, box)].any()
    alone = scattered(v, w)
    alone.remove_bodies(["ball", "marble"])
    other = mc.step_derivatives(alone)
    places = np.r_[6:12, 30:36]
    mine = other.by_state[np.ix_(np.r_[6:12, 18:24], np.r_[6:12, 18:24])]
    assert found.by_state[np.ix_(places, places)] == pytest.approx(mine, abs=1e-9 * np.abs(mine).max())


def test_the_world_stays_as_it_is_and_so_do_the_derivatives():
    """Looking changes nothing: the same bits, in the world, a copy, a restored one."""
    world = scattered(1.0, 0.5)
    world.step(3)
    before = world.state_hash()
    one = mc.step_derivatives(world)
    assert world.state_hash() == before
    snapshot = world.snapshot()
    two = mc.step_derivatives(copy.deepcopy(world))
    world.step(2)
    world.restore(snapshot)
    three = mc.step_derivatives(world)
    for name in ("by_pose", "by_velocity", "by_force", "by_mass", "by_friction", "twists"):
        assert (getattr(one, name) == getattr(two, name)).all() and (getattr(one, name) == getattr(three, name)).all()


def test_the_order_of_bodies():
    """Bodies in another order: the same blocks."""
    found = []
    for names in (("a", "b"), ("b", "a")):
        scene = with_floor()
        for name in names:
            x = 0.0 if name == "a" else 2.0
            scene.add_body(name, shape=BOX, density=500, position=(x, 0, 0.29995), velocity=(1, 0.4 + x, 0))
        found.append(mc.step_derivatives(made(scene)))
    for name in ("a", "b"):
        places = [np.r_[one.index(name, "position"), one.index(name, "velocity")] for one in found]
        one, other = (f.by_state[np.ix_(p, p)] for f, p in zip(found, places))
        assert one == pytest.approx(other, abs=1e-9)


# ---- what is refused, and noted ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keywords, told",
    [
        ({"stabilization": "soft"}, "stabilization='baumgarte'"),
        ({"stabilization": "projection"}, "stabilization='projection'"),
        ({"integrator": "rk4", "stabilization": "none"}, "integrator='rk4'"),
        ({"contact": "compliant", "stabilization": None, "iterations": None}, "contact='compliant'"),
        ({"solver": "admm"}, "solver='admm'"),
    ],
)
def test_worlds_that_are_refused(keywords, told):
    scene = on_floor(BALL, 0.2, material=mc.Material(stiffness=1e4, damping=10))
    floor = mc.Material(stiffness=1e4, damping=10)
    scene = on_floor(BALL, 0.2)
    scene = mc.Scene()
    scene.add_body("body", shape=BALL, density=500, material=floor)
    with pytest.raises(mc.SceneError, match=told):
        mc.step_derivatives(mc.World(scene, **{k: v for k, v in (TIGHT | keywords).items() if k != "sleep"}))


def test_others_that_are_refused():
    scene = on_floor(BOX, 0.29995)
    with pytest.raises(mc.SceneError, match="forward_dynamics_derivatives"):
        mc.step_derivatives(mc.ReducedWorld(scene))
    with pytest.raises(mc.SceneError, match="must be a World"):
        mc.step_derivatives(scene)
    world = mc.World(scene, stabilization="baumgarte")
    world.step(300)
    assert world.asleep[1]
    with pytest.raises(mc.SceneError, match="'body' sleeps"):
        mc.step_derivatives(world)


def test_steps_that_are_refused():
    bouncing = made(on_floor(BALL, 0.101, (0, 0, -3), material=mc.Material(restitution=0.8)))
    with pytest.raises(mc.SimulationError, match="bounces"):
        mc.step_derivatives(bouncing)
    scene = chain(at(mc.BallJoint, break_force=1e-3))
    with pytest.raises(mc.SimulationError, match="breaks in this step"):
        mc.step_derivatives(made(scene))
    scene = mc.Scene()
    scene.add_body("wall", shape=mc.Box((2, 2, 0.01)), kind="static")
    scene.add_body("struck", shape=BALL, density=500, position=(0, 0, 0.6))
    scene.add_body("bullet", shape=BALL, density=500, position=(0, 0, 0.81), velocity=(0, 0, -200))
    fast = made(scene, substeps=1)
    with pytest.raises(mc.SimulationError, match="so fast"):
        mc.step_derivatives(fast)
    sleepy = mc.World(on_floor(BOX, 0.29995), stabilization="baumgarte", sleep=mc.Sleep(time=0.02))
    with pytest.raises(mc.SimulationError, match="falls asleep"):
        for _ in range(60):
            mc.step_derivatives(sleepy)
            sleepy.step()


def test_what_is_noted():
    """An edge of a law, what touches without load, and steps that are not solved."""
    touching = made(on_floor(BALL, 0.1))
    assert "at an edge of its law" in mc.step_derivatives(touching).notes[0]
    scene = with_floor(gravity=(0, 0, 0))
    scene.add_body("body", shape=BALL, density=500, position=(0, 0, 0.09999))
    assert "touches without pressing" in mc.step_derivatives(made(scene)).notes[0]
    disc = on_floor(mc.Cylinder(0.2, 0.1), 0.09995, (1, 0.2, 0), (0, 0, 1))
    assert any("share in several ways" in note for note in mc.step_derivatives(made(disc)).notes)
    assert mc.step_derivatives(made(on_floor(BOX, 0.29995, (1, 0.2, 0), (0, 0, 1)))).notes == (), "four corners are held"
    rough = made(stacked((0.5, 0.2, 0)), iterations=1)
    found = mc.step_derivatives(rough)
    assert found.defect > 1e-6 and "more iterations bring it there" in found.notes[-1]


def test_rows_that_are_asked_for_wrongly():
    """The kernel looks at the shapes of what it is given."""
    world = made(on_floor(BOX, 0.29995))
    with pytest.raises(ValueError, match="of 2 bodies"):
        world._pipeline.prepare_later(np.zeros((1, 3)), np.zeros((2, 4)), np.zeros((2, 6)), np.zeros((2, 6)), 0.0)


# ---- whole motions -----------------------------------------------------------------------------------------------------


def test_a_motion():
    """Its derivatives against differences of whole motions, forwards against backwards."""
    world, steps = scattered(1.5, 0.7), 12
    world.forces[3] = 1, 2, 3, 0.1, 0.2, 0.3
    run = mc.trajectory_derivatives(world, steps)
    after = copy.deepcopy(world)
    after.step(steps)
    assert (run.positions[-1] == after.positions).all() and (run.time[-1] == after.time)

    def change(other, size):
        other.velocities[1] += size * np.array([1.0, -2.0, 0.0])
        other.angular_velocities[3] += size * np.array([0.5, 0.0, 1.0])

    size = 1e-6
    expected = apart(stepped(world, change, size, steps), stepped(world, change, -size, steps)) / (2 * size)
    way = np.zeros(48)
    way[run.index("box", "velocity")], way[run.index("ball", "angular_velocity")] = (1, -2, 0), (0.5, 0, 1)
    assert run.jacobian("start")[-1] @ way == pytest.approx(expected, abs=1e-5 * np.abs(expected).max())
    slopes = np.random.default_rng(0).standard_normal((steps + 1, 48))
    gradient = run.gradient(slopes)
    for name in ("start", "mass", "mass_alone", "friction"):
        forwards = np.einsum("ka,kab->b", slopes, run.jacobian(name))
        assert getattr(gradient, name) == pytest.approx(forwards, abs=1e-9 * np.abs(forwards).max() + 1e-12)
    assert gradient.force.sum(axis=0) == pytest.approx(
        np.einsum("ka,kab->b", slopes, run.jacobian("force")), rel=1e-9, abs=1e-9
    )
    assert gradient.effort.shape == (steps, len(world.tau)) and run.notes == {}


def test_a_motion_by_forces_in_each_step():
    world = made(on_floor(BALL, 0.09999, (2, 0.3, 0)), substeps=1)
    forces = np.zeros((5, 2, 6))
    forces[:, 1] = np.linspace(0, 3, 30).reshape(5, 6)
    run = mc.trajectory_derivatives(world, 5, forces=forces)
    slopes = np.zeros((6, 24))
    slopes[-1, run.index("body", "position")] = 1, 2, 0
    gradient = run.gradient(slopes).force

    def end(which, size):
        other, pushes = copy.deepcopy(world), forces.copy()
        pushes[which] += size
        for push in pushes:
            other.forces[...] = push
            other.step()
        return other.positions[1] @ [1, 2, 0]

    for which in ((0, 1, 0), (2, 1, 4), (4, 1, 1)):
        expected = (end(which, 1e-4) - end(which, -1e-4)) / 2e-4
        assert gradient[which[0], 6 * which[1] + which[2]] == pytest.approx(expected, rel=1e-5, abs=1e-9)


def test_motions_that_are_asked_for_wrongly():
    world = made(on_floor(BALL, 0.2))
    for wrong in (0, -1, 1.5, "a"):
        with pytest.raises(mc.SceneError, match="steps"):
            mc.trajectory_derivatives(world, wrong)
    for wrong in (np.zeros((2, 2, 3)), "x", np.full((2, 2, 6), np.nan)):
        with pytest.raises(mc.SceneError, match="forces must be"):
            mc.trajectory_derivatives(world, 2, forces=wrong)
    run = mc.trajectory_derivatives(world, 1)
    with pytest.raises(mc.SceneError, match="by must be one of start"):
        run.jacobian("colour")
    with pytest.raises(mc.SceneError, match="slopes must be"):
        run.gradient(np.zeros(3))
    with pytest.raises(mc.SceneError, match="did you mean 'body'"):
        run.index("bdy", "position")
    with pytest.raises(mc.SceneError, match="what must be one of"):
        run.index("body", "colour")
    with pytest.raises(mc.SceneError, match="a number from 0 to 1"):
        run.index(7, "position")
    assert "1 steps of 2 bodies" in repr(run) and "2 bodies" in repr(run.steps[0])
