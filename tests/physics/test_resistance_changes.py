"""Rolling friction, belts, the tunnelling guard and bodies' settings in worlds that fall asleep, are restored and
changed."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

G = 9.81
RADIUS = 0.1
ROLLING = 0.02


def on_a_slope(part=0.9, **keywords):
    """Three balls on a slope, held by rolling friction alone; a fourth one flies far above."""
    angle = np.arctan(part * ROLLING / RADIUS)
    scene = mc.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    for i in range(3):
        scene.add_body(
            f"ball{i}", shape=mc.Sphere(RADIUS), position=(0, i, RADIUS), material=mc.Material(rolling_friction=ROLLING)
        )
    scene.add_body("flying", shape=mc.Sphere(RADIUS), position=(0, 0, 50), gravity_scale=0.0, material=mc.Material(0.3))
    return mc.World(scene, **keywords)


def rolling_impulses(world):
    return world._collider.get_manifolds()["rolling_impulse"]


# ---- sleep -----------------------------------------------------------------------------------------------------------


def test_balls_asleep_on_a_slope_keep_what_holds_them():
    """The angular impulse of a substep is m g sin(angle) r h about y; it sleeps, wakes and holds on to the bit."""
    world = on_a_slope()
    world.step(25)
    held = rolling_impulses(world)
    angle = np.arctan(0.9 * ROLLING / RADIUS)
    moment = world.masses[1] * G * np.sin(angle) * RADIUS * world.substep
    assert not world.asleep.any() and held[:, 1] == pytest.approx(-moment, rel=1e-3)
    world.step(60)
    assert world.asleep[1:4].all() and not world.asleep[4]
    held = rolling_impulses(world)
    assert held[:, 1] == pytest.approx(-moment, rel=1e-3)
    at = world.positions.copy()
    world.step(60)
    world.wake("ball1")
    assert np.array_equal(rolling_impulses(world), held)
    world.step()
    assert np.abs(world.positions[1:4] - at[1:4]).max() < 1e-9
    assert rolling_impulses(world) == pytest.approx(held, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize(
    "take",
    [
        lambda w: w.restore(pickle.loads(pickle.dumps(w.snapshot()))) or w,
        copy.deepcopy,
        lambda w: pickle.loads(pickle.dumps(w)),
    ],
    ids=["restore", "deepcopy", "pickle"],
)
def test_a_world_with_sleepers_that_resist_goes_on_to_the_same_bits(take):
    world = on_a_slope()
    world.step(120)
    assert world.asleep[1:4].all()
    world.wake("ball2")
    world.step(2)
    assert world.asleep[1:4].tolist() == [True, True, False]
    other = take(copy.deepcopy(world))
    assert other.state_hash() == world.state_hash()
    for each in (world, other):
        each.apply_impulse("ball0", (2.0, 0.3, 0))
        each.step(30)
        each.set_pose("flying", (0.3, 2.2, 0.5))
        each.body("flying").gravity_scale = 1.0
        each.step(200)
    assert other.state_hash() == world.state_hash()
    assert world.positions[1, 0] > 0.1


def test_restoring_while_others_sleep_is_exact():
    world = on_a_slope()
    world.step(40)
    saved, hashes = world.snapshot(), []
    for _ in range(2):
        world.step(90)
        world.apply_impulse("ball1", (1.0, 0, 0))
        world.step(45)
        hashes.append(world.state_hash())
        world.restore(saved)
    assert hashes[0] == hashes[1] and world.state_hash() not in hashes


def test_until_something_sleeps_the_bits_are_those_without():
    on, off = on_a_slope(), on_a_slope(sleep=False)
    while not on.asleep.any():
        on.step()
        off.step()
    assert np.array_equal(on.positions, off.positions) and np.array_equal(rolling_impulses(on), rolling_impulses(off))


def test_a_belt_however_slow_keeps_awake_what_it_carries():
    scene = mc.Scene()
    belt = mc.Material(surface_velocity=(0.004, 0, 0))
    scene.add_body("belt", kind="static", shape=mc.Box((5, 1, 0.1)), position=(0, 0, -0.1), material=belt)
    scene.add_body("floor", kind="static", shape=mc.Box((5, 1, 0.1)), position=(0, 5, -0.1))
    scene.add_body("carried", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.2))
    scene.add_body("lying", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 5, 0.2))
    world = mc.World(scene)
    world.step(300)
    assert world.asleep.tolist() == [False, False, False, True]
    assert world.positions[2, 0] == pytest.approx(0.004 * 5, rel=0.02)
    world.set_material("floor", belt)
    world.step(60)
    assert not world.asleep[3] and world.velocities[3, 0] == pytest.approx(0.004, rel=1e-3)
    world.set_material("belt", mc.Material())
    world.step(120)
    assert world.asleep[2] and not world.asleep[3]


# ---- materials that change while it runs -------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["ball", "ground"])
@pytest.mark.parametrize("keywords", [{}, {"solver": "pgs"}, {"friction_points": "point"}], ids=str)
def test_rolling_friction_comes_and_goes(which, keywords):
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body(
        "ball", shape=mc.Sphere(RADIUS), position=(0, 0, RADIUS), velocity=(2, 0, 0), angular_velocity=(0, 2 / RADIUS, 0)
    )
    world = mc.World(scene, **keywords)
    world.step(30)
    assert world.velocities[1, 0] == pytest.approx(2.0, rel=1e-4) and not rolling_impulses(world).any()
    world.set_material(which, mc.Material(rolling_friction=0.005))
    world.step(30)
    slowed = 2.0 - 0.5 * 5 / 7 * G * 0.005 / RADIUS
    assert world.velocities[1, 0] == pytest.approx(slowed, rel=1e-3) and rolling_impulses(world).any()
    speed = world.velocities[1, 0]
    world.set_material(which, mc.Material())
    world.step(30)
    assert world.velocities[1, 0] == pytest.approx(speed, rel=1e-4) and not rolling_impulses(world).any()


def test_a_changed_material_is_as_if_it_had_always_been():
    """Before anything touches: the world goes on to the bits of one that had the material from the start."""

    def world(material):
        scene = mc.Scene()
        scene.add_body("ground", kind="static", shape=mc.Box((5, 5, 0.1)), position=(0, 0, -0.1))
        for i, shape in enumerate((mc.Sphere(0.2), mc.Cylinder(0.2, 0.1), mc.Box((0.2, 0.1, 0.1)))):
            scene.add_body(f"b{i}", shape=shape, position=(i, 0, 1), angular_velocity=(1, 2, 3), material=material)
        return mc.World(scene)

    resisting = mc.Material(0.5, 0.0, 0.01, 0.02, (0.3, 0, 0))
    found, expected = world(mc.Material(0.5)), world(resisting)
    found.step(5)
    expected.step(5)
    for i in range(3):
        found.set_material(f"b{i}", resisting)
    for each in (found, expected):
        each.step(120)
    assert found.state_hash() == expected.state_hash() and rolling_impulses(found).any()


def belts(junk=True):
    scene = mc.Scene()
    if junk:
        scene.add_body("junk", kind="static", shape=[mc.Sphere(0.2), mc.Box((0.1, 0.1, 0.1))], position=(0, 30, 0))
    for i, speed in enumerate((0.5, -0.8)):
        scene.add_body(
            f"belt{i}",
            kind="static",
            shape=mc.Box((20, 1, 0.1)),
            position=(0, 4 * i, -0.1),
            material=mc.Material(surface_velocity=(speed, 0, 0)),
        )
        if junk:
            scene.add_body(f"junk{i}", shape=mc.Sphere(0.2), position=(0, 4 * i, 20), gravity_scale=0.0)
        scene.add_body(f"box{i}", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 4 * i, 0.2))
    return mc.World(scene)


def test_belts_carry_on_when_bodies_before_and_between_are_removed():
    world, other = belts(), belts(False)
    for each in (world, other):
        each.step(3)
    world.remove_bodies(["junk", "junk1"])
    world.remove_body("junk0")
    assert world.body_names == other.body_names
    for each in (world, other):
        each.step(90)
    assert np.allclose(world.positions, other.positions, atol=1e-12)
    assert world.body("box0").velocity[0] == pytest.approx(0.5, rel=1e-6)
    assert world.body("box1").velocity[0] == pytest.approx(-0.8, rel=1e-6)
    world.remove_body("belt0")
    world.step(30)
    assert world.body("box0").position[2] < -0.5 and world.body("box1").velocity[0] == pytest.approx(-0.8, rel=1e-6)


def test_a_belt_that_comes_while_it_runs_carries():
    """The first shape that resists comes to a world without any, and goes again."""
    scene = mc.Scene()
    scene.add_body("box", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.3))
    scene.add_body("floor", kind="static", shape=mc.Box((20, 1, 0.1)), position=(0, 0, -0.6))
    world = mc.World(scene)
    world.step(2)
    world.add_body(
        "belt",
        kind="static",
        shape=mc.Box((20, 1, 0.1)),
        position=(0, 0, -0.1),
        material=mc.Material(surface_velocity=(1, 0, 0)),
    )
    world.step(90)
    assert world.body("box").velocity[0] == pytest.approx(1.0, rel=1e-6)
    world.remove_body("belt")
    world.step(150)
    assert abs(world.body("box").velocity[0]) < 1e-6 and world.body("box").position[2] == pytest.approx(-0.3, abs=1e-3)


# ---- settings of bodies ----------------------------------------------------------------------------------------------

SETTINGS = {"gravity_scale": 0.25, "linear_damping": 0.5, "angular_damping": 0.75, "bullet": True}


def settings(world, name):
    return {field: getattr(world.body(name), field) for field in SETTINGS}


def test_settings_stay_through_changes_and_come_back():
    world = belts()
    before, plain = world.snapshot(), settings(world, "box0")
    first = world.state_hash()
    for field, value in SETTINGS.items():
        setattr(world.body("box0"), field, value)
    assert world.state_hash() != first
    world.remove_body("junk")
    world.set_body("box0", density=500.0)
    world.add_body("more", shape=mc.Sphere(0.1), position=(0, 0, 9))
    assert settings(world, "box0") == SETTINGS and settings(world, "box1") == settings(world, "more") == plain
    for other in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert settings(other, "box0") == SETTINGS and other.state_hash() == world.state_hash()
    world.set_body("box0", bullet=False, linear_damping=2.0)
    assert settings(world, "box0") == SETTINGS | {"bullet": False, "linear_damping": 2.0}
    world.restore(before)
    assert settings(world, "box0") == plain and world.state_hash() == first


@pytest.mark.parametrize("field", SETTINGS)
def test_a_setting_wakes_its_body(field):
    world = on_a_slope()
    world.step(150)
    setattr(world.body("ball1"), field, SETTINGS[field])
    assert world.asleep.tolist() == [False, True, False, True, False]


# ---- forces and platforms, asleep ------------------------------------------------------------------------------------


@pytest.mark.parametrize("doing", ["apply_forces", "apply_impulses"])
def test_arrays_of_forces_wake_whom_they_push(doing):
    world = on_a_slope()
    world.step(150)
    assert world.asleep[1:4].all()
    values = np.zeros((5, 3))
    values[2, 0] = 5.0
    getattr(world, doing)(values)
    world.step()
    assert world.asleep.tolist() == [False, True, False, True, False] and world.velocities[2, 0] > 0.0


def test_a_platform_wakes_and_carries_what_slept_on_it():
    scene = mc.Scene()
    scene.add_body("platform", kind="kinematic", shape=mc.Box((1, 1, 0.1)), position=(0, 0, -0.1))
    scene.add_body("box", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1))
    world = mc.World(scene)
    world.step(120)
    assert world.asleep[1]
    for k in range(1, 121):  # slower than what counts as still
        world.move_to("platform", (0.005 * k * world.dt, 0, -0.1))
        world.step()
        assert world.asleep[1] == (k > 30)  # it sleeps anew on what goes on steadily
    assert world.positions[1, 0] == pytest.approx(0.01, rel=0.02)
    for k in range(120):
        world.move_to("platform", world.positions[0])
        world.step()
        assert world.asleep[1] == (k >= 30)


# ---- the tunnelling guard --------------------------------------------------------------------------------------------


def shot_at(world, name, target, speed=200.0):
    world.add_body(
        name,
        shape=mc.Sphere(0.01),
        position=np.add(target, (-5.0, 0.013, 0.02)),
        velocity=(speed, 0, 0),
        gravity_scale=0.0,
        bullet=True,
    )
    world.step(10)
    return world.body(name).position[0] < target[0]


def test_shots_stop_at_walls_that_came_and_changed():
    """The collider changes under the tunnelling guard: bodies come, go, change their shapes and fall asleep."""
    scene = mc.Scene()
    scene.add_body("first", shape=mc.Sphere(0.2), position=(0, 20, 0), kind="static")
    scene.add_body("floor", shape=mc.Plane((0, 0, 1), -2.0), kind="static")
    world = mc.World(scene)
    for i in range(30):
        world.add_body(f"box{i}", shape=mc.Box((0.1, 0.1, 0.1)), position=(0.5 * i, 9, -1.9))
    world.add_body("wall", shape=mc.Box((0.005, 1, 1)), kind="static", position=(3, 0, 0))
    assert shot_at(world, "a", (3, 0, 0))
    world.remove_bodies(["first", "box3", "box4"])
    assert shot_at(world, "b", (3, 0, 0.3))
    world.set_pose("wall", (4, 0, 0))
    world.set_shape("wall", mc.Box((0.004, 0.5, 0.5)))
    assert shot_at(world, "c", (4, 0, -0.3))
    world.remove_bodies(["a", "b", "c"])
    world.step(120)
    assert world.asleep.sum() == 28
    assert shot_at(world, "d", (4, 0, 0.1))
    plate = world.add_body("plate", shape=mc.Box((0.005, 0.5, 0.5)), position=(30, 0, -1.5))
    world.step(90)
    assert world.body("plate").asleep
    world.add_body("e", shape=mc.Sphere(0.01), position=(25, 0.01, -1.4), velocity=(200, 0, 0), bullet=True)
    for _ in range(8):
        world.step()
        assert world.body("e").position[0] < plate.position[0]
    assert not world.body("plate").asleep


def room(half):
    """A closed box of triangles, as a mesh."""
    corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return mc.Mesh(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


@pytest.mark.parametrize("kind", ["static", "kinematic"])
@pytest.mark.parametrize("restitution", [0.0, 0.8])
def test_nothing_leaves_a_room_of_triangles(kind, restitution):
    shapes = [
        mc.Sphere(0.01),
        mc.Box((0.01, 0.01, 0.01)),
        mc.Box((0.1, 0.1, 0.004)),
        mc.Capsule(0.01, 0.05),
        mc.Cylinder(0.05, 0.01),
        mc.ConvexHull(np.random.default_rng(7).normal(size=(12, 3)) * 0.02),
    ]
    rng = np.random.default_rng(5)
    for shape in shapes:
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("room", kind=kind, shape=room(1.0), material=mc.Material(0.5, restitution))
        for i in range(4):
            d = rng.normal(size=3)
            scene.add_body(
                f"b{i}",
                shape=shape,
                position=rng.uniform(-0.6, 0.6, 3),
                velocity=60 * d / np.linalg.norm(d),
                angular_velocity=rng.normal(size=3) * 30,
                collision_mask=1,
                collision_group=2,
                material=mc.Material(0.5, restitution),
            )
        world = mc.World(scene)
        for _ in range(60):
            world.step()
            assert np.abs(world.positions[1:]).max() < 1.0, (shape, world.time)


def test_what_flies_where_a_mesh_has_no_triangle_flies_on():
    """Through the mesh's own origin, which is no point of it."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("mesh", kind="static", shape=room(1.0))
    scene.add_body("field", kind="static", shape=mc.HeightField(np.full((3, 3), -0.5), (1.0, 1.0)), position=(0, 0, 0.01))
    for i, radius in enumerate((0.01, 0.1)):
        scene.add_body(
            f"ball{i}",
            shape=mc.Sphere(radius),
            position=(-0.7, 0, 0.001),
            velocity=(50, 0, 0),
            collision_mask=1,
            collision_group=2,
        )
    world = mc.World(scene)
    start = world.positions.copy()
    world.step()
    assert np.allclose(world.positions[2:], start[2:] + (50 / 60, 0, 0), atol=1e-12)
