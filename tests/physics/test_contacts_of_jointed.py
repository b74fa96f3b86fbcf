"""Bodies that joints leave few motions, in contact in generalized coordinates: rows have no mass along what joints
hold, and a manifold's points share its load in more ways than the body has motions."""

import numpy as np
import pytest

import mcsim as mc

G = 9.81
TURNED = (np.cos(0.4), 0.0, 0.0, np.sin(0.4))


def floor(scene, kind, material):
    """A plane, or static boxes side by side, at whose seam the next one stands. -> how many bodies"""
    if kind == "plane":
        scene.add_body(kind="static", shape=mc.Plane((0, 0, 1)), material=material)
        return 1
    places = [(0, -0.5), (0, 0.5)] if kind == "two" else [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    for x, y in places:
        scene.add_body(
            kind="static", shape=mc.Box((3 if kind == "two" else 0.5, 0.5, 0.5)), position=(x, y, -0.5), material=material
        )
    return len(places)


def planar(scene, shape, place, normal, material, **keywords):
    body = scene.add_body(shape=shape, position=place, material=material, **keywords)
    scene.add_joint(mc.PlanarJoint(None, body, anchor=place, normal=normal, collide=True))


def rests(scene, start, size, seconds=3.0, tolerance=0.03):
    world = mc.ReducedWorld(scene, dt=1 / 60)
    before = world.positions[start:].copy()
    world.step(round(60 * seconds))
    assert np.abs(world.positions[start:] - before).max() < tolerance * 2 * size
    assert world.asleep[start:].all()


@pytest.mark.parametrize("friction", [0.0, 0.6])
@pytest.mark.parametrize("normal", [(0, 1, 0), (1, 0, 0)])
@pytest.mark.parametrize("kind", ["plane", "two"])
@pytest.mark.parametrize("count, size, flat", [(2, 0.05, 1.0), (3, 0.05, 1.0), (8, 0.5, 1.0), (5, 0.3, 4.0), (4, 0.3, 0.5)])
@pytest.mark.sampled(3)
def test_stacks_of_planar_bodies_rest(count, size, flat, kind, normal, friction):
    scene = mc.Scene()
    material = mc.Material(friction=friction)
    start = floor(scene, kind, material)
    for k in range(count):
        planar(scene, mc.Box((flat * size, flat * size, size)), (0, 0, size + 2 * size * k), normal, material)
    rests(scene, start, size)


@pytest.mark.parametrize("base", [3, 5, 8])
@pytest.mark.parametrize("size", [0.05, 0.3])
def test_planar_pyramids_rest(size, base):
    scene = mc.Scene()
    material = mc.Material(friction=0.6)
    start = floor(scene, "plane", material)
    for level in range(base):
        for k in range(base - level):
            x = 2.02 * size * (k - 0.5 * (base - level - 1))
            planar(scene, mc.Box((size,) * 3), (x, 0, size + 2 * size * level), (0, 1, 0), material)
    rests(scene, start, size)


@pytest.mark.parametrize(
    "shape, half",
    [(mc.Box((0.3, 0.2, 0.1)), 0.1), (mc.Cylinder(0.3, 0.1), 0.1), (mc.Box((0.2, 0.2, 0.3)), 0.3)],
    ids=["box", "cylinder", "tall"],
)
@pytest.mark.parametrize("points", ["central", "point"])
@pytest.mark.parametrize("dt", [1 / 60, 1e-3])
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_what_slides_on_a_planar_joint_is_braked_by_friction(kind, dt, points, shape, half):
    scene = mc.Scene()
    material = mc.Material(friction=0.3)
    floor(scene, "plane", material)
    planar(scene, shape, (0, 0, half), (0, 1, 0), material, velocity=(1, 0, 0))
    world = kind(scene, dt=dt, friction_points=points, sleep=False)
    world.step(round(0.2 / dt))
    assert world.velocities[1, 0] == pytest.approx(1 - 0.3 * G * 0.2, rel=5e-3)
    world.step(round(0.3 / dt))
    assert np.abs(world.velocities[1]).max() < 1e-4


@pytest.mark.parametrize("points", ["central", "point"])
@pytest.mark.parametrize("torsional", [0.0, 0.02])
@pytest.mark.parametrize("arm", [0.0, 1.0])
def test_what_turns_on_an_upright_axis_is_braked_by_friction(arm, torsional, points):
    """Nothing slides where the axis goes through the contact's middle; both ways of friction and both worlds agree."""
    found = []
    for kind in (mc.World, mc.ReducedWorld):
        scene = mc.Scene()
        material = mc.Material(friction=0.3, torsional_friction=torsional)
        floor(scene, "plane", material)
        scene.add_body(
            "body",
            shape=mc.Box((0.3, 0.3, 0.1)),
            position=(0, arm, 0.1),
            orientation=TURNED,
            material=material,
            velocity=(-4 * arm, 0, 0),
            angular_velocity=(0, 0, 4),
        )
        scene.add_joint(mc.CylindricalJoint(None, "body", anchor=(0, 0, 0.1), axis=(0, 0, 1)))
        world = kind(scene, dt=1 / 240, friction_points=points, sleep=False)
        world.step(20)
        found.append(world.angular_velocities[1, 2])
        world.step(400)
        assert abs(world.angular_velocities[1, 2]) < 1e-9
    lever = arm if arm else 0.3 * np.sqrt(2)
    inertia = 2 * 0.3**2 / 3 + arm**2  # by the mass
    assert found[0] == pytest.approx(found[1], rel=0.02)
    assert found[1] == pytest.approx(4 - (0.3 * lever + torsional) * G * 20 / 240 / inertia, rel=0.1 if arm else 0.03)


def test_a_blow_is_not_repeated():
    """What lands on one edge while the other one rests comes to rest, and gains no energy."""
    scene = mc.Scene()
    material = mc.Material(friction=0.6)
    floor(scene, "plane", material)
    lean = 0.2
    height = 0.1 * np.cos(lean) + 0.3 * np.sin(lean)
    scene.add_body(
        "body",
        shape=mc.Box((0.3, 0.2, 0.1)),
        position=(0.3 * np.cos(lean) - 0.3, 0, height),
        orientation=(np.cos(lean / 2), 0, np.sin(lean / 2), 0),
        material=material,
    )
    scene.add_joint(mc.PlanarJoint(None, "body", anchor=(0, 0, 0.1), normal=(0, 1, 0), collide=True))
    world = mc.ReducedWorld(scene, dt=1 / 240, sleep=False)
    energy = world.energy().total
    for _ in range(240):
        world.step()
        now = world.energy().total
        assert now < energy * (1 + 2e-3)
        energy = min(energy, now)
    assert np.abs(world.velocities[1]).max() < 1e-4
    assert world.positions[1, 2] == pytest.approx(0.1, abs=1e-3)
