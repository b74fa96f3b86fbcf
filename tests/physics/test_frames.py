"""Mechanics knows no frame: the same scene turned, or seen from a frame that moves, goes the same way, to rounding."""

import numpy as np
import pytest

import mcsim as mc

G = 9.81


def product(p, q):
    w, x, y, z = p
    a, b, c, d = q
    return np.array(
        [
            w * a - x * b - y * c - z * d,
            w * b + x * a + y * d - z * c,
            w * c - x * d + y * a + z * b,
            w * d + x * c - y * b + z * a,
        ]
    )


def turned(q, v):
    return product(product(q, (0.0, *v)), (q[0], -q[1], -q[2], -q[3]))[1:]


def quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def solids(kind, seed):
    """[(shape, position, orientation, velocity, angular velocity)] over a floor at z = 0."""
    rng = np.random.default_rng(seed)
    if kind == "drop":
        return [
            (mc.Box(rng.uniform(0.15, 0.4, 3)), (2 * i, 0, 0.8), quaternion(rng), (0, 0, 0), (0, 0, 0)) for i in range(3)
        ]
    if kind == "slide":
        return [
            (shape, (0, 2 * i, h), (1, 0, 0, 0), (3, 1, 0), (0, 0, rng.uniform(-5, 5)))
            for i, (shape, h) in enumerate(
                ((mc.Box((0.5, 0.3, 0.2)), 0.2), (mc.Sphere(0.3), 0.3), (mc.Cylinder(0.3, 0.2), 0.2))
            )
        ]
    if kind == "pyramid":
        return [
            (mc.Box((0.5, 0.5, 0.5)), (j + 0.5 * i, 0, 0.5 + i), (1, 0, 0, 0), (0, 0, 0), (0, 0, 0))
            for i in range(5)
            for j in range(5 - i)
        ]
    if kind == "stack":  # that lands
        return [(mc.Box((0.25,) * 3), (0.01 * i, 0, 0.26 + 0.52 * i), (1, 0, 0, 0), (0, 0, 0), (0, 0, 0)) for i in range(5)]
    return [
        (mc.Capsule(0.1, 0.3), (0, 0, 1.5), (1, 0, 0, 0), (0, 0, 0), (0, 0, 0)),
        (mc.Capsule(0.1, 0.3), (0, 0, 0.8), (1, 0, 0, 0), (0.5, 0.2, 0), (0, 0, 0)),
    ]


def moved(kind, seed, turn=(1.0, 0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), steps=90, World=mc.World):
    """Places after the steps, as seen from the frame."""
    turn, velocity = np.array(turn), np.array(velocity, float)
    scene = mc.Scene(gravity=turned(turn, (0, 0, -G)))
    scene.add_body(
        "floor",
        kind="kinematic",
        shape=mc.Box((30, 30, 1)),
        position=turned(turn, (0, 0, -1)),
        orientation=turn,
        velocity=velocity,
    )
    for i, (shape, x, q, v, w) in enumerate(solids(kind, seed)):
        scene.add_body(
            f"b{i}",
            shape=shape,
            position=turned(turn, x),
            orientation=product(turn, q),
            velocity=turned(turn, v) + velocity,
            angular_velocity=turned(turn, w),
        )
    if kind == "walker":
        scene.add_joint(mc.BallJoint("b0", "b1", anchor=turned(turn, (0, 0, 1.15))))
    world = World(scene, sleep=False) if World is mc.World else World(scene)
    world.step(steps)
    back = (turn[0], -turn[1], -turn[2], -turn[3])
    return np.array([turned(back, x) for x in world.positions - velocity * world.time])


@pytest.mark.parametrize("kind", ["drop", "slide", "pyramid", "walker"])
@pytest.mark.parametrize("seed", range(3))
def test_a_scene_that_is_turned_moves_alike(kind, seed):
    """Friction of what slides is found along two tangents, whatever they are."""
    turn = quaternion(np.random.default_rng(100 + seed))
    assert np.abs(moved(kind, seed, turn) - moved(kind, seed)).max() < 1e-8


@pytest.mark.parametrize(
    "World, kind",
    [(mc.World, kind) for kind in ("drop", "slide", "pyramid", "walker", "stack")]
    + [(mc.ReducedWorld, kind) for kind in ("pyramid", "stack")],
)
@pytest.mark.parametrize("seed", range(2))
def test_a_scene_on_what_moves_goes_as_one_on_what_stands(World, kind, seed):
    """Also where the features of contacts change, and their impulses are found again by the places of their points: those
    were where the floor had been."""
    velocity = ((-2.0, 11.0, 0.0), (3.0, 1.0, -5.0))[seed]
    assert np.abs(moved(kind, seed, velocity=velocity, World=World) - moved(kind, seed, World=World)).max() < 1e-8


def chains_at_a_wall(seed, velocity):
    """Three chains thrown at a wall over a floor; both move at that velocity."""
    rng = np.random.default_rng(seed)
    scene, base = mc.Scene(), np.array(velocity)
    scene.add_body("floor", kind="kinematic", shape=mc.Box((20, 20, 0.5)), position=(0, 0, -0.5), velocity=base)
    scene.add_body("wall", kind="kinematic", shape=mc.Box((0.5, 20, 3)), position=(1.2, 0, 2), velocity=base)
    for k in range(3):
        thrown = base + (rng.uniform(2, 8), 0, rng.uniform(-6, 0))
        for i in range(4):
            scene.add_body(
                f"link{k} {i}",
                shape=mc.Capsule(0.08, 0.15),
                position=(-0.1, k, 0.25 + 0.4 * i),
                velocity=thrown,
                mass=rng.choice([1.0, 20.0]),
            )
            if i:
                scene.add_joint(mc.BallJoint(f"link{k} {i - 1}", f"link{k} {i}", anchor=(-0.1, k, 0.05 + 0.4 * i)))
    return scene


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(2)
def test_chains_strike_a_wall_alike_in_every_frame(seed):
    """What moves alike counted as two drivers, and whether joints fly hung on the energy of the whole: 1e-4 to 1e-2 m
    within 20 steps."""
    velocity = (24.0, -18.0, 0.0)
    still, moving = (mc.World(chains_at_a_wall(seed, v), sleep=False) for v in ((0, 0, 0), velocity))
    for _ in range(20):
        still.step()
        moving.step()
    np.testing.assert_allclose(moving.positions - np.multiply(velocity, moving.time), still.positions, rtol=0, atol=1e-6)


# ---- what decides looks at no component --------------------------------------------------------------------------------
# How far joints are open, by how much friction has changed velocities, where tangents go as a normal turns: by the
# axes that these were written along, sweeps and Newton steps ended elsewhere, 1e-9 to 1e-4 m in a second.

TURN = np.array((0.6, -0.1, 0.5, 0.4)) / np.linalg.norm((0.6, -0.1, 0.5, 0.4))
ROUND = {"sphere": mc.Sphere(0.2), "box": mc.Box((0.2, 0.1, 0.15)), "capsule": mc.Capsule(0.1, 0.2)}


def differ(build, World, steps, turn=TURN, **keywords):
    """The largest difference between a scene and the same turned, as seen from its frame."""
    straight, other = (World(build(q), dt=1 / 60, **keywords) for q in ((1.0, 0.0, 0.0, 0.0), turn))
    most = 0.0
    for _ in range(steps):
        straight.step()
        other.step()
        most = max(most, np.abs(np.array([turned(turn, x) for x in straight.positions[1:]]) - other.positions[1:]).max())
    return most


def landing(shape, seed):
    def build(q):
        rng = np.random.default_rng(seed)
        scene, rub = mc.Scene(gravity=turned(q, (0, 0, -G))), mc.Material(friction=0.6)
        scene.add_body(
            "floor", kind="static", shape=mc.Box((30, 30, 1)), position=turned(q, (0, 0, -1)), orientation=q, material=rub
        )
        scene.add_body(
            "b",
            shape=shape,
            position=turned(q, (0, 0, 0.6)),
            orientation=product(q, quaternion(rng)),
            material=rub,
            velocity=turned(q, (*rng.normal(size=2), 0)),
            angular_velocity=turned(q, 3 * rng.normal(size=3)),
        )
        return scene

    return build


def on_legs(kind, friction=0.6):
    """A torso on two legs, which falls and topples."""

    def build(q):
        scene, rub = mc.Scene(gravity=turned(q, (0, 0, -G))), mc.Material(friction=friction)
        scene.add_body(
            "floor", kind="static", shape=mc.Box((30, 30, 1)), position=turned(q, (0, 0, -1)), orientation=q, material=rub
        )
        scene.add_body(
            "torso",
            shape=mc.Box((0.2, 0.15, 0.3)),
            position=turned(q, (0, 0, 1.6)),
            orientation=q,
            velocity=turned(q, (0.5, 0.2, 0)),
            density=500,
            material=rub,
        )
        for name, y in (("left", 0.1), ("right", -0.1)):
            scene.add_body(
                name,
                shape=mc.Capsule(0.08, 0.25),
                position=turned(q, (0, y, 0.95)),
                orientation=q,
                density=500,
                material=rub,
            )
            at, axis = turned(q, (0, y, 1.25)), turned(q, (0, 1, 0))
            scene.add_joint(
                {
                    "ball": lambda: mc.BallJoint("torso", name, anchor=at),
                    "hinge": lambda: mc.HingeJoint("torso", name, anchor=at, axis=axis),
                    "limits": lambda: mc.HingeJoint("torso", name, anchor=at, axis=axis, limits=(-0.5, 0.7)),
                    "fixed": lambda: mc.FixedJoint("torso", name),
                }[kind]()
            )
        return scene

    return build


@pytest.mark.parametrize("World", (mc.World, mc.ReducedWorld))
@pytest.mark.parametrize("shape", ROUND)
@pytest.mark.parametrize("seed", range(3))
def test_what_lands_askew_and_slides_is_the_same_turned(World, shape, seed):
    assert differ(landing(ROUND[shape], seed), World, 40) < 1e-11


@pytest.mark.parametrize("World", (mc.World, mc.ReducedWorld))
@pytest.mark.parametrize("kind", ("ball", "hinge", "limits", "fixed"))
@pytest.mark.parametrize("friction", (0.0, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0))
def test_what_stands_on_legs_is_the_same_turned(World, kind, friction):
    assert differ(on_legs(kind, friction), World, 60) < 1e-10


@pytest.mark.parametrize("friction", (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0))
def test_what_strikes_again_begins_with_no_friction(friction):
    """A foot leaves the floor and strikes again: its points began with the friction of before or with none, by a guess of
    nothing whose worth is 0 / 0."""
    build, rng = on_legs("fixed", friction), np.random.default_rng(0)
    for _ in range(10):
        assert differ(build, mc.World, 60, turn=quaternion(rng)) < 1e-10
