"""Contacts several at a time: lanes that share no body, equal bits on every level, the fixed point of the plain rows."""

import numpy as np
import pytest

import mcsim as mc
from level_runs import on_every_level
from mcsim.wide import levels

SCENES = {
    "pyramid": 'mc.scenes.build("pyramid", base=6)',
    "rain": 'mc.scenes.build("rain", n=40)',
    "ragdolls": 'mc.scenes.build("ragdolls", count=2)',
    "newton_cradle": 'mc.scenes.build("newton_cradle")',
}


def plate(count):
    """A box with so many balls on it that its contacts outnumber the colours."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static")
    scene.add_body("plate", shape=mc.Box(half_extents=(5, 5, 0.25)), density=1000.0, position=(0, 0, 0.25))
    side = int(np.ceil(np.sqrt(count)))
    for k in range(count):
        x, y = (k % side - side / 2 + 0.5) * 0.9, (k // side - side / 2 + 0.5) * 0.9
        scene.add_body(f"ball{k}", shape=mc.Sphere(radius=0.3), density=1000.0, position=(x, y, 0.8))
    return scene


@pytest.mark.parametrize("name", SCENES)
def test_all_levels_give_the_same_bits(name):
    code = f"import mcsim as mc; w = mc.World({SCENES[name]}); w.step(150); print(w.state_hash())"
    hashes = on_every_level(code)
    assert len(set(hashes.values())) == 1, hashes


def balls_that_slide(boxes, resists):
    """Three balls that slide until they roll, two rods that fall from one end to both, and boxes beside them."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static")
    for k in range(3):
        scene.add_body(
            f"ball{k}",
            shape=mc.Sphere(radius=0.3),
            density=1000.0,
            position=(0, 2 * k, 0.3),
            velocity=(1.0 + k, 0.3 * k, 0.0),
            angular_velocity=(0, 0, 2.0 * k),
        )
    for k in range(2):
        scene.add_body(
            f"rod{k}",
            shape=mc.Capsule(radius=0.1, half_length=0.4),
            density=1000.0,
            position=(0, -2 - 2 * k, 0.5),
            orientation=(0.8, 0.0, 0.6, 0.0),
            velocity=(0.0, 0.5 * k, 0.0),
        )
    material = mc.Material(rolling_friction=0.01) if resists else mc.Material()
    for k in range(boxes):
        scene.add_body(
            f"box{k}",
            shape=mc.Box(half_extents=(0.3, 0.3, 0.3)),
            density=1000.0,
            material=material,
            position=(5.0, 2 * k, 0.3),
            velocity=(2.0, 0.0, 0.0),
            angular_velocity=(0, 0, 3.0 * k),
        )
    return scene


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte"])
@pytest.mark.parametrize("boxes, resists", [(1, False), (3, False), (6, False), (3, True)])
def test_a_point_rubs_alike_whatever_is_in_the_other_lanes(boxes, resists, stabilization):
    """A block of contacts with one point each takes a shorter way than one with more points or a resistance. With one
    sweep: how many there are depends on all that is in the world."""
    alone, beside = (
        mc.World(balls_that_slide(count, resists), sleep=False, stabilization=stabilization, iterations=1)
        for count in (0, boxes)
    )
    for _ in range(12):
        alone.step(10)
        beside.step(10)
        for name in ("positions", "velocities", "angular_velocities"):
            a, b = getattr(alone, name), getattr(beside, name)
            assert np.array_equal(a[:6], b[:6]), name


def test_a_level_that_does_not_exist_is_refused(monkeypatch):
    monkeypatch.setenv("MCSIM_LEVEL", "v9")
    with pytest.raises(mc.SceneError, match="MCSIM_LEVEL is 'v9'; this machine and this build have base"):
        levels.chosen()


@pytest.mark.parametrize("scene", [plate(90), mc.scenes.build("rain", n=200)], ids=["plate", "rain"])
def test_lanes_of_a_block_share_no_moving_body(scene):
    """But for one that far outweighs all else (test_shared_bodies.py)."""
    world = mc.World(scene, sleep=False)
    world.step(120)
    lanes = world._pipeline.parts.plan.wide.lanes()
    manifolds = world._collider.get_manifolds()
    numbers = lanes[lanes >= 0]
    touching = np.flatnonzero(manifolds["point_count"] > 0)
    assert sorted(numbers) == sorted(set(numbers)) and set(numbers) <= set(range(len(manifolds)))
    assert len(numbers) == len(touching)
    moving = {i for i, body in enumerate(scene.bodies) if body.kind == "dynamic" and body.name != "plate"}
    for block in lanes:
        bodies = [int(manifolds[side][m]) for m in block[block >= 0] for side in ("body_a", "body_b")]
        found = [b for b in bodies if b in moving]
        assert len(found) == len(set(found))


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte", "none"])
@pytest.mark.parametrize("name", ["pyramid", "plate", "slide"])
def test_the_fixed_point_is_that_of_the_assembled_rows(name, stabilization):
    """solver="pgs" sweeps the rows of the same contacts: with many sweeps both end at the same velocities. Four
    points share a load in many ways, rows by their order; what slides and spins is rubbed by where it bears, so a
    little differently."""
    if name == "slide":
        scene = mc.Scene()
        scene.add_body("floor", shape=mc.Plane(normal=(0, 0, 1)), kind="static")
        scene.add_body(
            "box",
            shape=mc.Box(half_extents=(0.5, 0.3, 0.2)),
            density=1000.0,
            position=(0, 0, 0.2),
            velocity=(2.0, 1.0, 0.0),
            angular_velocity=(0, 0, 3.0),
        )
    else:
        scene = plate(70) if name == "plate" else mc.scenes.build("pyramid", base=4)
    keywords = dict(stabilization=stabilization, hertz=60.0, damping_ratio=10.0)
    wide = mc.World(scene, iterations=400, **keywords)
    rows = mc.World(scene, solver="pgs", iterations=2000, **keywords)
    wide.step(2)
    rows.step(2)
    bound = 1e-2 if name == "slide" else 2e-6
    assert np.allclose(wide.velocities, rows.velocities, atol=bound)
    assert np.allclose(wide.angular_velocities, rows.angular_velocities, atol=bound)
    impulses = [np.sort(w.contacts["normal_impulse"]).sum() for w in (wide, rows)]
    assert impulses[0] == pytest.approx(impulses[1], rel=1e-6)


def test_stats_and_contacts_are_those_of_the_rows():
    scene = mc.scenes.build("pyramid", base=4)
    wide, rows = (mc.World(scene, solver=solver, sleep=False) for solver in ("si", "pgs"))
    for world in (wide, rows):
        world.step(60)
    assert wide.stats.contact_rows == rows.stats.contact_rows == 7 * wide.stats.manifolds
    weight = sum(body.mass for body in scene.bodies if body.kind == "dynamic") * 9.81 / 60
    ground = wide.contacts[wide.contacts["body_a"] == 0]
    assert ground["normal_impulse"].sum() == pytest.approx(weight, rel=1e-3)


def test_tall_towers_stand():
    """A cube 100 times as heavy on nine others, and a tower of 30: what single-sweep engines let sink, or fall."""
    heavy = mc.World(mc.scenes.build("tower10_heavy"), sleep=False)
    heavy.step(900)
    assert heavy.contacts["separation"].min() > -0.010
    assert heavy.body("cube9").position[2] > 9.4
    tower = mc.World(mc.scenes.build("tower", n=25), sleep=False)
    start = tower.positions.copy()
    tower.step(900)
    assert np.linalg.norm(tower.positions - start, axis=1).max() < 0.05
