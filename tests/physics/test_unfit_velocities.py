"""Velocities at the start that joints forbid: they are taken up as by a plastic impact,

    v+ = v - M^-1 J' (J M^-1 J')^+ J v,

the velocities that fit nearest in kinetic energy, which keep every momentum that joints leave. Not their energy.
"""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from plain_joints import PLAIN, plain_joint

DT = 1e-7  # [s] in which nothing moves


def bodies(draw, scene, count):
    for k in range(count):
        scene.add_body(
            f"b{k}",
            mass=10.0 ** draw.uniform(-1, 1),
            inertia=draw.uniform(0.5, 0.9, 3) * 10.0 ** draw.uniform(-1, 1),
            position=draw.normal(size=3) + (2 * k, 0, 0),
            velocity=draw.normal(size=3),
            angular_velocity=draw.normal(size=3),
        )


def hinges(draw, scene):
    bodies(draw, scene, 2)
    axis = draw.normal(size=3)
    return [scene.add_joint(mc.HingeJoint(None, f"b{k}", scene.bodies[k].position, axis, name=f"h{k}")) for k in range(2)]


def geared(draw, scene):
    hinges(draw, scene)
    scene.add_joint(mc.GearJoint("h0", "h1", draw.uniform(0.3, 3.0)))


def rack(draw, scene):
    bodies(draw, scene, 2)
    scene.add_joint(mc.HingeJoint(None, "b0", scene.bodies[0].position, (0, 0, 1), name="turns"))
    scene.add_joint(mc.SliderJoint(None, "b1", (1, 0, 0), name="slides"))
    scene.add_joint(mc.GearJoint("slides", "turns", 0.4))


def own(draw, scene):
    bodies(draw, scene, 2)
    way = scene.bodies[1].position - scene.bodies[0].position
    length = np.linalg.norm(way)
    scene.add_joint(mc.UserJoint("b0", "b1", lambda a, b: [np.linalg.norm(b.position - a.position) - length]))


def geared_chain(draw, scene):
    """Three hinges, each geared to the one before."""
    bodies(draw, scene, 3)
    for k in range(3):
        scene.add_joint(mc.HingeJoint(None, f"b{k}", scene.bodies[k].position, draw.normal(size=3), name=f"h{k}"))
    for k in range(2):
        scene.add_joint(mc.GearJoint(f"h{k}", f"h{k + 1}", draw.uniform(-2.0, -0.5)))


def plain(kind):
    def make(draw, scene):
        bodies(draw, scene, 2)
        scene.add_joint(plain_joint(kind, "b0", "b1", draw.normal(size=3), draw.normal(size=3)))

    return make


KINDS = {"geared": geared, "rack": rack, "own": own, "geared chain": geared_chain} | {kind: plain(kind) for kind in PLAIN}


@pytest.mark.parametrize("keywords", [{}, {"substeps": 1}, {"stabilization": "baumgarte"}, {"integrator": "rk4"}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(12)
def test_they_are_taken_up_as_by_a_plastic_impact(kind, keywords):
    for seed in range(amount(1, 5)):
        draw = np.random.default_rng(seed)
        scene = mc.Scene(gravity=(0, 0, 0))
        KINDS[kind](draw, scene)
        world = mc.World(scene, dt=DT, **keywords)
        J = world.jacobian().toarray()
        inverse = np.zeros((6 * len(scene.bodies),) * 2)
        for k, body in enumerate(world.bodies):
            inverse[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = np.eye(3) / body.mass
            inverse[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = np.linalg.inv(body.inertia)
        v = np.hstack([world.velocities, world.angular_velocities]).ravel()
        A = J @ inverse @ J.T
        expected = v - inverse @ J.T @ np.linalg.lstsq(A, J @ v, rcond=1e-10)[0]
        world.step()
        found = np.hstack([world.velocities, world.angular_velocities]).ravel()
        np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(v).max())


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_geared_wheels_keep_momentum_and_not_energy(count, kind):
    """Wheels on fixed axles, each geared to the one before, that begin at speeds which do not fit: at ordinary steps, too,
    and from then on they turn steadily. World gave them back the energy that gearing them takes."""
    draw = np.random.default_rng(count)
    speeds, inertias, ratios = draw.normal(size=count), [], draw.uniform(-2.0, -0.5, count - 1)
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(count):
        radius = draw.uniform(0.1, 0.3)
        wheel = scene.add_body(
            f"b{k}", shape=mc.Cylinder(radius, 0.05), position=(k, 0, 0), mass=1.0 + k, angular_velocity=(0, 0, speeds[k])
        )
        inertias.append(0.5 * wheel.mass * radius**2)
        scene.add_joint(mc.HingeJoint(None, f"b{k}", (k, 0, 0), (0, 0, 1), name=f"h{k}"))
        if k:
            scene.add_joint(mc.GearJoint(f"h{k - 1}", f"h{k}", ratios[k - 1]))
    world = kind(scene)
    J = np.zeros((count - 1, count))
    for k, ratio in enumerate(ratios):
        J[k, k], J[k, k + 1] = 1.0, ratio
    back = np.linalg.solve(J @ np.diag(1 / np.array(inertias)) @ J.T, J @ speeds)
    expected = speeds - J.T @ back / inertias
    for steps in (1, 1, 30):
        world.step(steps)
        found = [world.joint(f"h{k}").velocity for k in range(count)]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        assert not world.stats.notes
