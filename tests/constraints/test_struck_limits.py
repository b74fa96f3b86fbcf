"""Limits of joints that a blow drives against them within the step in which it strikes (docs/theory/limit.md), and
that hold up what sweeps hardly touch (docs/theory/stabilization.md)."""

import numpy as np
import pytest

import mcsim as mc


def doors(speed, count, limit=0.3):
    """Doors on free posts, each struck at its edge by a ball."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(count):
        y = 50.0 * k
        scene.add_body(f"post{k}", shape=mc.Box((0.1, 0.1, 1)), position=(0, y, 0), mass=50.0)
        scene.add_body(f"door{k}", shape=mc.Box((0.5, 0.03, 1)), position=(0.65, y, 0), mass=2.0)
        scene.add_joint(mc.HingeJoint(f"post{k}", f"door{k}", anchor=(0.12, y, 0), axis=(0, 0, 1), limits=(-limit, limit)))
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.1), position=(1.0, y - 0.4, 0), mass=2.0, velocity=(0, speed, 0))
    return scene


@pytest.mark.parametrize(
    "make, keywords, most",
    [
        (mc.World, {}, 1e-3),
        (mc.World, {"joint_solver": "rows"}, 1e-2),
        (mc.World, {"solver": "pgs"}, 1e-2),
        (mc.World, {"stabilization": "projection"}, 1e-2),
        (mc.World, {"dt": 1 / 30}, 1e-3),
        (mc.World, {"substeps": 1}, 1e-2),
        (mc.ReducedWorld, {}, 1e-2),
    ],
)
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.sampled(2)
def test_a_blow_does_not_drive_a_joint_through_its_limit(make, keywords, most, count):
    """They were passed by up to 0.83 rad: the limit had no row in the step in which the ball struck."""
    for limit in (0.3, 1.0):
        for speed in (50.0, 100.0):
            scene = doors(speed, count, limit)
            world = make(scene, **keywords)
            for _ in range(20):
                world.step()
                for joint in scene.joints:
                    assert abs(world.joint(joint.name).position) < limit + most


@pytest.mark.parametrize("drop", [2.7, 3.9, 4.7, 4.9])
@pytest.mark.sampled(2)
def test_ragdolls_that_fall_keep_their_limits(drop):
    """Elbows and knees were up to 0.37 rad beyond."""
    scene = mc.load("ragdolls", count=1, drop=drop)
    world = mc.World(scene)
    for _ in range(120):
        world.step()
        for joint in scene.joints:
            if joint.type == "hinge":
                angle = world.joint(joint.name).position
                assert joint.axes[0].lower - 0.03 < angle < joint.axes[0].upper + 0.03


def test_what_nothing_touches_has_limits_within_reach_alone():
    """So it moves as without them: as exactly as what has no limits."""
    worlds = []
    for limits in (None, (-3.0, 3.0)):
        scene = mc.Scene()
        for k in range(4):
            scene.add_body(
                f"link{k}",
                shape=mc.Capsule(0.05, 0.2),
                position=(0.5 * k + 0.25, 0, 0),
                orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0),
            )
            scene.add_joint(
                mc.HingeJoint(
                    None if k == 0 else f"link{k - 1}", f"link{k}", anchor=(0.5 * k, 0, 0), axis=(0, 1, 0), limits=limits
                )
            )
        worlds.append(mc.World(scene))
        worlds[-1].step(30)
    assert len(worlds[1].rows) == len(worlds[0].rows)
    np.testing.assert_array_equal(worlds[0].positions, worlds[1].positions)


def largest_eigenvalue(part, beta, sweeps):
    """Of a substep's map of an error x, velocity v and impulse, in units of the substep and of what the impulse moves: of a
    rigid limit that a sweep brings nearer by `part`, and that is pushed back by beta of its error."""
    columns = []
    for x, v, impulse in np.eye(3):
        impulse *= 0.5
        v += impulse
        for _ in range(sweeps):
            change = -part * (v + beta * x)
            v, impulse = v + change, impulse + change
        x += v
        v, impulse = v + impulse, 2.0 * impulse
        for _ in range(sweeps):
            change = -part * v
            v, impulse = v + change, impulse + change
        columns.append((x, v, impulse))
    return np.abs(np.linalg.eigvals(np.array(columns).T)).max()


@pytest.mark.parametrize("iterations", [1, 2, 4, 8])
@pytest.mark.parametrize("keywords", [{}, {"substeps": 2}, {"joint_hertz": 1e4}, {"joint_damping_ratio": 0.1}])
def test_limits_are_pushed_no_faster_than_sweeps_follow(iterations, keywords):
    """At 0.28 of the error in a substep modes with parts below 0.094 / iterations were pumped up."""
    scene = mc.Scene()
    scene.add_body("rod", shape=mc.Capsule(0.05, 0.5), position=(0, 0, -0.5))
    scene.add_joint(mc.HingeJoint(None, "rod", anchor=(0, 0, 0), axis=(0, 1, 0), limits=(0.01, 1.0)))
    world = mc.World(scene, iterations=iterations, **keywords)
    row = world.rows[world.rows["kind"] == "limit"][0]
    h = 1 / 60 / keywords.get("substeps", 4)
    beta = row["bias"] * h / row["error"]
    assert 0.0 < beta < 0.1001
    for part in np.geomspace(0.04 / iterations, 1.0, 50):
        assert largest_eigenvalue(part, beta, iterations) < 1.0
    assert largest_eigenvalue(0.06 / iterations, 0.28, iterations) > 1.0
