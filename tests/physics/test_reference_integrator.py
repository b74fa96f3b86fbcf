"""integrator="reference": every smooth motion, in both worlds, to rounding, however long the step is."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import mcsim as mc
from benchmark_models import ANDREWS_ANGLES, ANDREWS_RATES, ANDREWS_TIME, andrews
from test_published_benchmarks import MODELS

BOTH = pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])


def arm(upper=None, lower=None, **elbow):
    """upper, lower: keywords of the bodies."""
    scene = mc.Scene(name="arm")
    scene.add_body("upper", mass=1.0, inertia=(0.02, 0.03, 0.01), position=(0.25, 0, 0), **(upper or {}))
    scene.add_body("lower", mass=0.7, inertia=(0.01, 0.02, 0.03), position=(0.8, 0, 0), **(lower or {}))
    scene.add_joint(mc.HingeJoint(None, "upper", anchor=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    scene.add_joint(mc.HingeJoint("upper", "lower", anchor=(0.5, 0, 0), axis=(0.1, 1, 0), name="elbow", **elbow))
    return scene


def a_tree():
    return arm()


def a_spring_of_a_hinge():
    return arm(spring=mc.Spring(30, 0.3, 0.2))


def a_spring_between_points():
    scene = arm()
    scene.add_joint(mc.DistanceJoint(None, "lower", (0.3, 0.2, 0.8), (0.9, 0, 0), spring=mc.Spring(60, 0.5, 0.5)))
    return scene


def a_gear():
    scene = arm()
    scene.add_joint(mc.GearJoint("shoulder", "elbow", -2.0))
    return scene


def a_loop_in_space():
    scene = arm()
    scene.add_body("rod", mass=0.5, inertia=(0.01, 0.02, 0.03), position=(1.3, 0, 0.3))
    scene.add_joint(mc.BallJoint("lower", "rod", anchor=(1.1, 0, 0)))
    scene.add_joint(mc.UniversalJoint(None, "rod", anchor=(1.5, 0, 0.6), axis_a=(0, 1, 0), axis_b=(0.6, 0, -0.8)))
    return scene


def damping():
    return arm(upper={"angular_damping": 1.1}, lower={"linear_damping": 0.7})


def a_prescribed_motion():
    """Whose velocity is not that of the bodies as they are given."""
    return arm(motion=mc.Motion(velocity=0.3, amplitude=0.8, frequency=1.3))


def a_kinematic_hand():
    """Whose velocity the bob has not."""
    scene = arm()
    scene.add_body("hand", kind="kinematic", position=(2, 0, 0), velocity=(0.1, 0.2, -0.3), angular_velocity=(0, 1.0, 0))
    scene.add_body("bob", mass=1, inertia=(0.1, 0.2, 0.3), position=(2, 0, -0.5))
    scene.add_joint(mc.BallJoint("hand", "bob", (2, 0, -0.1)))
    return scene


def joint_friction():
    return arm(friction=0.8)


def a_bounded_motor():
    return arm(motor=mc.Motor(velocity=2.0, max_force=3.0))


def a_joint_of_ones_own():
    """A ring on a parabola."""
    scene = arm()
    scene.add_body("ring", mass=0.5, inertia=(0.01, 0.01, 0.01), position=(0.4, 0, 0.08))
    scene.add_joint(
        mc.UserJoint(
            None,
            "ring",
            residual=lambda a, b: (b.position[1], b.position[2] - 0.5 * b.position[0] ** 2),
            size=2,
            name="wire",
        )
    )
    return scene


SCENES = [
    a_tree,
    a_spring_of_a_hinge,
    a_spring_between_points,
    a_gear,
    a_loop_in_space,
    damping,
    a_prescribed_motion,
    a_kinematic_hand,
    a_joint_of_ones_own,
]
DRY = [joint_friction, a_bounded_motor]  # rk4 has other laws of these


def ends(kind, scene, dt, seconds=1.0, **keywords):
    world = kind(scene, dt=dt, **keywords)
    world.step(round(seconds / dt))
    return world


@pytest.mark.parametrize("make", SCENES + DRY)
def test_both_worlds_come_to_one_end_by_any_steps(make):
    """Two systems of coordinates, three steps: nothing is shared but the scene and the tableau."""
    scene = make()
    found = [
        ends(kind, scene, dt, integrator="reference").positions
        for kind, dts in ((mc.World, (0.5, 1 / 60)), (mc.ReducedWorld, (0.5, 1 / 100)))
        for dt in dts
    ]
    for other in found[1:]:
        assert np.abs(other - found[0]).max() < 1e-10


@BOTH
@pytest.mark.parametrize("make", SCENES)
def test_rk4_comes_to_it_with_its_fourth_order(make, kind):
    """Also where bodies are given velocities that their joints forbid, which are dropped before the first stage."""
    scene = make()
    right = ends(mc.ReducedWorld, scene, 0.25, 0.5, integrator="reference").positions
    errors = [
        np.abs(ends(kind, scene, dt, 0.5, substeps=1, integrator="rk4").positions - right).max()
        for dt in (1 / 200, 1 / 400)
    ]
    assert errors[1] < 1e-6 and (errors[0] / errors[1] > 12.0 or errors[1] < 1e-9), errors


# ---- published mechanisms --------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("tolerance, late", [(1e-13, 5e-11), (1e-14, 5e-12)])
def test_the_squeezer_in_ten_steps(kind, tolerance, late):
    """The literature's digits are 1.006e-12 s late in all angles and rates alike; the energy is that of the torque to 3e-13
    J, so they are its own."""
    model = andrews()
    world = kind(model.scene(), dt=ANDREWS_TIME / 10, integrator=mc.DOP853(tolerance=tolerance))
    model.push(world)
    before = world.energy().total
    world.step(10)
    r = Rotation.from_quat(world.orientations, scalar_first=True).as_matrix()
    (at, rates) = (
        np.array([beta, beta + theta, gamma, phi + delta, delta, omega + epsilon, epsilon])
        for beta, theta, gamma, phi, delta, omega, epsilon in (ANDREWS_ANGLES, ANDREWS_RATES)
    )
    off = np.angle(np.exp(1j * (np.arctan2(r[:, 2, 0], r[:, 0, 0]) - at)))
    assert np.abs(off).max() < 1e-10 * ANDREWS_ANGLES[0]
    assert np.abs(off + 1.006e-12 * rates).max() < late
    assert np.abs(-world.angular_velocities[:, 1] - rates).max() < 1e-9 * rates[0]
    turned = world.joint(0).position
    assert world.energy().total - before == pytest.approx(0.033 * turned, abs=late)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("steps", [1, 10, 30, 100])
def test_the_squeezer_in_any_steps(kind, steps):
    """As in its own equations by Radau's method to 1e-14 (its published digits are those of a moment later)."""
    world = kind(mc.load("squeezer"), dt=0.03 / steps, integrator="reference")
    world.step(steps)
    assert world.joint("beta").position == pytest.approx(15.872485086313317 - 1.144e-9, abs=5e-11)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_what_rests_beside_makes_no_difference(kind):
    """How exact a run is does not depend on how much there is that does not move."""
    found = []
    for others in (0, 160):
        scene = mc.load("double_pendulum")
        for k in range(others):
            scene.add_body(f"other {k}", mass=1, inertia=(1, 1, 1), position=(0, 0, 100 + k), gravity_scale=0)
        world = kind(scene, dt=0.25, integrator="reference")
        world.step(4)
        found.append(world.positions[:2].copy())
    assert np.abs(found[1] - found[0]).max() < 1e-14


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.sampled(4)
def test_published_mechanisms_have_one_motion(name):
    """The governor among them, whose dampers ask for steps of 50 us."""
    model = MODELS[name]()
    found = []
    for kind, dt in ((mc.World, 1 / 20), (mc.ReducedWorld, 1 / 20), (mc.ReducedWorld, 1 / 100)):
        seconds = 0.02 if name == "andrews" else 0.25
        world = kind(model.scene(), dt=dt * seconds, integrator="reference")
        for _ in range(round(1 / dt)):
            if model.push is not None:
                model.push(world)
            world.step()
        found.append(world.positions)
        assert world.joint_errors().max() < 1e-12
    assert max(np.abs(other - found[0]).max() for other in found[1:]) < 1e-10


# ---- singular poses --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scene, seconds, dts",
    [
        (lambda: MODELS["sarrus"]().scene(), 2.0, (1 / 10, 1 / 40, 1 / 100)),
        (lambda: mc.load("four_bars", windows=1), 4.0, (1 / 20, 1 / 50)),
        (lambda: mc.load("four_bars", windows=3), 2.0, (1 / 10, 1 / 40)),
    ],
)
@pytest.mark.sampled(2)
def test_singular_poses_are_passed(scene, seconds, dts):
    """Sarrus' platform stretched straight, where a loop's rank falls, and bars all in one line, several times: by whatever
    steps, on the branch that the motion is on, without a note."""
    found = []
    for kind in (mc.World, mc.ReducedWorld):
        for dt in dts:
            world = kind(scene(), dt=dt, integrator="reference")
            before = world.energy().total
            world.step(round(seconds / dt))
            found.append(world.positions)
            assert abs(world.energy().total - before) < 2e-7
            assert world.joint_errors().max() < 1e-12 and not world.stats.notes
    assert max(np.abs(other - found[0]).max() for other in found[1:]) < 1e-7


# ---- turns in space --------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("spin", [(3.0, 0.1, 2.0), (0.1, 0.02, 30.0)])
def test_a_body_tumbles_as_Euler_has_it(kind, spin):
    """Against the equations of the quaternion itself, by SciPy, in two steps of a second."""
    inertia = np.array([0.1, 0.2, 0.25])
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("body", mass=1, inertia=inertia, angular_velocity=spin)
    world = ends(kind, scene, 1.0, 2.0, integrator="reference")

    def rate(t, y):
        s, v, w = y[0], y[1:4], y[4:]
        return np.hstack([-v @ w / 2, (s * w + np.cross(v, w)) / 2, np.cross(inertia * w, w) / inertia])

    end = solve_ivp(rate, (0, 2), [1, 0, 0, 0, *spin], method="DOP853", rtol=3e-14, atol=1e-15).y[:4, -1]
    assert 1 - abs(world.orientations[0] @ end) / np.linalg.norm(end) < 1e-15
    turned = Rotation.from_quat(world.orientations[0], scalar_first=True) * Rotation.from_quat(end, scalar_first=True).inv()
    assert turned.magnitude() < 1e-11


@BOTH
def test_a_top_does_not_feel_the_step(kind):
    """A heavy top that nods: the tolerance alone decides."""
    scene = mc.Scene()
    scene.add_body("top", mass=1, inertia=(0.1, 0.2, 0.25), position=(0, 0.2, 0.3), angular_velocity=(0, 0.1, 9))
    scene.add_joint(mc.BallJoint(None, "top", (0, 0, 0)))
    worlds = [ends(kind, scene, dt, 2.0, integrator="reference") for dt in (1.0, 1 / 30, 1 / 300)]
    # Of the two quaternions of a rotation a world shows the one nearer to that of the step before.
    found = [Rotation.from_quat(world.orientations[0], scalar_first=True).as_matrix() for world in worlds]
    assert max(np.abs(other - found[0]).max() for other in found[1:]) < 3e-11


# ---- tolerance, time, angles -----------------------------------------------------------------------------------------


@BOTH
def test_errors_follow_the_tolerance(kind):
    scene = a_loop_in_space()
    right = ends(mc.ReducedWorld, scene, 1.0, integrator=mc.DOP853(tolerance=1e-14)).positions
    off = [
        np.abs(ends(kind, scene, 1.0, integrator=mc.DOP853(tolerance=t)).positions - right).max()
        for t in (1e-4, 1e-7, 1e-10)
    ]
    assert off[2] < 1e-8 and off[1] < 0.05 * off[0] and off[2] < 0.05 * off[1] and off[0] > 1e-7, off
    world = kind(scene, integrator=mc.DOP853(tolerance=1e-7))
    assert world.settings["reference_tolerance"] == 1e-7 and world.settings.integrator == mc.DOP853(
        tolerance=1e-7, creep=1e-3
    )
    assert kind(scene, integrator="reference").settings.integrator == mc.DOP853(tolerance=1e-13, creep=1e-3)
    with pytest.raises(mc.SceneError, match="tolerance must be in"):
        mc.DOP853(tolerance=0.0)
    with pytest.raises(mc.SceneError, match="creep must be positive"):
        mc.DOP853(creep=0.0)


@BOTH
@pytest.mark.parametrize("integrator", ["reference", "rk4"])
def test_angles_count_their_turns_in_long_steps(kind, integrator):
    """8 turns of one wheel, and 16 of the other, in each of two steps; the gear asks for both."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for i, name in enumerate("ab"):
        scene.add_body(name, mass=1, inertia=(0.1, 0.2, 0.3), position=(i, 0, 0), angular_velocity=(0, 0, 100 - 300 * i))
        scene.add_joint(mc.HingeJoint(None, name, (i, 0, 0), (0, 0, 1), name=f"hinge {name}"))
    scene.add_joint(mc.GearJoint("hinge a", "hinge b", 0.5))
    world = ends(kind, scene, 0.5, substeps=1, integrator=integrator)
    assert [world.joint(name).position for name in ("hinge a", "hinge b")] == pytest.approx([100.0, -200.0], abs=1e-9)
    assert not world.stats.notes


@BOTH
def test_motions_by_the_time(kind):
    """A function of the time, asked for at times that go back and forth within a step."""
    scene = mc.Scene()
    scene.add_body("rotor", mass=1, inertia=(0.1, 0.2, 0.3), position=(0.1, 0, 0))
    turn = mc.Motion(velocity=40.0, amplitude=0.1, frequency=3.0)
    scene.add_joint(mc.HingeJoint(None, "rotor", (0, 0, 0), (0, 0, 1), motion=turn))
    world = ends(kind, scene, 0.25, 0.75, integrator="reference")
    at = 40.0 * 0.75 + 0.1 * np.sin(2 * np.pi * 3.0 * 0.75)
    assert world.joint(0).position == pytest.approx(at, abs=1e-12)
    assert world.positions[0] == pytest.approx((0.1 * np.cos(at), 0.1 * np.sin(at), 0), abs=1e-12)


# ---- friction and motors ---------------------------------------------------------------------------------------------


def wheel(**hinge):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", mass=1, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, 0, 2.0))
    scene.add_joint(mc.HingeJoint(None, "wheel", (0, 0, 0), (0, 0, 1), name="axle", **hinge))
    return scene


@BOTH
@pytest.mark.parametrize(
    "hinge, most, wanted",
    [({"friction": 0.15}, 0.15, 0.0), ({"motor": mc.Motor(velocity=5, max_force=0.2)}, 0.2, 5.0)],
)
def test_the_law_of_friction_and_motors(kind, hinge, most, wanted):
    """I w' = -F s / sqrt(s^2 + creep^2), s = w - wanted, by SciPy's Radau: through the stop, or the arrival, and on."""

    def law(t, y):
        return [y[1], -10 * most * (y[1] - wanted) / np.hypot(y[1] - wanted, 1e-3)]

    turned, rate = solve_ivp(law, (0, 2), [0, 2.0], method="Radau", rtol=1e-10, atol=1e-13).y[:, -1]
    for dt in (0.5, 1 / 60):
        axle = ends(kind, wheel(**hinge), dt, 2.0, integrator="reference").joint("axle")
        assert axle.position == pytest.approx(turned, abs=1e-10) and axle.velocity == pytest.approx(rate, abs=1e-10)


@BOTH
@pytest.mark.parametrize("integrator", ["reference", "rk4"])
@pytest.mark.parametrize(
    "hinge, torque",
    [
        ({"friction": 0.15}, lambda turned, rate: -0.15),
        ({"motor": mc.Motor(velocity=5, max_force=0.2)}, lambda turned, rate: 0.2),
        ({"spring": mc.Spring(1.0, 0.1, 0.3)}, lambda turned, rate: 0.3 - turned - 0.1 * rate),
    ],
)
def test_joints_tell_what_they_do(kind, integrator, hinge, torque):
    """At the end of a step, where no loop is, too."""
    axle = ends(kind, wheel(**hinge), 1 / 100, 0.05, integrator=integrator).joint("axle")
    assert axle.torque == pytest.approx([0, 0, torque(axle.position, axle.velocity)], abs=1e-7)
    assert axle.motor_force == pytest.approx(0.2 if "motor" in hinge else 0.0, abs=1e-7)


def test_joints_of_trees_carry_what_rows_of_bodies_find():
    """Springs in the joint and across it: as the KKT system has it in a World."""
    found = []
    for kind in (mc.World, mc.ReducedWorld):
        scene = mc.Scene()
        scene.add_body("bob", mass=1, inertia=(0.1, 0.15, 0.2), position=(0.3, 0, 0))
        scene.add_joint(mc.BallJoint(None, "bob", (0, 0, 0), spring=mc.Spring(3, 0.2, 0), friction=0.1))
        scene.add_joint(mc.DistanceJoint(None, "bob", (0, 0.2, 1), (0.3, 0, 0), spring=mc.Spring(10, 0.5, 0.8)))
        world = ends(kind, scene, 1 / 100, 0.3, integrator="reference")
        found.append([*world.joint(0).force, *world.joint(0).torque, *world.joint(1).force])
    assert found[0] == pytest.approx(found[1], abs=1e-9) and np.abs(found[0][:3]).max() > 1.0


@BOTH
def test_dry_friction_is_the_limit(kind):
    """A wheel that friction stops after w^2 I / 2 F; and what friction holds creeps as told."""
    off = []
    for creep in (4e-3, 2e-3, 1e-3):
        world = ends(kind, wheel(friction=0.15), 0.5, 2.0, integrator=mc.DOP853(creep=creep))
        off.append(abs(world.joint("axle").position - 2.0**2 * 0.1 / (2 * 0.15)))
    assert off[2] < 3e-6 and off[1] < 0.4 * off[0] and off[2] < 0.4 * off[1], off
    scene = wheel(friction=0.15)
    world = kind(scene, dt=0.5, integrator="reference")
    world.step(6)
    world.apply_torque("wheel", (0, 0, 0.15 / np.sqrt(2)))
    world.step(4)
    assert world.joint("axle").velocity == pytest.approx(1e-3, rel=1e-6)


# ---- what it refuses -------------------------------------------------------------------------------------------------


def block(height=0.05):
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("block", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, height))
    return scene


@BOTH
@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: arm(limits=(-1, 1)), "joint 'elbow' has limits; .*rk4"),
        (block, "bodies 'floor' and 'block' touch.*rk4"),
    ],
)
def test_what_has_bounds_is_refused(kind, make, match):
    with pytest.raises(mc.SceneError, match=rf"{kind.__name__}\(integrator='reference'\): {match}"):
        kind(make(), integrator="reference")


@BOTH
def test_what_is_added_is_refused(kind):
    """Before anything has changed; bodies that come to touch at the next step, or on the way."""
    world = kind(arm(), integrator="reference")
    hinge = world.joint("elbow")
    before = world.state_hash()
    with pytest.raises(mc.SceneError, match="'elbow' is to have limits"):
        hinge.set_limits(-1, 1)
    assert world.state_hash() == before
    hinge.set_limits(None, None)
    hinge.set_spring(mc.Spring(1, 0))
    world.body("upper").linear_damping = 0.1
    world.step()
    for name in ("one", "two"):
        world.add_body(name, shape=mc.Sphere(0.1), density=1000, position=(5, 0, 0))
    with pytest.raises(mc.SceneError, match="bodies 'one' and 'two' touch"):
        world.step()


@BOTH
def test_a_contact_on_the_way_ends_the_call(kind):
    world = kind(block(1.0), dt=1 / 100, integrator="reference")
    with pytest.raises(mc.SimulationError, match="bodies touch, or nearly so.*last good state"):
        world.step(100)
    fall = 0.5 * 9.81 * world.time**2
    assert 0.3 < world.time < 0.45 and world.positions[1, 2] == pytest.approx(1.0 - fall, abs=1e-12)


@BOTH
def test_what_is_too_fast_for_any_step_ends_the_call(kind):
    """With the state before."""
    world = kind(arm(spring=mc.Spring(1e40, 0.0, 0.2)), dt=1 / 100, integrator="reference")
    before = world.state_hash()
    with pytest.raises(mc.SimulationError, match="stopped at t = 0 s: the motion asks for steps of"):
        world.step()
    assert world.state_hash() == before
