"""Restitution under every integrator: what bounces elastically keeps its energy, what does not loses what it should."""

import numpy as np
import pytest

import mcsim as mc


def dropped(shape, restitution, **keywords):
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("body", shape=shape, position=(0, 0, 1.5), material=mc.Material(restitution=restitution))
    return mc.World(scene, **keywords)


@pytest.mark.parametrize("integrator", ["rk4", "rattle", "variational"])
@pytest.mark.parametrize("substeps", [1, 4])
@pytest.mark.parametrize("shape", [mc.Sphere(0.2), mc.Box((0.1, 0.2, 0.15))], ids=["sphere", "box"])
def test_elastic_bounces_keep_the_energy_of_an_exact_flight(shape, substeps, integrator):
    """40 s, 36 bounces: energy had grown by 54 %, by the next kick in each."""
    world = dropped(shape, 1.0, integrator=integrator, substeps=substeps)
    begin = world.energy().total
    for _ in range(40):
        world.step(60)
        assert world.energy().total == pytest.approx(begin, rel=1e-9)
    assert world.stats.steps == 60


@pytest.mark.parametrize("integrator", ["rk4", "rattle", "variational"])
@pytest.mark.parametrize("restitution", [0.3, 0.8])
def test_apexes_fall_by_the_square_of_restitution(restitution, integrator):
    world = dropped(mc.Sphere(0.2), restitution, integrator=integrator)
    heights, apex, last = [], 0.0, world.positions[1, 2]
    rising = False
    for _ in range(240):
        world.step()
        z = world.positions[1, 2]
        if z < last and rising:
            heights.append(apex - 0.2)
        rising, apex, last = z > last, max(z, last), z
    assert heights[0] == pytest.approx(1.3 * restitution**2, rel=5e-3)
    assert np.array(heights[1:2]) == pytest.approx(heights[0] * restitution**2, rel=2e-2)
