"""A scene in Jolt by culverin (pip install culverin; Python 3.12 or later), with the observers that the scripts want.

It runs in an interpreter of its own on one CPU, which steps and times; poses come back through a pipe. Taken over:
spheres, boxes, capsules and planes in their bodies' centres, static bodies, ball joints without limits, friction that
is the same everywhere, no restitution. Anything else is refused: culverin cannot limit the twist of a ball joint.

Jolt's defaults: 10 sweeps of the velocities and 2 of the positions a step, contacts may overlap by 20 mm. This build has
positions in double precision, the rest in single. Substeps are smaller steps. Jolt damps: 5 % of a body's speed a
second, which culverin does not let one change. Contact points and overlaps are not asked for: its events have them as
its collision stage found them, before the bodies were moved.
"""

import json
import subprocess
from pathlib import Path

import numpy as np

from common import Peer
from mcsim.core.rotation import compose, conjugate, matrix, multiply

SERVER = Path(__file__).with_name("culverin_server.py")

# Jolt's capsules lie along y, ours along z: the frame whose y is our z.
Z_TO_Y = np.array([0.5**0.5, 0.5**0.5, 0.0, 0.0])
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])

COLUMNS = 4  # of a body in each of: position, quaternion (x, y, z, w), velocity, angular velocity


def missing(python):
    """Why this interpreter cannot run it; empty if it can."""
    try:
        found = subprocess.run([python, "-c", "import culverin"], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return "" if found.returncode == 0 else found.stderr.strip().splitlines()[-1]


class Culverin(Peer):
    """One scene in another interpreter, one thread, nothing sleeps."""

    def __init__(self, scene, dt, python, substeps=None):
        super().__init__(scene)
        if len({body.material.friction for body in scene.bodies}) > 1:
            raise NotImplementedError(f"{scene.name!r} in culverin: more than one friction")
        described = {
            "gravity": list(scene.gravity),
            "dt": dt,
            "substeps": substeps or 1,
            "bodies": [self.body(body) for body in scene.bodies],
            "joints": [self.joint(joint) for joint in scene.joints],
        }
        self.turns = np.array([turn(body) for body in scene.bodies])
        self.server = subprocess.Popen([python, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask(json.dumps(described))
        answer = self.server.stdout.readline().decode().strip()
        if answer.startswith("cannot"):
            self.close()
            raise NotImplementedError(f"{scene.name!r} in culverin, it {answer}")
        self.name = f"culverin {answer}"
        self.read = None  # the state since the last step, where somebody has looked at it

    @staticmethod
    def body(body):
        if len(body.shapes) != 1 or body.kind not in ("static", "dynamic") or body.collision_group > 0xFFFF:
            raise NotImplementedError(f"body {body.name!r} in culverin")
        (shape,) = body.shapes
        if shape.type != "plane" and (np.any(shape.position) or np.any(shape.orientation != UPRIGHT)):
            raise NotImplementedError(f"place of the shape of body {body.name!r} in culverin")
        if np.any(body.velocity) or np.any(body.angular_velocity):
            raise NotImplementedError(f"velocity of body {body.name!r} in culverin")
        material = shape.material or body.material
        if material.restitution:
            raise NotImplementedError(f"restitution of body {body.name!r} in culverin")
        q = multiply(body.orientation, turn(body))
        return {
            "shape": shape.type,
            "size": size(shape),
            "position": list(body.position),
            "rotation": [*q[1:], q[0]],
            "kind": body.kind,
            "mass": body.mass,
            "friction": material.friction,
            "category": body.collision_group & 0xFFFF,
            "mask": body.collision_mask & 0xFFFF,
        }

    def joint(self, joint):
        if (
            joint.type != "ball"
            or np.isfinite(joint.swing_limit)
            or any(np.isfinite(axis.upper) or axis.motor or axis.spring for axis in joint.axes)
        ):
            raise NotImplementedError(f"{joint.type} joint {joint.name!r} in culverin")
        body = self.scene.bodies[self.index[joint.b]]
        point, _ = compose((body.position, body.orientation), joint.frame_b)
        ends = [-1 if name is None else self.index[name] for name in (joint.a, joint.b)]
        return {"bodies": ends, "point": list(point)}

    def ask(self, line):
        self.server.stdin.write(line.encode() + b"\n")
        self.server.stdin.flush()

    def receive(self, count):
        """-> (count,) numbers"""
        read = self.server.stdout.read(8 * count)
        if len(read) < 8 * count:
            raise FloatingPointError("culverin ended")
        return np.frombuffer(read)

    def seconds(self, steps):
        """(steps,) of each of so many steps."""
        self.read = None
        self.ask(str(steps))
        return self.receive(steps)

    def step(self):
        self.seconds(1)

    def state(self):
        """(4, bodies, 4), of Jolt's frames"""
        if self.read is None:
            self.ask("state")
            self.read = self.receive(4 * COLUMNS * len(self.scene.bodies)).reshape(4, -1, COLUMNS)
        return self.read

    def positions(self):
        return self.state()[0, :, :3]

    def poses(self):
        quaternions = np.roll(self.state()[1], 1, axis=1)  # to (w, x, y, z)
        return self.positions(), multiply(quaternions.T, conjugate(self.turns.T)).T

    def energy(self):
        positions, quaternions = self.poses()
        total = 0.0
        for body, place, q, velocity, spin in zip(self.scene.bodies, positions, quaternions, *self.state()[2:, :, :3]):
            if body.kind == "dynamic":
                turned = matrix(q).T @ spin
                total += body.mass * (velocity @ velocity) / 2 + turned @ body.inertia @ turned / 2
                total -= body.mass * (self.scene.gravity @ place)
        return total

    def close(self):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait()


def turn(body):
    """Orientation of Jolt's frame in ours."""
    return Z_TO_Y if body.shapes and body.shapes[0].type == "capsule" else UPRIGHT


def size(shape):
    """As culverin wants it."""
    if shape.type == "sphere":
        return [shape.radius]
    if shape.type == "capsule":
        return [shape.half_length, shape.radius]
    if shape.type == "box":
        return list(shape.half_extents)
    if shape.type == "plane":
        return [*shape.normal, -shape.offset]  # n x + c = 0
    raise NotImplementedError(f"{shape.type} in culverin")
