"""Mass properties against oracles that share no code with them: quadrature, tetrahedra, MuJoCo, covariance."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

import mcsim as mc
from amounts import amount
from mcsim.core.errors import SceneError
from mcsim.scene import Box, Capsule, ConvexHull, Cylinder, Plane, Scene, Sphere
from mcsim.scene.mass import inertia_problem

GAUSS, WEIGHTS = np.polynomial.legendre.leggauss(8)
SHAPES = [
    Sphere(0.7),
    Box((0.2, 0.5, 1.3)),
    Capsule(0.3, 0.9),
    Capsule(0.4, 0.0),
    Cylinder(0.6, 0.25),
    ConvexHull([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3], [1, 1, 1]]),
    Box((0.2, 0.5, 1.3), rounding=0.1),
    Cylinder(0.6, 0.25, rounding=0.1),
    ConvexHull([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3], [1, 1, 1]], rounding=0.1),
]


def close(a, b, tolerance=1e-12):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert np.abs(a - b).max() <= tolerance * max(np.abs(b).max(), 1e-300), f"{a}\n{b}"


def revolved(pieces):
    """Volume and moments of a solid of revolution about z: pieces of (z0, z1, radius squared as a function of z)."""
    volume = across = along = 0.0
    for z0, z1, square in pieces:
        z, w = (z0 + z1) / 2 + (z1 - z0) / 2 * GAUSS, (z1 - z0) / 2 * WEIGHTS
        r2 = square(z)
        volume += np.sum(w * np.pi * r2)
        along += np.sum(w * np.pi * r2**2 / 2)
        across += np.sum(w * np.pi * (r2**2 / 4 + r2 * z * z))
    return volume, np.diag([across, across, along])


def tetrahedra(points, about=None):
    """Volume, centroid and inertia of the hull of points: 4-point Gauss in each Delaunay tetrahedron (degree 2)."""
    points = np.asarray(points, float)
    corners = points[Delaunay(points).simplices]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    near, far = (5 + 3 * math.sqrt(5)) / 20, (5 - math.sqrt(5)) / 20
    samples = np.einsum("ij,tjk->tik", np.full((4, 4), far) + (near - far) * np.eye(4), corners).reshape(-1, 3)
    weights = np.repeat(volumes / 4, 4)
    center = weights @ samples / weights.sum()
    d = samples - center
    second = np.einsum("s,si,sj->ij", weights, d, d)
    return weights.sum(), center, np.trace(second) * np.eye(3) - second


def test_solids_of_revolution_match_quadrature():
    r, h = 0.37, 0.81
    cases = [
        (Sphere(r), [(-r, r, lambda z: r * r - z * z)]),
        (Cylinder(r, h), [(-h, h, lambda z: r * r + 0 * z)]),
        (
            Capsule(r, h),
            [
                (-h - r, -h, lambda z: r * r - (z + h) ** 2),
                (-h, h, lambda z: r * r + 0 * z),
                (h, h + r, lambda z: r * r - (z - h) ** 2),
            ],
        ),
    ]
    for shape, pieces in cases:
        volume, moments = revolved(pieces)
        properties = shape.mass_properties(3.0)
        close(shape.volume, volume)
        close(properties.mass, 3 * volume)
        close(properties.inertia, 3 * moments)
        assert not properties.center.any()


def test_box_matches_quadrature():
    half = np.array([0.3, 0.7, 1.9])
    grid = np.array(np.meshgrid(GAUSS, GAUSS, GAUSS, indexing="ij")).reshape(3, -1).T * half
    weights = np.einsum("i,j,k->ijk", WEIGHTS, WEIGHTS, WEIGHTS).ravel() * half.prod() * 2.5
    second = np.einsum("s,si,sj->ij", weights, grid, grid)
    properties = Box(half).mass_properties(2.5)
    close(properties.mass, weights.sum())
    close(properties.inertia, np.trace(second) * np.eye(3) - second)


def test_capsule_without_length_is_a_sphere():
    close(Capsule(0.4, 0.0).mass_properties(7.0).inertia, Sphere(0.4).mass_properties(7.0).inertia)


@pytest.mark.parametrize("seed", range(20))
def test_random_hull_matches_tetrahedra(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(4, 60)), 3)) * rng.uniform(0.1, 3, 3) + rng.normal(size=3)
    volume, center, inertia = tetrahedra(points)
    properties = ConvexHull(points).mass_properties(2.0)
    close(properties.mass, 2 * volume)
    close(properties.center, center)
    close(properties.inertia, 2 * inertia)


def test_hull_of_a_box_is_the_box():
    half = np.array([0.2, 0.3, 0.5])
    corners = [half * (x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    hull, box = ConvexHull(corners).mass_properties(1000.0), Box(half).mass_properties(1000.0)
    close(hull.mass, box.mass)
    close(hull.inertia, box.inertia)
    assert np.abs(hull.center).max() < 1e-16


def test_regular_solids_match_their_closed_forms():
    golden = (1 + math.sqrt(5)) / 2
    icosahedron = [p for a in (-1, 1) for b in (-golden, golden) for p in ((0, a, b), (a, b, 0), (b, 0, a))]
    cases = [  # corners, edge, volume / edge³, moment / (mass edge²)
        ([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], 2 * math.sqrt(2), 1 / (6 * math.sqrt(2)), 1 / 20),
        ([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], math.sqrt(2), math.sqrt(2) / 3, 1 / 10),
        (icosahedron, 2.0, 5 * (3 + math.sqrt(5)) / 12, golden**2 / 10),
    ]
    for corners, edge, volume, moment in cases:
        properties = ConvexHull(corners).mass_properties(1.0)
        close(properties.mass, volume * edge**3)
        close(properties.inertia, moment * properties.mass * edge**2 * np.eye(3))


@pytest.mark.parametrize("distance", [1e3, 1e6])
def test_hull_far_from_the_origin(distance):
    """Nothing cancels: the result is as exact as the points themselves, which the oracle sees moved back exactly."""
    offset = distance * np.array([1.0, -2.0, 0.5])
    points = np.random.default_rng(5).normal(size=(40, 3)) + offset
    volume, center, inertia = tetrahedra(points - offset)
    properties = ConvexHull(points).mass_properties(1.0)
    close(properties.mass, volume)
    close(properties.inertia, inertia)
    assert np.abs(properties.center - offset - center).max() < 1e-15 * distance * 4


@settings(deadline=None, max_examples=amount(20, 60), derandomize=True)
@given(st.integers(0, len(SHAPES) - 1), st.integers(0, 2**32 - 1))
def test_placing_a_shape_moves_and_turns_its_properties(which, seed):
    rng = np.random.default_rng(seed)
    shape, position, turn = SHAPES[which], rng.normal(size=3), Rotation.random(random_state=rng)
    placed = {"position": position, "orientation": turn.as_quat(scalar_first=True)}
    moved = type(shape)(*own_arguments(shape), **placed, **({"rounding": shape.rounding} if shape.rounding else {}))
    r, before, after = turn.as_matrix(), shape.mass_properties(800.0), moved.mass_properties(800.0)
    assert after.mass == before.mass and math.isclose(after.mass, 800.0 * shape.volume, rel_tol=1e-14)
    close(after.center, position + r @ before.center, 1e-14)
    close(after.inertia, r @ before.inertia @ r.T, 1e-14)
    assert (after.inertia == after.inertia.T).all()


def own_arguments(shape):
    """The arguments of a shape but for those that all shapes take."""
    return [
        value
        for name, value in shape._arguments.items()
        if name not in ("position", "orientation", "material", "density", "sensor", "rounding")
    ]


def test_a_cut_box_is_the_whole_box():
    """The parallel-axis theorem: a box made of 8 turned and moved boxes has the properties of one."""
    turn = Rotation.from_rotvec([0.3, -1.0, 0.5])
    q, r = turn.as_quat(scalar_first=True), turn.as_matrix()
    half, center = np.array([0.4, 0.6, 1.0]), np.array([1.0, -2.0, 3.0])
    parts = [
        Box(half / 2, position=center + r @ (half / 2 * (x, y, z)), orientation=q)
        for x in (-1, 1)
        for y in (-1, 1)
        for z in (-1, 1)
    ]
    scene = Scene()
    whole = scene.add_body("whole", shape=Box(half, position=center, orientation=q), density=300.0)
    cut = scene.add_body("cut", shape=parts, density=300.0)
    close(cut.mass, whole.mass)
    close(cut.center_of_mass, whole.center_of_mass)
    close(cut.inertia, whole.inertia)


def test_compound_matches_mujoco():
    """Shapes of all kinds with their own densities on one body."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(3)
    shapes, geoms = [], []
    for shape, kind, size in [
        (Sphere, "sphere", [0.3]),
        (Box, "box", [0.2, 0.3, 0.4]),
        (Capsule, "capsule", [0.1, 0.5]),
        (Cylinder, "cylinder", [0.25, 0.3]),
    ]:
        position, density = rng.normal(size=3), float(rng.uniform(100, 5000))
        q = Rotation.random(random_state=rng).as_quat(scalar_first=True)
        arguments = [size] if shape is Box else size
        shapes.append(shape(*arguments, position=position, orientation=q, density=density))
        numbers = {"size": size, "pos": position, "quat": q, "density": [density]}
        geoms.append(
            f"<geom type='{kind}' "
            + " ".join(f"{name}='{' '.join(map(repr, map(float, value)))}'" for name, value in numbers.items())
            + "/>"
        )
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body><freejoint/>{''.join(geoms)}</body></worldbody></mujoco>"
    )
    body = Scene().add_body("all", shape=shapes)
    r = Rotation.from_quat(model.body_iquat[1], scalar_first=True).as_matrix()
    close(body.mass, model.body_mass[1], 1e-10)
    close(body.center_of_mass, model.body_ipos[1], 1e-10)
    close(body.inertia, r @ np.diag(model.body_inertia[1]) @ r.T, 1e-10)


def test_densities_and_mass():
    scene = Scene()
    default = scene.add_body(shape=Sphere(0.5))
    close(default.mass, 1000 * math.pi / 6)
    light = scene.add_body(shape=[Sphere(0.5, density=10.0), Sphere(0.5, position=(2, 0, 0))], density=30.0)
    close(light.mass, 40 * math.pi / 6)
    close(light.center_of_mass, (1.5, 0, 0))
    scaled = scene.add_body(shape=[Sphere(0.5, density=10.0), Sphere(0.5, position=(2, 0, 0), density=30.0)], mass=7.0)
    assert math.isclose(scaled.mass, 7.0, rel_tol=1e-15)
    close(scaled.inertia, light.inertia * 7 / light.mass)
    close(scaled.center_of_mass, light.center_of_mass)


def test_given_mass_properties_are_taken_as_they_are():
    scene = Scene()
    full = [[2.0, 0.1, -0.2], [0.1, 3.0, 0.3], [-0.2, 0.3, 4.0]]
    body = scene.add_body(mass=5, inertia=full, center_of_mass=(1, 2, 3))
    assert body.mass == 5.0 and (body.inertia == full).all() and (body.center_of_mass == (1, 2, 3)).all()
    body = scene.add_body(shape=Sphere(1, position=(0, 0, 4)), mass=5, inertia=(1, 2, 3))
    assert (body.inertia == np.diag([1.0, 2.0, 3.0])).all() and (body.center_of_mass == (0, 0, 4)).all()
    assert (scene.add_body(mass=1, inertia=(1, 1, 2)).center_of_mass == 0).all()  # a flat disc is allowed


def test_bodies_that_forces_do_not_move():
    scene = Scene()
    ground = scene.add_body(kind="static", shape=[Plane((0, 0, 1)), Box((1, 1, 1), position=(0, 0, -3))])
    door = scene.add_body(kind="kinematic", shape=Box((1, 1, 1), position=(1, 0, 0)), center_of_mass=(0, 0, 0))
    ghost = scene.add_body(kind="kinematic")
    for body, center in ((ground, (0, 0, -3)), (door, (0, 0, 0)), (ghost, (0, 0, 0))):
        assert body.mass == 0.0 and not body.inertia.any() and (body.center_of_mass == center).all()


def test_a_plane_has_no_mass():
    assert Plane((0, 0, 1)).volume == math.inf
    with pytest.raises(SceneError, match="a plane has no mass"):
        Plane((0, 0, 1)).mass_properties(1.0)


@pytest.mark.parametrize(
    "moments, fragment",
    [
        ((1, 1, 1), None),
        ((1, 1, 2), None),
        ((1, 1, 2 + 1e-10), None),
        ((1, 1, 2.001), "triangle inequality"),
        ((0, 1, 1), "positive definite"),
        ((-1, 1, 1), "positive definite"),
        ((1e-9, 1, 1), None),
    ],
)
def test_which_inertia_is_possible(moments, fragment):
    problem = inertia_problem(np.diag(np.array(moments, float)))
    assert problem is None if fragment is None else fragment in problem


def test_unphysical_inertia_on_request():
    """It may break the triangle inequality, moves as its moments say, and a saved scene can be read again."""
    scene = Scene()
    with pytest.raises(SceneError, match="triangle inequality"):
        scene.add_body("odd", mass=1, inertia=(1, 1, 3))
    with pytest.raises(SceneError, match="positive definite"):
        scene.add_body("odd", mass=1, inertia=(1, 0, 3), unphysical_inertia=True)
    with pytest.raises(SceneError, match="unphysical_inertia must be True or False"):
        scene.add_body("odd", mass=1, inertia=(1, 1, 3), unphysical_inertia="yes")
    scene.add_body("odd", mass=1, inertia=(1, 1, 3), unphysical_inertia=True)
    assert Scene.from_dict(scene.to_dict()) == scene
    assert scene.to_dict()["bodies"][0]["unphysical_inertia"] is True
    world = mc.World(scene, dt=1e-3)
    world.apply_torque("odd", (0, 0, 6))
    world.step(1)
    assert world.angular_velocities[0, 2] == pytest.approx(2e-3)
