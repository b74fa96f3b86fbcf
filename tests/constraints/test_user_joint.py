"""UserJoint: a joint written in Python does what the built-in one does; wires and pulleys against reduced models;
failures."""

import copy
import pickle

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from amounts import amount
from constraint_scenes import exponential, numerical_jacobian
from test_jacobian import numerical_curvature

G = 9.81
WORLDS = {
    "rows": dict(iterations=20),
    "tree": dict(joint_solver="tree"),
    "pgs": dict(solver="pgs", iterations=20),
    "rk4": dict(integrator="rk4"),
    "baumgarte": dict(stabilization="baumgarte"),
    "projection": dict(stabilization="projection"),
    "ggl": dict(stabilization="ggl"),
    "split_impulse": dict(stabilization="split_impulse"),
    "tree-projection": dict(joint_solver="tree", stabilization="projection"),
    "rattle": dict(integrator="rattle"),
    "variational": dict(integrator="variational"),
}
every_world = pytest.mark.parametrize("keywords", WORLDS.values(), ids=WORLDS)
TREE = dict(joint_solver="tree")
BOTH = pytest.mark.parametrize("keywords", [WORLDS["rows"], TREE], ids=["rows", "tree"])


# ---- joints that there are -------------------------------------------------------------------------------------------
# Places on the bodies: the joint's point, and the axis z, of a frame that is the world's at the initial pose.


def point(pose, local):
    return pose.position + pose.rotation @ local


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


class Ball:
    """e_i . (p_b - p_a), e_i the axes of a; a class, so that it can be pickled."""

    def __init__(self, on_a, on_b):
        self.on_a, self.on_b = np.asarray(on_a, float), np.asarray(on_b, float)

    def __call__(self, a, b):
        return a.rotation.T @ (point(b, self.on_b) - point(a, self.on_a))

    def jacobian(self, a, b):
        axes, arm = a.rotation.T, b.rotation @ self.on_b
        to_b = point(b, self.on_b) - a.position
        return np.hstack([-axes, axes @ skew(to_b), axes, -axes @ skew(arm)])


class Hinge(Ball):
    """And 2 (z_b . x_a, z_b . y_a) / (1 + z_a . z_b)."""

    def __call__(self, a, b):
        x, z = a.rotation, b.rotation[:, 2]
        return np.concatenate([super().__call__(a, b), 2 * (z @ x[:, :2]) / (1 + z @ x[:, 2])])

    def jacobian(self, a, b):
        x, z = a.rotation, b.rotation[:, 2]
        upright = 1 + z @ x[:, 2]
        rows = np.array([np.cross(z, 2 / upright * x[:, i] - 2 * (z @ x[:, i]) / upright**2 * x[:, 2]) for i in range(2)])
        return np.vstack([super().jacobian(a, b), np.hstack([np.zeros((2, 3)), -rows, np.zeros((2, 3)), rows])])


class Rod(Ball):
    """|p_b - p_a| - 0.7"""

    def __call__(self, a, b):
        return [np.linalg.norm(point(b, self.on_b) - point(a, self.on_a)) - 0.7]

    def jacobian(self, a, b):
        gap = point(b, self.on_b) - point(a, self.on_a)
        n = gap / np.linalg.norm(gap)
        return np.concatenate([-n, -np.cross(a.rotation @ self.on_a, n), n, np.cross(b.rotation @ self.on_b, n)])[None]


def two_bodies(joint):
    """An upper body on a ball joint from the world, and one that hangs from it by `joint` at the origin. What is
    damped keeps no account of its energy, as what a user's function moves cannot, since that may do work."""
    scene = mc.Scene()
    scene.add_body(
        "a",
        mass=1.0,
        inertia=(0.03, 0.05, 0.06),
        position=(0.4, 0, 0.3),
        angular_velocity=(1.0, 2.0, 0.5),
        linear_damping=0.1,
    )
    scene.add_body("b", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(0.2, -0.1, -0.4), angular_velocity=(0.5, 0, -1.0))
    scene.add_joint(mc.BallJoint(None, "a", (0.8, 0, 0.6)))
    scene.add_joint(joint)
    return scene


AT_A, AT_B = (-0.4, 0, -0.3), (-0.2, 0.1, 0.4)
LOWER = (-0.2, 0.1, 0.4 - 0.7)
KINDS = {
    "ball": (lambda: mc.BallJoint("a", "b", (0, 0, 0), name="j"), Ball(AT_A, AT_B), ()),
    "hinge": (lambda: mc.HingeJoint("a", "b", (0, 0, 0), (0, 0, 1), name="j"), Hinge(AT_A, AT_B), (3, 4)),
    "distance": (lambda: mc.DistanceJoint("a", "b", (0, 0, 0), (0, 0, -0.7), name="j"), Rod(AT_A, LOWER), ()),
}


def user(kind, given=True, **keywords):
    """The user's joint that goes with KINDS[kind]."""
    _, residual, angles = KINDS[kind]
    return mc.UserJoint(
        "a",
        "b",
        residual,
        residual.jacobian if given else None,
        angles=angles,
        name="j",
        anchor=(0, 0, 0) if kind != "distance" else (0, 0, -0.7),
        **keywords,
    )


@every_world
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(5)
def test_a_joint_written_in_python_is_the_built_in_one(kind, keywords):
    """Poses, velocities, reactions and errors after half a second; the Jacobian given."""
    own, given = (mc.World(two_bodies(joint), **keywords) for joint in (KINDS[kind][0](), user(kind)))
    for world in (own, given):
        world.step(30)
    # Iterates of swept rows differ by nothing; those of the direct solvers by what Newton's method leaves.
    loose = 10 if keywords.get("joint_solver") == "tree" or "integrator" in keywords else 1
    np.testing.assert_allclose(given.positions, own.positions, atol=loose * 1e-9)
    np.testing.assert_allclose(given.velocities, own.velocities, atol=loose * 1e-8)
    # The user's rows turn with a between the halves of a substep, whose impulses are added row by row; a ball joint's
    # or hinge's that the direct solver closes stay along the world's axes (tests/wide/test_wide_balls.py knows the
    # true force).
    turned = {"ball": 0.06, "hinge": 0.4}.get(kind, 0.0) if keywords in (WORLDS["rows"], WORLDS["tree"]) else 0.0
    np.testing.assert_allclose(given.joint("j").force, own.joint("j").force, atol=loose * 1e-5 + turned)
    np.testing.assert_allclose(given.joint("j").torque, own.joint("j").torque, atol=loose * 1e-5)
    # sin and angle of a tilt
    np.testing.assert_allclose(given.joint_errors(), own.joint_errors(), atol=1e-8, rtol=1e-3)


@pytest.mark.parametrize("keywords", [WORLDS["rows"], TREE, WORLDS["rk4"]], ids=["rows", "tree", "rk4"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(2)
def test_without_a_jacobian_differences_do(kind, keywords):
    own, formed = (mc.World(two_bodies(joint), **keywords) for joint in (KINDS[kind][0](), user(kind, given=False)))
    for world in (own, formed):
        world.step(20)
    np.testing.assert_allclose(formed.positions, own.positions, atol=1e-7)
    np.testing.assert_allclose(formed.velocities, own.velocities, atol=1e-6)


@pytest.mark.parametrize("given", [True, False], ids=["given", "formed"])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_a_user_joint(kind, given):
    """J and curvature at a pose where the joint stands open."""
    world = mc.World(two_bodies(user(kind, given)))
    world.orientations[1] = exponential(np.array([0.3, -0.2, 0.4]))
    world.positions[1] += 0.1
    rows = world.rows["source"] == 1
    expected = numerical_jacobian(world, lambda: world.rows["error"])
    np.testing.assert_allclose(world.jacobian().toarray()[rows], expected[rows], atol=1e-8)
    np.testing.assert_allclose(world._raw_rows()["curvature"][rows], numerical_curvature(world)[rows], atol=2e-6)
    angles = KINDS[kind][2]
    errors = world.rows["error"][rows]
    assert world.joint_errors()[1] == pytest.approx(
        (np.linalg.norm(np.delete(errors, angles)), np.linalg.norm(errors[list(angles)])), rel=1e-12
    )


def test_a_loop_closed_by_a_user_joint():
    """A planar four-bar in space, its last hinge a user's ball: the direct solver meets it with the tree; second
    order."""

    def mechanism(last):
        scene = mc.Scene()
        corners = np.array([(0, 0, 0), (0.2, 0, 0.5), (1.0, 0, 0.7), (1.2, 0, 0)])
        for k in range(3):
            scene.add_body(f"l{k}", mass=1.0 + k, inertia=(0.05, 0.05, 0.05), position=(corners[k] + corners[k + 1]) / 2)
        ends = [None, "l0", "l1", "l2"]
        for k in range(3):
            scene.add_joint(mc.HingeJoint(ends[k], ends[k + 1], corners[k], (0, 1, 0)))
        half = (corners[3] - corners[2]) / 2
        scene.add_joint(
            mc.UserJoint(None, "l2", lambda a, b: point(b, half) - corners[3])
            if last == "user"
            else mc.BallJoint(None, "l2", corners[3])
        )
        return mc.World(scene, joint_solver="tree")

    worlds = [mechanism(last) for last in ("user", "built in")]
    for world in worlds:
        world.step(60)
        assert world.joint_errors().max() < 1e-6
    np.testing.assert_allclose(worlds[0].positions, worlds[1].positions, atol=1e-6)


def test_momentum_in_free_flight():
    """Of a residual that does not change when both bodies move as one."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("a", mass=1.0, inertia=(0.03, 0.05, 0.06), position=(0.4, 0, 0.3), angular_velocity=(1.0, 2.0, 0.5))
    scene.add_body("b", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(0.2, -0.1, -0.4), velocity=(0.3, 0, 0))
    scene.add_joint(user("hinge"))
    for keywords in (WORLDS["rows"], TREE):
        world = mc.World(scene, **keywords)
        before = np.concatenate(world.momentum())
        world.step(60)
        assert np.concatenate(world.momentum()) == pytest.approx(before, abs=1e-12)


# ---- joints that there are not ---------------------------------------------------------------------------------------


def bead(residual, position, velocity, jacobian=None, **world):
    scene = mc.Scene()
    scene.add_body("bead", mass=0.5, inertia=(0.01, 0.01, 0.01), position=position, velocity=velocity)
    scene.add_joint(mc.UserJoint(None, "bead", residual, jacobian, size=2, name="wire"))
    return mc.World(scene, **world)


def on_parabola(a, b):
    x, y, z = b.position
    return y, z - x * x


def test_a_bead_on_a_parabola():
    """(1 + 4 x^2) x'' = -4 x x'^2 - 2 g x; at second order, and the wire bears m (z'' + g) upward."""

    def rates(t, y):
        x, u = y
        return u, (-4 * x * u * u - 2 * G * x) / (1 + 4 * x * x)

    times = np.array([0.5, 1.0, 1.5, 2.0])
    exact = solve_ivp(rates, (0, 2), (0.9, 0.0), "DOP853", times, rtol=1e-12, atol=1e-12).y
    errors = []
    for substeps in (4, 8):
        world = bead(on_parabola, (0.9, 0, 0.81), (0, 0, 0), joint_solver="tree", substeps=substeps)
        worst = 0.0
        for x, u in exact.T:  # noqa: B007 (the last one is read below)
            world.step(30)
            worst = max(worst, abs(world.positions[0, 0] - x))
        assert world.joint_errors().max() < 1e-9
        errors.append(worst)
    assert errors[1] < 5e-4 and 3.0 < errors[0] / errors[1] < 5.0, errors
    bend = 2 * u * u + 2 * x * rates(0, (x, u))[1]
    assert world.joint("wire").force[2] == pytest.approx(0.5 * (bend + G), rel=2e-2)


@pytest.mark.parametrize(
    "keywords",
    [
        dict(iterations=20, dt=1 / 240),
        dict(integrator="rk4", dt=1 / 240, substeps=1),
        dict(stabilization="projection", dt=1 / 960, substeps=1),
    ],
    ids=["rows", "rk4", "projection"],
)
def test_a_bead_on_an_ellipse(keywords):
    """x = 2 cos s, z = sin s, over the top and down; (4 sin^2 + cos^2) s'' = -3 sin cos s'^2 - g cos."""

    def rates(t, y):
        s, w = y
        return w, (-3 * np.sin(s) * np.cos(s) * w * w - G * np.cos(s)) / (4 * np.sin(s) ** 2 + np.cos(s) ** 2)

    world = bead(
        lambda a, b: (b.position[1], np.hypot(b.position[0] / 2, b.position[2]) - 1.0), (2, 0, 0), (0, 0, 6.0), **keywords
    )
    s, _w = solve_ivp(rates, (0, 1), (0, 6.0), "DOP853", [1.0], rtol=1e-12, atol=1e-12).y[:, 0]
    world.step(round(1 / world.dt))
    loose = 1e-6 if "integrator" in keywords else 5e-2 if "stabilization" in keywords else 1e-2
    assert world.positions[0] == pytest.approx((2 * np.cos(s), 0, np.sin(s)), abs=loose)
    assert s > 2.8


@BOTH
def test_a_pulley(keywords):
    """A rope over a wheel of the world: |x_a - p| + 2 |x_b - q| = const. The forces on the two are not opposite."""
    scene = mc.Scene()
    p, q = np.array([0, 0, 3.0]), np.array([1.0, 0, 3.0])
    scene.add_body("a", mass=3.0, inertia=(0.1, 0.1, 0.1))
    scene.add_body("b", mass=2.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    scene.add_joint(
        mc.UserJoint(
            "a", "b", lambda a, b: [np.linalg.norm(a.position - p) + 2 * np.linalg.norm(b.position - q) - 9.0], name="rope"
        )
    )
    world = mc.World(scene, **keywords)
    world.step(30)
    # Down by x at a, up by x / 2 at b: x'' (m_a + m_b / 4) = g (m_a - m_b / 2), and the rope pulls m_a (g - x'').
    x = G * (3.0 - 1.0) / (3.0 + 0.5)
    assert world.velocities[:, 2] == pytest.approx((-0.5 * x, 0.25 * x), rel=1e-6)
    assert world.joint("rope").force == pytest.approx((0, 0, 2 * 3.0 * (G - x)), rel=1e-3, abs=1e-9)


@BOTH
def test_user_joints_gears_and_others_together(keywords):
    """A wheel geared to a slide whose weight a user's joint hangs on the world's wire: all hold at once."""
    scene = mc.Scene()
    scene.add_body("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(0, 3.0, 0))
    scene.add_body("slide", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0), velocity=(0.9, 0, 0))
    scene.add_body("bob", mass=0.3, inertia=(0.01, 0.01, 0.01), position=(1, 0, -0.5), velocity=(0.9, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "wheel", (0, 0, 0), (0, 1, 0), name="hinge"))
    scene.add_joint(mc.SliderJoint(None, "slide", (1, 0, 0), name="slide"))
    scene.add_joint(mc.GearJoint("slide", "hinge", -0.3, name="gear"))
    scene.add_joint(
        mc.UserJoint("slide", "bob", lambda a, b: [np.linalg.norm(b.position - a.position) - 0.5], name="string")
    )
    world = mc.World(scene, **keywords)
    before = world.energy().total
    world.step(amount(100, 240))
    assert world.joint_errors().max() < (1e-8 if keywords is TREE else 2e-3)
    assert world.joint("slide").position == pytest.approx(0.3 * world.joint("hinge").position, abs=2e-3)
    assert world.energy().total == pytest.approx(before, abs=2e-2)


def test_a_user_joint_breaks():
    scene = mc.Scene()
    scene.add_body("b", mass=2.0, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(mc.UserJoint(None, "b", lambda a, b: b.position, name="nail", break_force=30.0))
    world = mc.World(scene, joint_solver="tree")
    world.step(10)
    assert not world.joint("nail").broken and world.joint("nail").force == pytest.approx((0, 0, 2 * G))
    world.apply_force("b", (0, 0, -20.0))
    world.step(1)
    assert world.events.broken.tolist() == [0] and world.joint("nail").broken
    world.step(60)
    assert world.positions[0, 2] < -4 and not world.joint_errors().any()


# ---- failures --------------------------------------------------------------------------------------------------------

FAILING = ("rows", "tree", "rk4", "ggl", "rattle")


@pytest.mark.parametrize("keywords", [WORLDS[name] for name in FAILING], ids=FAILING)
def test_a_function_that_fails_stops_the_step(keywords):
    """What it raises comes out, the last good state stays, and the world goes on once it works again."""
    calls = {"left": 1e9, "give": lambda: 1 / 0}

    def residual(a, b):
        calls["left"] -= 1
        return b.position if calls["left"] > 0 else calls["give"]()

    scene = mc.Scene()
    scene.add_body("b", mass=2.0, inertia=(0.1, 0.1, 0.1), angular_velocity=(1, 2, 3))
    scene.add_joint(mc.UserJoint(None, "b", residual, name="nail"))
    world = mc.World(scene, **keywords)
    world.step(5)
    calls["left"] = 60
    with pytest.raises(ZeroDivisionError):
        world.step(50)
    kept, time = world.state_hash(), world.time
    for give, message in (
        (lambda: [1.0], "joint 'nail': the residual must give 3 finite numbers"),
        (lambda: [np.nan] * 3, "joint 'nail': the residual must give 3 finite numbers"),
        (lambda: "x", "joint 'nail'"),
    ):
        calls["left"], calls["give"] = 20, give
        with pytest.raises(mc.SimulationError, match=message):
            world.step(1)
        assert world.state_hash() == kept and world.time == time
    calls["left"] = 1e9
    world.step(50)
    assert np.abs(world.positions).max() < 1e-3


def test_a_wrong_jacobian_is_refused_with_the_largest_deviation():
    right = KINDS["hinge"][1]

    def wrong(a, b):
        j = right.jacobian(a, b).copy()
        j[3, 10] += 0.2
        j[1, 2] += 0.1
        return j

    scene = two_bodies(mc.BallJoint("a", "b", (0, 0, 0)))
    with pytest.raises(
        mc.SceneError,
        match=r"joint 'h': jacobian is not the residual's derivative: at the initial "
        r"pose the largest deviation from central differences is 0.2, in row 3 by w_b.y: "
        r"given .*, differences",
    ):
        scene.add_joint(mc.UserJoint("a", "b", right, wrong, name="h"))

    def right_at_first(a, b):
        j = right.jacobian(a, b).copy()
        j[0, 0] += 5 * (b.position[0] - 0.2)
        return j

    with pytest.raises(mc.SceneError, match="at a pose nearby the largest deviation"):
        scene.add_joint(mc.UserJoint("a", "b", right, right_at_first))
    assert len(scene.joints) == 2


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda: mc.UserJoint(None, "b", 3), "UserJoint: residual must be a function"),
        (lambda: mc.UserJoint(None, "b", np.sin, 3), "jacobian must be a function"),
        (lambda: mc.UserJoint(None, "b", lambda a, b: b.position, size=7), "size must be from 1 to 6"),
        (lambda: mc.UserJoint(None, "b", lambda a, b: b.position, size=2), "size is 2, but the residual gives 3 numbers"),
        (lambda: mc.UserJoint(None, "b", lambda a: a), "residual failed at the initial pose: TypeError"),
        (lambda: mc.UserJoint(None, "b", lambda a, b: []), "residual must give 1 to 6 finite numbers"),
        (lambda: mc.UserJoint(None, "b", lambda a, b: 0.0), "residual must give 1 to 6 finite numbers"),
        (lambda: mc.UserJoint(None, "b", lambda a, b: [np.inf]), "residual must give 1 to 6 finite numbers"),
        (lambda: mc.UserJoint(None, "b", lambda a, b: "x"), "residual failed at the initial pose: ValueError"),
        (
            lambda: mc.UserJoint(None, "b", lambda a, b: b.position, lambda a, b: np.zeros((3, 6))),
            r"must be of shape \(3, 12\)",
        ),
        (
            lambda: mc.UserJoint(None, "b", lambda a, b: b.position, lambda a, b: 1 / 0),
            "jacobian failed at the initial pose",
        ),
        (lambda: mc.UserJoint(None, "b", lambda a, b: b.position, angles=(3,)), "angles must be row numbers from 0 to 2"),
        (lambda: mc.UserJoint("b", "b", lambda a, b: b.position), "joins 'b' to itself"),
    ],
)
def test_wrong_user_joints_are_refused(make, message):
    scene = mc.Scene()
    scene.add_body("b", mass=2.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(mc.SceneError, match=message):
        scene.add_joint(make())
    assert not scene.joints


@BOTH
def test_copies_pickles_and_snapshots(keywords):
    """To the same bits; functions are copied as they are. A file cannot hold them."""
    world = mc.World(two_bodies(user("hinge")), **keywords)
    world.step(10)
    kept = world.snapshot()
    for other in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert other.state_hash() == world.state_hash()
        other.step(5)
    world.step(5)
    assert other.state_hash() == world.state_hash()
    world.restore(kept)
    world.step(5)
    assert other.state_hash() == world.state_hash()
    before = world.state_hash()
    world.rows, world.jacobian(), world.joint_errors(), world.joint("j").position, world.kkt()
    assert world.state_hash() == before
    with pytest.raises(mc.SceneError, match="joint 'j': residual is a Python function, which a file cannot hold"):
        world.scene.to_dict()


def test_poses_are_those_of_the_centres_of_mass():
    """Also where the body's own frame is elsewhere; the world's is the identity."""
    seen = []
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), center_of_mass=(0.3, 0, 0), position=(1, 0, 0))
    scene.add_joint(mc.UserJoint(None, "b", lambda a, b: seen.append((a, b)) or b.position - (1.3, 0, 0)))
    world = mc.World(scene)
    world.step(1)
    for a, b in (seen[0], seen[-1]):
        assert isinstance(a, tuple) and a.position.tolist() == [0, 0, 0] and a.orientation.tolist() == [1, 0, 0, 0]
        assert b.position == pytest.approx((1.3, 0, 0), abs=1e-3) and b.rotation == pytest.approx(np.eye(3), abs=1e-4)
