"""Contacts on one body that far outweighs what lies on it are solved side by side (mcsim/wide/_shared.pxd)."""

import numpy as np
import pytest

import mcsim as mc
from level_runs import on_every_level
from wide_loads import falling, loaded, pushed, slab, tilted

SCENES = {"pushed": pushed, "falling": falling, "tilted": tilted}
KEYWORDS = ["", "stabilization='baumgarte'", "iterations=1", "substeps=1", "threads=2"]
BRICKS = (mc.Box((0.3, 0.3, 0.1)),)


def blocks_of(world):
    """Of each block of lanes, the bodies of its manifolds (lanes, 2)."""
    manifolds = world._collider.get_manifolds()
    pairs = np.stack([manifolds["body_a"], manifolds["body_b"]], axis=1)
    return [pairs[block[block >= 0]] for block in world._pipeline.parts.plan.wide.lanes()]


def sharing(world):
    """How many contacts share the slab with others of their block; all else is of one lane alone."""
    shared = 0
    for pairs in blocks_of(world):
        moving = pairs[pairs > 1]
        assert len(moving) == len(set(moving.tolist()))
        count = int(np.sum(pairs == 1))
        if count > 1:
            assert np.all(np.any(pairs == 1, axis=1))
            shared += count
    return shared


def test_lanes_share_what_outweighs_them_and_nothing_else():
    world = mc.World(loaded(slab(), high=2), sleep=False)
    world.step(5)
    assert sharing(world) >= 64 - 8 - 7


@pytest.mark.parametrize("density", [500.0, 2000.0])
def test_what_is_not_so_light_has_blocks_of_its_own(density):
    """A slab of less than 32 times the mass of what lies on it."""
    world = mc.World(loaded(slab(density=100.0, size=(5, 5, 0.1)), side=4, density=density), sleep=False)
    world.step(5)
    assert sharing(world) == 0


@pytest.mark.parametrize("keywords", KEYWORDS)
@pytest.mark.parametrize("name", SCENES)
def test_all_levels_give_the_same_bits(name, keywords):
    """Whatever the lanes of a block are: eight contacts are solved as one, of blocks of two, four or eight."""
    world = mc.World(SCENES[name](), sleep=False)
    world.step(80)
    assert sharing(world) > 16
    hashes = on_every_level(
        f"import mcsim as mc, wide_loads\nworld = mc.World(wide_loads.{name}(), sleep=False, {keywords})\n"
        "for _ in range(4):\n    world.step(20)\n    print(world.state_hash())"
    )
    assert len(set(hashes.values())) == 1, hashes


def test_threads_give_the_same_bits():
    worlds = [mc.World(falling(), sleep=False, threads=threads) for threads in (1, 2)]
    for world in worlds:
        world.step(60)
    assert worlds[0].state_hash() == worlds[1].state_hash()


def test_momentum_is_kept():
    """Without gravity 64 bodies fly at a slab that flies, too: equal and opposite impulses."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("floor", shape=mc.Plane((0, 0, 1), -100.0), kind="static")
    scene.add_body("slab", shape=mc.Box((8, 8, 0.5)), density=1000.0, position=(0, 0, -0.5), velocity=(0.1, 0.2, 0.3))
    world = mc.World(loaded(scene, gap=0.02, velocity=(0.5, 0.0, -1.0)), sleep=False)
    masses = world.masses[1:, None]
    before = (masses * world.velocities[1:]).sum(axis=0)
    size = np.abs(masses * world.velocities[1:]).sum()
    world.step(5)
    assert sharing(world) > 32
    world.step(55)
    assert world.velocities[2:, 2].min() > 0.0  # they have met it
    assert np.abs((masses * world.velocities[1:]).sum(axis=0) - before).max() < 1e-12 * size


def test_the_slab_bears_what_lies_on_it():
    world = mc.World(loaded(slab(), high=2), sleep=False)
    world.step(120)
    contacts = world.contacts
    load, own = world.masses[2:].sum() * 9.81 / 60, world.masses[1] * 9.81 / 60
    on_slab = contacts[(contacts["body_a"] == 1) & (contacts["body_b"] > 1)]
    assert on_slab["normal_impulse"].sum() == pytest.approx(load, rel=1e-6)
    assert contacts[contacts["body_a"] == 0]["normal_impulse"].sum() == pytest.approx(load + own, rel=1e-6)
    assert np.abs(world.velocities).max() < 1e-6


@pytest.mark.parametrize("part, slides", [(0.3, False), (0.9, True)])
def test_a_slab_that_is_drawn_takes_its_load_along_or_slides_below_it(part, slides):
    """A force of `part` of the weight on a smooth floor. Coulomb: they go as one while the load's friction of 0.5 reaches;
    else that draws the load, and what is left the slab."""
    scene = slab(density=40.0, floor_friction=0.0, material=mc.Material(friction=0.5))
    world = mc.World(loaded(scene, density=40.0, shapes=BRICKS, gap=-0.2, friction=0.5), sleep=False)
    world.step(30)
    own, load = world.masses[1], world.masses[2:].sum()
    force, held = part * 9.81 * (own + load), 0.5 * 9.81
    before = world.velocities[:, 0].copy()
    for _ in range(30):
        world.apply_force("slab", (force, 0, 0))
        world.step()
    gained = world.velocities[:, 0] - before
    assert sharing(world) > 32
    assert gained[1] == pytest.approx(0.5 * ((force - held * load) / own if slides else force / (own + load)), rel=1e-4)
    assert gained[2:] == pytest.approx(0.5 * (held if slides else force / (own + load)), rel=1e-4)


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte", "none"])
@pytest.mark.parametrize("name", SCENES)
def test_the_fixed_point_is_that_of_the_assembled_rows(name, stabilization):
    """With many sweeps, at a load that bears already, both end at the same velocities."""
    keywords = dict(stabilization=stabilization, hertz=60.0, damping_ratio=10.0)
    wide = mc.World(SCENES[name](), iterations=400, **keywords)
    rows = mc.World(SCENES[name](), solver="pgs", iterations=2000, **keywords)
    for world in (wide, rows):
        world.step(3)
    assert np.allclose(wide.velocities, rows.velocities, atol=2e-4)
