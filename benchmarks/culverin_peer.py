"""A scene in Jolt by culverin (pip install culverin; Python 3.12 or later), with the observers that the scripts want.

It runs in an interpreter of its own, which steps and times; poses come back through a pipe. Taken over: spheres and
capsules in their bodies' centres, ball joints without limits, no restitution. Anything else is refused. Jolt damps: 5 %
of a body's speed a second, which culverin does not let one change. Joints are solved at Jolt's defaults, 10 sweeps of
the velocities and 2 of the positions; substeps are smaller steps.
"""

import json
import subprocess
from pathlib import Path

import numpy as np

from common import Peer
from mcsim.core.rotation import compose, matrix

SERVER = Path(__file__).with_name("culverin_server.py")

# Jolt's capsules lie along y, ours along z: the frame whose y is our z, and back.
Z_TO_Y = (np.zeros(3), np.array([0.5**0.5, 0.5**0.5, 0.0, 0.0]))
Y_TO_Z = (np.zeros(3), np.array([0.5**0.5, -(0.5**0.5), 0.0, 0.0]))

COLUMNS = 13                    # of a body: position, quaternion (x, y, z, w), velocity, angular velocity


def missing(python):
    """Why this interpreter cannot run it; empty if it can."""
    try:
        found = subprocess.run([python, "-c", "import culverin"], capture_output=True, text=True)
    except OSError as error:
        return str(error)
    return "" if found.returncode == 0 else found.stderr.strip().splitlines()[-1]


class Culverin(Peer):
    """One scene in another interpreter, one thread."""

    def __init__(self, scene, dt, python, substeps=None):
        super().__init__(scene)
        described = {"gravity": list(scene.gravity), "dt": dt, "substeps": substeps or 1,
                     "bodies": [self.body(body) for body in scene.bodies],
                     "joints": [self.joint(joint) for joint in scene.joints]}
        self.server = subprocess.Popen([python, str(SERVER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.server.stdin.write(json.dumps(described).encode() + b"\n")
        self.server.stdin.flush()
        answer = self.server.stdout.readline().decode().strip()
        if answer.startswith("cannot"):
            self.close()
            raise NotImplementedError(f"{scene.name!r} in culverin, it {answer}")
        self.name = f"culverin {answer}"
        self.receive()

    @staticmethod
    def body(body):
        if len(body.shapes) != 1 or body.shapes[0].type not in ("sphere", "capsule") or body.kind != "dynamic":
            raise NotImplementedError(f"body {body.name!r} in culverin")
        shape, = body.shapes
        size = [shape.radius] if shape.type == "sphere" else [shape.half_length, shape.radius]
        if np.any(shape.position) or np.any(body.velocity) or np.any(body.angular_velocity):
            raise NotImplementedError(f"shape or velocity of body {body.name!r} in culverin")
        position, q = compose((body.position, body.orientation), Z_TO_Y)
        return {"shape": shape.type, "size": size, "position": list(position), "rotation": [*q[1:], q[0]],
                "mass": body.mass, "category": body.collision_group & 0xFFFF, "mask": body.collision_mask & 0xFFFF}

    def joint(self, joint):
        if joint.type != "ball" or np.isfinite(joint.swing_limit) or any(
                np.isfinite(axis.upper) or axis.motor or axis.spring for axis in joint.axes):
            raise NotImplementedError(f"{joint.type} joint {joint.name!r} in culverin")
        body = self.scene.bodies[self.index[joint.b]]
        point, _ = compose((body.position, body.orientation), joint.frame_b)
        ends = [-1 if name is None else self.index[name] for name in (joint.a, joint.b)]
        return {"bodies": ends, "point": list(point)}

    def receive(self):
        """-> seconds; keeps the state of all bodies."""
        count = 1 + COLUMNS * len(self.scene.bodies)
        read = np.frombuffer(self.server.stdout.read(8 * count))
        if len(read) < count:
            raise FloatingPointError("culverin ended")
        self.state = read[1:].reshape(-1, COLUMNS)
        return float(read[0])

    def step(self):
        self.server.stdin.write(b"step\n")
        self.server.stdin.flush()
        return self.receive()

    def poses(self):
        quaternions = [compose((np.zeros(3), np.array([q[3], *q[:3]])), Y_TO_Z)[1] for q in self.state[:, 3:7]]
        return self.state[:, :3], quaternions

    def energy(self):
        total = 0.0
        for body, q, state in zip(self.scene.bodies, self.poses()[1], self.state):
            spin = matrix(q).T @ state[10:]
            total += body.mass * (state[7:10] @ state[7:10]) / 2 + spin @ body.inertia @ spin / 2
            total -= body.mass * (self.scene.gravity @ state[:3])
        return total

    def close(self):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait()
