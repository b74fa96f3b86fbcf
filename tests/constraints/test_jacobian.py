"""Rows against independent derivatives: J of every joint and limit, A = J M^-1 J', curvature, the errors."""

import inspect
import itertools
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from constraint_scenes import (
    CLASSES,
    CONSTANTS,
    FREE,
    LENGTH,
    PITCH,
    RADIUS,
    SIDES,
    TYPES,
    Pair,
    conjugate,
    mass_matrix,
    matrix,
    move,
    multiply,
    numerical_jacobian,
    random_coordinates,
    twists,
)
from mcsim.scene.joints import JOINTS

STEP = 1e-5
# Central differences of smooth functions (third derivatives of order 10): step^2 times that, and rounding / step.
TOLERANCE = 3e-9

# Types checked elsewhere. A user's joint is no type of the registry of files; test_user_joint.py has it.
OWN_FILES = {"rolling": "test_nonholonomic.py", "knife_edge": "test_nonholonomic.py", "gear": "test_gear.py"}

LIMITS = {
    "swing": ("ball", lambda q: {"swing_limit": 0.3}),
    "twist": ("ball", lambda q: {"twist_limits": (0.0, 0.0)}),
    "universal": ("universal", lambda q: {"limits": ((q[0] - 0.01, q[0] + 0.02), (q[1] + 0.3, q[1] + 0.4))}),
    "hinge": ("hinge", lambda q: {"limits": (q[0] - 0.05, q[0] - 0.01)}),
    "slider": ("slider", lambda q: {"limits": (q[0] + 0.2, q[0] + 0.2)}),
    "cylindrical": ("cylindrical", lambda q: {"limits": ((q[0] + 0.2, q[0] + 0.3), (q[1] - 0.05, q[1] - 0.01))}),
    "planar": ("planar", lambda q: {"limits": ((q[0] + 0.2, q[0] + 0.3), None, (q[2] - 0.05, q[2] - 0.01))}),
    "screw": ("screw", lambda q: {"limits": (q[0] - 0.05, q[0] - 0.01)}),
    "rope": ("distance", lambda q: {"limits": (LENGTH + 0.5, LENGTH + 0.5), "length": None}),
    "rack_pinion": ("rack_pinion", lambda q: {"limits": (q[0] - 0.05, q[0] - 0.01)}),
    "slot": ("slot", lambda q: {"limits": (q[0] + 0.2, q[0] + 0.2)}),
    "free": ("free", lambda q: {"limits": ((q[0] + 0.2, q[0] + 0.3), None, (q[2] - 0.2, q[2] - 0.1), None, None, None)}),
    "free twist": ("free", lambda q: {"limits": (*(None,) * 5, (0.0, 0.0))}),
    "free swing": ("free", lambda q: {"swing_limit": 0.3}),
    "point_on_plane": ("point_on_plane", lambda q: {"limits": ((q[0] + 0.2, q[0] + 0.3), (q[1] - 0.2, q[1] - 0.1))}),
}


def driven(kind):
    """Of each coordinate that is no part of a rotation vector "drives": it takes a motor, a spring and friction."""
    return ["drives" for part in JOINTS[kind].coordinates if part != "turn" and kind != "free"]


def check_jacobian(world, tolerance=TOLERANCE):
    """Every row's J is the derivative of its error."""
    kinds = world.rows["kind"].copy()
    expected = numerical_jacobian(world, lambda: world.rows["error"], STEP)
    assert np.array_equal(world.rows["kind"], kinds)
    np.testing.assert_allclose(world.jacobian().toarray(), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("error", [0.0, 0.4], ids=["assembled", "violated"])
@pytest.mark.parametrize("kind", TYPES)
def test_joint_rows_are_derivatives_of_their_errors(kind, error, side):
    """J of each joint against central differences of its error, at random poses, closed and pulled open."""
    largest = 0.0
    for seed in range(amount(2, 6)):
        pair = Pair(seed, kind, side, error)
        rows = pair.world.rows
        assert len(rows) == 6 - FREE[kind] and set(rows["kind"]) <= {"joint"}
        largest = max(largest, np.abs(rows["error"]).max(initial=0))
        check_jacobian(pair.world)
    assert largest > 0.05 if error > 0 and kind != "free" else largest < 1e-14


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("error", [0.0, 0.2], ids=["assembled", "violated"])
@pytest.mark.parametrize("limit", LIMITS)
def test_limit_rows_are_derivatives_of_their_errors(limit, error, side):
    """The same for limits: near, at and beyond them."""
    kind, keywords = LIMITS[limit]
    for seed in range(amount(2, 6)):
        q = random_coordinates(np.random.default_rng(seed + 50), kind)
        if "swing" in limit:
            q[-3:] = [0.5, -0.3, 0.2 * seed]
        pair = Pair(seed, kind, side, error, q, spin=0.0, **keywords(q))
        rows = pair.world.rows
        assert np.sum(rows["kind"] == "limit") >= 1
        check_jacobian(pair.world)


@pytest.mark.parametrize("drive", ["spring", "motor", "friction"])
@pytest.mark.parametrize("kind", sorted(kind for kind in TYPES if "drives" in driven(kind)))
def test_rows_of_drives_act_along_the_free_coordinate(kind, drive):
    """Springs, position motors and friction act along the derivative of the joint's own coordinate."""
    for seed in range(amount(2, 4)):
        one = {"spring": mc.Spring(10.0, 1.0, 0.3), "motor": mc.Motor(position=0.2), "friction": 1.0}[drive]
        count = driven(kind).count("drives")
        keywords = {drive: one if count == 1 or drive == "friction" else (one,) * count}
        if kind == "distance":
            keywords["length"] = None
        pair = Pair(seed, kind, error=0.1, **keywords)
        world, joint = pair.world, pair.world.joint("joint")
        expected = numerical_jacobian(world, lambda: np.atleast_1d(joint.position)[:count], STEP)
        drives = world.rows["kind"] != "joint"
        np.testing.assert_allclose(world.jacobian().toarray()[drives], expected, rtol=0, atol=TOLERANCE)
        if drive != "friction":
            target = 0.3 if drive == "spring" else 0.2
            np.testing.assert_allclose(
                world.rows["error"][drives], np.atleast_1d(joint.position)[:count] - target, atol=1e-14
            )


def test_errors_against_the_definitions():
    """Row errors by the formulas of the joint files, from the bodies' frames alone."""
    for kind in TYPES:
        for seed in range(5):
            pair = Pair(seed, kind, SIDES[seed % 3], error=0.5)
            (pa, qa), (pb, qb) = pair.frames()
            a, b = matrix(qa), matrix(qb)
            offset = a.T @ (pb - pa)
            q = multiply(conjugate(qa), qb)
            turn = 2 * q[1:] * np.sign(q[0])
            across = 2 / (1 + a[:, 2] @ b[:, 2]) * (b[:, 2] @ a[:, :2])
            twist = 2 * np.arctan2(q[3] * np.sign(q[0]), abs(q[0]))
            expected = {
                "ball": offset,
                "universal": [*offset, a[:, 2] @ b[:, 0]],
                "hinge": [*offset, *across],
                "slider": [*offset[:2], *turn],
                "fixed": [*offset, *turn],
                "cylindrical": [*offset[:2], *across],
                "planar": [offset[2], *across],
                "screw": [*offset[:2], *across, offset[2] - PITCH * twist],
                "distance": [np.linalg.norm(offset) - LENGTH],
                "rack_pinion": [offset[0] + RADIUS * twist],
                "free": [],
                "slot": offset[:2],
                "point_on_plane": offset[2:],
                "constant_velocity": [*offset, twist],
                "lock": [offset[0], offset[2], *(2 / (1 + a[:, 1] @ b[:, 1]) * (b[:, 1] @ a[:, [2, 0]]))],
            }[kind]
            np.testing.assert_allclose(pair.world.rows["error"], expected, atol=1e-13)
            gaps = {
                "slider": offset[:2],
                "cylindrical": offset[:2],
                "planar": offset[2:],
                "screw": [*offset[:2], offset[2] - PITCH * twist],
                "distance": expected,
                "rack_pinion": expected,
                "free": 0.0,
                "slot": offset[:2],
                "point_on_plane": offset[2:],
                "lock": offset[[0, 2]],
            }
            distance = np.linalg.norm(gaps.get(kind, offset))
            tilt = np.arccos(a[:, 2] @ b[:, 2])
            angle = {
                "ball": 0.0,
                "universal": abs(np.arcsin(a[:, 2] @ b[:, 0])),
                "hinge": tilt,
                "cylindrical": tilt,
                "planar": tilt,
                "screw": tilt,
                "distance": 0.0,
                "rack_pinion": 0.0,
                "free": 0.0,
                "slot": 0.0,
                "point_on_plane": 0.0,
                "constant_velocity": abs(twist),
                "lock": np.arccos(a[:, 1] @ b[:, 1]),
            }.get(kind, 2 * np.arcsin(np.linalg.norm(turn) / 2))
            np.testing.assert_allclose(pair.world.joint_errors(), [[distance, angle]], atol=1e-9)


def test_a_quarter_and_a_half_turn_are_errors_too():
    """Large angle errors up to almost pi keep their sign and their derivative."""
    for kind in ("hinge", "slider", "fixed", "universal", "cylindrical", "planar", "screw"):
        # Where the axes are opposite there is no twist angle, and a screw's row is kept bounded instead.
        for angle in (1.5, 2.5, 3.1)[: 2 if kind == "screw" else 3]:
            pair = Pair(3, kind)
            world = pair.world
            axis = matrix(pair.frames()[0][1])[:, 0 if kind != "universal" else 1]
            move(world, [0, 0, 0, 0, 0, 0, 0, 0, 0, *(angle * axis)], 1.0)
            # Third derivatives of 2 tan(t / 2), by which axes are parallel, grow so.
            check_jacobian(world, TOLERANCE / (1.0 if kind in ("slider", "fixed", "universal") else np.cos(angle / 2) ** 4))


# ---- A = J M^-1 J' ---------------------------------------------------------------------------------------------------

ALL = len(TYPES)


def chain(seed, links=ALL):
    """A chain of all joint types with limits and drives, closed to a loop, two joints between the last pair."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    for i in range(links):
        scene.add_body(
            f"b{i}",
            mass=10.0 ** rng.uniform(-2, 2),
            inertia=rng.uniform(0.9, 1.1, 3) * 10.0 ** rng.uniform(-2, 1),
            position=rng.normal(size=3),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            kind="kinematic" if i == 2 else "dynamic",
        )
    ends = [None, *range(links), None]
    for i, (a, b) in enumerate([*itertools.pairwise(ends), (links - 2, links - 1)]):
        kind = TYPES[i % len(TYPES)]
        axes = {
            "axis": (0, 1, 0),
            "axis_a": (0, 0, 1),
            "axis_b": (1, 0, 0),
            "normal": (0, 0, 1),
            "rack_axis": (0, 0, 1),
            "pinion_axis": (1, 0, 0),
        }
        place = {name: axes[name] for name in inspect.signature(CLASSES[kind]).parameters if name in axes}
        if kind in ("hinge", "slider"):
            place |= {"limits": (-0.02, 0.02), "spring": mc.Spring(3.0), "motor": mc.Motor(velocity=1.0), "friction": 0.5}
        a, b = (None if end is None else f"b{end}" for end in (a, b))
        points = {"anchor_a": rng.normal(size=3), "anchor_b": rng.normal(size=3)}
        place |= points if kind == "distance" else {"anchor": points["anchor_a"]}
        scene.add_joint(CLASSES[kind](a, b, **place, **CONSTANTS.get(kind, {})))
    return mc.World(scene)


@pytest.mark.parametrize("seed", range(3))
def test_delassus_is_j_inverse_mass_j_transposed(seed):
    """A of a loop of all joints against the dense product; symmetric to the bit, positive semidefinite."""
    world = chain(seed)
    world.step(3)
    world.orientations[...] = np.roll(world.orientations, 1, axis=0)
    j, a = world.jacobian().toarray(), world.delassus().toarray()
    mass = mass_matrix(world)
    inverse = np.zeros_like(mass)
    moving = np.diag(mass) > 0
    inverse[np.ix_(moving, moving)] = np.linalg.inv(mass[np.ix_(moving, moving)])
    assert not moving.all() and len(j) == len(world.rows)
    expected = j @ inverse @ j.T
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((a - expected) / scale).max() < 1e-12
    assert np.array_equal(a, a.T)
    assert np.linalg.eigvalsh(a / scale).min() > -1e-12


# ---- curvature -------------------------------------------------------------------------------------------------------


def angular_accelerations(world):
    """(n, 3) of the free bodies: -I^-1 (w x I w)."""
    out = np.zeros((len(world.masses), 3))
    for i, w in enumerate(world.angular_velocities):
        if world.masses[i] > 0:
            r = matrix(world.orientations[i])
            inertia = r @ world.body(i).inertia @ r.T
            out[i] = -np.linalg.solve(inertia, np.cross(w, inertia @ w))
    return out


def numerical_curvature(world, size=1e-4):
    """d/dt (J v) along the free drift, by central differences."""
    start = world.positions.copy(), world.orientations.copy(), world.velocities.copy(), world.angular_velocities.copy()
    drift, turn = twists(world), angular_accelerations(world)
    rates = []
    for sign in (1, -1):
        move(world, drift, sign * size)
        world.angular_velocities[...] += sign * size * turn
        rates.append(world.jacobian() @ twists(world))
        world.positions[...], world.orientations[...], world.velocities[...], world.angular_velocities[...] = start
    return (rates[0] - rates[1]) / (2 * size)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("error", [0.0, 0.3], ids=["assembled", "violated"])
@pytest.mark.parametrize("kind", TYPES)
def test_curvature_is_the_second_derivative_of_the_free_drift(kind, error, side):
    """Row curvature against d(J v)/dt of free bodies that turn against each other."""
    for seed in range(amount(2, 4)):
        world = Pair(seed, kind, side, error, spin=2.0).world
        np.testing.assert_allclose(world._raw_rows()["curvature"].copy(), numerical_curvature(world), atol=2e-6)


@pytest.mark.parametrize("angle", [1.5, 2.5, 3.1])
@pytest.mark.parametrize("kind", ["hinge", "slider", "fixed", "universal", "cylindrical", "planar"])
def test_curvature_where_the_axes_are_far_apart(kind, angle):
    """The same for angle errors up to almost pi."""
    world = Pair(5, kind, spin=1.0).world
    axis = matrix(world.orientations[0])[:, 0]
    move(world, [0, 0, 0, 0, 0, 0, 0, 0, 0, *(angle * axis)], 1.0)
    np.testing.assert_allclose(world._raw_rows()["curvature"].copy(), numerical_curvature(world), atol=5e-6)


def test_every_joint_there_is_has_its_differences():
    """A type with rows of poses is in TYPES by itself; another has a file of its own that is named here."""
    assert set(JOINTS) - set(OWN_FILES) <= set(TYPES)
    for file in set(OWN_FILES.values()):
        assert "numerical_curvature" in (Path(__file__).parent / file).read_text()
