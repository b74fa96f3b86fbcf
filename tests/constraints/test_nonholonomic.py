"""Rolling and the knife edge: rows against differences, motion against closed forms and reduced models."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import mcsim as mc
from constraint_scenes import (
    conjugate,
    exponential,
    matrix,
    multiply,
    numerical_jacobian,
    random_inertia,
    random_quaternion,
    twists,
)
from test_jacobian import numerical_curvature

G = 9.81
SOLVERS = (("si", "tree"), ("si", "rows"), ("pgs", "rows"))
WORLDS = [dict(stabilization=s, solver=v, joint_solver=j) for s in ("none", "baumgarte", "soft") for v, j in SOLVERS]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(k.values()))


def pair(seed, kind):
    """Two bodies at random poses with random twists and the joint between them."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    for name in "ab":
        scene.add_body(
            name,
            mass=rng.uniform(0.5, 3),
            inertia=random_inertia(rng),
            center_of_mass=rng.uniform(-0.3, 0.3, 3),
            position=rng.uniform(-1, 1, 3),
            orientation=random_quaternion(rng),
            velocity=2 * rng.normal(size=3),
            angular_velocity=2 * rng.normal(size=3),
        )
    place = dict(anchor=rng.uniform(-1, 1, 3), axis=rng.normal(size=3))
    if kind == "knife_edge":
        joint = mc.KnifeEdgeJoint("a", "b", **place)
    else:
        if kind == "sphere":
            place["axis"] = None
        joint = mc.RollingJoint("a", "b", 0.4, normal=rng.normal(size=3), **place)
    scene.add_joint(joint)
    return mc.World(scene), joint


@pytest.mark.parametrize("kind", ["sphere", "disc", "knife_edge"])
def test_rows_are_those_of_the_touching_points(kind):
    """J v is the slip of the two bodies' points, J of the height its derivative, curvature d(J v)/dt; assembled and
    not."""
    for seed in range(6):
        world, joint = pair(seed, kind)
        assert np.abs(world.joint_errors()).max() < 1e-14
        if seed > 2:
            rng = np.random.default_rng(seed)
            world.positions[...] += rng.uniform(-0.3, 0.3, (2, 3))
            world.orientations[...] = [multiply(exponential(rng.uniform(-0.3, 0.3, 3)), q) for q in world.orientations]
        raw = world._raw_rows().copy()
        positions, orientations = world.frames()
        a, b = (matrix(q) for q in orientations)
        n, d = a @ matrix(joint.frame_a[1])[:, 2], b @ matrix(joint.frame_b[1])[:, 2]
        center = positions[1] + b @ joint.frame_b[0]
        u = n if kind == "sphere" else n - (n @ d) * d
        point = center - 0.4 * u / np.linalg.norm(u)
        directions = (a @ matrix(joint.frame_a[1])).T[[2, 0, 1]]
        if kind == "knife_edge":
            point, directions = center, d[None]
        at = [world.velocities[i] + np.cross(world.angular_velocities[i], point - world.positions[i]) for i in range(2)]
        np.testing.assert_allclose(world.jacobian() @ twists(world), directions @ (at[1] - at[0]), atol=1e-13)
        np.testing.assert_allclose(raw["curvature"], numerical_curvature(world), atol=1e-5)
        errors = np.zeros(len(raw))
        if kind != "knife_edge":
            errors[0] = n @ (center - positions[0] - a @ joint.frame_a[0]) - 0.4 * np.linalg.norm(u)
            height = numerical_jacobian(world, lambda: world.rows["error"][:1])
            np.testing.assert_allclose(world.jacobian().toarray()[:1], height, atol=3e-9)
            assert world.joint_errors()[0, 0] == pytest.approx(abs(errors[0]), abs=1e-14)
        np.testing.assert_allclose(raw["error"], errors, atol=1e-14)
        assert raw["stabilized"].tolist() == ([0] if kind == "knife_edge" else [1, 0, 0])


@every_world
@pytest.mark.parametrize("kind, share", [("sphere", 5 / 7), ("disc", 2 / 3)])
def test_rolling_down_a_slope(kind, share, keywords):
    """a = g sin(slope) / (1 + I / m r^2), and friction (what is left of gravity's pull) is in the joint."""
    slope, r, m = 0.4, 0.3, 1.7
    normal = np.array((np.sin(slope), 0, np.cos(slope)))
    down = np.array((np.cos(slope), 0, -np.sin(slope)))
    inertia = (0.4 * m * r * r,) * 3 if kind == "sphere" else (m * r * r / 4, m * r * r / 2, m * r * r / 4)
    scene = mc.Scene()
    scene.add_body("b", mass=m, inertia=inertia, position=(1, 2, 3))
    scene.add_joint(mc.RollingJoint(None, "b", r, normal=normal, axis=(0, 1, 0) if kind == "disc" else None, name="r"))
    world = mc.World(scene, dt=1e-3, **keywords)
    world.step(1000)
    acceleration = share * G * np.sin(slope)
    body = world.body("b")
    assert body.velocity == pytest.approx(acceleration * down, abs=1e-6)
    assert body.angular_velocity == pytest.approx((0, acceleration / r, 0), abs=1e-5)
    assert body.position == pytest.approx((1, 2, 3) + acceleration / 2 * down, abs=2e-3)
    push = m * G * np.cos(slope) * normal - m * (1 - share) * G * np.sin(slope) * down
    assert world.joint("r").force == pytest.approx(push, abs=1e-4)
    assert world.joint_errors().max() < 1e-6


def test_a_disc_rolls_in_a_circle():
    """Steady precession of a thin disc that leans inwards: its spin by the balance of torque, then height and path of
    the world after half a turn, extrapolated over the substep, against the circle.

    In the frame that turns at `turn` about z (x outwards, y along the path) everything stands still: the momentum's
    rate is turn x L, the force m (turn x v + g), the touching point at rest.
    """
    r, m, lean, turn = 0.3, 1.0, 0.25, 2.0
    across, along = m * r * r / 4, m * r * r / 2
    up = np.array((0, 0, 1.0))
    rise = np.array((-np.sin(lean), 0, np.cos(lean)))  # from the touching point to the centre, over r
    axis = np.array((np.cos(lean), 0, np.sin(lean)))

    def motion(spin):
        """-> angular velocity, velocity of the centre, and by how much torque and momentum's rate differ about y."""
        w = turn * up + spin * axis
        v = np.cross(w, r * rise)
        momentum = across * w + (along - across) * (w @ axis) * axis
        force = m * np.cross(turn * up, v) + m * G * up
        return w, v, (np.cross(turn * up, momentum) - np.cross(-r * rise, force))[1]

    w, v, _ = motion(brentq(lambda spin: motion(spin)[2], -60, 60))
    radius = abs(v[1]) / turn  # of the centre's circle
    scene = mc.Scene()
    scene.add_body(
        "disc",
        mass=m,
        inertia=(along, across, across),
        position=r * rise,
        orientation=exponential((0, -lean, 0)),
        velocity=v,
        angular_velocity=w,
    )
    scene.add_joint(mc.RollingJoint(None, "disc", r, axis=axis))
    off = []
    for substeps in (8, 16):
        world = mc.World(scene, dt=np.pi / turn / 500, substeps=substeps, iterations=8)
        world.step(500)
        moved = world.body("disc").position - r * rise
        off.append(
            (moved[2], np.linalg.norm(moved) - 2 * radius, world.energy().total / mc.World(scene).energy().total - 1)
        )
    off = np.array(off)
    assert np.abs(off[1]).max() < 2e-3 and np.abs(2 * off[1] - off[0]).max() < 3e-5, off


def chaplygin(t, arm, mass, inertia, v, w):
    """Position of the centre of mass and angle of a sleigh with its blade `arm` behind the centre, from rest at angle
    0."""

    def rate(_, y):
        _x, _z, angle, u, spin = y
        across = arm * spin
        return (
            u * np.cos(angle) - across * np.sin(angle),
            u * np.sin(angle) + across * np.cos(angle),
            spin,
            arm * spin**2,
            -mass * arm * u * spin / (inertia + mass * arm**2),
        )

    return solve_ivp(rate, (0, t), (0, 0, 0, v, w), rtol=1e-11, atol=1e-12, method="DOP853").y[:, -1]


@every_world
def test_a_chaplygin_sleigh(keywords):
    """The sleigh that turns until its blade trails: path and speed against the reduced equations."""
    arm, mass, inertia, v, w = 0.3, 1.5, 0.2, 0.5, 4.0
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("s", mass=mass, inertia=(0.1, 0.15, inertia), velocity=(v, arm * w, 0), angular_velocity=(0, 0, w))
    scene.add_joint(mc.KnifeEdgeJoint(None, "s", anchor=(-arm, 0, 0), axis=(0, 1, 0), name="k"))
    world = mc.World(scene, dt=1e-3, **keywords)
    energy = world.energy().total
    world.step(2000)
    x, y, angle, _u, spin = chaplygin(2.0, arm, mass, inertia, v, w)
    body = world.body("s")
    close = 1e-4 if keywords["stabilization"] == "soft" else 1e-2
    assert body.position == pytest.approx((x, y, 0), abs=close)
    turn = multiply(body.orientation, conjugate(exponential((0, 0, angle))))
    assert np.linalg.norm(turn[1:]) < close
    assert body.angular_velocity[2] == pytest.approx(spin, abs=close)
    assert world.energy().total == pytest.approx(energy, rel=2 * close)
    assert world.joint_errors().tolist() == [[0, 0]]


def test_files_keep_them(tmp_path):
    scene = mc.Scene()
    for name in "ab":
        scene.add_body(name, mass=1, inertia=(1, 1, 1))
    scene.add_joint(mc.RollingJoint("a", "b", 0.5, normal=(1, 0, 0), axis=(0, 0, 1), anchor=(2, 0, 0)))
    scene.add_joint(mc.RollingJoint("a", "b", 0.5))
    scene.add_joint(
        mc.RollingJoint("a", "b", 0.5, disc=True, frame_a=((0, 0, 0), (1, 0, 0, 0)), frame_b=((0, 0, 0), (1, 0, 0, 0)))
    )
    scene.add_joint(mc.KnifeEdgeJoint("a", "b", axis=(0, 0, 1)))
    scene.save(tmp_path / "scene.json")
    again = mc.load(str(tmp_path / "scene.json"))
    assert again == scene
    for joint, other in zip(scene.joints, again.joints):
        assert all(np.array_equal(x, y) for x, y in zip((*joint.frame_a, *joint.frame_b), (*other.frame_a, *other.frame_b)))
    assert [joint.disc for joint in again.joints[:3]] == [True, False, True]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: mc.RollingJoint(None, "b", 0.0), "radius must be positive"),
        (lambda: mc.RollingJoint("a", None, 1.0), "b must be the body that rolls"),
        (lambda: mc.RollingJoint(None, "b", 1.0, normal=(0, 0, 0)), "normal must not be zero"),
        (lambda: mc.RollingJoint(None, "b", 1.0, axis=(0, 0, 2)), "axis is along the normal"),
        (lambda: mc.RollingJoint(None, "b", 1.0, disc=True), "axis is missing: a disc needs it"),
        (lambda: mc.RollingJoint(None, "b", 1.0, axis=(1, 0, 0), disc=False), "axis is given for a sphere"),
        (lambda: mc.RollingJoint(None, "b", 1.0, frame_a=((0, 0, 0), (1, 0, 0, 0))), "frame_b is missing"),
        (lambda: mc.KnifeEdgeJoint(None, "b", (0, 0, 0)), "axis is missing"),
        (lambda: mc.KnifeEdgeJoint(None, "b", (0, 0, 0), (0, 0, 0)), "axis must not be zero"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(mc.SceneError, match=message):
        make()
