"""Forces and impulses over arrays, damping and gravity scale: closed forms, and what may be set while a world runs."""

import numpy as np
import pytest

import mcsim as mc


def free(count=5, gravity=(0, 0, 0), **keywords):
    rng = np.random.default_rng(1)
    scene = mc.Scene(gravity=gravity)
    scene.add_body("fixed", kind="static", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, -50))
    for i in range(count):
        q = rng.normal(size=4)
        scene.add_body(
            f"b{i}", shape=mc.Box((0.1, 0.2, 0.3)), position=(2.0 * i, 0, 0), orientation=q / np.linalg.norm(q), **keywords
        )
    return mc.World(scene)


@pytest.mark.parametrize("doing, one", [("apply_forces", "apply_force"), ("apply_impulses", "apply_impulse")])
@pytest.mark.parametrize("pointed", [False, True])
def test_arrays_do_what_single_calls_do(doing, one, pointed):
    rng = np.random.default_rng(2)
    values, chosen = rng.normal(size=(4, 3)), ["b3", "b0", 2, "b3"]
    points = rng.normal(size=(4, 3)) if pointed else None
    many, single = free(), free()
    getattr(many, doing)(values, bodies=chosen, points=points)
    for k, body in enumerate(chosen):
        getattr(single, one)(body, values[k], None if points is None else points[k])
    for world in (many, single):
        world.step(10)
    assert np.allclose(many.velocities, single.velocities, atol=1e-14)
    assert np.allclose(many.angular_velocities, single.angular_velocities, atol=1e-12)
    assert np.abs(many.velocities).max() > 1e-3


def test_all_bodies_at_once_with_torques():
    """(n, 6) for all: static bodies feel nothing; momentum is the impulse's."""
    world = free()
    wrenches = np.random.default_rng(3).normal(size=(6, 6))
    world.apply_impulses(wrenches)
    assert np.all(world.velocities[0] == 0.0)
    linear, angular = world.momentum()
    expected = wrenches[1:, 3:].sum(axis=0) + np.cross(world.positions[1:], wrenches[1:, :3]).sum(axis=0)
    assert linear == pytest.approx(wrenches[1:, :3].sum(axis=0)) and angular == pytest.approx(expected)
    world = free()
    world.apply_forces(wrenches)
    assert np.array_equal(world.forces[1:], wrenches[1:]) and not world.forces[0].any()
    world.step(60)
    assert world.momentum()[0] == pytest.approx(wrenches[1:, :3].sum(axis=0)) and not world.forces.any()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.zeros((5, 3)),), "must be \\(6, 3\\), or with torques \\(6, 6\\), got \\(5, 3\\)"),
        ((np.full((6, 3), np.nan),), "must be finite"),
        (("no",), "must be an array of numbers"),
        ((np.zeros((1, 3)), ["fixed"]), "'fixed' is static; only dynamic bodies feel forces"),
        ((np.zeros((1, 3)), ["nobody"]), "unknown body 'nobody'"),
        ((np.zeros((1, 3)), ["b0"], np.zeros((2, 3))), "points must be \\(1, 3\\)"),
    ],
)
@pytest.mark.parametrize("doing", ["apply_forces", "apply_impulses"])
def test_wrong_arrays_are_refused_and_change_nothing(doing, arguments, message):
    world = free()
    before = world.state_hash()
    with pytest.raises(mc.SceneError, match=message):
        getattr(world, doing)(*arguments)
    assert world.state_hash() == before


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_damping_decays_exponentially(integrator):
    """exp(-c t) of velocity and spin, at first order of the step or better."""
    errors = []
    for substeps in (4, 16):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body(
            "ball",
            shape=mc.Sphere(0.1),
            velocity=(3, 0, 0),
            angular_velocity=(0, 2, 0),
            linear_damping=0.7,
            angular_damping=1.3,
        )
        keywords = dict(integrator=integrator, stabilization="none") if integrator == "rk4" else {}
        world = mc.World(scene, substeps=substeps, **keywords)
        world.step(60)
        errors.append(
            max(abs(world.velocities[0, 0] / 3 - np.exp(-0.7)), abs(world.angular_velocities[0, 1] / 2 - np.exp(-1.3)))
        )
    assert errors[0] < 2e-3 and errors[1] < 0.3 * errors[0] + 1e-12


def test_gravity_scale_and_terminal_velocity():
    """v = s g t; with damping c it tends to s g / c."""
    world = free(2, gravity=(0, 0, -9.81), gravity_scale=0.25)
    world.step(60)
    assert world.velocities[1:, 2] == pytest.approx([-0.25 * 9.81] * 2, rel=1e-12)
    world.body("b0").linear_damping = 2.0
    world.step(600)
    assert world.velocities[1, 2] == pytest.approx(-0.25 * 9.81 / 2.0, rel=1e-6)
    assert world.velocities[2, 2] == pytest.approx(-0.25 * 9.81 * 11, rel=1e-12)


def test_settings_of_bodies_are_kept_in_snapshots_and_hashes():
    world = free(2, gravity=(0, 0, -9.81))
    body, hashes = world.body("b1"), [world.state_hash()]
    start = world.snapshot()
    for name, value in (("gravity_scale", -0.5), ("linear_damping", 0.3), ("angular_damping", 0.4), ("bullet", True)):
        setattr(body, name, value)
        assert getattr(body, name) == value and getattr(world.body("b0"), name) != value
        hashes.append(world.state_hash())
    assert len(set(hashes)) == 5
    changed = world.snapshot()
    world.step(10)
    reached = world.state_hash()
    world.restore(start)
    assert world.state_hash() == hashes[0] and body.gravity_scale == 1.0 and body.bullet is False
    world.restore(changed)
    world.step(10)
    assert world.state_hash() == reached and body.linear_damping == 0.3


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("gravity_scale", float("nan"), "body 'b0': gravity_scale must be finite"),
        ("linear_damping", -1.0, "body 'b0': linear_damping must not be negative"),
        ("angular_damping", "much", "body 'b0': angular_damping must be a number"),
        ("bullet", 1.5, "body 'b0': bullet must be"),
    ],
)
def test_wrong_settings_are_refused(name, value, message):
    with pytest.raises(mc.SceneError, match=message):
        setattr(free().body("b0"), name, value)
