"""Rolling and torsional friction, and surfaces that move over their bodies, against closed forms."""

import numpy as np
import pytest

import mcsim as mc
from level_runs import on_every_level

G = 9.81
RADIUS = 0.1
WORLDS = [
    dict(),
    dict(solver="pgs"),
    dict(friction="pyramid"),
    dict(friction_points="point"),
    dict(stabilization="baumgarte"),
    dict(stabilization="none"),
    dict(stabilization="projection"),
    dict(stabilization="ggl"),
    dict(stabilization="split_impulse"),
]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(map(str, k.values())) or "default")


def on_plane(
    material, shape=None, height=RADIUS, angle=0.0, velocity=(0, 0, 0), spin=(0, 0, 0), orientation=(1, 0, 0, 0), **keywords
):
    scene = mc.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body(
        "body",
        shape=shape or mc.Sphere(RADIUS),
        position=(0, 0, height),
        velocity=velocity,
        angular_velocity=spin,
        orientation=orientation,
        material=material,
    )
    return mc.World(scene, **keywords)


# ---- rolling ---------------------------------------------------------------------------------------------------------


@every_world
def test_a_rolling_ball_stops_after_its_distance(keywords):
    """m a = F, 2/5 m r^2 a / r = c m g - F r: so a = 5/7 g c / r, and it stands after v^2 / 2 a."""
    c, speed = 0.005, 2.0
    deceleration = 5 / 7 * G * c / RADIUS
    world = on_plane(mc.Material(rolling_friction=c), velocity=(speed, 0, 0), spin=(0, speed / RADIUS, 0), **keywords)
    world.step(60)
    assert speed - world.velocities[1, 0] == pytest.approx(deceleration, rel=1e-3)
    world.step(600)
    assert world.positions[1, 0] == pytest.approx(speed**2 / (2 * deceleration), rel=2e-3)
    assert np.abs(world.velocities[1]).max() < 1e-12 and np.abs(world.angular_velocities[1]).max() < 1e-12


@every_world
@pytest.mark.parametrize("shape, inertia", [("ball", 2 / 5), ("cylinder", 1 / 2)])
def test_it_rolls_down_beyond_the_slope_of_c_by_r(keywords, shape, inertia):
    """At 97 % of tan = c / r it stays, at 110 % it goes with (g sin - c/r g cos) / (1 + I / m r^2)."""
    c = 0.02
    solid, turn = {
        "ball": (mc.Sphere(RADIUS), (1, 0, 0, 0)),
        "cylinder": (mc.Cylinder(RADIUS, 0.2), (np.sqrt(0.5), np.sqrt(0.5), 0, 0)),
    }[shape]
    for part in (0.97, 1.1):
        angle = np.arctan(part * c / RADIUS)
        world = on_plane(mc.Material(rolling_friction=c), solid, angle=angle, orientation=turn, **keywords)
        world.step(30)  # it settles
        start, speed = world.positions[1, 0], world.velocities[1, 0]
        world.step(120)
        if part < 1.0:
            assert abs(world.positions[1, 0] - start) < 1e-3
        else:
            expected = G * (np.sin(angle) - c / RADIUS * np.cos(angle)) / (1 + inertia)
            assert world.positions[1, 0] - start - 2 * speed == pytest.approx(2 * expected, rel=0.03)


def test_the_larger_rolling_friction_counts():
    """A ball without any stops as well on a surface that has some."""
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=mc.Material(rolling_friction=0.01))
    scene.add_body(
        "ball",
        shape=mc.Sphere(RADIUS),
        position=(0, 0, RADIUS),
        velocity=(1, 0, 0),
        angular_velocity=(0, 1 / RADIUS, 0),
        material=mc.Material(rolling_friction=0.004),
    )
    world = mc.World(scene)
    world.step(30)
    assert 1 - world.velocities[1, 0] == pytest.approx(0.5 * 5 / 7 * G * 0.01 / RADIUS, rel=1e-3)


# ---- spinning --------------------------------------------------------------------------------------------------------


@every_world
@pytest.mark.parametrize("friction", [0.0, 0.6])
def test_a_spinning_ball_is_slowed(keywords, friction):
    """I a = tau m g, also where nothing hinders sliding; it stops and stays."""
    torsional, spin = 0.004, 30.0
    world = on_plane(mc.Material(friction, torsional_friction=torsional), spin=(0, 0, spin), **keywords)
    deceleration = torsional * G / (0.4 * RADIUS**2)
    world.step(30)
    assert spin - world.angular_velocities[1, 2] == pytest.approx(0.5 * deceleration, rel=1e-3)
    world.step(240)
    assert np.abs(world.angular_velocities[1]).max() < 1e-9


def test_torsional_friction_adds_to_that_of_the_points():
    """A square plate that spins on its four corners: torque (mu l + tau) m g."""
    slowed = {}
    for tau in (0.0, 0.05):
        world = on_plane(mc.Material(0.6, torsional_friction=tau), mc.Box((0.3, 0.3, 0.02)), 0.02, spin=(0, 0, 40.0))
        world.step(30)
        slowed[tau] = 40.0 - world.angular_velocities[1, 2]
    inertia = (0.6**2 + 0.6**2) / 12
    assert slowed[0.05] - slowed[0.0] == pytest.approx(0.5 * 0.05 * G / inertia, rel=2e-3)


# ---- moving surfaces -------------------------------------------------------------------------------------------------


def belt(velocity, mu=0.4, restitution=0.0, height=0.1, orientation=(1, 0, 0, 0), shape=None, **keywords):
    scene = mc.Scene()
    material = mc.Material(mu, restitution)
    scene.add_body(
        "belt",
        kind="static",
        shape=mc.Box((20, 20, 0.1)),
        position=(0, 0, -0.1),
        orientation=orientation,
        material=mc.Material(mu, restitution, surface_velocity=velocity),
    )
    scene.add_body("box", shape=shape or mc.Box((0.1, 0.1, 0.1)), position=(0, 0, height), material=material)
    return mc.World(scene, **keywords)


@every_world
def test_a_box_takes_up_the_belts_speed(keywords):
    """v = mu g t until it is the belt's; it does not turn, nor leave it."""
    world = belt((1.5, 0, 0), **keywords)
    world.step(12)
    assert world.velocities[1, 0] == pytest.approx(0.4 * G * 0.2, rel=1e-3)
    world.step(60)
    assert world.velocities[1] == pytest.approx((1.5, 0, 0), abs=1e-3)
    assert world.positions[1, 2] == pytest.approx(0.1, abs=1e-4) and np.abs(world.angular_velocities[1]).max() < 1e-3


def test_the_belts_velocity_is_in_its_bodys_axes():
    """Turned about z by 1 rad; what points out of the surface does nothing."""
    world = belt((1.0, 0.5, 0.7), orientation=(np.cos(0.5), 0, 0, np.sin(0.5)))
    world.step(200)
    c, s = np.cos(1.0), np.sin(1.0)
    assert world.velocities[1] == pytest.approx((c - 0.5 * s, s + 0.5 * c, 0), abs=1e-6)


def test_a_belt_does_not_change_a_bounce():
    """The ball's height is to the bit that on a still surface; it goes off sideways."""
    moving, still = (belt(v, restitution=0.8, height=1.1, shape=mc.Sphere(0.1)) for v in ((1.5, 0, 0), (0, 0, 0)))
    for _ in range(100):
        moving.step()
        still.step()
        assert moving.positions[1, 2] == still.positions[1, 2]
    assert moving.velocities[1, 0] > 0.2 and still.velocities[1, 0] == 0.0


# ---- state, levels, files --------------------------------------------------------------------------------------------

MIXED = """
import mcsim as mc
scene = mc.Scene()
scene.add_body("floor", kind="static", shape=mc.Box((9, 9, 0.1)), position=(0, 0, -0.1),
               material=mc.Material(0.5, 0.0, 0.002, 0.003, (0.5, 0.2, 0)))
for i in range(30):
    shape = (mc.Sphere(0.2), mc.Box((0.2, 0.15, 0.1)), mc.Cylinder(0.2, 0.1), mc.Capsule(0.1, 0.2))[i % 4]
    scene.add_body(shape=shape, position=(0.3 * (i % 5), 0.3 * (i // 5), 0.3 + 0.3 * (i % 3)), velocity=(1, -0.5, 0),
                   angular_velocity=(1, 2, 3), material=mc.Material(0.6, 0.3 * (i % 2), 0.01 * (i % 3), 0.01 * (i % 2)))
world = mc.World(scene{more})
"""


def test_all_levels_give_the_same_bits():
    code = MIXED.format(more="") + "world.step(120); print(world.state_hash())"
    found = on_every_level(code)
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("more", ["", ", solver='pgs'", ", friction_points='point', friction='pyramid'"])
def test_a_snapshot_goes_on_to_the_same_bits(more):
    names = {}
    exec(MIXED.format(more=more), names)
    world = names["world"]
    world.step(60)
    saved = world.snapshot()
    world.step(30)
    reached = world.state_hash()
    world.restore(saved)
    world.step(30)
    assert world.state_hash() == reached


def test_blocks_and_rows_have_the_same_fixed_point():
    names = [{}, {}]
    for found, more in zip(names, (", iterations=300", ", iterations=1500, solver='pgs'")):
        exec(MIXED.format(more=more + ", stabilization='none'"), found)
        found["world"].step(2)
    wide, rows = (found["world"] for found in names)
    assert np.allclose(wide.velocities, rows.velocities, atol=1e-5)
    assert np.allclose(wide.angular_velocities, rows.angular_velocities, atol=1e-5)
    assert wide.stats.contact_rows == rows.stats.contact_rows


def test_files_keep_them(tmp_path):
    scene = mc.Scene()
    scene.add_body("a", shape=mc.Sphere(0.1), material=mc.Material(0.3, 0.1, 0.01, 0.02, (1, 2, 3)))
    scene.save(tmp_path / "a.json")
    found = mc.load(str(tmp_path / "a.json")).bodies[0].material
    assert (found.rolling_friction, found.torsional_friction, *found.surface_velocity) == (0.01, 0.02, 1, 2, 3)
    assert found == scene.bodies[0].material


@pytest.mark.parametrize(
    "field, value, message",
    [
        ("rolling_friction", -1.0, "rolling_friction must not be negative"),
        ("torsional_friction", float("nan"), "torsional_friction must be finite"),
        ("surface_velocity", (1, 2), "surface_velocity must be 3 numbers"),
    ],
)
def test_wrong_materials_are_refused(field, value, message):
    with pytest.raises(mc.SceneError, match=message):
        mc.Material(**{field: value})
