"""A scene in Rapier (pip install rapier3d), with the observers that the scripts ask for. Rapier runs in float32.

Taken over: spheres, boxes, capsules, planes; ball joints (a cone becomes a box of three angles) and hinges; collision
groups. Anything else is refused: a comparison of different scenes would say nothing. Its contact points are not
counted: its collision stage also lists points that are not solved, with distances of some time ago.
"""

import numpy as np
import rapier3d

from common import Peer
from mcsim.core.rotation import compose

EVERYTHING = 0xFFFFFFFF

# Rapier's joints turn about x, ours about z: the frame whose x is our z.
Z_TO_X = (np.zeros(3), np.array([0.5**0.5, 0.0, -(0.5**0.5), 0.0]))


def rotation(q):
    """(w, x, y, z) as Rapier's rotation."""
    return rapier3d.Rotation3(*(float(value) for value in q))


def isometry(position, orientation):
    return rapier3d.Isometry3([float(x) for x in position], rotation(orientation))


class Rapier(Peer):
    """One scene at Rapier's default settings, one thread, nothing sleeps. substeps: its solver iterations, 4 if
    None."""

    def __init__(self, scene, dt, substeps=None):
        super().__init__(scene)
        self.name = f"rapier {rapier3d.__version__}"
        self.world = rapier3d.PhysicsWorld(gravity=tuple(scene.gravity))
        self.world.set_num_threads(1)
        self.world.integration_parameters.dt = dt
        if substeps:
            self.world.integration_parameters.num_solver_iterations = substeps
        self.bodies = [self.add_body(body) for body in scene.bodies]
        self.handle = {body.name: handle for body, handle in zip(scene.bodies, self.bodies)}
        self.ground = self.world.add_body(rapier3d.RigidBody.fixed())
        for joint in scene.joints:
            self.add_joint(joint)

    def add_body(self, body):
        kind = {"static": rapier3d.RigidBody.fixed, "dynamic": rapier3d.RigidBody.dynamic}[body.kind]
        builder = kind().position(isometry(body.position, body.orientation)).can_sleep(False)
        handle = self.world.add_body(builder.linvel(list(body.velocity)).angvel(list(body.angular_velocity)))
        volume = sum(shape.volume for shape in body.shapes)
        for shape in body.shapes:
            material = shape.material or body.material
            groups = rapier3d.InteractionGroups(
                rapier3d.Group(body.collision_group & EVERYTHING), rapier3d.Group(body.collision_mask & EVERYTHING)
            )
            density = body.mass / volume if body.kind == "dynamic" else 0.0
            collider = self.collider(shape).position(isometry(shape.position, shape.orientation)).density(density)
            collider = collider.friction(material.friction).restitution(material.restitution)
            self.world.add_collider(collider.collision_groups(groups), handle)
        return handle

    @staticmethod
    def collider(shape):
        make = rapier3d.Collider
        if shape.type == "sphere":
            return make.ball(shape.radius)
        if shape.type == "box":
            return make.cuboid(*shape.half_extents)
        if shape.type == "capsule":
            return make.capsule_z(shape.half_length, shape.radius)
        if shape.type == "plane":
            return make.halfspace((0.0, 0.0, 1.0))
        raise NotImplementedError(f"{shape.type} in Rapier")

    def add_joint(self, joint):
        if joint.type not in ("ball", "hinge"):
            raise NotImplementedError(f"{joint.type} joints in Rapier")
        frames = [isometry(*compose(frame, Z_TO_X)) for frame in (joint.frame_a, joint.frame_b)]
        ends = [self.ground if name is None else self.handle[name] for name in (joint.a, joint.b)]
        axes = rapier3d.JointAxesMask
        locked = axes.LIN_AXES if joint.type == "ball" else axes.LOCKED_REVOLUTE_AXES
        builder = rapier3d.GenericJointBuilder(locked).local_frame1(frames[0]).local_frame2(frames[1])
        own = joint.axes[-1]
        if np.isfinite(own.lower) and np.isfinite(own.upper):
            builder = builder.limits(rapier3d.JointAxis.ANG_X, own.lower, own.upper)
        if np.isfinite(joint.swing_limit):
            for axis in (rapier3d.JointAxis.ANG_Y, rapier3d.JointAxis.ANG_Z):
                builder = builder.limits(axis, -joint.swing_limit, joint.swing_limit)
        self.world.impulse_joints.insert(*ends, builder.contacts_enabled(joint.collide).build())

    def step(self):
        self.world.step()

    def poses(self):
        found = [self.world.rigid_bodies[handle].position for handle in self.bodies]
        positions = np.array([[p.translation.x, p.translation.y, p.translation.z] for p in found])
        return positions, [np.array([p.rotation.w, p.rotation.i, p.rotation.j, p.rotation.k]) for p in found]

    def energy(self):
        total = 0.0
        for body, handle in zip(self.scene.bodies, self.bodies):
            if body.kind == "dynamic":
                rigid = self.world.rigid_bodies[handle]
                place = np.array([rigid.center_of_mass.x, rigid.center_of_mass.y, rigid.center_of_mass.z])
                total += rigid.kinetic_energy() - body.mass * float(self.scene.gravity @ place)
        return total
