"""What is slender stands on end: points of a foot that are all but alike are solved at once (mcsim/wide/_faces.pxi)."""

import numpy as np
import pytest

import mcsim as mc

G = 9.81


def prism(b, q, corners, turned=0.0):
    """Upright, q times as high as the radius b of its foot."""
    a = np.arange(corners) * 2 * np.pi / corners + turned
    return mc.ConvexHull([(b * np.cos(t), b * np.sin(t), e * q * b) for t in a for e in (-1, 1)])


SHAPES = {
    "plate": lambda b, q: mc.Box((b, q * b, q * b)),
    "rod": lambda b, q: mc.Box((b, b, q * b)),
    "wedge": lambda b, q: prism(b, q, 3, 0.3),
    "prism": lambda b, q: prism(b, q, 7, 0.1),
    "cylinder": lambda b, q: mc.Cylinder(b, q * b),
}


def standing(shape, b, q, on="plane", tilt=0.0, gravity=G):
    scene = mc.Scene(gravity=(0, 0, -gravity))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    top = 0.0
    if on == "box":
        scene.add_body("box", shape=mc.Box((5 * b,) * 3), position=(0, 0, 5 * b), density=1000)
        top = 10 * b
    scene.add_body(
        "tall",
        shape=SHAPES[shape](b, q),
        density=1000,
        orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
        position=(0, 0, top + q * b * np.cos(tilt) + b * np.sin(tilt)),
    )
    return scene


@pytest.mark.parametrize("on", ["plane", "box"])
@pytest.mark.parametrize("b", [0.003, 0.1])
@pytest.mark.parametrize("q", [8, 16, 40, 120])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.sampled(24)
def test_it_stands(shape, q, b, on):
    """Plates and prisms began to rock by themselves, at 0.01 sqrt(g b) to 0.1 sqrt(g b) for good, or fell over."""
    if on == "box" and shape == "plate" and q > 16:
        pytest.skip("more than ten times as heavy as the box: docs/theory/si.md")
    world = mc.World(standing(shape, b, q, on), sleep=False)
    world.step(300)
    fastest = 0.0
    for _ in range(30):
        world.step()
        fastest = max(fastest, np.abs(world.velocities).max())
    assert fastest < 1e-6 * np.sqrt(G * b)
    assert np.abs(world.orientations[-1, 1:3]).max() < 1e-4


@pytest.mark.parametrize("shape, q", [("plate", 10), ("plate", 40), ("rod", 12), ("prism", 20)])
def test_pushed_a_little_it_comes_to_rest(shape, q):
    """Of tilts at which a rigid block would go on for a while: loads go to and fro, and die out."""
    world = mc.World(standing(shape, 0.05, q, tilt=1e-5), sleep=False)
    world.step(600)
    assert np.abs(world.velocities).max() < 1e-6


@pytest.mark.parametrize("b, h, error", [(0.2, 0.5, 0.005), (0.1, 0.5, 0.005), (0.05, 0.5, 0.01)])
def test_what_rocks_loses_what_a_rigid_block_does(b, h, error):
    """G. Housner, 1963: each impact leaves r = 1 - (3/2) sin^2 a of the rate, a = atan(b/h), for a long plate; and with f
    the tilt by a, 1 - (1 - f)^2 is in proportion to the energy, so r^2 times as large from one side to the next."""
    alpha, radius, tilt = np.arctan(b / h), np.hypot(b, h), 0.6 * np.arctan(b / h)
    scene = mc.Scene()
    rough = mc.Material(friction=1.5)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=rough)
    scene.add_body(
        "block",
        shape=mc.Box((b, h, h)),
        mass=1,
        material=rough,
        orientation=(np.cos(tilt / 2), 0, np.sin(tilt / 2), 0),
        position=(b - radius * np.sin(alpha - tilt), 0, radius * np.cos(alpha - tilt)),
    )
    world = mc.World(scene, dt=1 / 1920, sleep=False)
    part = [tilt / alpha]
    for _ in range(3 * 1920):
        world.step()
        q = world.orientations[-1]
        part.append(abs(2 * np.arctan2(q[2], q[0])) / alpha)
    part = np.array(part)
    inner = part[1:-1]
    tops = inner[(inner >= part[:-2]) & (inner > part[2:]) & (inner > 0.02)]
    energies = 1 - (1 - np.concatenate(([0.6], tops[:3]))) ** 2
    np.testing.assert_allclose(energies[1:] / energies[:-1], (1 - 1.5 * np.sin(alpha) ** 2) ** 2, atol=error)


@pytest.mark.parametrize(
    "shape, q, b, on", [("plate", 10, 0.1, "plane"), ("wedge", 16, 0.02, "box"), ("rod", 12, 0.05, "box")]
)
def test_in_generalized_coordinates(shape, q, b, on):
    """There such feet were to hardly yield, as others do that alone bear a body (mcsim/wide/_firm.pxd), and rocked at
    6e-3 sqrt(g b) to 2e-2 sqrt(g b) for good."""
    world = mc.ReducedWorld(standing(shape, b, q, on), dt=1 / 240)
    world.step(720)
    assert np.abs(world.velocities).max() < 1e-6 * np.sqrt(G * b)


def test_others_in_its_block_keep_their_bits():
    """Lanes are solved together, but only that of what is slender takes the step."""
    found = []
    for q in (1, 30):
        scene = standing("rod", 0.1, q)
        for k in range(20):
            scene.add_body(
                shape=mc.Box((0.1, 0.1, 0.1)), position=(k + 1.0, 0, 0.12 + 0.001 * k), angular_velocity=(0.3, 0.1, 0)
            )
        world = mc.World(scene, sleep=False)
        world.step(90)
        found.append((world.positions[2:].copy(), world.velocities[2:].copy()))
    assert (found[0][0] == found[1][0]).all() and (found[0][1] == found[1][1]).all()


@pytest.mark.parametrize("unit", [2.0**-7, 2.0**9])
def test_the_unit_of_length_is_no_part_of_it(unit):
    worlds = [mc.World(standing("plate", 0.05 * u, 30, "box", tilt=1e-3, gravity=G * u), sleep=False) for u in (1.0, unit)]
    for world in worlds:
        world.step(120)
    assert (worlds[0].positions * unit == worlds[1].positions).all()
