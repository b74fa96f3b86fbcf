"""Slots, points on planes and constant-velocity joints against closed forms, in both worlds."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import from_axes, multiply

G = 9.81
WORLDS = {
    "tree": lambda scene, **k: mc.World(scene, **k),
    "rows": lambda scene, **k: mc.World(scene, joint_solver="rows", **k),
    "baumgarte": lambda scene, **k: mc.World(scene, stabilization="baumgarte", **k),
    "rk4": lambda scene, **k: mc.World(scene, integrator="rk4", **k),
    "reduced": lambda scene, **k: mc.ReducedWorld(scene, **k),
    "reduced rk4": lambda scene, **k: mc.ReducedWorld(scene, integrator="rk4", **k),
}
every_world = pytest.mark.parametrize("make", WORLDS.values(), ids=WORLDS)


def second_order(make, dt, exact):
    """What a velocity may be off by [m/s, rad/s]: the semi-implicit step of coordinates of which ways come before
    turns is of second order, as with a planar joint (up to 2.2 dt^2 here, a quarter of it at half of dt); the others
    are exact."""
    return 3.0 * dt * dt if make is WORLDS["reduced"] else exact


@every_world
def test_a_bead_slides_down_its_wire(make):
    """On a wire tilted by 0.4: g sin 0.4 along it, the weight's other part in the joint, and a spin that is kept."""
    along = np.array([np.cos(0.4), 0, -np.sin(0.4)])
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("bead", mass=2.0, inertia=(0.2, 0.2, 0.2), angular_velocity=(1.0, -2.0, 0.5))
    scene.add_joint(mc.SlotJoint(None, "bead", (0, 0, 0), along, name="wire"))
    world = make(scene, dt=1e-3)
    world.step(500)
    wire, a = world.joint("wire"), G * np.sin(0.4)
    assert wire.velocity[0] == pytest.approx(0.5 * a, abs=second_order(make, 1e-3, 1e-9))
    assert wire.position[0] == pytest.approx(0.125 * a, rel=3e-3)
    assert world.body("bead").angular_velocity == pytest.approx((1.0, -2.0, 0.5), abs=second_order(make, 1e-3, 1e-9))
    assert wire.force == pytest.approx(2.0 * (np.array([0, 0, G]) + a * along), abs=1e-5)
    assert np.abs(world.joint_errors()).max() < 1e-5


@every_world
def test_a_bead_on_a_turning_wire_flies_out(make):
    """r'' = W^2 r: r = r0 cosh W t."""
    speed, r0, t = 3.0, 0.2, 0.5
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("arm", kind="kinematic", angular_velocity=(0, 0, speed))
    scene.add_body("bead", mass=1.0, inertia=(0.1, 0.2, 0.25), position=(r0, 0, 0), velocity=(0, speed * r0, 0))
    scene.add_joint(mc.SlotJoint("arm", "bead", (r0, 0, 0), (1, 0, 0), name="wire"))
    world = make(scene, dt=2.5e-4)
    world.step(2000)
    assert np.linalg.norm(world.body("bead").position) == pytest.approx(r0 * np.cosh(speed * t), rel=1e-3)
    assert world.joint("wire").velocity[0] == pytest.approx(r0 * speed * np.sinh(speed * t), rel=1.5e-3)


@every_world
def test_a_slot_ends_at_its_limits(make):
    """A bead that falls to the end of its slot stays there, and the limit bears the weight."""
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("bead", mass=2.0, inertia=(0.2, 0.2, 0.2))
    scene.add_joint(mc.SlotJoint(None, "bead", (0, 0, 0), (0, 0, 1), name="slot", limits=(-0.1, 0.3)))
    world = make(scene, dt=1 / 240)
    world.step(240)
    slot = world.joint("slot")
    assert slot.position[0] == pytest.approx(-0.1, abs=2e-3) and abs(slot.velocity[0]) < 1e-6
    assert slot.force == pytest.approx((0, 0, 2.0 * G), rel=1e-3, abs=1e-6)


@every_world
def test_a_pendulum_on_a_slot_keeps_what_nothing_pushes(make):
    """Hung by one end on a level wire: the line bears no force along it, so that velocity is kept; and energy."""
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("rod", mass=1.5, inertia=(0.12, 0.1, 0.05), position=(0.3, 0, -0.4), velocity=(0.7, 0.0, 0.0))
    scene.add_joint(mc.SlotJoint(None, "rod", (0, 0, 0), (1, 0, 0), name="wire"))
    world = make(scene, dt=1e-3)
    start = world.energy().total
    world.step(700)
    assert world.body("rod").velocity[0] == pytest.approx(0.7, abs=second_order(make, 1e-3, 1e-6))
    assert world.body("rod").position[0] == pytest.approx(0.3 + 0.7 * 0.7, abs=1e-5)
    assert world.energy().total == pytest.approx(start, abs=2e-3)


@every_world
def test_a_point_slides_down_an_incline(make):
    """Without friction: g sin 0.5 down the slope, the velocity across it kept."""
    normal = np.array([np.sin(0.5), 0, np.cos(0.5)])
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("b", mass=2.0, inertia=(0.2, 0.2, 0.2), velocity=(0, 0.7, 0), angular_velocity=(0.3, 1.0, -2.0))
    scene.add_joint(mc.PointOnPlaneJoint(None, "b", (0, 0, 0), normal, name="plane"))
    world = make(scene, dt=1e-3)
    world.step(500)
    plane, a = world.joint("plane"), G * np.sin(0.5)
    assert plane.velocity[:2] == pytest.approx((0.5 * a, 0.7), rel=1e-6)
    assert plane.position[:2] == pytest.approx((0.125 * a, 0.35), rel=3e-3)
    assert plane.force == pytest.approx(2.0 * G * np.cos(0.5) * normal, rel=1e-6, abs=1e-6)
    # In generalized coordinates the step keeps energy, of way and spin together, and shares it to the second order.
    assert world.body("b").angular_velocity == pytest.approx(
        (0.3, 1.0, -2.0), abs=1e-9 if type(world) is mc.World else 1e-5
    )


@every_world
def test_a_rod_falls_over_on_ice(make):
    """Its foot slides on a plane: 1/2 (I + m l^2 sin^2 t) t'^2 = m g l (cos t0 - cos t), and nothing pushes it sideways."""
    mass, inertia, reach, lean = 1.2, 0.1, 0.5, 0.3
    scene = mc.Scene(gravity=(0, 0, -G))
    center = reach * np.array([np.sin(lean), 0, np.cos(lean)])
    scene.add_body("rod", mass=mass, inertia=(inertia,) * 3, position=center)
    scene.add_joint(mc.PointOnPlaneJoint(None, "rod", (0, 0, 0), (0, 0, 1), name="foot"))
    world = make(scene, dt=5e-4)
    world.step(1000)
    body = world.body("rod")
    angle = np.arccos(body.position[2] / reach)
    assert angle > 0.6
    fallen = 2 * mass * G * reach * (np.cos(lean) - np.cos(angle))
    expected = np.sqrt(fallen / (inertia + mass * (reach * np.sin(angle)) ** 2))
    assert body.angular_velocity == pytest.approx((0, expected, 0), rel=2e-3, abs=1e-9)
    assert body.position[:2] == pytest.approx(center[:2], abs=1e-6)


def shafts(bend, joint):
    """Two shafts on bearings that meet at an angle, the first driven to turn."""
    first, second = np.array([1.0, 0, 0]), np.array([np.cos(bend), np.sin(bend), 0])
    scene = mc.Scene(gravity=(0, 0, 0))
    for name, axis, sign in (("in", first, -1.0), ("out", second, 1.0)):
        scene.add_body(name, mass=1.0, inertia=(0.02, 0.02, 0.02), position=0.5 * sign * axis)
    scene.add_joint(mc.HingeJoint(None, "in", (0, 0, 0), first, name="hinge_in", motor=mc.Motor(velocity=5.0)))
    scene.add_joint(mc.HingeJoint(None, "out", (0, 0, 0), second, name="hinge_out"))
    scene.add_joint(joint(first, second))
    return scene


def constant_velocity(bend):
    """Its frames: z along each shaft, the second turned from the first about what is across both."""

    def joint(first, second):
        turn = from_axes(first)
        bent = multiply(np.array([np.cos(bend / 2), 0, 0, np.sin(bend / 2)]), turn)
        return mc.ConstantVelocityJoint(
            "in", "out", name="cv", frame_a=(0.5 * np.array([1.0, 0, 0]), turn), frame_b=(-0.5 * second, bent)
        )

    return joint


@pytest.mark.parametrize("bend", [0.0, 0.4, 1.1])
@every_world
def test_bent_shafts_turn_at_one_speed(make, bend):
    """At every angle of the turn, where a universal joint of the same bend goes ahead and behind."""
    world = make(shafts(bend, constant_velocity(bend)), dt=1e-3)
    apart = 0.0
    for _ in range(60):
        world.step(20)
        apart = max(apart, abs(world.joint("hinge_in").angle - world.joint("hinge_out").angle))
    assert world.joint("hinge_in").angle > 5.5 and apart < 1e-4
    assert world.joint("hinge_out").velocity == pytest.approx(5.0, abs=1e-3)
    assert np.abs(world.joint_errors()).max() < 1e-4


def test_a_universal_joint_in_its_place_does_not():
    """The same two shafts: the test above can fail."""
    world = mc.World(
        shafts(
            1.1, lambda first, second: mc.UniversalJoint("in", "out", (0, 0, 0), (0, 0, 1), np.cross((0, 0, 1), second))
        ),
        dt=1e-3,
    )
    apart = 0.0
    for _ in range(60):
        world.step(10)
        apart = max(apart, abs(world.joint("hinge_in").angle - world.joint("hinge_out").angle))
    assert apart > 0.1


@pytest.mark.parametrize("seed", range(4))
def test_both_worlds_move_alike(seed):
    """Random chains on slots, points on planes and balls: the same poses but for the steps' own errors."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(1.0, -2.0, -9.0))
    before = None
    for i in range(4):
        place = np.array([0.4 * i, 0, 0]) + rng.uniform(-0.1, 0.1, 3)
        scene.add_body(f"b{i}", mass=rng.uniform(0.5, 2), inertia=(0.1, 0.12, 0.15), position=place)
        kind = (mc.SlotJoint, mc.PointOnPlaneJoint, mc.SlotJoint, mc.BallJoint)[(i + seed) % 4]
        scene.add_joint(kind(before, f"b{i}", place + rng.uniform(-0.2, 0.2, 3), rng.normal(size=3)))
        before = f"b{i}"
    worlds = mc.World(scene, dt=1e-4, integrator="rk4"), mc.ReducedWorld(scene, dt=1e-4, integrator="rk4")
    for world in worlds:
        world.step(2000)
    assert worlds[1].system.nv > 12 and np.abs(worlds[0].joint_errors()).max() < 1e-6
    assert np.abs(worlds[0].positions - worlds[1].positions).max() < 1e-6
    assert np.abs(worlds[0].velocities - worlds[1].velocities).max() < 1e-5
