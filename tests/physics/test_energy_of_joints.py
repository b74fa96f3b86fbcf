"""Random jointed scenes under gravity, all joint types, limits and loops: nothing but gravity may set energy free, and
joints stay closed. Light bodies carry heavy ones, so that limits do not converge; loops stretch out; sliders pass their
pivots."""

import numpy as np
import pytest

import mcsim as mc
from amounts import some


def unit(rng, n=3):
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


def random_joint(rng, kind, a, b, place, limited):
    """One joint between body names a, b at a place between them."""
    anchor = (place[a] + place[b]) / 2 + rng.uniform(-0.3, 0.3, 3)
    axis = unit(rng)
    across = np.cross(axis, rng.normal(size=3))
    across /= np.linalg.norm(across)
    span = (-rng.uniform(0.05, 1), rng.uniform(0.05, 1)) if limited else None
    if kind == "ball":
        return mc.BallJoint(
            a, b, anchor, **(dict(swing_limit=rng.uniform(0.1, 1), twist_limits=(-0.4, 0.3)) if limited else {})
        )
    if kind == "hinge":
        return mc.HingeJoint(a, b, anchor, axis, limits=span)
    if kind == "universal":
        return mc.UniversalJoint(a, b, anchor, axis, across, limits=(span, None) if limited else None)
    if kind == "slider":
        return mc.SliderJoint(a, b, axis=axis, anchor=anchor, limits=(-0.2, 0.3))
    if kind == "cylindrical":
        return mc.CylindricalJoint(a, b, anchor, axis, limits=((-0.3, 0.3), None))
    if kind == "planar":
        return mc.PlanarJoint(a, b, anchor, axis)
    if kind == "screw":
        return mc.ScrewJoint(a, b, anchor, axis, rng.choice([0.05, -0.2]))
    if kind == "distance":
        return mc.DistanceJoint(
            a, b, anchor_a=place[a] + rng.uniform(-0.2, 0.2, 3), anchor_b=place[b] + rng.uniform(-0.2, 0.2, 3)
        )
    return mc.FixedJoint(a, b, anchor)


KINDS = ("ball", "hinge", "universal", "fixed", "slider", "cylindrical", "planar", "screw", "distance")


def random_scene(seed, limits=True, loops=False, decades=2.0):
    """Two to six bodies of masses over some decades, each on a joint to the world or a body before it, some on two."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    place = {None: np.zeros(3)}
    for i in range(rng.integers(2, 7)):
        b = f"b{i}"
        mass, size = 10 ** rng.uniform(-0.5, decades - 0.5), rng.uniform(0.1, 0.6, 3)
        square = size**2
        place[b] = rng.uniform(-1, 1, 3)
        scene.add_body(
            b, mass=mass, inertia=mass / 3 * (square.sum() - square), position=place[b], orientation=unit(rng, 4)
        )
        earlier = [name for name in place if name != b]
        scene.add_joint(
            random_joint(
                rng, KINDS[rng.integers(9)], earlier[rng.integers(len(earlier))], b, place, limits and rng.random() < 0.5
            )
        )
        if loops and rng.random() < 0.4:
            scene.add_joint(
                random_joint(rng, rng.choice(["ball", "distance"]), earlier[rng.integers(len(earlier))], b, place, False)
            )
    return scene


def geared(seed, ratios=(-3, -1, 0.5, 2, 0.2)):
    """The same with hinges alone, coupled two by two."""
    rng = np.random.default_rng(seed)
    scene, place, hinges = mc.Scene(), {None: np.zeros(3)}, []
    for i in range(rng.integers(3, 8)):
        b = f"b{i}"
        mass, square = 10 ** rng.uniform(-0.5, 2.5), rng.uniform(0.1, 0.6, 3) ** 2
        earlier = list(place)
        place[b] = rng.uniform(-1, 1, 3)
        scene.add_body(
            b, mass=mass, inertia=mass / 3 * (square.sum() - square), position=place[b], orientation=unit(rng, 4)
        )
        hinges.append(
            scene.add_joint(random_joint(rng, "hinge", earlier[rng.integers(len(earlier))], b, place, rng.random() < 0.4))
        )
    for a, b in zip(hinges[::2], hinges[1::2]):
        scene.add_joint(mc.GearJoint(a, b, rng.choice(ratios)))
    return scene


def gain_and_gap(scene, steps, **keywords):
    """-> (largest energy above the start's, in weights times a metre; widest gap of a joint over the run [m])"""
    world = mc.World(scene, **keywords)
    start, weight = world.energy().total, world.masses.sum() * 9.81
    gain = gap = 0.0
    for _ in range(steps):
        world.step()
        gain = max(gain, (world.energy().total - start) / weight)
        gap = max(gap, world.joint_errors()[:, 0].max())
    assert np.all(np.isfinite(world.positions))
    return gain, gap


@pytest.mark.parametrize(
    "name, seeds, options",
    [
        ("trees", range(12), {"limits": False}),
        ("limits", range(20), {}),
        ("loops", range(12), {"limits": False, "loops": True}),
        ("wide", range(12), {"loops": True, "decades": 3.0}),
    ],
)
def test_joints_and_limits_give_no_energy(name, seeds, options):
    """The default: at most a twentieth of what a fall by 1 m sets free, and joints closed to a micrometre in nine of
    ten."""
    found = np.array([gain_and_gap(random_scene(seed, **options), 150) for seed in some(seeds, 2, name)])
    assert found[:, 0].max() < 0.05, found
    assert np.quantile(found[:, 1], 0.9) < 1e-6, found


def test_a_spinning_plane_keeps_a_body_that_falls_along_it():
    """Seed 64 at 30 steps a second: a light body turns by 0.3 rad a substep, a heavy one falls along its plane, 200 m
    away in the end. Of two corrections on the way to closed joints, one may then be poor: the plane was left to itself
    after the first such, and was open by 4 m."""
    gain, gap = gain_and_gap(random_scene(64, decades=2.5), 240, dt=1 / 30)
    assert gain < 0.01 and gap < 1e-5


@pytest.mark.parametrize("seed", [9, 25, 44, 171, 204, 244])
def test_geared_joints_give_no_energy(seed):
    """The watch on energy knew no gears: these gained up to 27,000 times what a fall by 1 m sets free, or burst."""
    gain, gap = gain_and_gap(geared(seed), 240)
    assert gain < 0.02 and gap < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("keywords", [{}, {"substeps": 1}, {"dt": 1 / 30}, {"joint_solver": "rows"}], ids=str)
def test_many_random_scenes(keywords):
    """Of 400 scenes one in a hundred may gain more (loops that stretch out while limits are hit)."""
    gains = [
        gain_and_gap(random_scene(seed, loops=seed % 2 == 1, decades=2.0 + seed % 3 / 2), 240, **keywords)[0]
        for seed in range(400)
    ]
    assert np.sum(np.array(gains) > 0.05) <= 4 and max(gains) < 1.0, np.sort(gains)[-8:]


def test_a_limit_far_from_the_mass_that_it_stops_does_not_throw_it_back():
    """A light arm on a hinge with a limit carries a heavy weight at its end by another joint. The sweeps of one step do
    not stop the weight; what the limit takes meanwhile is lost and not given back."""
    scene = mc.Scene()
    scene.add_body("arm", mass=0.1, inertia=(1e-4, 1e-3, 1e-3), position=(0.5, 0, 0))
    scene.add_body("weight", mass=100.0, inertia=(1.0, 1.0, 1.0), position=(1.2, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0), limits=(-0.5, 0.5), name="shoulder"))
    scene.add_joint(mc.HingeJoint("arm", "weight", (1, 0, 0), (0, 1, 0), limits=(-0.1, 0.1), name="wrist"))
    gain, gap = gain_and_gap(scene, 300)
    assert gain < 1e-3 and gap < 1e-6
    world = mc.World(scene)
    world.step(900)
    assert np.abs(world.velocities).max() < 1e-3


def test_redundant_joints_on_a_hub_have_finite_forces():
    """A body held twice by the world, with so many joints that it is a hub of the factorization, carries its tails'
    weight. The blocks that wait for a hub had no proximal shift: forces of 1e7 N."""
    scene = mc.Scene()
    scene.add_body("hub", mass=2.0, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(mc.ScrewJoint(None, "hub", (0, 0, 0), (0, 0, 1), 0.1))
    scene.add_joint(mc.BallJoint(None, "hub", (0.3, 0.1, 0)))
    for i in range(8):
        at = np.array([np.cos(i), np.sin(i), 0.0])
        scene.add_body(f"tail{i}", mass=0.5, inertia=(0.01,) * 3, position=at - (0, 0, 0.5))
        scene.add_joint(mc.BallJoint("hub", f"tail{i}", at))
    world = mc.World(scene)
    world.step(120)
    forces = np.array([world.joint(name).force for name in world.joint_names])
    assert np.abs(forces).max() < 1e3
    assert forces[:2].sum(axis=0) == pytest.approx((0, 0, 6.0 * 9.81), rel=1e-6, abs=1e-6)
    assert world.joint_errors().max() < 1e-7


@pytest.mark.parametrize("joint_solver", ["tree", "rows"])
@pytest.mark.parametrize("drop", [0.5, 0.65, 0.8])
@pytest.mark.sampled(2)
def test_ragdolls_rest_under_baumgarte(joint_solver, drop):
    """Baumgarte's feedback through impulses that start in full kept them trembling by 4 cm/s. 1 to 2 cm/s are left, since
    friction, which has the last word in a sweep, moves what the normals hold."""
    world = mc.World(mc.load("ragdolls", count=3, drop=drop), stabilization="baumgarte", joint_solver=joint_solver)
    world.step(360)
    for _ in range(3):
        world.step(60)
        assert np.abs(world.velocities).max() < 0.025
