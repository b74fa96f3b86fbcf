"""Contacts against closed forms: friction on an incline, bouncing, rolling, stacks, impacts in a row."""

import itertools

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

G = 9.81
FRICTIONS = [*itertools.product(("cone", "pyramid"), ("central", "point"))]
WORLDS = [dict(stabilization=s, solver=v) for s, v in itertools.product(("none", "baumgarte", "soft"), ("si", "pgs"))]
every_friction = pytest.mark.parametrize("friction, points", FRICTIONS)
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: f"{k['stabilization']}-{k['solver']}")
BOX = mc.Box((0.2, 0.2, 0.1))


def on_ground(shape, height, angle=0.0, velocity=(0, 0, 0), mu=0.5, restitution=0.0, **keywords):
    """A body on a plane; the incline is in gravity's direction, down is towards +x."""
    material = mc.Material(mu, restitution)
    scene = mc.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    scene.add_body("body", shape=shape, position=(0, 0, height), velocity=velocity, material=material)
    return mc.World(scene, **keywords)


# ---- sliding ---------------------------------------------------------------------------------------------------------


@every_friction
@every_world
def test_the_incline_holds_up_to_the_friction_angle(keywords, friction, points):
    """At 99 % of tan(angle) = mu the block stays, at 101 % it slides with g (sin - mu cos)."""
    mu = 0.5
    for part, slides in ((0.99, False), (1.01, True)):
        angle = np.arctan(mu * part)
        world = on_ground(BOX, 0.1, angle, mu=mu, friction=friction, friction_points=points, **keywords)
        world.step(120)
        if slides:
            expected = 0.5 * G * (np.sin(angle) - mu * np.cos(angle)) * 4
            assert world.positions[1, 0] == pytest.approx(expected, rel=0.02)
        else:
            assert np.abs(world.velocities[1]).max() < 1e-5 and abs(world.positions[1, 0]) < 1e-4


@every_friction
@every_world
def test_sliding_distance(keywords, friction, points):
    """A block of 3 m/s on the level and up an incline stops after v^2 / (2 a), within 1 %, and stays on its line."""
    for angle in (0.0, 0.2):
        world = on_ground(BOX, 0.1, angle, velocity=(3.0, 0, 0), friction=friction, friction_points=points, **keywords)
        world.step(180)
        deceleration = G * (0.5 * np.cos(angle) - np.sin(angle))
        assert world.positions[1, 0] == pytest.approx(9 / (2 * deceleration), rel=0.01)
        assert abs(world.positions[1, 1]) < 1e-4 and world.positions[1, 2] == pytest.approx(0.1, abs=1e-3)
        assert np.abs(world.velocities[1]).max() < 1e-5


def test_sliding_distance_converges_at_first_order():
    """Its error halves with the step: Coulomb's law is met in each."""
    errors = []
    for substeps in (1, 2, 4, 8):
        world = on_ground(BOX, 0.1, velocity=(3.0, 0, 0), stabilization="none", substeps=substeps, iterations=30)
        world.step(120)
        errors.append(abs(world.positions[1, 0] - 9 / G))
    assert np.all(np.abs(-np.diff(np.log2(errors)) - 1) < 0.1), errors


@pytest.mark.parametrize("points", ["central", "point"])
def test_cone_and_pyramid_differ_in_direction(points):
    """A slide at 30° is slowed by mu g against it under the cone; under the pyramid by mu g along each tangent."""
    direction = np.array([np.cos(np.pi / 6), np.sin(np.pi / 6), 0])
    slowed = {}
    for friction in ("cone", "pyramid"):
        world = on_ground(mc.Box((0.2, 0.2, 0.02)), 0.02, velocity=3 * direction, friction=friction, friction_points=points)
        world.step(1)
        slowed[friction] = (3 * direction - world.velocities[1]) * 60 / G
        world.step(120)
        angle = np.degrees(np.arctan2(world.positions[1, 1], world.positions[1, 0]))
        assert angle == pytest.approx(30.0, abs=0.01) if friction == "cone" else abs(angle - 30) > 5
    assert slowed["cone"] == pytest.approx(0.5 * direction, abs=1e-3)
    assert np.abs(slowed["pyramid"][:2]) == pytest.approx((0.5, 0.5), abs=2e-3)


@every_friction
def test_a_spinning_disc_stops_by_friction(friction, points):
    """A square plate that spins flat on the ground slows down and stops; it does not wander off."""
    world = on_ground(mc.Box((0.3, 0.3, 0.02)), 0.02, friction=friction, friction_points=points)
    world.set_velocity("body", angular_velocity=(0, 0, 5.0))
    before = world.angular_velocities[1, 2]
    for _ in range(60):
        world.step(1)
        assert -1e-3 < world.angular_velocities[1, 2] <= before + 1e-8  # of 5 rad/s: what the sweeps leave
        before = world.angular_velocities[1, 2]
    world.step(30)
    assert np.abs(world.angular_velocities[1]).max() < 1e-3
    assert np.abs(world.positions[1, :2]).max() < 0.01


# ---- rolling ---------------------------------------------------------------------------------------------------------


@every_friction
@pytest.mark.parametrize("stabilization", ["none", "baumgarte", "soft"])
def test_a_sliding_sphere_comes_to_roll(stabilization, friction, points):
    """5/7 of the speed is left, after 2 v / (7 mu g)."""
    mu, speed = 0.3, 2.0
    world = on_ground(
        mc.Sphere(0.2),
        0.2,
        velocity=(speed, 0, 0),
        mu=mu,
        dt=1 / 240,
        stabilization=stabilization,
        friction=friction,
        friction_points=points,
    )
    rolls = None
    for _ in range(300):
        world.step()
        slip = world.velocities[1, 0] - 0.2 * world.angular_velocities[1, 1]
        if rolls is None and slip < 0.01 * speed:
            rolls = world.time
    assert rolls == pytest.approx(2 * speed / (7 * mu * G), rel=0.03)
    assert world.velocities[1, 0] == pytest.approx(5 / 7 * speed, rel=2e-3)
    assert slip == pytest.approx(0, abs=5e-3)


# ---- bouncing --------------------------------------------------------------------------------------------------------


def apexes(restitution, count, shape=None, **keywords):
    """Heights of the first apexes of a ball dropped from 1 m, by v^2 / 2g + z where it flies, v at the time of z: in whole
    kicks half the next substep's kick added."""
    world = on_ground(shape or mc.Sphere(0.1), 1.1, restitution=restitution, **keywords)
    later = 0.5 * G * world.substep if keywords.get("stabilization", "soft") != "soft" else 0.0
    heights, rising = [], False
    while len(heights) < count:
        world.step()
        z, v = world.positions[1, 2] - 0.1, world.velocities[1, 2] - later
        if rising and v < 0:
            heights.append(z + v * v / (2 * G))
        rising = v > 0
    return np.array(heights)


@every_world
@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
def test_bouncing_balls_apexes(keywords, restitution):
    """The apexes are e^(2 k) of the height: to rounding where forces act in two halves; in whole kicks their error falls
    with the substep."""
    count = 2 if restitution < 0.6 else 3
    exact = restitution ** (2.0 * np.arange(1, count + 1))
    steps = (8, 32, 128)
    errors = [np.abs(apexes(restitution, count, substeps=n, **keywords) - exact).max() for n in steps]
    if keywords["stabilization"] == "soft":
        assert max(errors) < 1e-12
        return
    assert errors[-1] < 0.004, errors
    assert np.log(errors[0] / errors[-1]) / np.log(16) > 0.7, errors


@pytest.mark.parametrize("substeps", [1, 4, 16])
def test_bounces_do_not_add_energy(substeps):
    """Restitution 1: no apex is higher than the one before, and all are as high as the start."""
    heights = apexes(1.0, 6, substeps=substeps)
    start = 1.0
    assert np.all(np.diff([start, *heights]) <= 1e-12)
    assert heights[-1] == pytest.approx(start, rel=1e-9)


@pytest.mark.parametrize("speed, bounces", [(0.3, False), (0.49, False), (0.51, True), (2.0, True)])
def test_slow_impacts_do_not_bounce(speed, bounces):
    """Below restitution_threshold an impact takes the normal velocity away, above it gives e of it back."""
    scene = on_ground(mc.Sphere(0.1), 0.15, velocity=(0, 0, -speed), restitution=0.5).scene.copy()
    scene.gravity = (0, 0, 0)
    world = mc.World(scene, restitution_threshold=0.5)
    world.step(60)
    assert world.velocities[1, 2] == pytest.approx(0.5 * speed if bounces else 0.0, abs=1e-9)


def test_a_steep_threshold_stops_all_bounces():
    """restitution_threshold above the impact speed: the ball stays down."""
    world = on_ground(mc.Sphere(0.1), 0.5, restitution=0.9, restitution_threshold=100.0)
    world.step(120)
    assert world.positions[1, 2] == pytest.approx(0.1, abs=2e-3) and np.abs(world.velocities[1]).max() < 1e-3


def row_of_balls(restitution, gap=0.0, count=5):
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(count):
        first = k == 0
        scene.add_body(
            f"ball{k}",
            shape=mc.Sphere(0.1),
            position=(k * (0.2 + gap) - 0.5 * first, 0, 0),
            velocity=(2.0 * first, 0, 0),
            material=mc.Material(0.0, restitution),
        )
    return mc.World(scene)


@pytest.mark.parametrize("gap", [0.0, 0.01])
def test_newtons_cradle_in_a_row(gap):
    """Equal balls with restitution 1: the last one alone goes on, with all the speed."""
    world = row_of_balls(1.0, gap)
    world.step(120)
    assert world.velocities[:, 0] == pytest.approx((0, 0, 0, 0, 2.0), abs=1e-9)
    assert np.abs(world.velocities[:, 1:]).max() < 1e-12


def test_an_inelastic_row_goes_on_together():
    """Restitution 0: a common speed by momentum."""
    world = row_of_balls(0.0)
    world.step(120)
    assert world.velocities[:, 0] == pytest.approx(np.full(5, 0.4), abs=1e-3)


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_two_spheres_of_different_mass(restitution):
    """Central impact: velocities by momentum and Newton's law."""
    scene = mc.Scene(gravity=(0, 0, 0))
    material = mc.Material(0.0, restitution)
    scene.add_body("a", shape=mc.Sphere(0.1), mass=1.0, velocity=(3.0, 0, 0), material=material)
    scene.add_body("b", shape=mc.Sphere(0.2), mass=4.0, position=(0.6, 0, 0), velocity=(-1.0, 0, 0), material=material)
    world = mc.World(scene, iterations=10)
    world.step(60)
    common = (3.0 - 4.0) / 5
    assert world.velocities[:, 0] == pytest.approx(
        (common - restitution * 4 * 4 / 5, common + restitution * 4 * 1 / 5), abs=1e-9
    )


# ---- resting ---------------------------------------------------------------------------------------------------------


def stack(count, half=0.25, **keywords):
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    for i in range(count):
        scene.add_body(f"box{i}", shape=mc.Box((half,) * 3), position=(0, 0, half + 2 * half * i))
    return mc.World(scene, sleep=False, **keywords)


@every_world
def test_contact_impulses_carry_the_weight_above(keywords):
    """In a resting stack of 4 the impulses between each two bodies are (weight above) x dt; tangents carry nothing."""
    world = stack(4, **keywords)
    world.step(300)
    contacts = world.contacts
    for i in range(4):
        between = contacts[contacts["body_a"] == i]
        assert np.all(between["body_b"] == i + 1) and np.abs(between["normal"] - (0, 0, 1)).max() < 5e-4
        above = world.masses[i + 1 :].sum() * G * world.dt
        assert between["normal_impulse"].sum() == pytest.approx(above, rel=1e-6)
        # The boxes lean by some 1e-4 rad, and the tangents carry that part of the weight.
        assert np.abs(between["tangent_impulse"].sum(axis=0)).max() < 5e-4 * above
    assert contacts["separation"].min() > -2e-3


def test_resting_contact_carries_a_push_sideways():
    """A push below the friction bound goes into the tangential impulse on b."""
    world = on_ground(BOX, 0.1)
    for _ in range(60):
        world.apply_force("body", (0.3 * world.masses[1] * G, 0, 0))
        world.step()
    assert world.contacts["tangent_impulse"].sum(axis=0) == pytest.approx(
        (-0.3 * world.masses[1] * G * world.dt, 0, 0), rel=1e-4, abs=1e-4
    )
    assert world.contacts["normal_impulse"].sum() == pytest.approx(world.masses[1] * G * world.dt, rel=1e-4)


@pytest.mark.parametrize(
    "keywords",
    [{}, {"solver": "pgs"}, {"friction": "pyramid"}, {"friction_points": "point"}],
    ids=["default", "pgs", "pyramid", "point"],
)
def test_a_stack_of_15_stands(keywords):
    """Boxes of half a metre: none leaves its place by 2 cm, and they come to rest."""
    world = stack(15, **keywords)
    start = world.positions.copy()
    world.step(60 * amount(20, 60))
    assert np.abs(world.positions - start).max() < 0.02
    assert np.abs(world.velocities).max() < 1e-4
    bottom = world.contacts[world.contacts["body_a"] == 0]["normal_impulse"].sum()
    assert bottom == pytest.approx(world.masses.sum() * G * world.dt, rel=1e-6)


@pytest.mark.parametrize("substeps", [1, 4, 100])
@every_world
def test_overlapping_bodies_are_pushed_apart_gently(keywords, substeps):
    """A box set 5 cm into the ground comes out no faster than push_speed allows at any step, and stays."""
    world = on_ground(BOX, 0.05, push_speed=1.0, substeps=substeps, **keywords)
    fastest = 0.0
    for _ in range(240):
        world.step()
        fastest = max(fastest, world.velocities[1, 2])
    if keywords["stabilization"] == "none":
        assert world.positions[1, 2] == pytest.approx(0.05, abs=1e-3)
    else:
        assert world.positions[1, 2] == pytest.approx(0.1, abs=2e-3)
    assert fastest <= 1.0 + 1e-8  # friction has the last word in a sweep


def test_a_kinematic_platform_carries_a_box():
    """A box on a kinematic belt of constant speed takes on that speed by friction, after v / (mu g)."""
    scene = mc.Scene()
    scene.add_body("belt", kind="kinematic", shape=mc.Box((5, 1, 0.1)), velocity=(1.0, 0, 0))
    scene.add_body("box", shape=mc.Box((0.1, 0.1, 0.05)), position=(0, 0, 0.15))
    world = mc.World(scene)
    world.step(6)
    assert world.velocities[1, 0] == pytest.approx(0.6 * G * 0.1, rel=0.03)
    world.step(60)
    assert world.velocities[1] == pytest.approx((1.0, 0, 0), abs=1e-4)


def test_fast_bodies_do_not_tunnel_through_the_ground():
    """A small ball at 100 m/s against a thin plate, default settings: the speculative contact stops it."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("plate", kind="static", shape=mc.Box((1, 1, 0.01)))
    scene.add_body("ball", shape=mc.Sphere(0.02), position=(0, 0, 1.3), velocity=(0, 0, -100.0))
    world = mc.World(scene)
    world.step(60)
    assert world.positions[1, 2] > 0.02
