"""A System as a Pinocchio model, with the methods of the twin and of the compiled dynamics, one state at a time.

Each link but a fixed one is a joint of Pinocchio, whose frame is the link's. A reversed joint is a joint of the same
group of motions with inverse position; where its coordinates are in other axes or another order, velocities are carried
over by a square matrix B(q) for each joint: v' = B v, τ = Bᵀ τ', v̇' = B v̇ + Ḃ v. Ḃ v is zero but for free joints.
Joints are added in the order of links, depth first: `pin.crba` is right only then.
"""

import numpy as np
import pinocchio as pin

from mcsim.reduced.kinds import KINDS as MODELS, QUATERNIONS
from twin import Energy, Z, blocks, cross, link_weights, rotation_of, turn

KINDS = tuple(kind for kind in MODELS if kind not in ("rack_pinion", "user"))
GUIDED = tuple(kind for kind, n in QUATERNIONS.items() if 0 < n < 3)  # a ball that slides along some axes
STILL = pin.SE3.Identity()


def _composite(*joints):
    result = pin.JointModelComposite()
    for joint in joints:
        result.addJoint(joint, STILL)
    return result


def _parts(link):
    """The joints of Pinocchio that a link's is made of, one after the other."""
    constant, backwards = link.constant, link.reversed
    if link.kind in GUIDED:
        slides = [getattr(pin, f"JointModelP{way.upper()}")() for way in MODELS[link.kind].ways]
        ball = pin.JointModelSpherical()
        return [ball, *slides] if backwards else [*slides, ball]
    axes = {
        "cylindrical": [pin.JointModelPZ, pin.JointModelRZ],
        "universal": [pin.JointModelRZ, pin.JointModelRX],
        "spherical_ypr": [pin.JointModelRZ, pin.JointModelRY, pin.JointModelRX],
    }
    if link.kind in axes:
        parts = [axis() for axis in axes[link.kind]]
        return parts[::-1] if backwards and link.kind != "cylindrical" else parts
    return [
        {
            "revolute": lambda: pin.JointModelRZ(),
            "prismatic": lambda: pin.JointModelPZ(),
            "helical": lambda: pin.JointModelHZ(constant),
            "planar": lambda: pin.JointModelPlanar(),
            "spherical": lambda: pin.JointModelSpherical(),
            "free": lambda: pin.JointModelFreeFlyer(),
        }[link.kind]()
    ]


def _joint_model(link):
    if link.kind == "spherical_ypr" and not link.reversed:
        return pin.JointModelSphericalZYX()
    parts = _parts(link)
    return parts[0] if len(parts) == 1 else _composite(*parts)


def _conjugate(q):
    return np.array([q[0], *(-q[1:])])


def _xyzw(q):
    return np.array([*q[1:], q[0]]) / np.linalg.norm(q)


def _position(link, q):
    """Pinocchio's q of the joint."""
    if link.kind == "planar":
        xy, angle = q[:2], q[2]
        if link.reversed:
            xy, angle = -(turn(Z, -angle) @ [*xy, 0.0])[:2], -angle
        return np.array([*xy, np.cos(angle), np.sin(angle)])
    if link.kind == "spherical":
        return _xyzw(_conjugate(q) if link.reversed else q)
    if link.kind in GUIDED:
        ways, quaternion = q[:-4], q[-4:]
        return (
            np.array([*_xyzw(_conjugate(quaternion)), *(-ways)]) if link.reversed else np.array([*ways, *_xyzw(quaternion)])
        )
    if link.kind == "free":
        place, quaternion = q[:3], q[3:]
        if link.reversed:
            place, quaternion = -rotation_of(quaternion).T @ place, _conjugate(quaternion)
        return np.array([*place, *_xyzw(quaternion)])
    if link.reversed:
        return -q[::-1] if link.kind in ("universal", "spherical_ypr") else -q
    return q


def _velocity_matrix(link, q):
    """B: Pinocchio's velocity of the joint by q̇."""
    size = link.v.stop - link.v.start
    if link.kind == "free":
        rotation, r = rotation_of(q[3:]), q[:3]
        if link.reversed:
            return -blocks(np.eye(3), cross(r) @ rotation, 0.0, rotation)
        return blocks(rotation.T, 0.0, 0.0, np.eye(3))
    if not link.reversed:
        return np.eye(size)
    if link.kind in ("universal", "spherical_ypr"):
        return -np.eye(size)[::-1]
    if link.kind in GUIDED:  # F_p from F_s: first it turns back, then it slides in its own axes
        n = size - 3
        result = np.zeros((size, size))
        result[:3, n:], result[3:, :n] = -rotation_of(q[n:]), -np.eye(n)
        return result
    if link.kind == "spherical":
        return -rotation_of(q)
    if link.kind == "planar":
        x, y, angle = q
        rotation = turn(Z, angle)
        rotation[:2, 2] = y, -x  # r × z
        return -rotation
    return -np.eye(size)


def _velocity_matrix_rate(link, q, qd):
    """Ḃ q̇."""
    result = np.zeros(link.v.stop - link.v.start)
    if link.kind == "free":
        v, w, rotation = qd[:3], qd[3:], rotation_of(q[3:])
        result[:3] = np.cross(rotation @ w, v) if link.reversed else -np.cross(w, rotation.T @ v)
    return result


class PinocchioModel:
    """Pinocchio's dynamics in the coordinates of a System. Links of kinds out of KINDS are refused by a KeyError.

    apart: joints of several parts are joints in a row, on bodies without mass, in place of composite joints, of which
    Pinocchio's derivatives are not right.
    """

    def __init__(self, system, gravity=None, apart=False):
        self.links, self.nv = system.links, system.nv
        gravity = np.asarray(system.scene.gravity if gravity is None else gravity, float)
        # What the bodies' gravity_scale adds to their weight.
        self.additions = link_weights(system, gravity) - np.outer([link.mass for link in self.links], gravity)
        self.model = pin.Model()
        self.model.gravity = pin.Motion(gravity, np.zeros(3))
        self.joints, self.frames = [], []  # by link: number of the joint; place of the link in its frame
        for i, link in enumerate(self.links):
            joint, place = (self.joints[link.parent], self.frames[link.parent]) if link.parent >= 0 else (0, STILL)
            place = place * pin.SE3(link.turn, link.place)
            if link.kind != "fixed":
                for k, part in enumerate(_parts(link) if apart else [_joint_model(link)]):
                    joint, place = self.model.addJoint(joint, part, place, f"link{i}_{k}"), STILL
            self.joints.append(joint)
            self.frames.append(place)
            self.model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.com, link.inertia), place)
        self.centers = [
            self.model.addFrame(
                pin.Frame(
                    f"center{i}", self.joints[i], 0, self.frames[i] * pin.SE3(np.eye(3), link.com), pin.FrameType.OP_FRAME
                ),
                False,
            )
            for i, link in enumerate(self.links)
        ]
        self.data = self.model.createData()

    # ---- coordinates -------------------------------------------------------------------------------------------------

    def position(self, q):
        parts = [_position(link, q[link.q]) for link in self.links]
        return np.concatenate(parts) if parts else np.zeros(0)

    def velocity_matrix(self, q):
        """B (nv, nv) of all joints."""
        b = np.zeros((self.nv, self.nv))
        for link in self.links:
            b[link.v, link.v] = _velocity_matrix(link, q[link.q])
        return b

    def velocity_matrix_rate(self, q, qd):
        """Ḃ q̇ (nv,)."""
        parts = [_velocity_matrix_rate(link, q[link.q], qd[link.v]) for link in self.links]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _forces(self, p, forces):
        """The forces on links as Pinocchio takes them: one a joint, in its own frame."""
        forces = np.pad(self.additions, ((0, 0), (0, 3))) + (0.0 if forces is None else forces)
        result = pin.StdVec_Force()
        result.extend([pin.Force.Zero()] * self.model.njoints)
        pin.framesForwardKinematics(self.model, self.data, p)
        for i, joint in enumerate(self.joints):
            center = pin.SE3(np.eye(3), self.data.oMf[self.centers[i]].translation)
            result[joint] += self.data.oMi[joint].actInv(center.act(pin.Force(forces[i, :3], forces[i, 3:])))
        return result

    # ---- dynamics ----------------------------------------------------------------------------------------------------

    def inverse_dynamics(self, q, qd, qdd, forces=None):
        p, b = self.position(q), self.velocity_matrix(q)
        acceleration = b @ qdd + self.velocity_matrix_rate(q, qd)
        return b.T @ pin.rnea(self.model, self.data, p, b @ qd, acceleration, self._forces(p, forces))

    def bias_force(self, q, qd):
        return self.inverse_dynamics(q, qd, np.zeros(self.nv))

    def forward_dynamics(self, q, qd, tau, forces=None):
        p, b = self.position(q), self.velocity_matrix(q)
        acceleration = pin.aba(self.model, self.data, p, b @ qd, np.linalg.solve(b.T, tau), self._forces(p, forces))
        return np.linalg.solve(b, acceleration - self.velocity_matrix_rate(q, qd))

    def mass_matrix(self, q):
        upper, b = np.triu(pin.crba(self.model, self.data, self.position(q))), self.velocity_matrix(q)
        return b.T @ (upper + np.triu(upper, 1).T) @ b

    # ---- kinematics --------------------------------------------------------------------------------------------------

    def poses(self, q):
        """-> centres of mass (links, 3), rotations (links, 3, 3)."""
        pin.framesForwardKinematics(self.model, self.data, self.position(q))
        frames = [self.data.oMf[frame] for frame in self.centers]
        return np.array([frame.translation for frame in frames]), np.array([frame.rotation for frame in frames])

    def velocities(self, q, qd):
        pin.forwardKinematics(self.model, self.data, self.position(q), self.velocity_matrix(q) @ qd)
        twists = np.array(
            [pin.getFrameVelocity(self.model, self.data, frame, pin.LOCAL_WORLD_ALIGNED).vector for frame in self.centers]
        )
        return twists[:, :3], twists[:, 3:]

    def body_jacobian(self, number, q):
        if self.joints[number] == 0:  # Pinocchio would fall over it
            return np.zeros((6, self.nv))
        pin.computeJointJacobians(self.model, self.data, self.position(q))
        pin.updateFramePlacements(self.model, self.data)
        jacobian = pin.getFrameJacobian(self.model, self.data, self.centers[number], pin.LOCAL_WORLD_ALIGNED)
        return jacobian.reshape(6, self.nv) @ self.velocity_matrix(q)  # of one column it comes as a vector

    def energy(self, q, qd):
        p, v = self.position(q), self.velocity_matrix(q) @ qd
        kinetic = pin.computeKineticEnergy(self.model, self.data, p, v)
        # Pinocchio leaves out what is fixed to the world.
        still = sum(
            link.mass * (self.frames[i] * link.com) @ self.model.gravity.linear
            for i, link in enumerate(self.links)
            if self.joints[i] == 0
        )
        more = np.sum(self.additions * self.poses(q)[0])
        return Energy(kinetic, pin.computePotentialEnergy(self.model, self.data, p) - still - more)

    def momentum(self, q, qd):
        total = pin.computeCentroidalMomentum(self.model, self.data, self.position(q), self.velocity_matrix(q) @ qd)
        return total.linear, total.angular + np.cross(self.data.com[0], total.linear)
