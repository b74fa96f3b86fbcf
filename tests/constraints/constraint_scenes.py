"""Two bodies and one joint at random: frames, poses, twists, and what the joint should measure, all in plain NumPy."""

import numpy as np

import mcsim as mc
from mcsim.scene.joints import JOINTS

CLASSES = JOINTS
TYPES = tuple(kind for kind in JOINTS if kind not in ("rolling", "knife_edge", "gear"))  # with rows of poses alone
SIDES = ("both", "world is a", "world is b")
FREE = {kind: len(JOINTS[kind].coordinates) for kind in TYPES}
FREE |= {"distance": 5, "rack_pinion": 5, "constant_velocity": 2, "lock": 2}
PITCH, RADIUS, LENGTH = -0.3, 0.4, 1.7
CONSTANTS = {"screw": {"pitch": PITCH}, "rack_pinion": {"radius": RADIUS}, "distance": {"length": LENGTH}}
CONSTANTS["lock"] = {"translation": "xz", "rotation": "xz"}  # it slides along y and turns about it


# ---- rotations -------------------------------------------------------------------------------------------------------


def multiply(p, q):
    """Hamilton product."""
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def conjugate(q):
    return np.array([q[0], *(-q[1:])])


def matrix(q):
    """The rotation matrix of a unit quaternion (w, x, y, z)."""
    w, u = q[0], q[1:]
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def exponential(r):
    """The unit quaternion of a rotation vector."""
    angle = np.linalg.norm(r)
    return np.array([np.cos(angle / 2), *(0.5 * np.sinc(angle / (2 * np.pi)) * np.asarray(r, float))])


def logarithm(q):
    """The rotation vector of a unit quaternion, at most pi long."""
    q = q if q[0] >= 0 else -q
    s = np.linalg.norm(q[1:])
    return np.zeros(3) if s == 0 else 2 * np.arctan2(s, q[0]) / s * q[1:]


def about(axis, angle):
    """The quaternion of a turn about the axis "x", "y" or "z"."""
    return exponential(angle * np.eye(3)["xyz".index(axis)])


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_frame(rng, reach=0.5):
    return rng.uniform(-reach, reach, 3), random_quaternion(rng)


def random_inertia(rng, size=0.2):
    """A full 3x3 that keeps the triangle inequality: that of a cloud of points."""
    points = rng.normal(size=(8, 3)) * size
    return np.sum(points**2) * np.eye(3) - points.T @ points


# ---- the joint's own geometry ----------------------------------------------------------------------------------------


def joint_frame(frame, joint_frame_on_it):
    """World frame of a joint's frame on a body: (position, quaternion)."""
    return frame[0] + matrix(frame[1]) @ joint_frame_on_it[0], multiply(frame[1], joint_frame_on_it[1])


def coordinates_to_frame(kind, coordinates):
    """The joint frame on b seen from that on a, at the given free coordinates."""
    if kind == "universal":
        return np.zeros(3), multiply(about("z", coordinates[0]), about("x", coordinates[1]))
    if kind == "hinge":
        return np.zeros(3), about("z", coordinates[0])
    if kind == "slider":
        return np.array([0.0, 0.0, coordinates[0]]), np.array([1.0, 0, 0, 0])
    if kind == "cylindrical":
        return np.array([0.0, 0.0, coordinates[0]]), about("z", coordinates[1])
    if kind == "planar":
        return np.array([*coordinates[:2], 0.0]), about("z", coordinates[2])
    if kind == "screw":
        return np.array([0.0, 0.0, PITCH * coordinates[0]]), about("z", coordinates[0])
    if kind == "distance":  # the direction by its longitude and latitude, then the rotation vector
        longitude, latitude = coordinates[:2]
        across = LENGTH * np.cos(latitude)
        return (
            np.array([across * np.cos(longitude), across * np.sin(longitude), LENGTH * np.sin(latitude)]),
            exponential(coordinates[2:]),
        )
    if kind == "rack_pinion":  # the angle, y and z, then how far the axes lean
        angle, y, z, *lean = coordinates
        return np.array([-RADIUS * angle, y, z]), multiply(exponential([*lean, 0.0]), about("z", angle))
    if kind == "constant_velocity":  # a bend: the rotation vector's part across the shaft
        return np.zeros(3), exponential([*coordinates, 0.0])
    if kind == "lock":
        return np.array([0.0, coordinates[0], 0.0]), about("y", coordinates[1])
    if JOINTS[kind].tree.turn == "q":  # ways, then the rotation vector
        ways = JOINTS[kind].tree.ways
        offset = np.zeros(3)
        offset[["xyz".index(way) for way in ways]] = coordinates[: len(ways)]
        return offset, exponential(coordinates[len(ways) :])
    return np.zeros(3), np.array([1.0, 0, 0, 0])


def random_coordinates(rng, kind):
    """Free coordinates within one turn; a universal's second stays short of pi / 2, a ball's rotation of pi."""
    if kind == "ball":
        r = rng.normal(size=3)
        return r * rng.uniform(0.1, 2.8) / np.linalg.norm(r)
    if kind == "universal":
        return np.array([rng.uniform(-3, 3), rng.uniform(-1.3, 1.3)])
    if kind in ("distance", "rack_pinion") or "turn" in JOINTS[kind].coordinates:
        return np.array([rng.uniform(-2.8, 2.8), *rng.uniform(-1.2, 1.2, FREE[kind] - 1)])
    if kind == "constant_velocity":
        return rng.uniform(-1.3, 1.3, 2)
    return rng.uniform(-2.9, 2.9, FREE[kind])


def place_b(world_frame_a, coordinates, kind, frame_a, frame_b, error=None):
    """The frame of body b that puts the joint at these coordinates, off by `error` = (offset, rotation vector)."""
    at_a = joint_frame(world_frame_a, frame_a)
    offset, turn = coordinates_to_frame(kind, coordinates)
    if error is not None:
        offset, turn = offset + error[0], multiply(exponential(error[1]), turn)
    position, orientation = at_a[0] + matrix(at_a[1]) @ offset, multiply(at_a[1], turn)
    orientation = multiply(orientation, conjugate(frame_b[1]))
    return position - matrix(orientation) @ frame_b[0], orientation


class Pair:
    """A scene of one joint between two bodies (or a body and the world) at a random pose with random twists.

    error: how far the joint is pulled open, metres and radians. Keywords go to the joint.
    """

    def __init__(
        self, seed, kind, side="both", error=0.0, coordinates=None, spin=1.0, gravity=(0, 0, 0), world=None, **joint
    ):
        rng = np.random.default_rng(seed)
        self.kind = kind
        self.frame_a, self.frame_b = random_frame(rng), random_frame(rng)
        self.coordinates = random_coordinates(rng, kind) if coordinates is None else np.asarray(coordinates, float)
        pose_a = random_frame(rng, 2.0)
        if side == "world is a":
            pose_a = np.zeros(3), np.array([1.0, 0, 0, 0])
        off = None if error == 0 else (rng.uniform(-error, error, 3), rng.uniform(-error, error, 3))
        pose_b = place_b(pose_a, self.coordinates, kind, self.frame_a, self.frame_b, off)
        if side == "world is b":
            # Move everything so that b's frame is the world's.
            turn = conjugate(pose_b[1])
            pose_a = matrix(turn) @ (pose_a[0] - pose_b[0]), multiply(turn, pose_a[1])
        scene = mc.Scene(gravity=gravity)
        for name, pose in (("a", pose_a), ("b", pose_b)):
            properties = dict(
                mass=rng.uniform(0.5, 3),
                inertia=random_inertia(rng),
                center_of_mass=rng.uniform(-0.3, 0.3, 3),
                velocity=spin * rng.normal(size=3),
                angular_velocity=spin * rng.normal(size=3),
            )
            if name not in side[-1:]:
                scene.add_body(name, position=pose[0], orientation=pose[1], **properties)
        self.joint = scene.add_joint(
            CLASSES[kind](
                None if side == "world is a" else "a",
                None if side == "world is b" else "b",
                name="joint",
                frame_a=self.frame_a,
                frame_b=self.frame_b,
                **CONSTANTS.get(kind, {}) | joint,
            )
        )
        self.scene = scene
        self.world = mc.World(scene, **(world or {}))

    def frames(self):
        """World frames (position, quaternion) of the joint on a and on b, at the present state."""
        positions, orientations = self.world.frames()
        out = []
        for end, on in ((self.joint.a, self.frame_a), (self.joint.b, self.frame_b)):
            if end is None:
                pose = np.zeros(3), np.array([1.0, 0, 0, 0])
            else:
                i = self.world.body_names.index(end)
                pose = positions[i], orientations[i]
            out.append(joint_frame(pose, on))
        return out


# ---- what is moved by hand -------------------------------------------------------------------------------------------


def move(world, twist, size):
    """Move all bodies along a twist (6 n,) of `size` seconds: x + size v, exp(size w) q."""
    twist = np.asarray(twist, float).reshape(-1, 6)
    world.positions[...] += size * twist[:, :3]
    for i, w in enumerate(twist[:, 3:]):
        world.orientations[i] = multiply(exponential(size * w), world.orientations[i])


def numerical_jacobian(world, measure, size=1e-5):
    """Central differences of measure() over every body's twist. -> (len(measure()), 6 n)"""
    start = world.positions.copy(), world.orientations.copy()
    columns = []
    for k in range(6 * len(start[0])):
        twist = np.zeros(6 * len(start[0]))
        twist[k] = 1.0
        values = []
        for sign in (1, -1):
            move(world, twist, sign * size)
            values.append(np.array(measure()))
            world.positions[...], world.orientations[...] = start
        columns.append((values[0] - values[1]) / (2 * size))
    return np.array(columns).T


def mass_matrix(world):
    """(6 n, 6 n) of the dynamic bodies, world axes."""
    blocks = np.zeros((6 * len(world.masses),) * 2)
    for i, mass in enumerate(world.masses):
        r = matrix(world.orientations[i])
        blocks[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = mass * np.eye(3)
        blocks[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = r @ world.body(i).inertia @ r.T
    return blocks


def answers(world, held):
    """(6 n, 6 n) P: how the dynamic bodies answer to forces while these rows (k, 6 n) hold, which may repeat each other."""
    W = np.linalg.inv(mass_matrix(world))
    return W - W @ held.T @ np.linalg.pinv(held @ W @ held.T, rcond=1e-10) @ held @ W


def add_random_body(scene, name, rng):
    """Of 0.1 to 10 kg, anywhere, turned any way."""
    scene.add_body(
        name,
        orientation=random_quaternion(rng),
        mass=10 ** rng.uniform(-1, 1),
        position=rng.normal(size=3),
        inertia=10 ** rng.uniform(-2, -1) * rng.uniform(1, 1.5, 3),
    )


def twists(world):
    """(6 n,) [v; w] of all bodies."""
    return np.hstack([world.velocities, world.angular_velocities]).ravel()
