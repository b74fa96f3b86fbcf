"""Rows of bodies and shapes are to the bit what NumPy's formulas give of them, one alone and among many."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from mcsim.core import linear
from mcsim.core.rotation import conjugate, matrix
from mcsim.scene.mass import MassProperties
from mcsim.state.arrays import BodyArrays, ShapeArrays

parts = st.tuples(st.integers(0, 2**32 - 1), st.sampled_from(("dynamic", "kinematic", "static")), st.integers(1, 3))


def scene_of(seeds) -> mc.Scene:
    """Bodies of several shapes, turned and placed anyhow, with materials of all kinds."""
    scene = mc.Scene()
    for seed, kind, count in seeds:
        random = np.random.default_rng(seed)

        def unit():
            q = random.normal(size=4)
            return q / np.linalg.norm(q)

        def material():
            return mc.Material(
                friction=random.uniform(),
                restitution=random.choice([0.0, 0.4]),
                rolling_friction=random.uniform(),
                surface_velocity=random.normal(size=3),
                one_way=random.choice([None, 1.0]) and random.normal(size=3),
                stiffness=random.choice([None, 100.0]),
                name=random.choice([None, "ice", "rubber"]),
            )

        def place():
            return {"position": random.normal(size=3), "orientation": unit(), "material": random.choice([None, material()])}

        shapes = [mc.Box(random.uniform(0.1, 1.0, 3), **place())]
        shapes += [
            mc.Sphere(random.uniform(0.1, 1.0), sensor=bool(random.integers(2)), **place()) for _ in range(count - 1)
        ]
        moving = {} if kind == "static" else {"velocity": random.normal(size=3), "angular_velocity": random.normal(size=3)}
        scene.add_body(
            shape=shapes,
            kind=kind,
            position=random.normal(size=3),
            orientation=unit(),
            material=material(),
            gravity_scale=random.normal(),
            linear_damping=random.uniform(),
            bullet=bool(random.integers(2)),
            collision_group=int(random.integers(-(2**31), 2**31)),
            **moving,
        )
    return scene


def same(given, expected) -> bool:
    """To the bit, and the sign of zero."""
    return np.asarray(given, float).tobytes() == np.asarray(expected, float).tobytes()


def check_body(rows: BodyArrays, i: int, body) -> None:
    center = linear.product(matrix(body.orientation), body.center_of_mass)
    assert same(rows.position[i], body.position + center)
    assert same(rows.orientation[i], body.orientation)
    assert same(rows.twist[i], np.concatenate([body.velocity, body.angular_velocity]))
    assert rows.bullet[i] == body.bullet and rows.gravity_scale[i] == body.gravity_scale
    assert rows.linear_damping[i] == body.linear_damping and rows.mass[i] == body.mass
    if body.kind == "dynamic":
        inverse = linear.inverse(body.inertia)
        assert same(rows.inv_inertia[i], 0.5 * (inverse + inverse.T)) and same(rows.inertia[i], body.inertia)
        assert same(rows.inv_mass[i], 1.0 / body.mass)
    else:
        assert not rows.inv_inertia[i].any() and rows.inv_mass[i] == 0.0
    reaches = [linear.length(s.position - body.center_of_mass) + s.reach for s in body.shapes if not s.sensor]
    assert same(rows.reach[i], max(reaches, default=0.0))
    assert rows.bounces[i] == any((s.material or body.material).restitution > 0.0 for s in body.shapes)


def check_shape(record: np.void, number: int, body, shape) -> None:
    material, back = shape.material or body.material, matrix(conjugate(shape.orientation))
    assert (record["body"], record["group"], record["mask"]) == (number, body.collision_group, body.collision_mask)
    assert same(record["position"], shape.position - body.center_of_mass) and same(record["size"], shape.size)
    assert same(record["orientation"], shape.orientation) and record["sensor"] == shape.sensor
    assert same(record["surface_velocity"], linear.product(back, material.surface_velocity))
    assert same(record["one_way"], np.zeros(3) if material.one_way is None else linear.product(back, material.one_way))
    for name in ("friction", "restitution", "rolling_friction", "torsional_friction"):
        assert record[name] == getattr(material, name)
    stiffness = material.stiffness or 0.0
    assert (record["stiffness"], record["tangential_stiffness"], record["damping"]) == (stiffness, stiffness, 0.0)


@settings(deadline=None)
@given(st.lists(parts, min_size=1, max_size=6))
def test_rows_are_what_the_formulas_give(seeds):
    scene = scene_of(seeds)
    rows, records = BodyArrays.from_scene(scene), iter(ShapeArrays(scene).shapes)
    for i, body in enumerate(scene.bodies):
        check_body(rows, i, body)
        for shape in body.shapes:
            check_shape(next(records), i, body, shape)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_solid_is_placed_by_the_formulas(seed):
    random = np.random.default_rng(seed)
    q, inertia = random.normal(size=4), random.normal(size=(3, 3))
    q, inertia, center, position = q / np.linalg.norm(q), inertia + inertia.T, random.normal(size=3), random.normal(size=3)
    placed = MassProperties(2.0, center, inertia).placed(position, q)
    turned = linear.product(matrix(q), inertia, matrix(q).T)
    assert same(placed.center, position + linear.product(matrix(q), center))
    assert same(placed.inertia, (turned + turned.T) / 2) and placed.mass == 2.0


def test_sizes_are_reaches_or_radii_of_gyration():
    scene = mc.Scene()
    scene.add_body(shape=mc.Box((0.3, 0.4, 1.2)))
    scene.add_body(mass=2.0, inertia=(1.0, 1.5, 2.0))
    scene.add_body(shape=mc.Plane((0, 0, 1)), kind="static")
    sizes = BodyArrays.from_scene(scene).sizes()
    assert sizes == pytest.approx([1.3, 1.5, 0.0], rel=1e-15)
    assert np.isinf(BodyArrays.from_scene(scene).lengths()[2])
