"""What rolls on a slab that is free, or on a slab on a slab, is neither driven nor braked: the slab does not lean under it
(mcsim/wide/_firm.pxd)."""

import numpy as np
import pytest

import mcsim as mc

ON_SIDE = (np.sqrt(0.5), -np.sqrt(0.5), 0, 0)
ROUND = {
    "sphere": lambda r: mc.Sphere(r),
    "capsule": lambda r: mc.Capsule(r, 2 * r, orientation=ON_SIDE),
    "cylinder": lambda r: mc.Cylinder(r, 2 * r, orientation=ON_SIDE),
    "wheels": lambda r: [mc.Cylinder(r, 0.2 * r, orientation=ON_SIDE, position=(0, s * r, 0)) for s in (-2, 2)],
}


def slabs(layers, half, density, friction=0.8):
    scene = mc.Scene()
    rub = mc.Material(friction=friction)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=rub)
    for k in range(layers):
        scene.add_body(
            f"slab{k}", shape=mc.Box(half), position=(0, 0, (2 * k + 1) * half[2]), density=density, material=rub
        )
    return scene


def rolling(shape, radius, speed, layers, half, density, x, **keywords):
    scene = slabs(layers, half, density)
    scene.add_body(
        "rolls",
        shape=ROUND[shape](radius),
        position=(x, 0, 2 * layers * half[2] + radius),
        velocity=(speed, 0, 0),
        angular_velocity=(0, speed / radius, 0),
        material=mc.Material(friction=0.8),
    )
    return mc.World(scene, sleep=False, **keywords)


def kept(world, speed, radius, seconds=10.0):
    """-> the largest errors of speed and spin by the speed, and gain of energy by the kinetic energy, in that time"""
    off, gain, start = 0.0, 0.0, world.energy()
    for _ in range(round(seconds * 60)):
        world.step()
        off = max(
            off,
            abs(np.linalg.norm(world.velocities[-1]) / speed - 1),
            abs(np.linalg.norm(world.angular_velocities[-1]) * radius / speed - 1),
        )
        gain = max(gain, (world.energy().total - start.total) / start.kinetic)
    return off, gain


@pytest.mark.parametrize("speed", [0.01, 0.1, 1.0])
@pytest.mark.parametrize("density", [100.0, 10_000.0])
@pytest.mark.parametrize(
    "shape, radius", [("sphere", 0.5), ("sphere", 0.05), ("capsule", 0.3), ("cylinder", 0.3), ("wheels", 0.3)]
)
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.sampled(12)
def test_what_rolls_beside_the_middle_keeps_its_speed(layers, shape, radius, density, speed):
    """It ran up the slabs as they leaned, and lost up to 1.6e-4 of its speed in 10 s."""
    world = rolling(shape, radius, speed, layers, (60.0, 1.0, 0.25), density, -30.0)
    off, gain = kept(world, speed, radius)
    assert off < 1e-6 and gain < 1e-9


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("shape", ["sphere", "capsule", "cylinder"])
def test_in_generalized_coordinates(shape, layers):
    """There it lost up to 2e-4."""
    world = mc.ReducedWorld(rolling(shape, 0.3, 0.01, layers, (60.0, 1.0, 0.25), 100.0, -30.0).scene, dt=1 / 240)
    world.step(1200)
    assert np.linalg.norm(world.velocities[-1]) == pytest.approx(0.01, rel=1e-7)
    assert np.linalg.norm(world.angular_velocities[-1]) * 0.3 == pytest.approx(0.01, rel=1e-7)


@pytest.mark.parametrize("shape", ROUND)
@pytest.mark.parametrize("radius, speed", [(0.01, 0.03), (0.05, 0.03), (0.2, 0.01)])
def test_on_two_slabs_of_its_own_size(shape, radius, speed):
    """Light ones: at the middle it came to be slower by 1.6e-2 on the way, and faster again behind it."""
    half = (6 * speed + 10 * radius, 8 * radius, 2 * radius)
    off, gain = kept(rolling(shape, radius, speed, 2, half, 100.0, -5 * speed), speed, radius)
    assert off < 2e-6 and gain < 1e-9


@pytest.mark.parametrize("unit", [1.0, 2.0**-7, 2.0**9])
def test_the_unit_of_length_is_no_part_of_it(unit):
    found = []
    for u in (1.0, unit):
        scene = slabs(2, (3.0 * u, u, 0.25 * u), 1000.0 / u**3)
        scene.gravity = (0, 0, -9.81 * u)
        scene.add_body(
            "rolls",
            shape=mc.Sphere(0.25 * u),
            position=(-2 * u, 0, 1.25 * u),
            velocity=(0.1 * u, 0, 0),
            angular_velocity=(0, 0.4, 0),
            density=1000.0 / u**3,
        )
        world = mc.World(scene, sleep=False)
        world.step(120)
        found.append(world.velocities / u)
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("place", [(0.0, 0.0), (2.0, 0.6), (-2.9, -0.9)])
def test_a_slab_stays_level_wherever_its_load_is(place):
    """It leaned by 1e-6, and 2e-5 if a slab lay between; and the upper slab's load is that which statics ask for."""
    scene = slabs(2, (3.0, 1.0, 0.25), 200.0)
    scene.add_body("load", shape=mc.Sphere(0.5), position=(*place, 1.5))
    world = mc.World(scene, sleep=False)
    world.step(30)
    assert np.abs(world.orientations[1:3, 1:3]).max() < 1e-9
    masses, contacts = world.masses, world.contacts
    upper = contacts[(contacts["body_a"] == 1) & (contacts["body_b"] == 2)]
    force = upper["normal_impulse"] * 60 / 9.81
    assert force.sum() == pytest.approx(masses[2] + masses[3], rel=1e-6)
    assert force @ upper["position"][:, :2] == pytest.approx(masses[3] * np.array(place), abs=1e-5 * masses[2])


def test_four_points_share_a_load_as_a_rigid_body_would_press():
    """Of all ways in which they can bear it that which is linear over the foot, though nothing yields: no warp."""
    scene = slabs(1, (1.0, 0.5, 0.25), 1000.0)
    world = mc.World(scene, sleep=False)
    world.set_velocity("slab0", velocity=(1.0, 0.3, 0))  # which slides, and bears more in front
    world.step(4)
    c = world.contacts
    order = np.lexsort((c["position"][:, 1], c["position"][:, 0]))
    load = c["normal_impulse"][order]
    assert len(load) == 4 and load.max() - load.min() > 0.1 * load.mean()
    assert abs(load[0] - load[1] - load[2] + load[3]) < 1e-3 * load.sum()


@pytest.mark.parametrize("height", [0.0, 1e-16, 1e-13, 1e-11, 1e-10, -1e-13, -1e-11, -1e-10, -1e-9])
def test_what_lies_over_an_edge_of_triangles_is_not_behind_their_side(height):
    """Where its points were open by rounding and the side of the block closed by it, it was taken to be half a metre behind
    that side, and pushed out."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    faces = np.array(
        [
            (0, 1, 3),
            (0, 3, 2),
            (4, 6, 7),
            (4, 7, 5),
            (0, 4, 5),
            (0, 5, 1),
            (2, 3, 7),
            (2, 7, 6),
            (0, 2, 6),
            (0, 6, 4),
            (1, 5, 7),
            (1, 7, 3),
        ]
    )
    for tilt in (0.0, 1e-12, -1e-12, 1e-10):
        scene = mc.Scene()
        scene.add_body("block", kind="static", shape=mc.Mesh(corners, faces), position=(0, 0, 0.5))
        scene.add_body("top", shape=mc.Box((0.3, 0.3, 0.1)), position=(0.35, 0, 1.1 + height), orientation=(1, 0, tilt, 0))
        world = mc.World(scene, sleep=False)
        for _ in range(10):
            world.step()
            assert (world.contacts["normal"][:, 2] > 0.99).all()
        assert world.positions[1, :2] == pytest.approx([0.35, 0], abs=1e-6)
