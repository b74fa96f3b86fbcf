"""Random scenes of joints of all kinds, and forward kinematics written straight from the definitions of the joints."""

import numpy as np

import mcsim as mc
from mcsim.core.rotation import IDENTITY, from_matrix, matrix, normalized, relative
from mcsim.reduced.kinds import KIND_OF, KINDS, QUATERNIONS
from mcsim.scene.joints import TYPES

TREE_JOINTS = tuple(KIND_OF)


def random_frame(rng, reach=1.0):
    return rng.uniform(-reach, reach, 3), normalized(rng.normal(size=4))


def make_joint(kind, a, b, frame_a, frame_b, rng=None, name=None):
    """A joint of a type by its name, at given frames."""
    frames = {"frame_a": frame_a, "frame_b": frame_b, "name": name}
    if kind == "screw":
        return mc.ScrewJoint(a, b, pitch=0.3 if rng is None else rng.uniform(0.1, 0.5) * rng.choice([-1, 1]), **frames)
    return TYPES[kind](a, b, **frames)


def random_body(scene, name, rng, kind="dynamic"):
    """A body whose centre of mass is not its origin, and whose principal axes are not its own."""
    place, turn = random_frame(rng, 2.0)
    moments = rng.uniform(1.0, 1.9, 3)
    axes = matrix(normalized(rng.normal(size=4)))
    moving = {} if kind == "static" else {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
    mass = {"mass": rng.uniform(0.5, 3.0), "inertia": axes @ np.diag(moments) @ axes.T} if kind == "dynamic" else {}
    scene.add_body(
        name, kind=kind, position=place, orientation=turn, center_of_mass=rng.uniform(-0.3, 0.3, 3), **mass, **moving
    )


def random_scene(joints, kinds, rng):
    """joints: list of (type, a, b), numbers of bodies, None for the world; kinds: of the bodies."""
    scene = mc.Scene()
    names = [f"body{i}" for i in range(len(kinds))]
    for name, kind in zip(names, kinds):
        random_body(scene, name, rng, kind)
    for kind, a, b in joints:
        ends = [None if end is None else names[end] for end in (a, b)]
        scene.add_joint(make_joint(kind, *ends, random_frame(rng), random_frame(rng), rng))
    return scene


# ---- forward kinematics ----------------------------------------------------------------------------------------------


def turn_about(axis, angle):
    """Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


X, Y, Z = np.eye(3)


def joint_pose(kind, q, constant):
    """r (3,), R (3, 3) of F_s in F_p."""
    zero, one = np.zeros(3), np.eye(3)
    if kind == "fixed":
        return zero, one
    if kind == "revolute":
        return zero, turn_about(Z, q[0])
    if kind == "prismatic":
        return q[0] * Z, one
    if kind == "helical":
        return constant * q[0] * Z, turn_about(Z, q[0])
    if kind == "cylindrical":
        return q[0] * Z, turn_about(Z, q[1])
    if kind == "planar":
        return q[0] * X + q[1] * Y, turn_about(Z, q[2])
    if kind == "spherical_ypr":
        return zero, turn_about(Z, q[0]) @ turn_about(Y, q[1]) @ turn_about(X, q[2])
    if kind == "universal":
        return zero, turn_about(Z, q[0]) @ turn_about(X, q[1])
    assert kind in QUATERNIONS
    n = QUATERNIONS[kind]
    return ways_of(kind) @ q[:n], matrix(q[n:])


def ways_of(kind):
    """(3, n) the axes of F_p along which the point slides of what turns freely."""
    return np.eye(3)[:, ["xyz".index(way) for way in KINDS[kind].ways]]


def joint_twist(kind, q, qd, constant):
    """v, w (3,) of F_s relative to F_p, in its own axes at its origin: the columns of S, as the table has them."""
    zero = np.zeros(3)
    if kind == "fixed":
        return zero, zero
    if kind == "revolute":
        return zero, qd[0] * Z
    if kind == "prismatic":
        return qd[0] * Z, zero
    if kind == "helical":
        return constant * qd[0] * Z, qd[0] * Z
    if kind == "cylindrical":
        return qd[0] * Z, qd[1] * Z
    if kind == "planar":
        return qd[0] * X + qd[1] * Y, qd[2] * Z
    if kind == "spherical_ypr":
        roll, pitch = turn_about(X, q[2]), turn_about(Y, q[1])
        return zero, qd[2] * X + roll.T @ (qd[1] * Y) + roll.T @ pitch.T @ (qd[0] * Z)
    if kind == "universal":
        return zero, turn_about(X, q[1]).T @ (qd[0] * Z) + qd[1] * X
    n = QUATERNIONS[kind]
    return matrix(q[n:]).T @ ways_of(kind) @ qd[:n], qd[n:]


def forward_kinematics(system, q, qd):
    """positions, orientations, velocities, angular_velocities of all bodies at q, qd, by walking along the joints.

    Uses of the system only which joint leads to which link, and where its coordinates stand.
    """
    scene = system.scene
    center = {
        body.name: (
            body.position + matrix(body.orientation) @ body.center_of_mass,
            matrix(body.orientation),
            np.zeros(3),
            np.zeros(3),
        )
        for body in scene.bodies
    }
    for link in system.links:
        body, joint = scene.body(link.body), link.joint
        constant = joint.constant if link.kind == "helical" else 0.0
        r, rotation = joint_pose(link.kind, q[link.q], constant)
        v, w = joint_twist(link.kind, q[link.q], qd[link.v], constant)
        if joint is None:
            center[body.name] = (r, rotation, rotation @ v, rotation @ w)
            continue
        frames = {joint.a: joint.frame_a, joint.b: joint.frame_b}
        parent = joint.b if link.reversed else joint.a
        place, axes, speed, spin = in_world(scene, center, parent, frames[parent])
        if link.reversed:  # the frame found is F_s; F_p is where it must have come from
            axes_p = axes @ rotation.T
            place_p = place - axes_p @ r
            spin_p = spin - axes @ w
            speed_p = speed - axes @ v - np.cross(spin_p, place - place_p)
            found = place_p, axes_p, speed_p, spin_p
        else:
            axes_s = axes @ rotation
            place_s = place + axes @ r
            found = place_s, axes_s, speed + np.cross(spin, place_s - place) + axes_s @ v, spin + axes_s @ w
        center[body.name] = carry(found, relative(frames[body.name], (body.center_of_mass, IDENTITY[1])))
    parts = list(zip(*(center[body.name] for body in scene.bodies)))
    return (
        np.array(parts[0]),
        np.array([from_matrix(rotation) for rotation in parts[1]]),
        np.array(parts[2]),
        np.array(parts[3]),
    )


def carry(moving, frame):
    """A frame given in a moving frame (place, axes, velocity, angular velocity): where it is and how it moves."""
    place, axes, speed, spin = moving
    arm = axes @ frame[0]
    return place + arm, axes @ matrix(frame[1]), speed + np.cross(spin, arm), spin


def in_world(scene, center, name, frame):
    """A frame that is given in a body's own frame."""
    if name is None:
        return frame[0], matrix(frame[1]), np.zeros(3), np.zeros(3)
    body = scene.body(name)
    return carry(center[name], (frame[0] - body.center_of_mass, frame[1]))


def random_coordinates(system, rng):
    """q, qd away from the ends of the angles' ranges."""
    q, qd = rng.uniform(-1.4, 1.4, system.nq), rng.normal(size=system.nv)
    for link in system.links:
        if link.kind in QUATERNIONS:
            q[link.q][-4:] = normalized(rng.normal(size=4))
            if q[link.q][-4] < 0:
                q[link.q][-4:] *= -1
    return q, qd
