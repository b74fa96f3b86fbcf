"""GearJoint: reflected inertia, planetary gears and moving frames against reduced models; momentum, files, bad
input."""

import copy
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from constraint_scenes import exponential, matrix, multiply, numerical_jacobian, twists
from test_jacobian import numerical_curvature

WORLDS = {
    "rows": dict(joint_solver="rows"),
    "tree": dict(joint_solver="tree"),
    "pgs": dict(solver="pgs"),
    "rk4": dict(integrator="rk4"),
    "baumgarte": dict(stabilization="baumgarte"),
    "projection": dict(stabilization="projection"),
    "split_impulse": dict(stabilization="split_impulse"),
    "ggl": dict(stabilization="ggl"),
    "none": dict(stabilization="none"),
    "tree-projection": dict(joint_solver="tree", stabilization="projection"),
    "tree-ggl": dict(joint_solver="tree", stabilization="ggl"),
    "tree-baumgarte": dict(joint_solver="tree", stabilization="baumgarte"),
}
every_world = pytest.mark.parametrize("keywords", WORLDS.values(), ids=WORLDS)
BOTH = pytest.mark.parametrize("keywords", [WORLDS["rows"] | {"iterations": 30}, WORLDS["tree"]], ids=["rows", "tree"])


def wheels(inertias=(0.2, 0.5), ratio=-2.0, gravity=(0, 0, 0), **gear):
    """Two wheels on hinges h1, h2 on the world, about z, geared."""
    scene = mc.Scene(gravity=gravity)
    for i, inertia in enumerate(inertias):
        scene.add_body(f"w{i + 1}", mass=2.0, inertia=(inertia, inertia, inertia), position=(i, 0, 0))
        scene.add_joint(mc.HingeJoint(None, f"w{i + 1}", (i, 0, 0), (0, 0, 1), name=f"h{i + 1}"))
    scene.add_joint(mc.GearJoint("h1", "h2", ratio, name="gear", **gear))
    return scene


# ---- reduced models --------------------------------------------------------------------------------------------------


@every_world
@pytest.mark.parametrize("ratio", [-2.0, 0.3])
def test_a_torque_on_one_of_two_wheels(keywords, ratio):
    """q1 = -ratio q2, so q1'' = T / (I1 + I2 / ratio^2), and the gear turns wheel 2 with I2 q2''; over many turns."""
    world = mc.World(wheels(ratio=ratio), **keywords)
    for _ in range(240):
        world.apply_torque("w1", (0, 0, 1.0))
        world.step()
    a = 1.0 / (0.2 + 0.5 / ratio**2)
    one, two = world.joint("h1"), world.joint("h2")
    assert one.velocity == pytest.approx(4 * a, rel=1e-7)
    assert one.velocity == pytest.approx(-ratio * two.velocity, rel=1e-7)
    assert one.position == pytest.approx(8 * a, rel=5e-3)
    assert one.position + ratio * two.position == pytest.approx(0, abs=1e-3)
    assert world.joint("gear").torque == pytest.approx((0, 0, -0.5 * a / ratio), rel=1e-6, abs=1e-9)
    assert world.joint_errors()[2] == pytest.approx((0, 0), abs=1e-3)


@every_world
def test_a_wheel_and_a_slide(keywords):
    """A rack: z = r angle; a weight m on the slide turns the wheel at m g r / (I + m r^2)."""
    scene = mc.Scene()
    r, mass, inertia = 0.25, 3.0, 0.04
    scene.add_body("wheel", mass=1.0, inertia=(inertia, inertia, inertia))
    scene.add_body("slide", mass=mass, inertia=(0.1, 0.1, 0.1), position=(r, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "wheel", (0, 0, 0), (0, -1, 0), name="hinge"))
    scene.add_joint(mc.SliderJoint(None, "slide", (0, 0, 1), name="slide"))
    scene.add_joint(mc.GearJoint("slide", "hinge", -r, name="gear"))
    world = mc.World(scene, **keywords | {"iterations": 30})
    world.step(60)
    a = -mass * 9.81 * r / (inertia + mass * r**2)
    assert world.joint("hinge").velocity == pytest.approx(a, rel=1e-6)
    assert world.body("slide").velocity[2] == pytest.approx(r * a, rel=1e-6)
    assert world.joint("slide").position == pytest.approx(r * world.joint("hinge").position, abs=1e-3)
    # What the teeth lift, and so what wheel's bearing carries beside its weight, is in the frame: the world.
    assert world.joint("gear").torque == pytest.approx((0, -inertia * a, 0), rel=1e-5, abs=1e-9)


@every_world
def test_two_slides_on_a_pulley_block(keywords):
    """z1 = -2 z2: Atwood's machine with a block; a = (m1 g - m2 g / 2) ... by Lagrange."""
    scene = mc.Scene()
    m1, m2 = 2.0, 3.0
    for name, mass, x in (("one", m1, 0), ("two", m2, 1)):
        scene.add_body(name, mass=mass, inertia=(0.1, 0.1, 0.1), position=(x, 0, 0))
        scene.add_joint(mc.SliderJoint(None, name, (0, 0, 1), name=name))
    scene.add_joint(mc.GearJoint("one", "two", 2.0))
    world = mc.World(scene, **keywords)
    world.step(60)
    assert world.joint("two").velocity == pytest.approx(9.81 * (2 * m1 - m2) / (4 * m1 + m2), rel=1e-7)
    assert world.joint("one").velocity == pytest.approx(-2 * world.joint("two").velocity, rel=1e-7)


def planetary(ring, **world):
    """Sun and carrier on the world's axis z, one planet on the carrier; `ring`: an inner ring at rest. -> world"""
    scene = mc.Scene(gravity=(0, 0, 0))
    d = R_SUN + R_PLANET
    scene.add_body("carrier", mass=1.0, inertia=(0.2, 0.2, I_CARRIER))
    scene.add_body("sun", mass=2.0, inertia=(0.05, 0.05, I_SUN))
    scene.add_body("planet", mass=M_PLANET, inertia=(0.01, 0.01, I_PLANET), position=(d, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "carrier", (0, 0, 0), (0, 0, 1), name="c"))
    scene.add_joint(mc.HingeJoint("carrier", "sun", (0, 0, 0), (0, 0, 1), name="s"))
    scene.add_joint(mc.HingeJoint("carrier", "planet", (d, 0, 0), (0, 0, 1), name="p"))
    scene.add_joint(mc.GearJoint("s", "p", R_PLANET / R_SUN, name="mesh"))
    if ring:
        scene.add_joint(mc.GearJoint("c", "p", R_PLANET / R_RING, name="ring"))
    return mc.World(scene, **world)


R_SUN, R_PLANET = 0.3, 0.2
R_RING = R_SUN + 2 * R_PLANET
I_SUN, I_PLANET, I_CARRIER, M_PLANET = 0.09, 0.02, 0.3, 1.5


@BOTH
def test_a_planetary_gear_with_a_ring(keywords):
    """One freedom: with w the carrier's, the sun turns at (1 + r_r / r_s) w and the planet at (1 - r_r / r_p) w."""
    world = planetary(True, **keywords)
    for _ in range(120):
        world.apply_torque("sun", (0, 0, 0.7))
        world.step()
    sun, planet = 1 + R_RING / R_SUN, 1 - R_RING / R_PLANET
    inertia = I_SUN * sun**2 + I_PLANET * planet**2 + I_CARRIER + M_PLANET * (R_SUN + R_PLANET) ** 2
    w = 2 * 0.7 * sun / inertia
    exact = keywords["joint_solver"] == "tree"
    assert world.angular_velocities[:, 2] == pytest.approx((w, sun * w, planet * w), rel=1e-7 if exact else 2e-4)
    assert world.joint_errors().max() < (1e-8 if exact else 2e-3)


@BOTH
def test_a_planetary_gear_on_a_free_carrier(keywords):
    """Two freedoms, a differential: Lagrange's mass matrix of (carrier, sun) is constant, so velocities grow with t."""
    world = planetary(False, **keywords)
    torque = np.array([0.4, 0.7])
    for _ in range(120):
        world.apply_torque("carrier", (0, 0, torque[0]))
        world.apply_torque("sun", (0, 0, torque[1]))
        world.step()
    # planet: w_p - w_c = -(r_s / r_p) (w_s - w_c)
    planet = np.array([1 + R_SUN / R_PLANET, -R_SUN / R_PLANET])
    mass = np.diag([I_CARRIER + M_PLANET * (R_SUN + R_PLANET) ** 2, I_SUN]) + I_PLANET * np.outer(planet, planet)
    w = 2 * np.linalg.solve(mass, torque)
    exact = keywords["joint_solver"] == "tree"
    assert world.angular_velocities[:, 2] == pytest.approx((*w, planet @ w), rel=1e-7 if exact else 1e-3)


# A free frame with two rotors on axes that are not parallel, geared to each other: turns in space as a gyrostat.
AXES = np.array([[1.0, 0, 0], [0, 0.6, 0.8]])
PLACES = np.array([[0.5, 0, 0], [-0.3, 0.4, 0.1]])
ROTORS = ((1.0, 0.05, 0.08), (1.5, 0.07, 0.12))  # mass, moment across, moment about the axis
RATIO = -1.7  # q1 + ratio q2 = 0


def gyrostat(**world):
    scene = mc.Scene(gravity=(0, 0, 0))
    spin = np.array([0.7, -0.4, 1.1])
    rate = (3.0, -3.0 / RATIO)
    masses = np.array([m for m, *_ in ROTORS])
    center = -(masses @ PLACES) / 4.0  # the frame weighs 4: the whole is at rest about the origin
    places = PLACES + center  # those of the rotors, then the frame at `center`
    center_all = (masses @ places + 4.0 * center) / (4.0 + masses.sum())
    places, center = places - center_all, center - center_all
    scene.add_body(
        "frame", mass=4.0, inertia=(0.3, 0.4, 0.5), position=center, velocity=np.cross(spin, center), angular_velocity=spin
    )
    for i, ((m, across, about), axis, place) in enumerate(zip(ROTORS, AXES, places)):
        inertia = across * np.eye(3) + (about - across) * np.outer(axis, axis)
        scene.add_body(
            f"r{i}",
            mass=m,
            inertia=inertia,
            position=place,
            velocity=np.cross(spin, place),
            angular_velocity=spin + rate[i] * axis,
        )
        scene.add_joint(mc.HingeJoint("frame", f"r{i}", place, axis, name=f"h{i}"))
    scene.add_joint(mc.GearJoint("h0", "h1", RATIO, name="gear"))
    total = np.diag([0.3, 0.4, 0.5]) + 4.0 * (center @ center * np.eye(3) - np.outer(center, center))
    for (m, across, about), axis, place in zip(ROTORS, AXES, places):
        total += (
            across * np.eye(3)
            + (about - across) * np.outer(axis, axis)
            + m * (place @ place * np.eye(3) - np.outer(place, place))
        )
    return mc.World(scene, **world), total, spin, 3.0


def gyrostat_reference(total, spin, rate, times):
    """The frame's orientation by Hamilton: H = I w + g s and p = g . w + k s are kept, H in the world."""
    turn = np.array([1.0, -1.0 / RATIO])
    about = np.array([a for *_, a in ROTORS])
    g, k = (turn * about) @ AXES, turn**2 @ about
    block = np.block([[total, g[:, None]], [g[None], np.array([[k]])]])
    h, p = total @ spin + g * rate, g @ spin + k * rate

    def rates(t, y):
        q = y[:4] / np.linalg.norm(y[:4])
        w = np.linalg.solve(block, [*(matrix(q).T @ h), p])
        return [*(0.5 * multiply(q, np.array([0.0, *w[:3]]))), w[3]]

    return solve_ivp(rates, (0, times[-1]), [1, 0, 0, 0, 0], "DOP853", times, rtol=1e-12, atol=1e-12).y.T


def test_a_geared_gyrostat_in_free_flight():
    """The frame's turning and the rotors' angles against Hamilton's equations; second order; momentum to rounding."""
    errors = []
    for substeps in (2, 4):
        world, *start = gyrostat(joint_solver="tree", dt=1 / 240, substeps=substeps)
        before = np.concatenate(world.momentum())
        reference = gyrostat_reference(*start, np.arange(1, 6) * 0.5)
        worst = 0.0
        for y in reference:
            world.step(120)
            q = y[:4] / np.linalg.norm(y[:4])
            worst = max(
                worst, np.abs(matrix(world.orientations[0]) - matrix(q)).max(), abs(world.joint("h0").position - y[4])
            )
        errors.append(worst)
        assert np.concatenate(world.momentum()) == pytest.approx(before, abs=1e-11)
        assert world.joint_errors().max() < 1e-8
    assert errors[1] < 5e-5 and 3.0 < errors[0] / errors[1] < 5.0, errors


@pytest.mark.parametrize(
    "keywords",
    [dict(iterations=20), dict(stabilization="projection", iterations=20), dict(solver="pgs", iterations=20)],
    ids=["si", "projection", "pgs"],
)
def test_a_geared_gyrostat_by_rows(keywords):
    world, *start = gyrostat(dt=1 / 240, **keywords)
    before = np.concatenate(world.momentum())
    world.step(240)
    y = gyrostat_reference(*start, np.array([1.0]))[-1]
    assert np.abs(matrix(world.orientations[0]) - matrix(y[:4] / np.linalg.norm(y[:4]))).max() < 2e-2
    assert world.joint("h0").position == pytest.approx(y[4], abs=2e-2)
    assert np.concatenate(world.momentum()) == pytest.approx(before, abs=1e-11)
    assert world.joint_errors().max() < 1e-3


@pytest.mark.parametrize("integrator", ["rattle", "variational"])
def test_a_geared_gyrostat_by_the_position_integrators(integrator):
    errors = []
    for substeps in (2, 4):
        world, *start = gyrostat(dt=1 / 240, substeps=substeps, integrator=integrator)
        before = np.concatenate(world.momentum())
        world.step(240)
        y = gyrostat_reference(*start, np.array([1.0]))[-1]
        errors.append(
            max(
                np.abs(matrix(world.orientations[0]) - matrix(y[:4] / np.linalg.norm(y[:4]))).max(),
                abs(world.joint("h0").position - y[4]),
            )
        )
        assert np.concatenate(world.momentum()) == pytest.approx(before, abs=1e-11)
        assert world.joint_errors().max() < 1e-9
    assert errors[1] < 2e-4 and 3.0 < errors[0] / errors[1] < 5.0, errors


def test_a_geared_gyrostat_by_runge_kutta():
    world, *start = gyrostat(dt=1 / 60, substeps=1, integrator="rk4", stabilization="projection")
    world.step(60)
    y = gyrostat_reference(*start, np.array([1.0]))[-1]
    assert np.abs(matrix(world.orientations[0]) - matrix(y[:4] / np.linalg.norm(y[:4]))).max() < 1e-6
    assert world.joint("h0").position == pytest.approx(y[4], abs=1e-6)


@pytest.mark.parametrize(
    "keywords,bound",
    [
        (dict(joint_solver="tree"), 1e-9),
        (dict(iterations=20), 1e-3),
        (dict(stabilization="projection", iterations=20), 1e-6),
        (dict(stabilization="baumgarte", iterations=20), 3e-3),
    ],
    ids=["tree", "rows", "projection", "baumgarte"],
)
def test_drift_stays_bounded(keywords, bound):
    """Ten seconds of a gyrostat: the gear is no further off at the end than on the way."""
    world, *_ = gyrostat(**keywords)
    errors = []
    for _ in range(20):
        world.step(30)
        errors.append(world.joint_errors()[2, 1])
    assert max(errors) < bound, max(errors)


# ---- rows ------------------------------------------------------------------------------------------------------------


def odd_pair(kind, side_b, seed=0):
    """Two joints of some kinds between four bodies (or the world) at random poses, geared."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    names = ["a", "b", "c", "d"]
    for name in names:
        scene.add_body(
            name,
            mass=rng.uniform(1, 3),
            inertia=rng.uniform(0.9, 1.1, 3),
            position=rng.normal(size=3),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
    make = {
        "hinge": lambda *e: mc.HingeJoint(*e, rng.normal(size=3), rng.normal(size=3)),
        "slider": lambda *e: mc.SliderJoint(*e, rng.normal(size=3)),
        "universal": lambda *e: mc.UniversalJoint(*e, rng.normal(size=3), (0, 0, 1), (1, 0, 0)),
        "cylindrical": lambda *e: mc.CylindricalJoint(*e, rng.normal(size=3), rng.normal(size=3)),
        "distance": lambda *e: mc.DistanceJoint(*e, rng.normal(size=3), rng.normal(size=3), limits=(0.01, 9.0)),
        "free": lambda *e: mc.FreeJoint(*e),
    }
    several = {"universal": 1, "cylindrical": 1, "free": 2}
    first = scene.add_joint(make[kind[0]]("a", "b"))
    second = scene.add_joint(make[kind[1]](*side_b))
    scene.add_joint(
        mc.GearJoint(first, second, rng.normal(), axis_a=several.get(kind[0]), axis_b=several.get(kind[1]), name="gear")
    )
    world = mc.World(scene)
    if "universal" in kind:  # the curvature of its angles is that of the closed joint
        world.orientations[1] = exponential(np.array([0.5, 0, 0]))
        return world
    for i in range(4):
        world.orientations[i] = exponential(0.3 * rng.normal(size=3))
        world.positions[i] += 0.1 * rng.normal(size=3)
    return world


@pytest.mark.parametrize(
    "kind",
    [
        ("hinge", "hinge"),
        ("hinge", "slider"),
        ("slider", "hinge"),
        ("universal", "cylindrical"),
        ("distance", "hinge"),
        ("free", "slider"),
    ],
    ids="-".join,
)
@pytest.mark.parametrize(
    "side",
    [("b", "c"), ("a", "c"), ("c", "d"), (None, "c"), ("c", "b"), ("a", "b")],
    ids=["chain", "frame", "apart", "world", "backwards", "same bodies"],
)
def test_a_gear_row_is_the_derivative_of_its_error(kind, side):
    """One row of J over up to four bodies, and its curvature, by differences; A is J M^-1 J' of it."""
    world = odd_pair(kind, side)
    gear = world.rows["source"] == 2
    assert gear.sum() == 1 and world.stats.rows == len(world.rows)
    j = world.jacobian()
    assert j.shape == (len(world.rows), 24)
    expected = numerical_jacobian(world, lambda: world.rows["error"][gear])
    np.testing.assert_allclose(j.toarray()[gear], expected, atol=5e-9)
    one, two = (np.atleast_1d(world.joint(k).position) for k in (0, 1))
    k = world._joints["geared_axis"][2]
    q = one[k[0]] + world._joints["ratio"][2] * two[k[1]]
    assert world.rows["error"][gear] == pytest.approx(q - world._joints["constant"][2], abs=1e-13)
    raw = world._raw_rows()
    raw = raw[~((raw["block_kind"] >= 5) & (raw["block"] == 0))]
    np.testing.assert_allclose(raw["curvature"][gear], numerical_curvature(world)[gear], atol=2e-6)
    inverse = np.zeros((24, 24))
    for i in range(4):
        r = matrix(world.orientations[i])
        inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / world.body(i).mass
        inverse[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = r @ np.linalg.inv(world.body(i).inertia) @ r.T
    a = world.delassus().toarray()
    np.testing.assert_allclose(a, j.toarray() @ inverse @ j.toarray().T, atol=1e-12)
    assert np.array_equal(a, a.T)


def test_the_kkt_system_has_the_gear():
    """Accelerations by the dense KKT matrix are those of Lagrange, and its force the torque between the wheels."""
    world = mc.World(wheels())
    world.apply_torque("w1", (0, 0, 1.0))
    kkt = world.kkt()
    assert kkt.matrix.shape == (12 + 11, 12 + 11)
    accelerations, forces = kkt.solve()
    a = 1.0 / (0.2 + 0.5 / 4)
    np.testing.assert_allclose(accelerations[:, 5], (a, a / 2), atol=1e-12)
    assert abs(forces[10]) == pytest.approx(0.5 * a / 4, rel=1e-9)
    assert world.redundancy().redundant == 0


# ---- with what else there is -----------------------------------------------------------------------------------------


@BOTH
def test_a_limit_beyond_a_gear(keywords):
    """A motor on wheel 1 turns wheel 2 to its limit and holds it there: the gear carries the motor's torque."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for i, name in enumerate(("w1", "w2")):
        scene.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "w1", (0, 0, 0), (0, 0, 1), name="h1", motor=mc.Motor(velocity=4.0, max_force=3.0)))
    scene.add_joint(mc.HingeJoint(None, "w2", (1, 0, 0), (0, 0, 1), name="h2", limits=(-1.5, 1.0)))
    scene.add_joint(mc.GearJoint("h1", "h2", 3.0, name="gear"))
    world = mc.World(scene, **keywords)
    world.step(180)
    assert world.joint("h1").position == pytest.approx(4.5, abs=5e-3)
    assert world.joint("h2").position == pytest.approx(-1.5, abs=2e-3)
    assert world.joint("gear").torque == pytest.approx((0, 0, -9.0), rel=1e-3, abs=1e-6)


@BOTH
def test_a_driven_wheel_takes_the_others_along(keywords):
    """A prescribed motion through a train of three wheels: the last turns by the product of the ratios."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(3):
        scene.add_body(f"w{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(i, 0, 0))
        motion = mc.Motion(amplitude=1.0, frequency=0.5) if i == 0 else None
        scene.add_joint(mc.HingeJoint(None, f"w{i}", (i, 0, 0), (0, 0, 1), name=f"h{i}", motion=motion))
    scene.add_joint(mc.GearJoint("h0", "h1", 0.5))
    scene.add_joint(mc.GearJoint("h1", "h2", -2.0))
    world = mc.World(scene, dt=1 / 240, **keywords)
    world.step(100)
    q = np.sin(np.pi * world.time)
    assert world.joint("h0").position == pytest.approx(q, abs=2e-4)
    assert world.joint("h2").position == pytest.approx(-q, abs=2e-4)


@BOTH
def test_redundant_and_locked_gears(keywords):
    """Twice the same gear changes nothing; two that contradict each other lock the wheels. All stays finite."""
    scene = wheels()
    scene.add_joint(mc.GearJoint("h1", "h2", -2.0))
    world, single = mc.World(scene, **keywords), mc.World(wheels(), **keywords)
    for w in (world, single):
        for _ in range(60):
            w.apply_torque("w1", (0, 0, 1.0))
            w.step()
    assert world.joint("h1").velocity == pytest.approx(single.joint("h1").velocity, rel=1e-6)
    scene = wheels()
    scene.add_joint(mc.GearJoint("h1", "h2", 1.0))
    world = mc.World(scene, **keywords)
    for _ in range(60):
        world.apply_torque("w1", (0, 0, 1.0))
        world.step()
    assert np.abs(world.angular_velocities).max() < 1e-6


def test_the_direct_solver_meets_all_rows_of_a_loop_of_gears_and_joints():
    """After a step J v = 0 in every row at the new poses, gears beside hinges, loops and hubs included."""
    scene = mc.Scene()
    scene.add_body("frame", mass=5.0, inertia=(1.0, 1.2, 1.4))
    scene.add_joint(mc.BallJoint(None, "frame", (0, 0, 1.0)))
    for i in range(8):  # a hub: more than six joints on the frame
        place = np.array([np.cos(i), np.sin(i), 0.1 * i])
        scene.add_body(f"w{i}", mass=0.5, inertia=(0.02, 0.03, 0.025), position=place)
        scene.add_joint(mc.HingeJoint("frame", f"w{i}", place + (0.05, 0, 0), (np.sin(i), 0.2, np.cos(i)), name=f"h{i}"))
    for i in range(8):  # closed to a ring: the product of the ratios is 1
        scene.add_joint(mc.GearJoint(f"h{i}", f"h{(i + 1) % 8}", -2.0 if i % 2 else -0.5))
    world = mc.World(scene, joint_solver="tree")
    world.set_velocity("frame", angular_velocity=(0.3, 0.5, 1.0))
    world.step(60)
    assert np.abs(world.jacobian() @ twists(world)).max() < 1e-9
    assert world.joint_errors().max() < 1e-8 and np.abs(world.velocities).max() > 0.1


def test_many_gearboxes_are_solved_each_by_itself():
    """Probing goes by articulations: the rounds are the gears of one box, and a box alone moves as one among many."""

    def boxes(count):
        scene = mc.Scene(gravity=(0, 0, 0))
        for k in range(count):
            scene.add_body(f"f{k}", mass=2.0, inertia=(0.3, 0.3, 0.3), position=(0, 5 * k, 0))
            for i in range(3):
                scene.add_body(
                    f"w{k}-{i}",
                    mass=1.0,
                    inertia=(0.1, 0.1, 0.1),
                    position=(i, 5 * k, 0),
                    angular_velocity=(0, 0, (3.0, -1.0, 2.0)[i] * (k == 0)),
                )
                scene.add_joint(mc.HingeJoint(f"f{k}", f"w{k}-{i}", (i, 5 * k, 0), (0, 0, 1), name=f"h{k}-{i}"))
        for i in range(2):  # gears of the boxes in turn, not box by box
            for k in range(count):
                scene.add_joint(mc.GearJoint(f"h{k}-{i}", f"h{k}-{i + 1}", 1.5))
        return mc.World(scene, joint_solver="tree")

    alone, many = boxes(1), boxes(4)
    one, four = (world._pipeline.parts.plan.articulations.state.border for world in (alone, many))
    assert one.rounds == four.rounds == 2 and four.count == 8
    alone.step(60)
    many.step(60)
    np.testing.assert_allclose(many.positions[:4], alone.positions, atol=1e-9)
    assert np.abs(many.velocities[4:]).max() < 1e-12 and many.joint_errors().max() < 1e-9


@BOTH
def test_a_gear_breaks(keywords):
    """Beyond its torque it lets go, with an event; and a gear of a broken joint holds nothing either."""
    world = mc.World(wheels(break_torque=0.5), **keywords)
    broken = []
    for _ in range(60):
        world.apply_torque("w1", (0, 0, 1.0))
        world.step()
        broken += [world.joint_names[i] for i in world.events.broken]
    assert broken == ["gear"] and world.joint("gear").broken
    assert world.joint("h2").velocity < 0.1 and world.joint("h1").velocity == pytest.approx(5.0, rel=0.05)
    assert len(world.rows) == 10 and world.joint_errors()[2] == pytest.approx((0, 0))
    scene = wheels()
    scene.add_body("w3", mass=1, inertia=(0.1, 0.1, 0.1), position=(2, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "w3", (2, 0, 0), (0, 0, 1), name="h3", break_force=1.0))
    scene.add_joint(mc.GearJoint("h2", "h3", 1.0))
    world = mc.World(scene, **keywords)
    world.apply_force("w3", (50.0, 0, 0))
    world.step()
    assert world.joint("h3").broken and len(world.rows) == 11
    for _ in range(60):
        world.apply_torque("w1", (0, 0, 1.0))
        world.step()
    assert world.joint("h1").velocity == pytest.approx(1.0 / (0.2 + 0.5 / 4), rel=1e-6)
    assert abs(world.angular_velocities[2, 2]) < 1e-9


# ---- files, copies, bad input ----------------------------------------------------------------------------------------


@BOTH
def test_files_copies_and_snapshots(keywords, tmp_path):
    scene = wheels(gravity=(0, -9.81, 0))
    scene.save(tmp_path / "gear.json")
    assert mc.load(str(tmp_path / "gear.json")) == scene == copy.deepcopy(scene) == pickle.loads(pickle.dumps(scene))
    world, read = mc.World(scene, **keywords), mc.World(mc.load(str(tmp_path / "gear.json")), **keywords)
    for w in (world, read):
        w.set_velocity("w1", angular_velocity=(0, 0, 4.0))
        w.step(20)
    kept = world.snapshot()
    world.step(30)
    read.restore(kept)
    read.step(30)
    assert world.state_hash() == read.state_hash() == pickle.loads(pickle.dumps(world)).state_hash()


def test_the_constant_is_that_of_the_initial_pose_or_given():
    def world(**gear):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("w1", mass=1, inertia=(0.1, 0.1, 0.1), orientation=exponential(np.array([0, 0, 0.4])))
        scene.add_body("w2", mass=1, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
        flat = ((0, 0, 0), (1, 0, 0, 0))
        scene.add_joint(mc.HingeJoint(None, "w1", frame_a=flat, frame_b=flat, name="h1"))
        scene.add_joint(mc.HingeJoint(None, "w2", (1, 0, 0), (0, 0, 1), name="h2"))
        scene.add_joint(mc.GearJoint("h1", "h2", 2.0, **gear))
        return mc.World(scene, joint_solver="tree")

    assert world().joint_errors()[2] == pytest.approx((0, 0), abs=1e-15)
    off = world(constant=0.5)
    assert off.joint_errors()[2] == pytest.approx((0, 0.1), abs=1e-12)
    off.step(60)
    assert off.joint("h1").position + 2 * off.joint("h2").position == pytest.approx(0.5, abs=1e-9)


def some_joints():
    scene = wheels()
    scene.add_joint(mc.BallJoint("w1", "w2", (0, 0, 0), name="ball"))
    scene.add_joint(mc.CylindricalJoint("w1", "w2", (0, 0, 0), (0, 0, 1), name="cylinder"))
    return scene


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda: mc.GearJoint("h1", "h2", 0.0), "GearJoint: ratio must not be zero"),
        (lambda: mc.GearJoint("h1", "h2", "x"), "ratio must be a number"),
        (lambda: mc.GearJoint("h1", "h2", np.nan), "ratio must be finite"),
        (lambda: mc.GearJoint("h1", "h3", 1.0), "joint_b is wrong: there is no joint 'h3'.*add the joint before"),
        (lambda: mc.GearJoint(3, "h2", 1.0), "joint_a must be a string"),
        (lambda: mc.GearJoint(mc.HingeJoint(None, "w1", (0, 0, 0), (0, 0, 1)), "h2", 1.0), "joint_a is not in a scene yet"),
        (lambda: mc.GearJoint("h1", "ball", 1.0), "joint_b is a ball joint, 'ball', which has no coordinate"),
        (lambda: mc.GearJoint("h1", "gear", 1.0), "joint_b is a gear joint"),
        (lambda: mc.GearJoint("h1", "h1", 1.0), "joint_b is joint_a"),
        (lambda: mc.GearJoint("h1", "cylinder", 1.0), "axis_b is missing: the cylindrical joint 'cylinder' has several"),
        (lambda: mc.GearJoint("h1", "cylinder", 1.0, axis_b=2), "axis_b must be from 0 to 1"),
        (lambda: mc.GearJoint("h1", "h2", 1.0, axis_a=1), "axis_a must be from 0 to 0"),
        (lambda: mc.GearJoint("h1", "h2", 1.0, axis_a="x"), "axis_a must be a coordinate's number"),
        (lambda: mc.GearJoint("h1", "h2", 1.0, break_torque=-1.0), "break_torque must not be negative"),
    ],
)
def test_wrong_gears_are_refused(make, message):
    scene = some_joints()
    count = len(scene.joints)
    with pytest.raises(mc.SceneError, match=message):
        scene.add_joint(make())
    assert len(scene.joints) == count


def test_a_cylindrical_joint_geared_to_itself_is_a_screw():
    scenes = []
    for geared in (True, False):
        scene = mc.Scene()
        scene.add_body("b", mass=2.0, inertia=(0.1, 0.2, 0.25))
        if geared:
            scene.add_joint(mc.CylindricalJoint(None, "b", (0, 0, 0), (0, 0, 1), name="c"))
            scene.add_joint(mc.GearJoint("c", "c", -0.2, axis_a=0, axis_b=1))
        else:
            scene.add_joint(mc.ScrewJoint(None, "b", (0, 0, 0), (0, 0, 1), 0.2))
        scenes.append(mc.World(scene, joint_solver="tree"))
    for world in scenes:
        world.step(120)
    np.testing.assert_allclose(*(np.hstack([w.positions, w.orientations, twists(w)[None]]) for w in scenes), atol=1e-8)
