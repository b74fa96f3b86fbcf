"""Contact features: gaps against the collider's distances, and their derivatives against differences."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import multiply
from mcsim.event.active import contact_rows, gathered
from mcsim.event.features import FAR, Poses
from mcsim.event.pairs import contact_pairs

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(9, 3))
TURN = (0.8, 0.36, -0.48, 0.0)
A = {
    "plane": (mc.Plane((0.2, -0.3, 1.0), 0.1), 5.0),
    "sphere": (mc.Sphere(0.4, position=(0.1, 0.2, 0.0)), 0.0),
    "capsule": (mc.Capsule(0.3, 0.7, position=(0.1, 0.0, -0.2), orientation=TURN), 0.0),
    "box": (mc.Box((0.5, 0.8, 0.3), position=(0.1, 0.2, 0.0), orientation=TURN), 0.0),
    "hull": (mc.ConvexHull(0.5 * POINTS, position=(0.1, 0.2, 0.0)), 0.0),
}
B = {
    "sphere": mc.Sphere(0.25, position=(0.3, -0.1, 0.2)),
    "capsule": mc.Capsule(0.2, 0.5, position=(0.1, 0.2, 0.1)),
    "box": mc.Box((0.4, 0.2, 0.6), position=(0.1, 0.0, 0.2)),
    "hull": mc.ConvexHull(0.6 * POINTS[::-1]),
}
PAIRS = [
    ("plane", "sphere"),
    ("plane", "capsule"),
    ("plane", "box"),
    ("plane", "hull"),
    ("sphere", "sphere"),
    ("capsule", "sphere"),
    ("box", "sphere"),
    ("capsule", "capsule"),
    ("box", "capsule"),
    ("box", "box"),
    ("hull", "box"),
    ("hull", "hull"),
]


def scene_of(a, b):
    scene = mc.Scene()
    scene.add_body(
        "a",
        shape=A[a][0],
        kind="static" if a == "plane" else "dynamic",
        **({} if a == "plane" else {"mass": 1.0, "inertia": (1, 1, 1), "center_of_mass": (0.05, 0, 0)}),
    )
    scene.add_body("b", shape=B[b], mass=1.0, inertia=(1, 1, 1), center_of_mass=(0, 0.1, 0))
    return scene


def unit(q):
    return q / np.linalg.norm(q)


def moved(state, t):
    """Both bodies at constant v and w for a time t."""
    x, q, v, w = state
    turned = []
    for k in range(2):
        angle = np.linalg.norm(w[k]) * t
        axis = w[k] / np.linalg.norm(w[k])
        turned.append(multiply(np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis], q[k]))
    return Poses(x + t * v, np.array(turned), v, w)


def states(a, count):
    """Random ones, b near a."""
    for _ in range(count):
        x = np.zeros((2, 3))
        x[1] = RNG.normal(size=3)
        x[1] *= RNG.uniform(0.9, 2.5) / np.linalg.norm(x[1])
        x[1, 2] += 1.5 if a == "plane" else 0.0
        q = np.array([unit(RNG.normal(size=4)), unit(RNG.normal(size=4))])
        v, w = RNG.normal(size=(2, 2, 3))
        yield x, q, v, w


@pytest.mark.parametrize("a, b", PAIRS)
def test_rates_and_curvatures_are_derivatives(a, b):
    """phi' = R twists and phi'' = curvature at constant v and w, of every pair of features, as differences have them;
    along tangents the change of the slip velocity."""
    kinds = contact_pairs(scene_of(a, b), np.zeros((0, 2), int))
    checked = 0
    for state in states(a, 60 if a == "plane" else 12):
        h = 1e-4
        here, before, after = (moved(state, t) for t in (0.0, -h, h))
        for kind, pairs in enumerate(kinds):
            piece = pairs.pieces(here)
            gaps = [pairs.gaps(poses, piece) for poses in (before, here, after)]
            own = np.flatnonzero((np.max(np.abs(gaps), axis=0) < 10.0) & (gaps[1] > 0.02))
            if hasattr(pairs, "normals"):  # beyond the face's edge another piece gives the gap
                own = own[pairs.leaving(here, piece)[own] < gaps[1][own] - 0.02]
            own = own[:12]
            if not len(own):
                continue
            chosen = [(own, piece[own]) if k == kind else (own[:0], own[:0]) for k in range(len(kinds))]
            contacts = gathered(kinds, chosen)
            rows = [contact_rows(kinds, contacts, poses) for poses in (before, here, after)]
            rate = (gaps[2] - gaps[0])[own] / (2 * h)
            bend = (gaps[2] - 2 * gaps[1] + gaps[0])[own] / h**2
            scale = 1.0 + np.abs(bend)
            assert rows[1].rates[::3] == pytest.approx(rate, abs=1e-5 * np.max(scale, initial=1.0))
            assert np.max(np.abs(rows[1].curvature[::3] - bend) / scale, initial=0.0) < 1e-4
            slips = [np.einsum("kei,ke->ki", r.axes, r.rates.reshape(-1, 3)) for r in rows]
            change = np.einsum("kei,ki->ke", rows[1].axes, (slips[2] - slips[0]) / (2 * h))[:, 1:]
            sizes = 1.0 + np.abs(change)
            assert np.max(np.abs(rows[1].curvature.reshape(-1, 3)[:, 1:] - change) / sizes, initial=0.0) < 1e-4
            checked += len(own)
    assert checked > 10


@pytest.mark.parametrize("a, b", PAIRS)
def test_gaps_are_the_colliders_distances(a, b):
    """The smallest gap is the distance between the two shapes where that is reached by features known here, and never
    less than it."""
    scene = scene_of(a, b)
    world = mc.World(scene)
    kinds = contact_pairs(scene, np.zeros((0, 2), int))
    met = 0
    for x, q, v, w in states(a, 30):
        if a == "plane":
            x[0], q[0] = world.positions[0], world.orientations[0]
        world.positions[:], world.orientations[:] = x, q
        poses = Poses(x, q, v, w)
        gap = min(float(np.min(pairs.gaps(poses, pairs.pieces(poses)), initial=FAR)) for pairs in kinds)
        distance = world.distance("a", "b").distance
        for pairs in kinds:
            if hasattr(pairs, "separations") and abs(distance) > 1e-6:
                assert (pairs.separations(poses)[0] > 0.0) == (distance > 0.0)
        if distance < 0.0:
            continue
        if b in ("box", "hull") and a != "plane":  # distances to corners come from no single plane
            assert 0.0 < gap < distance + 1e-6
        else:
            assert gap == pytest.approx(distance, abs=1e-6)
        met += 1
    assert met > 10


def test_what_is_not_known_is_refused_by_name():
    scene = mc.Scene()
    scene.add_body("ground", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("coin", shape=mc.Cylinder(0.3, 0.1), mass=1.0)
    with pytest.raises(mc.SceneError, match="cylinder of body 'coin'.*collision groups"):
        mc.World(scene, contact="event")
    scene = mc.Scene()
    for name, shape in (("rod", mc.Capsule(0.1, 0.5)), ("stone", mc.ConvexHull(POINTS))):
        scene.add_body(name, shape=shape, mass=1.0)
    with pytest.raises(mc.SceneError, match="'stone'.*'rod'"):
        mc.World(scene, contact="event")
    scene = mc.Scene()
    scene.add_body("roller", shape=mc.Sphere(0.1), mass=1.0, material=mc.Material(rolling_friction=0.01))
    with pytest.raises(mc.SceneError, match="roller.*leave rolling_friction out"):
        mc.World(scene, contact="event")
