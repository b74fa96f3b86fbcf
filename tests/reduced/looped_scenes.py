"""Scenes with loops: random ones, and mechanisms that are overconstrained."""

import numpy as np

import mcsim as mc
from mcsim.core.rotation import compose, from_matrix, relative
from mcsim.reduced.formulations import Split, loop_matrix
from mcsim.reduced.system import System
from random_trees import JOINTS, joint_coordinates, random_frame, random_scene
from twin import joint_shape

LOOPS = tuple(kind for kind in JOINTS if kind != "free")


def looped_system(rng, count, kinds=LOOPS, loops=1, ball="quaternion"):
    """A random tree, and joints more, cut, that its bodies fulfil where they stand."""
    while True:
        scene = random_scene(rng, count)
        tree = list(scene.joints)
        for k in range(loops):
            _close(rng, scene, kinds[rng.integers(len(kinds))], f"loop{k}")
        system = System(scene, tree=tree, ball=ball)
        if len(system.loops) == loops:  # else one of them holds two trees together
            return system


def _close(rng, scene, kind, name):
    """Another joint between two bodies, or a body and the world, whose frames fit random coordinates of it."""
    names = [None] + [body.name for body in scene.bodies if body.kind != "static"]
    a, b = (names[i] for i in rng.choice(len(names), 2, replace=False))
    pitch, frame_a = rng.uniform(-0.3, 0.3), random_frame(rng)
    rotation, position, *_ = joint_shape(kind, joint_coordinates(rng, kind), pitch)
    place = compose(compose(world_frame(scene, a), frame_a), (position, from_matrix(rotation)))
    constant = {"pitch": pitch} if kind == "helical" else {}
    scene.add_joint(
        JOINTS[kind](a, b, frame_a=frame_a, frame_b=relative(world_frame(scene, b), place), name=name, **constant)
    )


def world_frame(scene, name):
    if name is None:
        return np.zeros(3), np.array([1.0, 0, 0, 0])
    body = scene.body(name)
    return np.array(body.position, float), np.array(body.orientation, float)


def moving(rng, dynamics, q):
    """qd (nv,) at random that the loops allow."""
    loops = loop_matrix(dynamics, q)
    free = Split.of(loops.rows, 1e-8, loops.size).free
    return free @ rng.normal(size=free.shape[1])


# ---- hinges in a circle ----------------------------------------------------------------------------------------------


def ring(points, axes):
    """Bars from each hinge to the next one; the last is the world."""
    scene = mc.Scene(gravity=(0.3, -9.0, 2.0))
    count = len(points)
    for i in range(count - 1):
        scene.add_body(f"bar{i}", mass=1.0 + i, inertia=(0.1, 0.2, 0.25), position=(points[i] + points[i + 1]) / 2)
    names = [None, *(f"bar{i}" for i in range(count - 1)), None]
    for i in range(count):
        scene.add_joint(mc.HingeJoint(names[i], names[i + 1], anchor=points[i], axis=axes[i], name=f"hinge{i}"))
    return scene


def parallelogram(angle=0.7, crank=0.5, ground=1.2):
    arm = crank * np.array([np.cos(angle), 0, np.sin(angle)])
    base = np.array([ground, 0, 0])
    return ring([np.zeros(3), arm, base + arm, base], [(0, 1, 0)] * 4)


def bennett(angle=0.8, a=1.0, b=0.7, twist=0.6):
    """Four skew hinges that move all the same: bars a, b, a, b with twists whose sines are as their lengths
    (G. Bennett, 1903). -> scene"""
    other = np.arcsin(b / a * np.sin(twist))
    ratio = np.sin((other + twist) / 2) / np.sin((other - twist) / 2)
    next_ = 2 * np.arctan(ratio / np.tan(angle / 2))
    frame, points, axes = np.eye(4), [], []
    for turn, length, lean in zip((angle, next_, -angle, -next_), (a, b, a, b), (twist, other, twist, other)):
        points.append(frame[:3, 3].copy())
        axes.append(frame[:3, 2].copy())
        frame = frame @ denavit_hartenberg(turn, length, lean)
    assert np.allclose(frame, np.eye(4), atol=1e-12)
    return ring(points, axes)


def denavit_hartenberg(turn, length, twist):
    s, c, t, u = np.sin(turn), np.cos(turn), np.sin(twist), np.cos(twist)
    return np.array([[c, -s * u, s * t, length * c], [s, c * u, -c * t, length * s], [0, t, u, 0], [0, 0, 0, 1.0]])
