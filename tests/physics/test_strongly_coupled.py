"""Joints whose motors, limits, springs, rotors and gears are tied to each other far more firmly than their own two bodies
say: what they do has to be finite, and is checked against what mechanics says of it."""

import numpy as np
import pytest

import mcsim as mc

STABILIZATIONS = ["soft", "baumgarte", "none", "ggl", "projection", "split_impulse"]


def kinds(world):
    return {note.kind for note in world.stats.all_notes}


# ---- gears -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stiffness", [1e4, 1e6])
@pytest.mark.parametrize("ratio", [0.1, -1.0])
def test_what_loads_a_gear_moves_nobody_where_joints_are_closed(stiffness, ratio):
    """A rod between two bodies that spin too fast for the step, so that it is closed by moving them, geared to a carriage
    on a free rail that a spring presses. Whatever is moved, momentum stays."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("rail", mass=20.0, inertia=(1.0, 1.0, 1.0))
    scene.add_body("carriage", mass=2.8, inertia=(0.02, 0.02, 0.02))
    scene.add_body("light", mass=0.028, inertia=(2e-4, 2.4e-4, 8e-5), position=(2.0, 0, 1))
    scene.add_body("heavy", mass=5.3, inertia=(0.06, 0.07, 0.02), position=(2, -0.85, 0.35), angular_velocity=(27, 35, 11))
    spring = mc.Spring(stiffness, rest=0.25)
    scene.add_joint(mc.SliderJoint("rail", "carriage", (1, 0, 0), name="slide", spring=spring))
    scene.add_joint(mc.DistanceJoint("light", "heavy", (1, 0, 1), (0, 0, 0), name="rod"))
    scene.add_joint(mc.GearJoint("slide", "rod", ratio))
    world = mc.World(scene, dt=1 / 20)
    linear, angular = world.momentum()
    for _ in range(6):
        world.step()
        now = world.momentum()
        np.testing.assert_allclose(now[0], linear, atol=1e-6)
        np.testing.assert_allclose(now[1], angular, atol=1e-6)
        assert np.abs(world.velocities).max() < 50.0
    assert "moved joints" in kinds(world)


# ---- what joints hold, motors do not move ----------------------------------------------------------------------------

DRIVES = {
    "limit": {"limits": (0.5, None)},
    "velocity": {"motor": mc.Motor(velocity=1.0)},
    "position": {"motor": mc.Motor(position=0.3), "armature": 3.0},
    "spring": {"spring": mc.Spring(1e9, 100.0, rest=0.2)},
    "friction": {"friction": 1e6, "motor": mc.Motor(velocity=-1.0, max_force=50.0)},
}


def locked(drive, geared):
    """Two bodies with hinges about two axes, so that they are one. geared: what drives one of these does by a gear."""
    scene = mc.Scene()
    scene.add_body("a", mass=2.3, inertia=(0.007,) * 3)
    scene.add_body("b", mass=1.9, inertia=(0.005,) * 3, position=(0.4, 0, 0))
    scene.add_joint(mc.HingeJoint("a", "b", (0, 0.2, 0), (1, 0, 0), name="first", **({} if geared else DRIVES[drive])))
    scene.add_joint(mc.HingeJoint("a", "b", (0, 0.2, 0), (0, 1, 0), name="second"))
    if geared:
        scene.add_body("c", mass=1.0, inertia=(0.01, 0.012, 0.009), position=(0.4, 0, 0.5))
        scene.add_joint(mc.SliderJoint("b", "c", (1, 0, 0), name="slide", **DRIVES[drive]))
        scene.add_joint(mc.GearJoint("first", "slide", 2.0))
    return scene


@pytest.mark.parametrize("geared", [False, True])
@pytest.mark.parametrize("drive", DRIVES)
def test_what_is_locked_falls_as_one_whatever_drives_it(drive, geared):
    world = mc.World(locked(drive, geared), sleep=False)
    world.step(30)
    count = len(world.body_names)
    np.testing.assert_allclose(world.velocities, [[0, 0, -9.81 * 0.5]] * count, atol=1e-5)
    np.testing.assert_allclose(world.angular_velocities, 0.0, atol=1e-5)
    assert not kinds(world)


# ---- rows that are found by pivots -----------------------------------------------------------------------------------


@pytest.mark.parametrize("friction", [1e2, 1e6])
@pytest.mark.parametrize("mass", [0.0035, 1.0])
def test_rounding_beside_great_impulses_is_no_reason_to_pivot(friction, mass):
    """A limit that a kinematic carriage's own friction presses upon with all it has, and limits further out that carry
    nothing."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("rail", kind="kinematic")
    scene.add_body("carriage", mass=mass, inertia=(0.01 * mass, 0.012 * mass, 0.009 * mass))
    scene.add_body("ball", shape=mc.Sphere(0.14), position=(2.18, 1.84, -0.006))
    axis = np.array([-0.5868058, -0.37610703, -0.71707927])
    other = np.cross(axis, [0.0, 0.3, 0.5])
    scene.add_joint(mc.SliderJoint("rail", "carriage", (0, 1, 1), limits=(None, 0.0), friction=friction))
    limits = [(0.0, 0.0), None]
    scene.add_joint(mc.UniversalJoint("carriage", "ball", (2.18, 1.84, -0.006), axis, other, limits=limits))
    world = mc.World(scene, dt=1 / 20)
    world.step(40)
    assert "pivots" not in kinds(world)


@pytest.mark.parametrize("acts", ["pull", "push", "both"])
@pytest.mark.parametrize("limits", [(1.0, None), (None, -1.0), (0.0, 0.0)])
def test_a_limit_a_motor_and_a_damper_of_one_coordinate_are_settled(limits, acts):
    """The limit is violated, the motor has no bound: the limit has its way."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("a", mass=2.3, inertia=(0.007,) * 3)
    scene.add_body("b", mass=1.9, inertia=(0.005,) * 3, position=(0, 1, 2))
    damper = mc.Spring(0.0, 1.0, acts=acts)
    motor = mc.Motor(velocity=0.0)
    scene.add_joint(mc.SliderJoint("a", "b", (0, 0, 1), name="slide", limits=limits, motor=motor, spring=damper))
    world = mc.World(scene, dt=1 / 240)
    world.step(480)
    assert not kinds(world)
    low, high = limits
    assert (low is None or world.joint("slide").position > low - 1e-3) and (
        high is None or world.joint("slide").position < high + 1e-3
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("friction", [0.01, 0.1])
def test_rows_are_judged_where_further_sweeps_have_moved_the_joints(friction, seed):
    """Friction of a ball joint at a light box that heavier ones press: sweeps go on over their contacts, and joints answer
    before its rows do."""
    scene = mc.Scene()
    turning = np.array([0.76, -0.71, 1.01]) + 0.1 * np.random.default_rng(seed).normal(size=3)
    scene.add_body("beside", shape=mc.Capsule(0.0588, 0.1176), position=(1.2845, -1.7392, -0.779))
    scene.add_body("box", shape=mc.Box((0.125, 0.0625, 0.25)), position=(1.3206, -1.7808, -0.8012), mass=0.0072)
    scene.add_body("far", shape=mc.Sphere(0.1085), mass=1.0, velocity=(0, 1, 1), angular_velocity=turning)
    scene.add_joint(mc.BallJoint("box", "far", (1, 0, 0), friction=friction))
    world = mc.World(scene, dt=1 / 60)
    world.step(45)
    assert "pivots" not in kinds(world)


@pytest.mark.parametrize("friction", [0.01, 1e6])
def test_a_loop_near_a_singular_pose_has_a_semidefinite_answer(friction):
    """Four bodies in a loop that cannot move, but nearly: what rows of its joints see of each other is next to nothing."""
    scene = mc.Scene()
    for name, place in (("a", (0, 0, 0)), ("b", (0, 0, 0)), ("c", (0, 0, 2.95)), ("d", (1, 0, 2.86))):
        scene.add_body(name, mass=1.0, inertia=(0.002,) * 3, position=place)
    for a, b, anchor, axis in (("b", "c", (0, 0, 0), (-0.22, 0.86, 0.46)), ("c", "d", (0, 1, 0), (-0.07, 0.75, -0.66))):
        scene.add_joint(mc.UniversalJoint(a, b, anchor, axis, np.cross(axis, (0.4, 0.5, -0.8))))
    scene.add_joint(mc.ScrewJoint("b", "a", (0, 0, 1), (0, 0, 1), -0.01, friction=1e6))
    scene.add_joint(mc.HingeJoint("a", "d", (0, 0, 1), (1, 0, 0), friction=friction))
    world = mc.World(scene)
    world.step(20)
    assert "pivots" not in kinds(world)
    np.testing.assert_allclose(world.velocities, [[0, 0, -9.81 / 3]] * 4, atol=1e-3)


# ---- contacts of what is held ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stabilization", STABILIZATIONS)
@pytest.mark.parametrize("mass", [0.004, 0.01])
@pytest.mark.parametrize("friction", [0.0, 0.6])
def test_contacts_see_motors_with_the_joints_in_them(friction, mass, stabilization):
    """A light box that a motor swings about a far joint is met by a heavy one that turns fast. What the motor does moves
    the light body and what hangs on it; a contact that saw the light body alone would fling it away."""
    scene = mc.Scene()
    rubs = mc.Material(friction)
    place, at = (-0.626, -0.522, 5.449), (0.0, 1.0, 5.1)
    scene.add_body("base", shape=mc.Sphere(0.0856), mass=1.0, position=(0, 0, 5.013), material=rubs)
    light = {"orientation": unit((-0.454, 0.482, 0.102, -0.742)), "mass": mass, "material": rubs}
    scene.add_body("light", shape=mc.Box((0.0633, 0.0317, 0.1266)), position=place, **light)
    heavy = {"orientation": unit((0.351, 0.077, 0.614, -0.703)), "mass": 335.0, "material": rubs}
    place, turning = (-0.308, -0.675, 5.51), (39.55, 22.7, -27.4)
    scene.add_body("heavy", shape=mc.Box((0.1027, 0.0513, 0.2054)), position=place, angular_velocity=turning, **heavy)
    motor = [None, mc.Motor(position=0.96, max_force=5.0, max_velocity=3.0), None]
    scene.add_joint(mc.BallJoint("base", "light", at, twist_limits=(0.0, 0.0), motor=motor))
    world = mc.World(scene, dt=1 / 60, stabilization=stabilization)
    met = 0
    for _ in range(6):
        world.step()
        met += len(world.contacts)
        assert np.abs(world.velocities).max() < 5.0
    assert met


def unit(q):
    return np.array(q) / np.linalg.norm(q)


# ---- blows on what is held -------------------------------------------------------------------------------------------


def struck(armature, spring, seed, mass=0.08):
    """A light sphere on a hinge, which turns, is met by another: with a spring by one that comes from aside, without by one
    that waits on its way. Nothing rubs and nothing is lost."""
    rng = np.random.default_rng(seed)
    scene, bouncy = mc.Scene(gravity=(0, 0, 0)), mc.Material(friction=0.0, restitution=1.0)
    at, turning = rng.uniform(-1, 1, 3), np.array([0, 0, 20.0])
    place = np.array([0.3, 0, 0])
    scene.add_body("a", shape=mc.Sphere(0.11), material=bouncy)
    moves = {"velocity": np.cross(turning, place - at), "angular_velocity": turning}
    scene.add_body("b", shape=mc.Sphere(0.09), position=place, mass=mass, material=bouncy, **moves)
    met, comes = (0.3, 0.25, 0.02), (0, -10, 0)
    if spring is None:
        arm, (c, s) = place - at, (np.cos(0.6), np.sin(0.6))
        met, comes = at + (c * arm[0] - s * arm[1], s * arm[0] + c * arm[1], arm[2] + 0.02), (0, 0, 0)
    scene.add_body("c", shape=mc.Sphere(0.1), position=met, material=bouncy, velocity=comes)
    scene.add_joint(mc.HingeJoint("a", "b", at, (0, 0, 1), armature=armature, spring=spring))
    return scene


@pytest.mark.parametrize("seed", [5, 17])
@pytest.mark.parametrize("stiffness", [1e4, 2e4, 5e4])
def test_blows_see_what_springs_and_rotors_do(stiffness, seed):
    """Before a blow a light body moves as its rotor and the spring let it, not as half of their impulses throws it."""
    world = mc.World(struck(3.0, mc.Spring(stiffness), seed), dt=1 / 240)
    first, met = world.energy().total, 0
    for _ in range(30):
        world.step()
        met += len(world.contacts)
        assert world.energy().total == pytest.approx(first, rel=0.05)
    assert met


@pytest.mark.parametrize("stabilization", STABILIZATIONS)
@pytest.mark.parametrize("mass", [0.08, 0.3])
@pytest.mark.parametrize("seed", [4, 5])
def test_blows_meet_rotors_under_every_stabilization(seed, mass, stabilization):
    """What moves bodies after a drift solves anew for velocities where they then are, which costs some of the rotor's."""
    world = mc.World(struck(3.0, None, seed, mass), dt=1 / 240, stabilization=stabilization)
    first, met = world.energy().total, 0
    for _ in range(30):
        world.step()
        met += len(world.contacts)
        part = 0.12 if stabilization in ("ggl", "projection") else 0.05
        assert world.energy().total == pytest.approx(first, rel=part)
    assert met


# ---- rotors beside contacts ------------------------------------------------------------------------------------------


def overlapping(kind, armature, friction):
    """A light link behind a rotor, at rest, that overlaps a free box by some millimetres."""
    scene, rubs = mc.Scene(gravity=(0, 0, 0)), mc.Material(friction)
    link = {"position": (-0.684, -1.407, 2.728), "material": rubs}
    scene.add_body("link", shape=mc.Box((0.045, 0.022, 0.09)), **link)
    scene.add_body("base", mass=1.0, inertia=(0.01, 0.012, 0.009), orientation=unit((0.184, -0.258, -0.93, -0.187)))
    box = {"position": (-0.841, -1.49, 2.737), "orientation": unit((-0.745, -0.329, -0.342, -0.47)), "material": rubs}
    scene.add_body("box", shape=mc.Box((0.091, 0.046, 0.183)), **box)
    if kind == "free":
        scene.add_joint(mc.FreeJoint("base", "link", armature=armature))
    else:
        scene.add_joint(mc.BallJoint("base", "link", (-0.684, -1.407, 2.728), armature=armature))
    return scene


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte"])
@pytest.mark.parametrize("friction", [0.0, 0.6])
@pytest.mark.parametrize("armature", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("kind", ["free", "ball"])
def test_contacts_drive_no_rotors(kind, armature, friction, stabilization):
    """What a contact changes of a rotor's rate takes the rotor's impulse. Else a contact that is pushed apart gives the
    rate that a light link would have, and the energy that the rotor then has."""
    world = mc.World(overlapping(kind, armature, friction), dt=1 / 240, stabilization=stabilization, sleep=False)
    for _ in range(150):
        world.step()
        assert world.energy().total < 0.01


@pytest.mark.parametrize("stabilization", STABILIZATIONS)
@pytest.mark.parametrize("friction", [0.0, 0.6])
@pytest.mark.parametrize("restitution", [0.0, 1.0])
@pytest.mark.parametrize("armature", [0.3, 30.0])
@pytest.mark.parametrize("mass", [0.002, 0.1])
@pytest.mark.parametrize("kind", ["free", "ball", "hinge"])
def test_what_meets_a_rotor_gives_it_no_energy(kind, mass, armature, restitution, friction, stabilization):
    """Down to a link of two grams on a rotor that weighs as much as 15 tonnes of it would."""
    scene, material = mc.Scene(gravity=(0, 0, 0)), mc.Material(friction, restitution)
    scene.add_body("base", kind="kinematic")
    moving = {"velocity": (0, 0.6, 0), "angular_velocity": (0, 0, 2), "mass": mass}
    scene.add_body("link", shape=mc.Box((0.05, 0.03, 0.1)), position=(0.3, 0, 0), material=material, **moving)
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0.32, 0.3, 0.02), material=material)
    if kind == "free":
        scene.add_joint(mc.FreeJoint("base", "link", armature=armature))
    elif kind == "ball":
        scene.add_joint(mc.BallJoint("base", "link", (0, 0, 0), armature=armature))
    else:
        scene.add_joint(mc.HingeJoint("base", "link", (0, 0, 0), (0, 0, 1), armature=armature))
    world = mc.World(scene, dt=1 / 60, stabilization=stabilization, sleep=False)
    first, met = world.energy().total, 0
    for _ in range(60):
        world.step()
        met += len(world.contacts)
        assert world.energy().total < 1.15 * first
    assert met


def test_free_joints_with_rotors_are_as_in_generalized_coordinates():
    """A body that a rotor of a free joint makes heavy is pressed against others by a spring without a yielding motor."""
    scene = mc.Scene()
    for name, shape in (("a", mc.Capsule(0.026, 0.052)), ("b", mc.Box((0.0773, 0.0387, 0.1547)))):
        scene.add_body(name, shape=shape)
    scene.add_body("heavy", mass=761.0, inertia=(7.6, 1.0, 6.8))
    own = {"orientation": unit((0.2262, 0.8814, -0.373, 0.181)), "mass": 28.0}
    scene.add_body("c", shape=mc.Box((0.1987, 0.0994, 0.3975)), **own)
    motor = [None, mc.Motor(velocity=2.21), None, None, None, None]
    spring = [None, mc.Spring(1e9, 100.0, rest=-0.232), None, None, None, None]
    scene.add_joint(mc.FreeJoint("b", "heavy", armature=3.0, motor=motor, spring=spring))
    scene.add_joint(mc.HingeJoint("a", "c", (0, 0, 0), (0, 1, 0)))
    world, reduced = mc.World(scene, dt=1 / 60, substeps=2), mc.ReducedWorld(scene, dt=1 / 60, substeps=2)
    for _ in range(10):
        world.step()
        reduced.step()
    assert np.abs(world.velocities).max() == pytest.approx(np.abs(reduced.velocities).max(), rel=0.05)


# ---- blows where joints do not hold yet ------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [0.5, 1.0])
@pytest.mark.parametrize("kp", [1e6, 1e7, 1e8])
@pytest.mark.parametrize("stabilization", ["ggl", "projection", "soft"])
def test_a_blow_sees_velocities_that_joints_allow(stabilization, kp, restitution):
    """A stiff motor turns a box far in the first substep; where it then is its velocity is none that the joints allow, and
    another box in its way is not to meet that. What comes out is no more than the motor had."""
    scene = mc.Scene()
    scene.add_body("carriage", shape=mc.Sphere(0.087))
    turned = unit((-0.5205, 0.1324, 0.7416, -0.402))
    scene.add_body("box", shape=mc.Box((0.1243, 0.0622, 0.2486)), position=(-1.8217, -0.2646, 3.5215), orientation=turned)
    turned, bouncy = unit((0.4297, -0.4667, 0.0955, -0.7671)), mc.Material(restitution=restitution)
    place = (-2.3371, -0.5457, 3.4063)
    shape = mc.Box((0.1704, 0.0852, 0.3409))
    scene.add_body("other", shape=shape, position=place, orientation=turned, material=bouncy)
    scene.add_joint(mc.SliderJoint(None, "carriage", (0, 0, 1)))
    angle = -0.687
    motor = mc.Motor(position=angle, kp=kp)
    scene.add_joint(mc.HingeJoint("carriage", "box", (1, 0, 0), (0, 0, 1), motor=motor))
    world = mc.World(scene, dt=1 / 60, iterations=30, stabilization=stabilization)
    most = world.energy().total + 0.5 * kp * angle * angle
    for _ in range(5):
        world.step()
        assert world.energy().kinetic < most


@pytest.mark.parametrize("friction", [1e4, 1e6])
@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_a_blow_on_a_tree_sees_its_drives_balanced(law, friction):
    """A motor without bound presses a screw into its limit, which friction holds; a ball falls upon what hangs there."""
    scene = mc.Scene()
    scene.add_body("ball", shape=mc.Sphere(0.168), position=(-1.3124, -0.7267, 1.0))
    scene.add_body("box", shape=mc.Box((0.103, 0.0515, 0.2059)))
    bouncy = {"material": mc.Material(restitution=1.0), "linear_damping": 0.5}
    scene.add_body("nut", shape=mc.Sphere(0.175), position=(-1.2358, -0.5973, 1.3559), mass=1.0, **bouncy)
    drive = {"limits": (0.0, None), "motor": mc.Motor(velocity=-0.5), "friction": friction}
    scene.add_joint(mc.ScrewJoint("box", "nut", (0, 0, 0), (0, 1, 0), -0.01, **drive))
    world = mc.ReducedWorld(scene, dt=1 / 20, restitution_law=law)
    first, met = world.energy().total, 0
    for _ in range(8):
        world.step()
        met += len(world.contacts)
        assert world.energy().total <= first * (1 + 1e-6)
    assert met


# ---- narrow cones ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ball", "free"])
@pytest.mark.parametrize("drive", ["position", "velocity", "spring"])
@pytest.mark.parametrize("stabilization", [*STABILIZATIONS, "reduced"])
def test_a_cone_of_no_width_lets_nothing_lean(stabilization, drive, kind):
    """Whatever drives it aside, and however: half a space in the direction in which it happens to lean holds nothing."""
    drives = {"position": mc.Motor(position=0.1, hertz=1.0), "velocity": mc.Motor(velocity=0.3, max_force=50.0)}
    drives["spring"] = mc.Spring(1e2, rest=0.3)
    scene = mc.Scene()
    scene.add_body("arm", mass=0.08, inertia=(8e-4, 9e-4, 7e-4), position=(-0.43, 0.14, 2.45))
    of = {"spring" if drive == "spring" else "motor": [None, drives[drive], None]}
    if kind == "free":
        of = {name: [None, None, None, *axes] for name, axes in of.items()}
        scene.add_joint(mc.FreeJoint(None, "arm", (0, 0, 0), swing_limit=0.0, **of))
    else:
        scene.add_joint(mc.BallJoint(None, "arm", (0, 0, 0), swing_limit=0.0, **of))
    if stabilization == "reduced":
        world = mc.ReducedWorld(scene, dt=1 / 60)
    else:
        world = mc.World(scene, dt=1 / 60, stabilization=stabilization)
    swept = drive == "spring" and stabilization == "reduced"
    for _ in range(90):
        world.step()
        leans = np.array(world.joints[0].position)[-3:-1]
        assert np.abs(leans).max() < (1e-2 if swept else 1e-5)
    assert np.abs(world.angular_velocities).max() < (0.1 if swept else 1e-2)
    assert not kinds(world)


def lean_of(q):
    """The angle by which the quaternion turns the z axis."""
    return 2.0 * np.arctan2(np.hypot(q[1], q[2]), np.hypot(q[0], q[3]))


@pytest.mark.parametrize("kind, width", [(mc.World, 0.0), (mc.World, 0.05), (mc.World, 0.15), (mc.ReducedWorld, 0.0)])
def test_a_narrow_cone_bounds_every_direction(kind, width):
    """A rod with a torque that goes round about once in half a second, which it follows along the cone."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("rod", mass=1.0, inertia=(0.3, 0.3, 0.01), position=(0, 0, 1))
    scene.add_joint(mc.BallJoint(None, "rod", (0, 0, 0), swing_limit=width, friction=0.1))
    world = kind(scene, dt=1 / 240)
    for i in range(240):
        angle = 4 * np.pi * i / 240
        world.apply_torque("rod", (20 * np.cos(angle), 20 * np.sin(angle), 0))
        world.step()
        lean = lean_of(world.orientations[0])
        assert lean < width + 3e-3
    assert lean > width - 0.01


# ---- drives against limits beside loops ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("drive", ["motor", "spring", "friction"])
@pytest.mark.parametrize("strength", [10.0, 1e3, 1e5, 1e6])
@pytest.mark.parametrize("height", [0.0, 0.7])
def test_what_drives_press_into_limits_moves_no_loop(height, strength, drive, kind):
    """All is at rest, and stays so: a motor presses a hinge into its limit, from which a rod leads to a third body."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for name, place in (("a", (0, 0, 0)), ("b", (1, 0, 0)), ("c", (1, 1, height))):
        scene.add_body(name, mass=1.0, inertia=(0.05, 0.06, 0.07), position=place)
    of = {"motor": mc.Motor(velocity=-1.0, max_force=strength)}
    if drive == "spring":
        of = {"spring": mc.Spring(strength, rest=-0.1)}
    elif drive == "friction":
        of["friction"] = 0.5 * strength
    scene.add_joint(mc.HingeJoint("a", "b", (0.5, 0, 0), (0, 0, 1), limits=(0.0, None), **of))
    scene.add_joint(mc.DistanceJoint("b", "c", (1.2, 0.1, 0), (1, 0.9, height)))
    world = kind(scene, dt=1 / 60, sleep=False)
    world.step(60)
    assert world.energy().kinetic < 1e-12
    assert not kinds(world)


# ---- what a method cannot do -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("drive", [{"spring": mc.Spring(1e9, 0.0, rest=0.1)}, {"motor": mc.Motor(position=0.1, kp=1e9)}])
def test_runge_kutta_names_the_spring_that_is_too_fast(kind, drive):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("arm", mass=1.0, inertia=(0.01,) * 3, position=(1, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 0, 1), name="elbow", **drive))
    world = kind(scene, integrator="rk4")
    with pytest.raises(mc.SimulationError, match="joint 'elbow' has a spring of stiffness 1e.09"):
        world.step(20)
