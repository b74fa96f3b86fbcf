"""A ball falls on a board that lies on the floor (docs/theory/impacts.md, "What is struck together"). A blow that goes to
and fro between ball, board and floor is one compression: a light board is as good as none."""

import numpy as np
import pytest

import mcsim as mc

G = 9.81
WORLDS = [(mc.World, {}), (mc.World, {"joint_solver": "rows"}), (mc.ReducedWorld, {})]


def fall(cls, mass, restitution, thickness=0.04, **settings):
    """(speed before, speed after, energies before and after) of the first blow; energy is 0 where all lies at rest."""
    material = mc.Material(restitution=restitution)
    scene = mc.Scene(gravity=(0, 0, -G))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    scene.add_body(
        "board", shape=mc.Box((0.5, 0.5, thickness / 2)), position=(0, 0, thickness / 2), mass=1.0, material=material
    )
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(0, 0, 1.2 + thickness), mass=mass, material=material)
    world = cls(scene, dt=1 / 1000, **settings)
    least = G * (mass * (0.2 + thickness) + thickness / 2)
    while world.body("ball").velocity[2] < 0.01 - G * world.time:
        before, energy = -world.body("ball").velocity[2], world.energy().total - least
        world.step()
    return before, world.body("ball").velocity[2], energy, world.energy().total - least


@pytest.mark.parametrize("cls, settings", WORLDS)
@pytest.mark.parametrize("law", ["stronge", "newton", "poisson"])
@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("mass", [100.0, 1000.0, 1e5])
@pytest.mark.sampled(8)
def test_a_light_board_is_as_good_as_none(cls, settings, law, restitution, mass):
    """Each rattle between ball and floor used to cost energy by itself, and nothing came back."""
    before, ball, _, _ = fall(cls, mass, restitution, restitution_law=law, **settings)
    assert ball == pytest.approx(restitution * before, rel=0.01 + 3 / mass)


@pytest.mark.parametrize("cls, settings", WORLDS)
@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("mass", [0.001, 0.1, 0.5, 1.0, 2.0, 7.0, 30.0, 1000.0])
@pytest.mark.sampled(8)
def test_a_blow_gives_back_no_more_than_its_part(cls, settings, restitution, mass):
    """Whatever the board weighs. Without loss all comes back."""
    _, _, energy, left = fall(cls, mass, restitution, **settings)
    assert left <= energy * (1.0 + 1e-6)
    if mass <= 0.001 or mass >= 1000.0 or restitution == 1.0:
        assert left == pytest.approx(restitution**2 * energy, rel=0.03)


def test_a_cradle_still_sends_its_last_ball_off():
    """Nothing is struck twice there."""
    for restitution in (1.0, 0.9):
        scene, material = mc.Scene(gravity=(0, 0, 0)), mc.Material(restitution=restitution, friction=0.0)
        for k in range(5):
            speed = (1.0, 0, 0) if k == 0 else (0, 0, 0)
            scene.add_body(f"b{k}", shape=mc.Sphere(0.1), position=(0.2 * k, 0, 0), velocity=speed, material=material)
        world = mc.World(scene, restitution_threshold=0.2)
        world.step(5)
        assert world.velocities[-1, 0] == pytest.approx(((1 + restitution) / 2) ** 4, rel=1e-9)
        assert world.velocities[:, 0].sum() == pytest.approx(1.0, rel=1e-12)
        assert np.all(np.diff(world.velocities[:, 0]) > -1e-9)
