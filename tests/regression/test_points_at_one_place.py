"""Plates that fall on each other touch edge by edge, and two points of a contact may be one place: what is told from
how they lie to each other is rounding there. An axis of friction made of it threw them at 1e14 m/s."""

import numpy as np
import pytest

import mcsim as mc


@pytest.mark.parametrize("World", (mc.World, mc.ReducedWorld))
@pytest.mark.parametrize("stabilization", ("soft", "none", "baumgarte"))
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.sampled(12)
def test_heaps_of_plates_keep_their_energy(World, stabilization, seed):
    rng, scene = np.random.default_rng(seed), mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=mc.Material(friction=0.7))
    for k in range(5):
        q = rng.normal(size=4)
        scene.add_body(
            shape=mc.Box((0.2, 0.1, 0.05)),
            position=(*(0.05 * rng.normal(size=2)), 0.2 + 0.3 * k),
            orientation=q / np.linalg.norm(q),
            material=mc.Material(friction=0.5),
        )
    world = World(scene, dt=1 / 60, stabilization=stabilization)
    first = world.energy().total
    for _ in range(120):
        world.step()
        assert world.energy().kinetic < 1.05 * first
