"""Wind on shapes: areas across it, drag and lift against closed forms, and what must hold whatever the shape."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount

WORLDS = [mc.World, mc.ReducedWorld]
every_world = pytest.mark.parametrize("kind", WORLDS)
CORNERS = [(x, y, z) for x in (-0.1, 0.1) for y in (-0.2, 0.2) for z in (-0.3, 0.3)]
SHAPES = {
    "sphere": mc.Sphere(0.2),
    "box": mc.Box((0.1, 0.2, 0.3)),
    "hull": mc.ConvexHull(CORNERS),
    "capsule": mc.Capsule(0.1, 0.3),
    "cylinder": mc.Cylinder(0.2, 0.1),
    "cone": mc.Cone(0.2, 0.3),
}
unit = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: 0.1 < math.hypot(*v))
numbers = st.tuples(*[st.floats(-5.0, 5.0)] * 3)


def one(shape, kind=mc.World, **body):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("b", shape=shape, **({"mass": 1.0} | body))
    return kind(scene, dt=1 / 500)


def blown(world, wind, **numbers):
    """(6,) force and torque of the wind on the only body."""
    before = world.forces[0].copy()
    world.apply_wind(wind, **numbers)
    found = world.forces[0] - before
    world.forces[0] = before
    return found


def turned(axis, angle):
    return mc.rotation.from_axis_angle(np.array(axis, float), angle)


# ---- closed forms ----------------------------------------------------------------------------------------------------


def across(name, way):
    """The area across a way [m²] of a shape, in its own axes."""
    x, y, z = np.abs(way) / np.linalg.norm(way)
    if name == "sphere":
        return math.pi * 0.04
    if name in ("box", "hull"):
        return 4 * (0.2 * 0.3 * x + 0.1 * 0.3 * y + 0.1 * 0.2 * z)
    level = math.hypot(x, y)
    if name == "capsule":
        return math.pi * 0.01 + 4 * 0.1 * 0.3 * level
    return math.pi * 0.04 * z + 4 * 0.2 * 0.1 * level


@pytest.mark.parametrize("name", ["sphere", "box", "hull", "capsule", "cylinder"])
@pytest.mark.parametrize("way", [(1, 0, 0), (0, 0, 1), (3, -2, 1), (-1, 1, 4)])
@every_world
def test_drag_is_of_the_area_across_the_wind(kind, name, way):
    turn = turned((1, 2, -1), 0.7)
    world = one(SHAPES[name], kind, orientation=turn)
    wind = 3.0 * np.array(way, float)
    found = blown(world, wind, drag=0.8, density=1.3)
    area = across(name, mc.rotation.rotate(mc.rotation.conjugate(turn), wind))
    wanted = 0.5 * 1.3 * 0.8 * area * np.linalg.norm(wind) * wind
    within = 1e-12 if name in ("sphere", "box", "hull") else 0.03
    assert found[:3] == pytest.approx(wanted, rel=within, abs=within * np.abs(wanted).max())
    assert found[3:] == pytest.approx(0.0, abs=0.01 * np.abs(wanted).max())


@pytest.mark.parametrize("angle", [0.1, 0.5, 1.0, 1.5])
def test_a_plate_has_lift_across_the_wind(angle):
    """Its windward face leans by `angle` from the wind: drag of s, lift of s cos, both of A |w|² / 2 rho, s the sine."""
    plate, rho, speed = mc.Box((0.5, 0.5, 1e-9)), 1.2, 6.0
    world = one(plate, mass=1.0, inertia=(0.1, 0.1, 0.2), orientation=turned((0, 1, 0), -angle))
    found = blown(world, (speed, 0, 0), drag=0.9, lift=0.4, density=rho)
    s, c = math.sin(angle), math.cos(angle)
    q = 0.5 * rho * speed**2 * 1.0 * s
    assert found[:3] == pytest.approx((0.9 * q, 0, 0.4 * q * c * math.copysign(1, found[2])), rel=1e-6, abs=1e-6)
    assert found[2] < 0, "its nose down, so is the push"


def test_terminal_velocity():
    """Where drag is the weight; and a body that goes with the wind feels nothing."""
    scene = mc.Scene()
    scene.add_body("ball", shape=mc.Sphere(0.1), mass=0.05, position=(0, 0, 100))
    for kind in WORLDS:
        world = kind(scene, dt=1 / 200)
        for _ in range(1600):
            world.apply_wind((2.0, 0, 0), drag=0.47)
            world.step()
        fall = math.sqrt(2 * 0.05 * 9.81 / (1.2 * 0.47 * math.pi * 0.01))
        assert world.velocities[0] == pytest.approx((2.0, 0, -fall), abs=1e-3)
    still = one(SHAPES["box"], velocity=(1, 2, 3))
    assert np.array_equal(blown(still, (1, 2, 3), lift=1.0), np.zeros(6))


def test_a_vane_turns_into_the_wind():
    """Its tail is blown behind the pivot."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body(
        "vane", shape=mc.Box((0.2, 0.005, 0.2)), position=(0, 0.5, 0), orientation=turned((0, 0, 1), math.pi / 2)
    )
    scene.add_joint(mc.HingeJoint(None, "vane", (0, 0, 0), (0, 0, 1), friction=0.01, name="h"))
    for kind in WORLDS:
        world = kind(scene, dt=1 / 200)
        for _ in range(2000):
            world.apply_wind((10.0, 0, 0), drag=1.0, lift=1.0)
            world.step()
        assert world.joint("h").position == pytest.approx(-math.pi / 2, abs=0.2)


# ---- what must hold --------------------------------------------------------------------------------------------------


@given(name=st.sampled_from(sorted(SHAPES)), v=numbers, w=numbers, axis=unit, angle=st.floats(0, 3), lift=st.floats(0, 2))
@settings(max_examples=amount(20, 200))
def test_still_air_takes_energy(name, v, w, axis, angle, lift):
    """Whatever its shape, its motion and its lift: each face is slowed."""
    world = one(SHAPES[name], orientation=turned(axis, angle), velocity=v, angular_velocity=w)
    found = blown(world, (0, 0, 0), drag=1.0, lift=lift)
    assert found @ np.concatenate([v, w]) <= 1e-9 * (1.0 + np.linalg.norm(found) * 10)


@given(name=st.sampled_from(sorted(SHAPES)), wind=numbers, v=numbers, w=numbers, axis=unit, angle=st.floats(0, 3))
@settings(max_examples=amount(20, 200))
def test_a_turned_and_moving_frame_has_the_same_wind(name, wind, v, w, axis, angle):
    turn, drift = turned(axis, angle), np.array([1.0, -2.0, 0.5])
    plain = one(SHAPES[name], velocity=v, angular_velocity=w)
    wind, v, w = (np.array(part, float) for part in (wind, v, w))
    rotate = mc.rotation.rotate
    moved = one(
        SHAPES[name],
        orientation=turn,
        velocity=rotate(turn, v) + drift,
        angular_velocity=rotate(turn, w),
        position=(3, 1, 2),
    )
    first = blown(plain, wind, drag=0.7, lift=0.5)
    second = blown(moved, rotate(turn, wind) + drift, drag=0.7, lift=0.5)
    wanted = np.concatenate([rotate(turn, first[:3]), rotate(turn, first[3:])])
    assert second == pytest.approx(wanted, abs=1e-9 * (1.0 + np.abs(wanted).max() * 10))


def test_a_compound_has_what_its_shapes_have():
    """Each about the common centre of mass; a sensor has nothing; a box told by a hull is a box."""
    parts = [mc.Box((0.1, 0.1, 0.1), position=(x, 0, 0)) for x in (-0.5, 0.5)]
    world = one([*parts, mc.Sphere(0.5, sensor=True)], angular_velocity=(0, 0, 4))
    alone = [one(mc.Box((0.1, 0.1, 0.1)), velocity=(0, 4 * x, 0), angular_velocity=(0, 0, 4)) for x in (-0.5, 0.5)]
    found, each = blown(world, (0, 0, 0)), [blown(w, (0, 0, 0)) for w in alone]
    assert found[:3] == pytest.approx(each[0][:3] + each[1][:3], abs=1e-12)
    assert found[5] == pytest.approx(sum(e[5] + x * e[1] for e, x in zip(each, (-0.5, 0.5))), rel=1e-9)
    assert blown(one(SHAPES["hull"]), (1, 2, 3)) == pytest.approx(
        blown(one(SHAPES["box"]), (1, 2, 3)), rel=1e-12, abs=1e-12
    )


@every_world
def test_whom_it_blows(kind):
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for k in range(3):
        scene.add_body(f"b{k}", shape=mc.Sphere(0.1), position=(k, 0, 1), enabled=k < 2)
    world = kind(scene, dt=1 / 100)
    world.apply_wind((5, 0, 0))
    assert (world.forces[:, 0] > 0).tolist() == [False, True, True, False]
    world.step()
    assert not world.forces.any(), "through the next call of step alone"
    world.apply_wind((5, 0, 0), ["b1", world.body("b1")])
    single = blown(one(mc.Sphere(0.1)), (5, 0, 0))[0]
    assert world.forces[2, 0] > 1.9 * single and world.forces[1, 0] == 0
    for act, words in (
        (lambda: world.apply_wind((5, 0)), "velocity must be 3 numbers"),
        (lambda: world.apply_wind((5, 0, 0), ["floor"]), "body 'floor' is static; only dynamic bodies feel forces"),
        (lambda: world.apply_wind((5, 0, 0), "b1"), "bodies must be a list of bodies"),
        (lambda: world.apply_wind((5, 0, 0), drag=-1), "World.apply_wind: drag must not be negative, got -1"),
        (lambda: world.apply_wind((5, 0, 0), density=np.nan), "density must be finite"),
        (lambda: world.apply_wind((1e200, 0, 0)), "more than a number can hold"),
    ):
        before = world.state_hash()
        with pytest.raises(mc.SceneError, match=words):
            act()
        assert world.state_hash() == before


@every_world
def test_many_at_once_are_as_one_after_the_other(kind):
    """Whatever their shapes, some of them shared, compounds among them: to the bit."""
    scene, rng = mc.Scene(), np.random.default_rng(4)
    shapes = [*SHAPES.values(), mc.Ellipsoid((0.1, 0.2, 0.3)), mc.TaperedCapsule(0.1, 0.2, 0.3)]
    for k in range(3 * len(shapes)):
        turn, parts = rng.normal(size=4), [shapes[k % len(shapes)], mc.Sphere(0.1, position=(0.3, 0, 0))]
        scene.add_body(
            shape=parts if k % 3 == 0 else parts[0],
            position=(2.0 * k, 0, 0),
            orientation=turn / np.linalg.norm(turn),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
    together, apart = kind(scene), kind(scene)
    together.apply_wind((5.0, -2.0, 1.0), drag=1.1, lift=0.4)
    for i in range(len(scene.bodies)):
        apart.apply_wind((5.0, -2.0, 1.0), [i], drag=1.1, lift=0.4)
    assert np.array_equal(together.forces, apart.forces) and np.abs(together.forces).min(axis=0).max() > 0.0


def test_where_nothing_feels_it():
    scene = mc.Scene()
    scene.add_body("wall", kind="static", shape=mc.Box((1, 1, 1)))
    scene.add_body("ghost", shape=mc.Sphere(1.0, sensor=True), mass=1.0, inertia=(1, 1, 1), position=(5, 0, 0))
    world = mc.World(scene)
    world.apply_wind((5, 0, 0))
    assert not world.forces.any()
