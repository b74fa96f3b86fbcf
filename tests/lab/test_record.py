"""What a run records is what the world itself says, and recording changes nothing."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import conjugate, multiply, rotation_vector
from mcsim.lab.methods import parse
from mcsim.lab.record import BLOCK, Recorder, VelocityDrift, distances
from mcsim.lab.series import RESIDUAL_UNITS
from mcsim.state.fields import ROW_KINDS

STEPS = BLOCK + 40
CASES = [
    ("wrecking_ball", {"links": 4, "height": 3, "width": 2}, "maximal:si+baumgarte"),
    ("wrecking_ball", {"links": 4, "height": 3, "width": 2}, "reduced:aba"),
    ("four_bar", {"driven": False}, "maximal:pgs+baumgarte"),
    ("four_bar", {"driven": False}, "reduced:aba"),
    ("free_ragdoll", {}, "maximal:tree+soft"),
    ("dzhanibekov", {}, "maximal:tree+soft@rattle"),
]


def springy():
    """A scene with springs, a screw, and bodies whose centre of mass is off."""
    scene = mc.Scene(name="springy")
    scene.add_body("arm", mass=2.0, inertia=(0.1, 0.2, 0.25), center_of_mass=(0.1, 0.0, -0.2), gravity_scale=0.5)
    scene.add_body("nut", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0.0, 0.0, -0.5))
    scene.add_joint(mc.HingeJoint(None, "arm", anchor=(0, 0, 0), axis=(0, 1, 0), spring=mc.Spring(3.0, 0.1, 0.5)))
    scene.add_joint(
        mc.ScrewJoint("arm", "nut", anchor=(0, 0, -0.5), axis=(0, 0, 1), pitch=0.05, spring=mc.Spring(2.0, 0.0, 1.0))
    )
    return scene


def recorded(scene, method, steps=STEPS):
    """-> arrays of Run, the world after it, and what a world of its own says step by step."""
    worlds = [method.world(scene, 1 / 240) for _ in range(2)]
    recorder = Recorder(scene, worlds[0], steps, VelocityDrift(scene) if scene.joints else None)
    states = ("positions", "orientations", "velocities", "angular_velocities")
    told = ("energy", "kinetic", "linear", "angular", "errors", "overlap", "residual", "time")
    told = {name: [] for name in (*told, *states)}
    for k in range(steps + 1):
        for world in worlds:
            if k:
                world.step()
        recorder.keep()
        world = worlds[1]
        told["energy"].append(world.energy().total)
        told["kinetic"].append(world.energy().kinetic)
        linear, angular = world.momentum()
        told["linear"].append(linear)
        told["angular"].append(angular)
        told["errors"].append(world.joint_errors())
        told["overlap"].append(-world.contacts["separation"].min(initial=0.0))
        told["residual"].append(world.stats.residuals["natural_map"])
        told["time"].append(world.time)
        for name in states:
            told[name].append(getattr(world, name).copy())
    return recorder.arrays(), worlds[0], {name: np.array(values) for name, values in told.items()}


def agree(found, told, tolerance=1e-12):
    scale = max(1.0, np.abs(told).max())
    assert found.shape == told.shape
    assert np.abs(found - told).max() <= tolerance * scale


@pytest.mark.parametrize("name, parameters, method", CASES, ids=[f"{n}-{m}" for n, _, m in CASES])
def test_records_what_the_world_says(name, parameters, method):
    scene = mc.load(name, **parameters)
    found, _world, told = recorded(scene, parse(method))
    assert np.array_equal(found["time"], told["time"])
    agree(found["energy"], told["energy"])
    agree(found["kinetic"], told["kinetic"])
    agree(found["linear_momentum"], told["linear"])
    agree(found["angular_momentum"], told["angular"])
    assert np.array_equal(found["penetration"], np.maximum(told["overlap"], 0.0))
    assert np.isnan(found["residuals"]["natural_map"][0])
    assert np.array_equal(found["residuals"]["natural_map"][1:], told["residual"][1:])
    kept = found["trajectories"]
    for name in ("positions", "orientations", "velocities", "angular_velocities"):
        assert np.array_equal(kept[name], told[name])
    assert np.array_equal(np.stack([kept["joint_position_errors"], kept["joint_angle_errors"]], -1), told["errors"])
    if scene.joints:
        for column, part in enumerate(("position", "angle")):
            assert np.array_equal(found[f"joint_{part}_max"], told["errors"][:, :, column].max(axis=1))
            agree(found[f"joint_{part}_rms"], np.sqrt((told["errors"][:, :, column] ** 2).mean(axis=1)), 1e-15)
    else:
        assert np.isnan(found["joint_position_max"]).all() and np.isnan(found["velocity_drift"]).all()
    assert np.isnan(found["position_distance"]).all()


def test_springs_count():
    found, _, told = recorded(springy(), parse("maximal:tree+soft"), 50)
    agree(found["energy"], told["energy"])
    assert np.ptp(found["energy"]) < 0.5 and np.ptp(found["kinetic"]) > 0.5


@pytest.mark.parametrize("method", ["maximal:si+baumgarte", "maximal:tree+soft", "reduced:aba"])
def test_recording_changes_nothing(method):
    scene = mc.scenes.wrecking_ball(links=4, height=3, width=2)
    _, watched, _ = recorded(scene, parse(method), 60)
    alone = parse(method).world(scene, 1 / 240)
    for _ in range(60):
        alone.step()
    assert watched.state_hash() == alone.state_hash()


def test_residuals_that_are_asked_for():
    """Those of the world's own statistics, each under its name; unasked, those alone that the step has measured."""
    scene = mc.scenes.wrecking_ball(links=4, height=3, width=2)
    worlds = [parse("maximal:si+baumgarte").world(scene, 1 / 240) for _ in range(3)]
    asked = Recorder(scene, worlds[0], 60, None, residuals=True)
    unasked = Recorder(scene, worlds[1], 60, None)
    told = []
    for k in range(61):
        for world in worlds:
            if k:
                world.step()
        asked.keep(), unasked.keep()
        told.append(dict(worlds[2].stats.residuals))
    found, less = asked.arrays()["residuals"], unasked.arrays()["residuals"]
    assert list(found) == list(less) == list(RESIDUAL_UNITS) and set(told[0]) == set(RESIDUAL_UNITS)
    for name in RESIDUAL_UNITS:
        assert np.array_equal(found[name][1:], [row[name] for row in told[1:]])
        known = name in ("natural_map", "velocity")
        assert np.array_equal(less[name][1:], found[name][1:]) if known else np.isnan(less[name]).all()
    assert found["primal"][1:].min() > 0.0
    assert worlds[0].state_hash() == worlds[1].state_hash() == worlds[2].state_hash()


@pytest.mark.parametrize(
    "name, parameters", [("four_bar", {"driven": False}), ("chain", {"n": 5}), ("spinning_top", {}), ("grid", {"n": 4})]
)
def test_velocity_drift_is_that_of_the_rows(name, parameters):
    """The same as |J v| of each joint's rows, of loops too. Away from the joint's errors the two are one."""
    scene = mc.load(name, **parameters)
    world = parse("maximal:tree+soft").world(scene, 1 / 240)
    rng = np.random.default_rng(3)
    moving = np.array([body.kind == "dynamic" for body in scene.bodies])
    world.velocities[moving] = rng.normal(size=(moving.sum(), 3))
    world.angular_velocities[moving] = rng.normal(size=(moving.sum(), 3))
    state = world.positions, world.orientations, world.velocities, world.angular_velocities
    found = VelocityDrift(scene).of(*(part[None].copy() for part in state))

    jacobian, rows = world.jacobian(), world.rows
    keep = rows["kind"] == "joint"
    assert "joint" in ROW_KINDS and keep.any()
    rates = (jacobian @ np.hstack([world.velocities, world.angular_velocities]).ravel())[keep]
    linear = np.abs(jacobian.toarray()[keep].reshape(keep.sum(), -1, 6)[:, :, :3]).max(axis=(1, 2)) > 0.0
    for k, part in enumerate((linear, ~linear)):
        squares = np.bincount(rows["source"][keep][part], rates[part] ** 2, minlength=len(scene.joints))
        assert found[k][0] == pytest.approx(np.sqrt(squares.max()), rel=1e-9, abs=1e-12)


def test_distances():
    """Against rotation vectors one by one; signs of quaternions do not matter; small angles keep their digits."""
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(2, 7, 3, 3))
    p, q = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in rng.normal(size=(2, 7, 3, 4)))
    places, angles = distances(x, p, y, q)
    for t in range(7):
        apart = [np.linalg.norm(x[t, k] - y[t, k]) for k in range(3)]
        turned = [np.linalg.norm(rotation_vector(multiply(conjugate(p[t, k]), q[t, k]))) for k in range(3)]
        assert places[t] == pytest.approx(np.sqrt(np.mean(np.square(apart))))
        assert angles[t] == pytest.approx(np.sqrt(np.mean(np.square(turned))))
    assert np.allclose(distances(x, -p, y, q)[1], angles)
    small = np.array([[[np.cos(1e-10), np.sin(1e-10), 0.0, 0.0]]])
    assert distances(x[:1, :1], small, x[:1, :1], np.array([[[-1.0, 0, 0, 0]]]))[1][0] == pytest.approx(2e-10, rel=1e-9)
