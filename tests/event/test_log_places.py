"""Where event_log says that a contact was let go, slips, sticks or goes over an edge: where it is then."""

import numpy as np
import pytest

import mcsim as mc


@pytest.mark.parametrize("dt", [1 / 240, 1 / 60, 1 / 15])
@pytest.mark.parametrize("theta", [0.05, 0.3])
@pytest.mark.sampled(5)
def test_a_ball_leaves_a_globe_where_the_log_says(theta, dt):
    """cos = 2/3 of the start's; the place was that of the step's beginning, 12 mm off at 60 Hz."""
    scene = mc.Scene()
    scene.add_body("globe", shape=mc.Sphere(1.0), kind="static", material=mc.Material(friction=0))
    scene.add_body(
        "ball",
        shape=mc.Sphere(0.1),
        mass=1,
        position=(1.1 * np.sin(theta), 0, 1.1 * np.cos(theta)),
        material=mc.Material(friction=0),
    )
    world = mc.World(scene, contact="event", dt=dt)
    found = world.event_log[:0]
    while not len(found) and world.time < 5:
        world.step()
        found = world.event_log[world.event_log["kind"] == "loss"]
    place = found[0]["position"]
    assert place[2] / np.linalg.norm(place) == pytest.approx(2 / 3 * np.cos(theta), abs=1e-7)
    assert np.linalg.norm(place) == pytest.approx(1.0, abs=1e-7)


def test_a_box_that_comes_to_rest_sticks_where_the_log_says():
    """v^2 / (2 mu g) from its start."""
    scene = mc.Scene()
    material = mc.Material(friction=0.5)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=material)
    scene.add_body("ball", shape=mc.Box((0.1, 0.1, 0.01)), position=(0, 0, 0.01), velocity=(1, 0, 0), material=material)
    world = mc.World(scene, contact="event", dt=1 / 15)
    found = world.event_log[:0]
    while not len(found) and world.time < 2:
        world.step()
        found = world.event_log[world.event_log["kind"] == "stick"]
    way = 1.0 / (2 * 0.5 * 9.81)
    assert np.abs(np.abs(found["position"][:, 0] - way) - 0.1).max() < 1e-6
