"""What rolls or slides on a body that can move goes as on one that cannot: which body carries a contact's point
follows from the features that make it, not from masses (collide/_carrying.pxd)."""

import numpy as np
import pytest

import mcsim as mc

ON_SIDE = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
ROUND = {
    "sphere": lambda r: mc.Sphere(r),
    "capsule": lambda r: mc.Capsule(r, 2 * r, orientation=ON_SIDE),
    "cylinder": lambda r: mc.Cylinder(r, 2 * r, orientation=ON_SIDE),
    "two spheres": lambda r: [mc.Sphere(r, position=(0, s * r, 0)) for s in (-2, 2)],
    "two capsules": lambda r: [mc.Capsule(r, r, orientation=ON_SIDE, position=(0, s * r, 0)) for s in (-2, 2)],
    "wheels": lambda r: (
        [mc.Cylinder(r, 0.2 * r, orientation=ON_SIDE, position=(0, s * r, 0)) for s in (-2, 2)] + [mc.Sphere(0.3 * r)]
    ),
}
SLABS = ("dynamic", "kinematic", "static", "two")


def slab_scene(slab, half, material):
    """-> (scene, height of the top)"""
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    layers = 2 if slab == "two" else 1
    for k in range(layers):
        scene.add_body(
            f"slab{k}",
            kind="dynamic" if slab == "two" else slab,
            shape=mc.Box(half),
            position=(0, 0, (2 * k + 1) * half[2]),
            material=material,
        )
    return scene, 2 * layers * half[2]


def roll(shape, slab, r, speed, seconds, **keywords):
    """-> relative errors of speed and spin at the end, and the largest gain of kinetic energy on the way."""
    material = mc.Material(friction=0.6)
    length = max(1.2 * speed * seconds, 10 * r) + 10 * r
    scene, top = slab_scene(slab, (length, max(6 * r, 0.1), 0.25), material)
    scene.add_body(
        "ball",
        shape=ROUND[shape](r),
        position=(3 * r - length / 2, 0, top + r),
        velocity=(speed, 0, 0),
        angular_velocity=(0, speed / r, 0),
        material=material,
        density=1000.0,
    )
    world = mc.World(scene, sleep=False, **keywords)
    start = world.energy().kinetic
    gain = 0.0
    for _ in range(round(seconds / world.dt) // 10):
        world.step(10)
        gain = max(gain, world.energy().kinetic / start - 1)
    return (
        np.linalg.norm(world.velocities[-1]) / speed - 1,
        np.linalg.norm(world.angular_velocities[-1]) * r / speed - 1,
        gain,
    )


@pytest.mark.parametrize("slab", SLABS)
@pytest.mark.parametrize("shape", ROUND)
def test_what_rolls_keeps_its_speed(shape, slab):
    assert np.abs(roll(shape, slab, 0.05, 1.0, 4.0)).max() < 1e-6


@pytest.mark.parametrize(
    "keywords",
    [
        dict(substeps=1),
        dict(dt=1e-3),
        dict(solver="pgs"),
        dict(friction_points="point"),
        dict(stabilization="baumgarte"),
        dict(solver="admm"),
    ],
    ids=str,
)
def test_in_every_world(keywords):
    """Half a metre, which on a free slab went from 1.43 to 1.53 m/s."""
    assert np.abs(roll("sphere", "dynamic", 0.5, 1.43, 2.0, **keywords)).max() < 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_of_any_size_and_speed(seed):
    rng = np.random.default_rng(seed)
    shape, slab = rng.choice(list(ROUND)), rng.choice(["dynamic", "two"])
    r, speed = 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(-1, 1)
    # Heavy ones sink into soft contacts at first: 1e-5 of 0.2 m/s.
    assert np.abs(roll(shape, slab, r, speed, 4.0)).max() < 3e-5, (shape, slab, r, speed)


@pytest.mark.parametrize("turned", [0.0, 0.4])
def test_a_tumbling_box_goes_as_on_a_static_slab(turned):
    ends = []
    for slab in ("static", "dynamic"):
        scene, top = slab_scene(slab, (60, 1, 0.25), mc.Material(friction=0.6))
        scene.add_body(
            "box",
            shape=mc.Box((0.1, 0.1, 0.3)),
            position=(0, 0, top + 0.3),
            velocity=(5, 0, 0),
            orientation=(np.cos(turned / 2), 0, 0, np.sin(turned / 2)),
            material=mc.Material(friction=0.3),
        )
        world = mc.World(scene)
        world.step(40)
        early = world.positions[2].copy()
        world.step(200)
        ends.append((early, world.positions[2].copy()))
    assert np.abs(ends[0][0] - ends[1][0]).max() < 1e-3
    assert np.abs(ends[0][1] - ends[1][1]).max() < (1e-3 if turned == 0.0 else 0.1)


def test_a_ball_on_a_turntable_goes_as_on_a_driven_one():
    """A heavy disc that turns freely, and one whose turning is given: the ball goes round at 2/7 of its rate."""
    ends = []
    for kind in ("kinematic", "dynamic"):
        scene = mc.Scene(gravity=(0, 0, -9.81))
        material = mc.Material(friction=1.0)
        scene.add_body("base", kind="static", shape=mc.Sphere(0.1), position=(0, 0, -2))
        scene.add_body(
            "table",
            kind=kind,
            shape=mc.Cylinder(3.0, 0.1),
            density=1e5,
            position=(0, 0, -0.1),
            angular_velocity=(0, 0, 2.0),
            material=material,
        )
        if kind == "dynamic":
            scene.add_joint(mc.HingeJoint("base", "table", (0, 0, -0.1), (0, 0, 1)))
        r = 0.1
        scene.add_body(
            "ball",
            shape=mc.Sphere(r),
            position=(0.7, 0, r),
            velocity=(0, 2 / 7 * 2.0 * 0.7, 0),
            angular_velocity=((2 / 7 - 1) * 2.0 * 0.7 / r, 0, 0),
            material=material,
        )
        world = mc.World(scene, sleep=False)
        world.step(300)
        ends.append(world.positions[-1].copy())
    assert np.abs(ends[0] - ends[1]).max() < 1e-3, ends
