"""Scenes of random trees with all joints that a tree can be made of, and random states of their systems.

A scene's bodies stand as its joints allow. Bodies and joints are added in random order, and about every other joint has
its two bodies swapped, so that it leads towards the base.
"""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st

import mcsim as mc
from mcsim.core.rotation import IDENTITY, compose, from_matrix, matrix, relative
from mcsim.reduced.kinds import KIND_OF, QUATERNIONS
from mcsim.scene.joints import TYPES
from twin import joint_shape

JOINTS = {kind: TYPES[name] for name, kind in KIND_OF.items()}  # by the kind that a system calls them
KINDS = tuple(JOINTS)
TURNING = ("revolute", "universal", "spherical")  # the kinds that most machines have


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_frame(rng, size=0.5):
    return rng.uniform(-size, size, 3), random_quaternion(rng)


def random_inertia(rng, mass):
    """(3, 3) about the centre of mass: that of a few points, so that the moments keep the triangle inequality."""
    points = rng.normal(size=(6, 3)) * rng.uniform(0.1, 0.4, 3) @ matrix(random_quaternion(rng)).T
    points -= points.mean(axis=0)
    return mass / 6 * (np.sum(points**2) * np.eye(3) - points.T @ points)


def joint_coordinates(rng, kind):
    """Random q of one joint; away from where yaw, pitch and roll are singular."""
    if kind in QUATERNIONS:
        return np.concatenate([rng.uniform(-1, 1, QUATERNIONS[kind]), random_quaternion(rng)])
    return {
        "fixed": np.zeros(0),
        "prismatic": rng.uniform(-1, 1, 1),
        "cylindrical": rng.uniform([-1, -3], [1, 3]),
        "planar": rng.uniform([-1, -1, -3], [1, 1, 3]),
        "universal": rng.uniform(-3, 3, 2),
        "spherical_ypr": rng.uniform([-3, -1.2, -3], [3, 1.2, 3]),
    }.get(kind, rng.uniform(-3, 3, 1))


@dataclass
class _Plan:
    """Bodies (name: arguments) and joints in the order of the tree; frames of the bodies in the world by name."""

    bodies: dict = field(default_factory=dict)
    joints: list = field(default_factory=list)
    frames: dict = field(default_factory=lambda: {None: IDENTITY})


def random_scene(rng, count=None, kinds=KINDS, branching=None, gravity=None, one_gravity=False):
    """A Scene of `count` moving bodies, 1 to 60 by chance and rather few, in one or a few trees.

    branching: 0 for a chain up to 1 for parents drawn from all bodies before. The first tree's base is the world, a
    static body or none (it floats); now and then another tree begins. one_gravity: no body has a gravity_scale.
    """
    count = 1 + int(60 * rng.random() ** 3) if count is None else count
    branching = rng.uniform(0, 1) if branching is None else branching
    plan = _Plan()
    bases = [None]
    for k in range(rng.integers(0, 3)):
        bases.append(f"base{k}")
        plan.frames[bases[-1]] = random_frame(rng, 2.0)
        plan.bodies[bases[-1]] = {"kind": "static", "shape": mc.Sphere(0.1)}
    for k in range(count):
        name = f"b{k}"
        if k == 0 or rng.random() < 0.05:
            parent = "nothing" if rng.random() < 0.4 else bases[rng.integers(len(bases))]
        else:
            parent = f"b{rng.integers(k) if rng.random() < branching else k - 1}"
        if parent == "nothing":
            plan.frames[name] = random_frame(rng, 2.0)
        else:
            kind = kinds[rng.integers(len(kinds))] if rng.random() < 0.6 else TURNING[rng.integers(len(TURNING))]
            _attach(rng, plan, parent, name, kind if kind in kinds else kinds[0])
        mass = np.exp(rng.uniform(-1.5, 1.5))
        plan.bodies[name] = {
            "mass": mass,
            "inertia": random_inertia(rng, mass),
            "center_of_mass": rng.uniform(-0.3, 0.3, 3),
            "gravity_scale": rng.uniform(-1, 2) if rng.random() < 0.1 and not one_gravity else 1.0,
        }
    return _scene(rng, plan, rng.uniform(-10, 10, 3) if gravity is None else gravity)


def _attach(rng, plan, parent, name, kind):
    """Place a body by a random position of a joint of this kind on its parent, and plan the joint."""
    swapped = rng.random() < 0.5
    on_parent, on_child, pitch = random_frame(rng), random_frame(rng), rng.uniform(-0.3, 0.3)
    rotation, position, *_ = joint_shape(kind, joint_coordinates(rng, kind), pitch)
    moved = position, from_matrix(rotation)
    if swapped:
        moved = relative(moved, IDENTITY)
    own = compose(compose(plan.frames[parent], on_parent), moved)
    plan.frames[name] = compose(own, relative(on_child, IDENTITY))
    ends, frames = ((name, parent), (on_child, on_parent)) if swapped else ((parent, name), (on_parent, on_child))
    constant = {"pitch": pitch} if kind == "helical" else {}
    plan.joints.append(JOINTS[kind](*ends, frame_a=frames[0], frame_b=frames[1], **constant))


def _scene(rng, plan, gravity):
    scene = mc.Scene(gravity=gravity)
    for k in rng.permutation(len(plan.bodies)):
        name = list(plan.bodies)[k]
        position, orientation = plan.frames[name]
        scene.add_body(name, position=position, orientation=orientation, **plan.bodies[name])
    for k in rng.permutation(len(plan.joints)):
        scene.add_joint(plan.joints[k])
    return scene


def scenes(largest=12, **arguments):
    """Hypothesis: (Scene, Generator for what else is random)."""

    def build(seed, count):
        rng = np.random.default_rng(seed)
        return random_scene(rng, count, **arguments), rng

    return st.builds(build, st.integers(0, 2**32 - 1), st.integers(1, largest))


# ---- states ----------------------------------------------------------------------------------------------------------


def random_q(rng, system):
    """(nq,) with unit quaternions."""
    q = np.zeros(system.nq)
    for link in system.links:
        q[link.q] = joint_coordinates(rng, link.kind)
    return q


def random_state(rng, system):
    """-> q (nq,), qd (nv,), and a third (nv,) for q̈ or τ."""
    return random_q(rng, system), rng.normal(size=system.nv), rng.normal(size=system.nv)


def random_forces(rng, system):
    """(links, 6): [f; n] on each link."""
    return rng.normal(size=(len(system.links), 6))
