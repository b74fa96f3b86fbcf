"""What a step's derivatives are held against: central differences of the steps of a world's copies."""

import copy

import numpy as np

import mcsim as mc
from mcsim.rotation import conjugate, from_rotation_vector, multiply, normalize, to_rotation_vector

TIGHT = {"stabilization": "baumgarte", "iterations": 400, "sleep": False}


def made(scene, **keywords):
    """A world whose steps are differentiated, solved tightly."""
    return mc.World(scene, **(TIGHT | keywords))


def with_floor(**keywords):
    scene = mc.Scene(**keywords)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=mc.Material(friction=0.6))
    return scene


def state(world):
    return world.positions.copy(), world.orientations.copy(), np.hstack([world.velocities, world.angular_velocities])


def apart(one, other):
    """(12 n,) from one state to another, as StepDerivatives counts them."""
    turns = np.array([to_rotation_vector(normalize(multiply(p, conjugate(q)))) for p, q in zip(one[1], other[1])])
    return np.concatenate([np.hstack([one[0] - other[0], turns]).ravel(), (one[2] - other[2]).ravel()])


def stepped(world, change, size, steps=1):
    other = copy.deepcopy(world)
    change(other, size)
    other.step(steps)
    return state(other)


def difference(world, change, size=1e-5, steps=1):
    """(12 n,) of the state after a step, by what change(world, by how much) does."""
    return apart(stepped(world, change, size, steps), stepped(world, change, -size, steps)) / (2.0 * size)


def pose(body, axis):
    def change(world, size):
        if axis < 3:
            world.positions[body, axis] += size
        else:
            turn = from_rotation_vector(size * np.eye(3)[axis - 3])
            world.orientations[body] = normalize(multiply(turn, world.orientations[body]))

    return change


def velocity(body, axis):
    def change(world, size):
        (world.velocities if axis < 3 else world.angular_velocities)[body, axis % 3] += size

    return change


def force(body, axis):
    def change(world, size):
        world.forces[body, axis] += size

    return change


def effort(number):
    def change(world, size):
        world.tau[number] += size

    return change


def mass(body, alone):
    def change(world, size):
        m, inertia = world.masses[body], np.array(world.bodies[body].inertia)
        world.set_body(world.body_names[body], mass=m + size, inertia=inertia if alone else inertia * (m + size) / m)

    return change


def friction(body):
    def change(world, size):
        for number, shape in enumerate(world.scene.bodies[body].shapes):
            old = shape.material or world.scene.bodies[body].material or mc.Material()
            fields = {name: getattr(old, name) for name in ("restitution", "rolling_friction", "torsional_friction")}
            new = mc.Material(friction=old.friction * (1.0 + size), **fields)
            world.set_material(world.body_names[body], new, shape=number)

    return change


def changes(world):
    """name of an array -> [(column, change)]."""
    moving = [int(i) for i in np.flatnonzero(world.masses > 0.0)]
    places = [(6 * i + k, i, k) for i in moving for k in range(6)]
    return {
        "by_pose": [(column, pose(i, k)) for column, i, k in places],
        "by_velocity": [(column, velocity(i, k)) for column, i, k in places],
        "by_force": [(column, force(i, k)) for column, i, k in places],
        "by_effort": [(k, effort(k)) for k in range(len(world.tau))],
        "by_mass": [(i, mass(i, False)) for i in moving],
        "by_mass_alone": [(i, mass(i, True)) for i in moving],
        "by_friction": [(i, friction(i)) for i in range(len(world.masses)) if world.scene.bodies[i].shapes],
    }


def assert_differentiated(world, tolerance=1e-6, rounding=1e-7, size=1e-5, defect=1e-9, names=None):
    """That all derivatives of the next step are those of differences, to parts of the largest, or to their rounding.
    -> StepDerivatives"""
    found = mc.step_derivatives(world)
    assert found.defect <= defect
    for name, columns in changes(world).items():
        if not columns or (names is not None and name not in names):
            continue
        expected = np.array([difference(world, change, size) for _, change in columns]).T
        got = getattr(found, name)[:, [column for column, _ in columns]]
        worst = np.abs(got - expected).max()
        assert worst <= tolerance * np.abs(expected).max() + rounding, f"{name}: off by {worst:.3g}"
    return found


def did(found):
    """{(kind, state)} of all rows of a step."""
    return set(zip(found.rows["kind"].tolist(), found.rows["state"].tolist()))
