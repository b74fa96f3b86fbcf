"""What joints carry: against statics, and against the force that keeps a mass on its circle."""

import numpy as np
import pytest

import mcsim as mc
from joint_settings import every_joint_solver
from reduced_models import DOWN, G, rod_inertia


def at_rest(scene, held, steps=240):
    """A world that has come to rest; sweeps over rows need more of them for that."""
    keywords = held.keywords | ({"iterations": 100} if held.keywords["joint_solver"] == "rows" else {})
    world = mc.World(scene, **keywords)
    world.step(steps)
    return world


def tree_loads(world, parents):
    """Force and torque about its point that joint k, between bodies parents[k] and k, must put on k, at present.

    parents[k] < k; -1 is the world. All that hangs on k is in balance, so the joint carries its weight and its moment.
    """
    loads = np.zeros((len(parents), 6))
    for k in range(len(parents)):
        point = joint_point(world, k)
        inside = {k}
        for j in range(k + 1, len(parents)):
            if parents[j] in inside:
                inside.add(j)
        for j in inside:
            weight = world.masses[j] * DOWN
            loads[k, :3] -= weight
            loads[k, 3:] -= np.cross(world.positions[j] - point, weight)
    return loads


def joint_point(world, k):
    """Where a joint's point of body b is now: its place at the start, carried by the body."""
    joint = world.scene.joints[k]
    body = world.body(joint.b)
    w, *u = body.orientation
    local = np.asarray(joint.frame_b[0])
    return body.position + local + 2 * np.cross(u, np.cross(u, local) + w * local)


def carried(world, count):
    return np.array([[*world.joint(k).force, *world.joint(k).torque] for k in range(count)])


def check(world, parents, held):
    expected, found = tree_loads(world, parents), carried(world, len(parents))
    assert np.abs(found[:, :3] - expected[:, :3]).max() < held.force * np.abs(expected[:, :3]).max()
    assert np.abs(found[:, 3:] - expected[:, 3:]).max() < held.force * max(np.abs(expected[:, 3:]).max(), 1.0)


def chain(joint, points, masses, parents=None):
    """Bodies, each from one point to the next; joint(a, b, anchor) at each one's first point."""
    scene = mc.Scene()
    for k, mass in enumerate(masses):
        parent = k - 1 if parents is None else parents[k]
        start, end = points[parent + 1], points[k + 1]
        scene.add_body(
            f"b{k}",
            mass=mass,
            inertia=rod_inertia(end - start, mass, np.linalg.norm(end - start)),
            position=(start + end) / 2,
        )
        scene.add_joint(joint(None if parent < 0 else f"b{parent}", f"b{k}", start))
    return scene


@every_joint_solver
@pytest.mark.parametrize("masses", [(1.0,) * 10, (3, 1, 0.5, 2, 0.1, 4)], ids=["alike", "mixed"])
def test_a_hanging_chain(held, masses):
    """Each joint carries the weight below it."""
    points = np.array([(0, 0, -0.5 * k) for k in range(len(masses) + 1)])
    world = at_rest(chain(mc.BallJoint, points, masses), held)
    below = G * np.cumsum(np.array(masses)[::-1])[::-1]
    found = carried(world, len(masses))
    expected = np.zeros_like(found)
    expected[:, 2] = below
    assert np.abs(found - expected).max() < held.force * below[0]


@every_joint_solver
def test_a_hanging_chain_with_a_heavy_end(held):
    """1000 kg on ten links of 1 kg, at once: no time to settle."""
    if held.keywords["joint_solver"] == "rows":
        pytest.skip("sequential impulses need very many sweeps at 1000 : 1")
    masses = (1.0,) * 10 + (1000.0,)
    points = np.array([(0, 0, -0.5 * k) for k in range(12)])
    world = at_rest(chain(mc.BallJoint, points, masses), held, steps=1)
    check(world, range(-1, 10), held)


@every_joint_solver
def test_a_cantilever_of_welds(held):
    """Eight pieces welded in a row out of a wall: shear force and bending moment at each weld."""
    points = np.array([(0.25 * k, 0, 0) for k in range(9)])
    check(at_rest(chain(mc.FixedJoint, points, (1.0,) * 8), held), range(-1, 7), held)


@every_joint_solver
def test_a_bent_and_branched_frame_of_welds(held):
    """Out of a wall, round two corners, with a branch: shear, bending and torsion at every weld."""
    points = np.array([(0, 0, 0), (0.4, 0, 0), (0.4, 0.5, 0), (0.4, 0.5, 0.3), (0.9, 0, 0), (0.4, 0.5, -0.6)])
    parents = (-1, 0, 1, 0, 1)
    check(at_rest(chain(mc.FixedJoint, points, (2.0, 1.0, 0.5, 1.5, 0.7), parents), held), parents, held)


@every_joint_solver
def test_an_arch_of_three_hinges(held):
    """Two bars of 1 kg, their feet 2 m apart, the top 1 m up: each foot bears m g and pushes inwards with m g / 2.

    Where soft joints let the top sink, the thrust is that of the flatter arch.
    """
    scene = mc.Scene()
    for k, side in enumerate((-1, 1)):
        scene.add_body(f"b{k}", mass=1.0, inertia=rod_inertia((-side, 0, 1), 1.0, 2**0.5), position=(side / 2, 0, 0.5))
    for a, b, anchor in ((None, "b0", (-1, 0, 0)), (None, "b1", (1, 0, 0)), ("b0", "b1", (0, 0, 1))):
        scene.add_joint(mc.HingeJoint(a, b, anchor, (0, -1, 0)))
    world = at_rest(scene, held)
    found = carried(world, 3)[:, :3]
    foot, top = joint_point(world, 1), joint_point(world, 2)
    thrust = (foot - world.positions[1])[0] / (top - foot)[2]
    assert thrust == pytest.approx(0.5, rel=1e-3 if held.keywords["joint_solver"] == "rows" else held.force)
    expected = G * np.array([(thrust, 0, 1), (-thrust, 0, 1), (thrust, 0, 0)])
    assert np.abs(found - expected).max() < held.force * G


@every_joint_solver
def test_a_door_on_three_hinges(held):
    """How they share the load no statics can say; together they carry its weight and moment, none about their axis."""
    scene = mc.Scene()
    scene.add_body("door", mass=20.0, inertia=(3.0, 4.0, 1.5), position=(0.45, 0, 1.0))
    heights = (0.2, 1.0, 1.8)
    for z in heights:
        scene.add_joint(mc.HingeJoint(None, "door", (0, 0, z), (0, 0, 1)))
    world = at_rest(scene, held)
    found = carried(world, 3)
    moment = sum(np.cross((0, 0, z), wrench[:3]) + wrench[3:] for z, wrench in zip(heights, found))
    assert np.abs(found[:, :3].sum(axis=0) - (0, 0, 20 * G)).max() < held.force * 20 * G
    assert np.abs(moment - np.cross((-0.45, 0, -1.0), 20 * DOWN)).max() < held.force * 20 * G
    assert np.abs(found[:, 5]).max() < held.force


@every_joint_solver
@pytest.mark.parametrize("count", [1, 6])
def test_a_centrifuge(held, count):
    """Masses welded in a row on a hinge, w = 2 rad/s: the joint inside mass k carries sum m w^2 r of all outside it.

    A step of h turns the force by w h, so that its length is off by (w h)^2 / 24 or so: 2e-9 at w h = 2e-4.
    """
    scene, rate = mc.Scene(gravity=(0, 0, 0)), 2.0
    masses, radii = np.linspace(1.0, 2.0, count), 0.5 + 0.3 * np.arange(count)
    for k, (mass, r) in enumerate(zip(masses, radii)):
        scene.add_body(
            f"b{k}",
            mass=mass,
            inertia=(0.02, 0.03, 0.04),
            position=(r, 0, 0),
            velocity=(0, rate * r, 0),
            angular_velocity=(0, 0, rate),
        )
        scene.add_joint(
            mc.FixedJoint(f"b{k - 1}", f"b{k}", (r - 0.15, 0, 0)) if k else mc.HingeJoint(None, "b0", (0, 0, 0), (0, 0, 1))
        )
    keywords = held.keywords | ({"iterations": 300} if held.keywords["joint_solver"] == "rows" else {})
    world = mc.World(scene, dt=1e-4, **keywords | {"substeps": 1})
    world.step(200)
    forces = np.array([world.joint(k).force for k in range(count)])
    expected = rate**2 * np.cumsum((masses * radii)[::-1])[::-1]
    assert np.abs(np.linalg.norm(forces, axis=1) - expected).max() < held.force * expected[0]
    outward = world.positions / np.linalg.norm(world.positions, axis=1)[:, None]
    assert np.einsum("ki,ki->k", forces, outward) == pytest.approx(-expected, rel=1e-5)
