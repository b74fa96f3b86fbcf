"""What friction is reported obeys the loads that are reported with it, and who slides and spins has one bound for both."""

import numpy as np
import pytest

import mcsim as mc

G = 9.81
MU = 0.4
WORLDS = [
    dict(),
    dict(substeps=1),
    dict(friction_points="point"),
    dict(solver="pgs"),
    dict(stabilization="baumgarte"),
    dict(stabilization="none"),
    dict(stabilization="projection"),
    dict(stabilization="split_impulse"),
    dict(solver="pgs", friction_points="point"),
    dict(integrator="rk4"),
]


def excess(world):
    """The largest friction of a contact as a part of its bound in the last step."""
    found = world.contacts
    friction = np.linalg.norm(found["tangent_impulse"], axis=1)
    bound = found["friction"] * found["normal_impulse"]
    asked = friction > 1e-13
    return float((friction[asked] / np.maximum(bound[asked], 1e-300)).max()) if asked.any() else 0.0


def loaded_slab(count, mass):
    scene = mc.Scene()
    material = mc.Material(friction=MU)
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    scene.add_body("slab", shape=mc.Box((6, 6, 0.1)), position=(0, 0, 0.1), mass=mass, material=material)
    for i in range(count):
        scene.add_body(
            f"ball{i}", shape=mc.Sphere(0.5), mass=1, position=(2 * (i % 5) - 4, 2 * (i // 5) - 4, 0.7), material=material
        )
    return scene


@pytest.mark.parametrize("keywords", WORLDS, ids=str)
def test_a_pulled_slab_under_balls(keywords):
    """The balls roll: of m a = F - mu (m + n) g less what they take, 2/7 of each."""
    world = mc.World(loaded_slab(25, 10.0), **keywords)
    world.step(60)
    start = world.velocities[1, 0]
    for _ in range(60):
        world.apply_force("slab", (150, 0, 0))
        world.step()
        assert excess(world) < 1 + 1e-9
    expected = (150 - MU * 35 * G) / (10 + 25 * 2 / 7)
    # Point by point the sweeps of the relax pass have not quite ended.
    assert world.velocities[1, 0] - start == pytest.approx(expected, rel=2e-3 if "friction_points" in keywords else 1e-3)


REDUCED = [
    dict(),
    dict(dt=1 / 240),
    dict(friction_points="point"),
    dict(friction_points="point", dt=1 / 240),
    dict(substeps=2, sleep=False),
    dict(iterations=1),
    dict(iterations=32),
    dict(solver="pgs"),
    dict(stabilization="baumgarte"),
    dict(stabilization="none"),
    dict(stabilization="projection"),
]


def heap(seed):
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    scene.add_body(
        "ground", kind="static", shape=mc.Box((5, 5, 0.5)), position=(0, 0, -0.5), material=mc.Material(friction=0.7)
    )
    shapes = [
        mc.Box((0.2, 0.1, 0.05)),
        mc.Sphere(0.12),
        mc.Capsule(0.08, 0.15),
        mc.Cylinder(0.12, 0.06),
        mc.ConvexHull(rng.normal(size=(9, 3)) * 0.12),
    ]
    for k in range(25):
        q = rng.normal(size=4)
        scene.add_body(
            f"b{k}",
            shape=shapes[k % 5],
            position=(*rng.uniform(-0.5, 0.5, 2), 0.2 + 0.12 * k),
            orientation=q / np.linalg.norm(q),
            velocity=rng.normal(size=3),
            angular_velocity=3 * rng.normal(size=3),
            material=mc.Material(friction=rng.uniform(0.1, 1.0), restitution=0.3 * (k % 2)),
        )
    return scene


@pytest.mark.parametrize("keywords", WORLDS, ids=str)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.sampled(3)
def test_in_a_heap(seed, keywords):
    world = mc.World(heap(seed), **keywords)
    for _ in range(90):
        world.step()
        assert excess(world) < 1 + 1e-9


def few_boxes(count, seed):
    """Flat ones, which bear much for their size at 1/60 s."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=mc.Material(friction=0.7))
    for k in range(count):
        q = rng.normal(size=4)
        scene.add_body(
            shape=mc.Box((0.2, 0.1, 0.05)),
            position=(*(0.05 * rng.normal(size=2)), 0.2 + 0.3 * k),
            orientation=q / np.linalg.norm(q),
            material=mc.Material(friction=0.5),
        )
    return scene


def rolling_balls(seed):
    """With friction against rolling and turning."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    material = mc.Material(friction=0.6, rolling_friction=0.01, torsional_friction=0.01)
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    for k in range(12):
        scene.add_body(
            shape=mc.Sphere(0.05) if k % 3 else mc.Cylinder(0.06, 0.02),
            position=(*rng.uniform(-0.06, 0.06, 2), 0.1 + 0.11 * k),
            angular_velocity=5 * rng.normal(size=3),
            material=material,
        )
    return scene


SCENES = {
    "heap": heap,
    "rolling": rolling_balls,
    "two": lambda seed: few_boxes(2, (15, 1)[seed]),
    "five": lambda seed: few_boxes(5, 2 + seed),
    "ragdolls": lambda seed: mc.scenes.build("ragdolls", count=3, drop=0.3 + 0.2 * seed),
    "slab": lambda seed: loaded_slab(25, (1.0, 10.0)[seed]),
}


@pytest.mark.parametrize("keywords", REDUCED, ids=str)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.sampled(13)
def test_in_generalized_coordinates(name, seed, keywords):
    """Also of contacts that a sweep solves many times."""
    world = mc.ReducedWorld(SCENES[name](seed), **{"dt": 1 / 60, **keywords})
    for _ in range(round(1.5 / world.dt)):
        world.step()
        assert excess(world) < 1 + 1e-9


def slide(points, shape, height, speed, spin, **keywords):
    """-> the way and the turn until it rests"""
    scene = mc.Scene()
    material = mc.Material(friction=MU)
    scene.add_body("ground", kind="static", shape=mc.Box((20, 20, 0.5)), position=(0, 0, -0.5), material=material)
    scene.add_body(
        "body",
        shape=shape,
        position=(0, 0, height),
        velocity=(speed, 0, 0),
        angular_velocity=(0, 0, spin),
        material=material,
    )
    world = mc.World(scene, sleep=False, friction_points=points, **keywords)
    turn = 0.0
    start = energy = world.energy().kinetic
    for _ in range(300):
        before = world.angular_velocities[1, 2]
        world.step()
        turn += 0.5 * (before + world.angular_velocities[1, 2]) * world.dt
        now = world.energy().kinetic
        assert now < energy + 1e-6 * start
        energy = now
    return np.linalg.norm(world.positions[1, :2]), turn


SIDE = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
SLIDERS = {
    "square": (mc.Box((0.2, 0.2, 0.05)), 0.05),
    "plank": (mc.Box((0.4, 0.1, 0.05)), 0.05),
    "tall": (mc.Box((0.2, 0.2, 0.2)), 0.2),  # bears more in front
    "triangle": (
        mc.ConvexHull(
            [(0.3 * np.cos(a), 0.3 * np.sin(a), z) for a in (0, 2 * np.pi / 3, 4 * np.pi / 3) for z in (-0.03, 0.03)]
        ),
        0.03,
    ),
    "rod": (mc.Capsule(0.03, 0.3, orientation=SIDE), 0.03),
}


@pytest.mark.parametrize("keywords", [dict(), dict(solver="pgs"), dict(stabilization="baumgarte")], ids=str)
@pytest.mark.parametrize("ratio", [0.2, 0.5, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("name", SLIDERS)
@pytest.mark.sampled(7)
def test_sliding_and_spinning_have_one_bound(name, ratio, keywords):
    """Central friction against a pair at every point; ratio: of the spin's speed at 0.25 m to the sliding speed. The
    pairs under "soft": rows whose points are solved one after the other, and do not yield, share a load by their
    order, and a box that bears more in front turned by up to a seventh more. ("baumgarte" has no pass without biases:
    its loads are a little off.)"""
    shape, height = SLIDERS[name]
    central = np.array(slide("central", shape, height, 1.5, 6.0 * ratio, **keywords))
    point = np.array(slide("point", shape, height, 1.5, 6.0 * ratio, **keywords | {"stabilization": "soft"}))
    assert central == pytest.approx(point, rel=0.1 if keywords.get("stabilization") == "baumgarte" else 0.05)


def test_a_pure_spin_and_a_pure_slide_are_theory():
    way, _ = slide("central", *SLIDERS["square"], 2.0, 0.0)
    assert way == pytest.approx(2.0**2 / (2 * MU * G), rel=0.02)
    _, turn = slide("central", *SLIDERS["square"], 0.0, 20.0)
    inertia = (0.4**2 + 0.4**2) / 12  # by the mass
    assert turn == pytest.approx(20.0**2 * inertia / (2 * MU * G * 0.2 * np.sqrt(2)), rel=0.02)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("spin", [0.0, 3.0])
@pytest.mark.parametrize("push", [(0.0, 0.0, 0.0), (0.02, 0.03, 0.0), (1.0, 0.4, 0.0)])
def test_a_manifold_on_one_of_its_points_rubs_there(kind, spin, push):
    """A rod that tips about its end touches with both ends still and bears with one. All friction is at that one, so
    one pair for the manifold and a pair a point say the same."""
    found = []
    for points in ("central", "point"):
        scene = mc.Scene()
        scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static")
        scene.add_body(
            "rod",
            shape=mc.Capsule(radius=0.1, half_length=0.4),
            mass=2.0,
            center_of_mass=(0, 0, 0.6),
            inertia=(0.05, 0.06, 0.02),
            position=(0, 0, 0.1),
            orientation=(0.5**0.5, 0, 0.5**0.5, 0),
            velocity=push,
            angular_velocity=(0, 0, spin),
        )
        world = kind(scene, dt=1 / 60, stabilization="none", friction_points=points, iterations=300, first_iterations=300)
        world.step()
        assert world.stats.points == 2
        found.append(np.concatenate([world.velocities[1], world.angular_velocities[1]]))
    np.testing.assert_allclose(found[0], found[1], atol=0.015)
