"""N'' v of contacts: the gap's second derivative along a free motion, by differences of gaps."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount
from mcsim.core.rotation import matrix, multiply

STEP = 1e-4


def turned(orientation, w, t):
    """A quaternion after a turn at w (3,), world axes, for t."""
    angle = np.linalg.norm(w) * t
    axis = w / max(np.linalg.norm(w), 1e-300)
    return np.asarray(multiply(np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis], orientation))


def moved(world, t):
    """Another world of the scene, whose bodies have gone on at their velocities for t."""
    other = mc.World(world.scene, speculative_distance=0.05)
    other.positions[...] = world.positions + t * world.velocities
    for i, (q, w) in enumerate(zip(world.orientations, world.angular_velocities)):
        other.orientations[i] = turned(q, w, t)
    return other


def gap(world, point, kind):
    """Of the contact nearest to a point; of a disc's rim in closed form, since the collider finds it to some 1e-8 m."""
    if kind.endswith("rim on slab"):
        slab, disc = (matrix(q) for q in world.orientations)
        n, middle, shape = slab[:, 2], world.positions[1] - world.positions[0], world.scene.bodies[1].shapes[0]
        low = shape.half_length * abs(n @ disc[:, 2]) + shape.radius * np.hypot(n @ disc[:, 0], n @ disc[:, 1])
        return n @ middle - low - shape.rounding - 0.1
    found = mc.contacts.equations(world, touching=0.1, still=1e3)
    return found.gap[np.argmin(np.linalg.norm(found.points - point, axis=1))]


def scene_of(kind):
    """Two bodies that touch: a, which turns as the user says, and b."""
    scene = mc.Scene(gravity=(0, 0, 0))
    half = 0.5**0.5
    slab, ball = mc.Box((0.5, 0.4, 0.1)), mc.Sphere(0.2)
    along = (half, 0, half, 0)  # a capsule or cylinder along x
    shape_a, shape_b, place, orientation = {
        "ball on slab": (slab, ball, (0.1, 0.05, 0.3), (1, 0, 0, 0)),
        "ball on ball": (mc.Sphere(0.3), ball, (0.3, 0, 0.4), (1, 0, 0, 0)),
        "ball at an edge": (slab, ball, (0.5 + 0.12, 0.05, 0.1 + 0.16), (1, 0, 0, 0)),
        "ball at a corner": (slab, ball, (0.5 + 0.2 * 2 / 3, 0.4 + 0.2 / 3, 0.1 + 0.2 * 2 / 3), (1, 0, 0, 0)),
        "ball on capsule": (mc.Capsule(0.3, 0.5), ball, (0.3, 0.4, 0.1), (1, 0, 0, 0)),
        "capsules that cross": (
            mc.Capsule(0.1, 0.5, orientation=along),
            mc.Capsule(0.1, 0.5, orientation=(half, half, 0, 0)),
            (0, 0, 0.2),
            (1, 0, 0, 0),
        ),
        "corner on slab": (
            slab,
            mc.Box((0.1, 0.1, 0.1)),
            None,
            (np.cos(0.4), 0.5 * np.sin(0.4), 0.75**0.5 * np.sin(0.4), 0),
        ),
        "rim on slab": (slab, mc.Cylinder(0.2, 0.05), None, (np.cos(0.35), np.sin(0.35), 0, 0)),
        "rounded rim on slab": (slab, mc.Cylinder(0.18, 0.03, rounding=0.02), None, (np.cos(0.35), np.sin(0.35), 0, 0)),
        "rounded corner on slab": (
            slab,
            mc.Box((0.08, 0.08, 0.08), rounding=0.02),
            None,
            (np.cos(0.4), 0.5 * np.sin(0.4), 0.75**0.5 * np.sin(0.4), 0),
        ),
        "ball at a rounded edge": (
            mc.Box((0.48, 0.38, 0.08), rounding=0.02),
            ball,
            (0.48 + 0.22 * 0.6, 0.05, 0.08 + 0.22 * 0.8),
            (1, 0, 0, 0),
        ),
        "rounded edges that cross": (
            mc.Box((0.4, 0.08, 0.08), rounding=0.02, orientation=(np.cos(np.pi / 8), np.sin(np.pi / 8), 0, 0)),
            mc.Box((0.08, 0.4, 0.08), rounding=0.02, orientation=(np.cos(np.pi / 8), 0, np.sin(np.pi / 8), 0)),
            (0.03, 0.02, 2 * (0.08 * 2**0.5 + 0.02)),
            (1, 0, 0, 0),
        ),
    }[kind]
    if place is None:  # the lowest point of b on the slab
        turn = matrix(np.array(orientation))
        if kind.endswith("corner on slab"):
            low = -np.abs(turn[2]) @ shape_b.half_extents
        else:
            low = -(shape_b.half_length * abs(turn[2, 2]) + shape_b.radius * np.hypot(turn[2, 0], turn[2, 1]))
        low -= shape_b.rounding
        place = (0.05, -0.1, 0.1 - low)
    scene.add_body("a", shape=shape_a, density=700)
    scene.add_body("b", shape=shape_b, density=900, position=place, orientation=orientation)
    return scene


KINDS = [
    "ball on slab",
    "ball on ball",
    "ball at an edge",
    "ball at a corner",
    "ball on capsule",
    "capsules that cross",
    "corner on slab",
    "rim on slab",
    "rounded rim on slab",
    "rounded corner on slab",
    "ball at a rounded edge",
    "rounded edges that cross",
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=amount(3, 20))
@given(seed=st.integers(0, 2**32 - 1))
def test_the_gap_bends_as_the_drift_says(kind, seed):
    """zeta is the first difference of the gap, the drift the second, whatever both bodies do."""
    rng = np.random.default_rng(seed)
    world = mc.World(scene_of(kind))
    world.velocities[...], world.angular_velocities[...] = rng.normal(0, 0.5, (2, 3)), rng.normal(0, 1, (2, 3))
    found = mc.contacts.equations(world, touching=1e-6, still=1e3)
    i = int(np.argmin(np.abs(found.gap)))
    gaps = [gap(moved(world, k * STEP), found.points[i] + k * STEP * world.velocities[0], kind) for k in (-2, -1, 0, 1, 2)]
    first = np.array([1, -8, 0, 8, -1]) @ gaps / (12 * STEP)
    second = np.array([-1, 16, -30, 16, -1]) @ gaps / (12 * STEP**2)
    assert found.zeta[i] == pytest.approx(first, rel=1e-6, abs=1e-7)
    assert found.drift[i] == pytest.approx(second, rel=1e-4, abs=1e-4)


@settings(deadline=None, max_examples=amount(8, 60))
@given(seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(KINDS))
def test_tangents_turn_with_the_normal(seed, kind):
    """The slip of the matter at the contact in a moved world, along tangents that went by the shortest turn, changes as
    its drift says."""
    rng = np.random.default_rng(seed)
    world = mc.World(scene_of(kind))
    world.velocities[...], world.angular_velocities[...] = rng.normal(0, 0.5, (2, 3)), rng.normal(0, 1, (2, 3))
    found = mc.contacts.equations(world, touching=1e-6, still=1e3)
    i = int(np.argmin(np.abs(found.gap)))
    world.velocities[1] -= found.zeta[i] * found.normals[i]  # it neither opens nor closes

    def slip(world):
        found = mc.contacts.equations(world, touching=1e-2, still=1e3)
        i = int(np.argmin(np.abs(found.gap)))
        p, v, w = found.points[i], world.velocities, world.angular_velocities
        s = v[1] + np.cross(w[1], p - world.positions[1]) - v[0] - np.cross(w[0], p - world.positions[0])
        return s, found, i

    s, found, i = slip(world)
    n, axes = found.normals[i], mc.contacts.contact_axes(found.normals[i])
    rates = []
    for t in (-STEP, STEP):
        other = moved(world, t)
        other.velocities[...], other.angular_velocities[...] = world.velocities, world.angular_velocities
        own, there, j = slip(other)
        to = there.normals[j]
        tangents = [e - (to @ e) / (1.0 + n @ to) * (n + to) for e in axes[1:]]
        rates.append([e @ own for e in tangents])
    assert found.slip[i] == pytest.approx(axes[1:] @ s, abs=1e-12)
    change = (np.array(rates[1]) - rates[0]) / (2 * STEP)
    assert found.tangent_drift.reshape(-1, 2)[i] == pytest.approx(change, rel=1e-4, abs=1e-4)


@settings(max_examples=amount(10, 60))
@given(seed=st.integers(0, 2**32 - 1))
def test_faces_that_turn_as_one(seed):
    """A box across another, both at one angular velocity, one sliding over the other: the distance along the common normal,
    n . (x_b - x_a), bends by n'' . (x_b - x_a) + 2 n' . (v_b - v_a) at every corner."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("a", shape=mc.Box((0.4, 0.1, 0.1)), density=700)
    scene.add_body("b", shape=mc.Box((0.1, 0.4, 0.1)), density=700, position=(0.05, 0.02, 0.2))
    world = mc.World(scene)
    w = rng.normal(size=3)
    world.angular_velocities[...] = w
    apart = world.positions[1] - world.positions[0]
    world.velocities[0] = rng.normal(size=3)
    world.velocities[1] = world.velocities[0] + np.cross(w, apart) + [*rng.normal(size=2), 0]
    found = mc.contacts.equations(world)
    assert found.count == 4 and found.zeta == pytest.approx(np.zeros(4), abs=1e-12)
    n = np.array([0, 0, 1.0])
    past = world.velocities[1] - world.velocities[0]
    bends = np.cross(w, np.cross(w, n)) @ apart + 2.0 * np.cross(w, n) @ past
    assert found.drift == pytest.approx(np.full(4, bends))
