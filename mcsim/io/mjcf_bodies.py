"""Bodies and joints of a MuJoCo model, as a scene has them.

Several joints of one body move it one after the other. Each but the last one moves a body of its own, between the parent
and the body: it has no shape and a small fraction of the body's mass and inertia, and is called after its joint. So every
joint of the file is one joint of the scene, of the same name, with the same coordinate.
"""

from __future__ import annotations  # signatures read as they are written here

from math import inf
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import product
from mcsim.core.rotation import IDENTITY, Frame, compose, matrix, multiply, normalized, rotate, rotation_vector
from mcsim.core.trig import cos, sin
from mcsim.io.mjcf_geoms import SOLIMP, SOLREF, Geoms
from mcsim.io.mjcf_model import WORLD, Model, Welds, unused
from mcsim.io.mjcf_tendons import OfJoint, by_joint
from mcsim.scene import BallJoint, FixedJoint, FreeJoint, HingeJoint, Joint, Scene, SliderJoint, Spring
from mcsim.scene.checks import FieldError
from mcsim.scene.mass import MassProperties, combined, inertia_problem

NO_MASS = MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))


class State(NamedTuple):
    """Where a body's own frame is, and how fast: velocity (3,) of its origin and angular velocity (3,), world axes."""

    frame: Frame
    velocity: np.ndarray
    spin: np.ndarray

    def at(self, point: np.ndarray) -> np.ndarray:
        """The velocity of a point that moves with the body."""
        return self.velocity + np.cross(self.spin, point - self.frame[0])


AT_REST = State(IDENTITY, np.zeros(3), np.zeros(3))


class Maker:
    """Adds a model's bodies and joints to a scene.

    between: mass and inertia of a body between two joints, of those of the body that they move.
    qpos (nq,), qvel (nv,): where the scene starts, as MuJoCo has them; guided: number of a mocap body -> its frame, where
    that is not the file's.
    names: leader -> its name in the scene; None of the world where that has no body.
    """

    def __init__(
        self,
        model: Model,
        welds: Welds,
        geoms: Geoms,
        between: float,
        qpos: np.ndarray,
        qvel: np.ndarray,
        guided: dict[int, Frame],
    ):
        self.model, self.welds, self.geoms, self.between = model, welds, geoms, between
        self.qpos, self.qvel, self.guided = qpos, qvel, guided
        self.tendons = by_joint(model)
        self.names: dict[int, str | None] = {}
        self.states: dict[int, State] = {WORLD: AT_REST}
        self.taken = set(model.bodies)
        self.taken_joints = set(model.joints)
        self.joints: list[Joint] = []
        self.holding: dict[int, str] = {}  # leader -> the last joint that holds it
        self.passing: list[tuple[str, str]] = []  # pairs that do not collide

    def add_all(self, scene: Scene) -> None:
        """Add every body, in the file's order, then every joint, then the pairs that do not collide."""
        model, mj = self.model, self.model.mj
        shapes = self.geoms.shapes(WORLD, still=True)
        self.names[WORLD] = model.bodies[WORLD] if shapes else None
        if shapes:
            scene.add_body(model.bodies[WORLD], shape=shapes, kind="static", **self.geoms.groups(WORLD))
        for leader in self.welds.leaders:
            self.names[leader] = model.bodies[leader]
            try:
                if mj.body_mocapid[leader] >= 0:
                    self._add_guided(scene, leader)
                else:
                    self._add_moving(scene, leader)
            except FieldError as error:
                raise SceneError(f"{model.source}: body {model.bodies[leader]!r}: {error.field} {error.problem}") from None
        for joint in self.joints:
            scene.add_joint(joint)
        self._exclude()
        for pair in self.passing:
            scene.ignore_collision(*pair)
        self.geoms.add_pairs(scene, self.names, {frozenset(pair) for pair in self.passing})

    def _exclude(self) -> None:
        """Pairs of bodies that the file takes out."""
        for signature in self.model.mj.exclude_signature:
            ends = (self.names.get(self.welds.leader[int(number)]) for number in (signature >> 16, signature & 0xFFFF))
            a, b = ends
            if a is not None and b is not None and a != b:
                self.passing.append((a, b))

    # ---- bodies ------------------------------------------------------------------------------------------------------

    def _add_guided(self, scene: Scene, leader: int) -> None:
        """A mocap body, which moves as the user says."""
        there = compose(self.states[self.welds.parent[leader]].frame, self.welds.place[leader])
        frame = self.guided.get(int(self.model.mj.body_mocapid[leader]), there)
        self.states[leader] = State(frame, np.zeros(3), np.zeros(3))
        scene.add_body(
            self.model.bodies[leader],
            shape=self.geoms.shapes(leader, still=True),
            kind="kinematic",
            position=frame[0],
            orientation=frame[1],
            **self.geoms.groups(leader),
        )

    def _add_moving(self, scene: Scene, leader: int) -> None:
        """A body with its joints, and the bodies between them."""
        model, above = self.model, self.welds.parent[leader]
        whole = self._mass(leader)
        name, joints = model.bodies[leader], list(model.joints_of(leader))
        state = self.states[above]
        state = State(compose(state.frame, self.welds.place[leader]), state.velocity, state.spin)
        state = State(state.frame, self.states[above].at(state.frame[0]), state.spin)
        before, place = (None if above == WORLD else self.names[above]), self.welds.place[leader]
        for number in joints:
            state = self._moved(state, number)
            last = number == joints[-1]
            body = name if last else unused(f"{model.joints[number]}_link", self.taken)
            if last:
                self._add_body(scene, body, whole, state, leader)
            else:
                self._add_body(scene, body, whole.scaled(self.between), state, None, leader)
            self.joints.append(self._joint(number, before, body, place))
            before, place = body, IDENTITY
        if not joints:
            self._add_body(scene, name, whole, state, leader)
            held = FixedJoint(before, name, name=unused(f"{name}_weld", self.taken_joints), frame_a=place, frame_b=IDENTITY)
            self.joints.append(held)
        self.holding[leader] = str(self.joints[-1].name)
        self.states[leader] = state
        parent = None if above == WORLD else self.names[above]
        if len(joints) > 1 and parent is not None and not model.disabled("FILTERPARENT"):
            self.passing.append((parent, name))

    def _add_body(
        self, scene: Scene, name: str, mass: MassProperties, state: State, leader: int | None, of: int | None = None
    ) -> None:
        """leader: whose shapes it has, None of a body between joints; `of` is then the one that they move."""
        floating = 1.0 - float(self.model.mj.body_gravcomp[of if leader is None else leader])
        place, turn = state.frame
        center = place + rotate(turn, mass.center)
        shape: dict[str, Any] = {"collision_mask": 0}
        if leader is not None:
            shape = {"shape": self.geoms.shapes(leader, still=False), **self.geoms.groups(leader)}
        scene.add_body(
            name,
            position=place,
            orientation=turn,
            velocity=state.at(center),
            angular_velocity=state.spin,
            mass=mass.mass,
            inertia=mass.inertia,
            center_of_mass=mass.center,
            unphysical_inertia=inertia_problem(mass.inertia) is not None,
            gravity_scale=floating,
            **shape,
        )

    def _mass(self, leader: int) -> MassProperties:
        """Of all bodies of the file that make up a leader, in its frame."""
        mj = self.model.mj
        parts = []
        for body in self.welds.of[leader]:
            own = MassProperties(float(mj.body_mass[body]), np.zeros(3), np.diag(mj.body_inertia[body]))
            if own.mass > 0.0:
                in_body = own.placed(*self.model.inertial_frame(body))
                parts.append(in_body.placed(*self.welds.frame[body]))
            if mj.body_gravcomp[body] != mj.body_gravcomp[leader]:
                self.model.leave_out("gravcomp of bodies that are one with others", self.model.bodies[body])
        whole = combined(parts) if parts else NO_MASS
        problem = inertia_problem(whole.inertia, unphysical=True) if whole.mass else "needs mass: it moves"
        if problem:
            raise SceneError(f"{self.model.source}: body {self.model.bodies[leader]!r}: inertia {problem}")
        return whole

    # ---- motion ------------------------------------------------------------------------------------------------------

    def _moved(self, before: State, number: int) -> State:
        """The state after one more joint has moved the body, as MuJoCo does it: about the joint's point where the
        coordinates before have brought it."""
        mj, kind = self.model.mj, self.model.kind_of_joint(number)
        q, v = int(mj.jnt_qposadr[number]), int(mj.jnt_dofadr[number])
        if kind == "free":
            frame = np.array(self.qpos[q : q + 3]), normalized(self.qpos[q + 3 : q + 7])
            return State(frame, np.array(self.qvel[v : v + 3]), rotate(frame[1], self.qvel[v + 3 : v + 6]))
        place, turn = before.frame
        point = place + rotate(turn, mj.jnt_pos[number])
        axis = rotate(turn, mj.jnt_axis[number])
        if kind == "slide":
            way = (self.qpos[q] - mj.qpos0[q]) * axis
            return State((place + way, turn), before.at(place + way) + axis * self.qvel[v], before.spin)
        if kind == "ball":
            own = normalized(self.qpos[q : q + 4])
            after = normalized(multiply(turn, own))
            spin = before.spin + rotate(after, self.qvel[v : v + 3])
        else:
            half = (self.qpos[q] - mj.qpos0[q]) / 2
            own = np.array([cos(half), *(sin(half) * np.array(mj.jnt_axis[number]))])
            after = normalized(multiply(turn, own))
            spin = before.spin + axis * self.qvel[v]
        origin = point - product(matrix(after), mj.jnt_pos[number])
        return State((origin, after), before.at(point) + np.cross(spin, origin - point), spin)

    # ---- joints ------------------------------------------------------------------------------------------------------

    def _joint(self, number: int, before: str | None, body: str, place: Frame) -> Joint:
        """A joint of the file. place: of the body's frame in that of `before`, with this joint at its zero."""
        model, mj, name = self.model, self.model.mj, self.model.joints[number]
        kind, own = model.kind_of_joint(number), model.joint_frame(number)
        self._leave_out_fields(number, kind, name)
        if kind == "free":
            return FreeJoint(None, body, name=name, frame_a=IDENTITY, frame_b=IDENTITY, armature=self._armature(number, 6))
        outer = compose(place, own)
        ends: dict[str, Any] = {"name": name, "frame_a": outer, "frame_b": own, "collide": model.disabled("FILTERPARENT")}
        has = self._passive(number, kind)
        if kind == "ball":
            rest: Any = rotation_vector(normalized(mj.qpos_spring[int(mj.jnt_qposadr[number]) :][:4]))
            return BallJoint(
                before,
                body,
                **ends,
                spring=_spring(has, rest),
                friction=has.friction,
                armature=self._armature(number, 3)[0],
                **self._ball_limits(number),
            )
        zero = float(mj.qpos0[int(mj.jnt_qposadr[number])])
        if kind == "hinge":
            back = np.zeros(3), np.array([cos(zero / 2), 0.0, 0.0, -sin(zero / 2)])
        else:
            back = np.array([0.0, 0.0, -zero]), IDENTITY[1]
        ends["frame_a"] = compose(outer, back)
        limits = None if (has.lower, has.upper) == (-inf, inf) else (has.lower, has.upper)
        make: Any = HingeJoint if kind == "hinge" else SliderJoint
        ends |= {"friction": has.friction, "armature": self._armature(number, 1)[0]}
        return make(before, body, limits=limits, **ends, spring=_spring(has, has.rest))

    def _armature(self, number: int, count: int) -> list[float]:
        """Of each of a joint's velocities; of those about all axes of a body it is one number, as a file has it."""
        v = int(self.model.mj.jnt_dofadr[number])
        found: list[float] = self.model.mj.dof_armature[v : v + count].tolist()
        if len(set(found[-3:])) > 1:
            self.model.leave_out("armature of joints that differs about x, y and z", self.model.joints[number])
            found[-3:] = [min(found[-3:])] * 3
        return found

    def _passive(self, number: int, kind: str) -> OfJoint:
        """Spring, damping, friction and limits, of the joint and of tendons over it alone."""
        model, mj = self.model, self.model.mj
        q, v = int(mj.jnt_qposadr[number]), int(mj.jnt_dofadr[number])
        limited = kind != "ball" and mj.jnt_limited[number] and not model.disabled("LIMIT", "CONSTRAINT")
        own = OfJoint(
            0.0 if model.disabled("SPRING") else float(mj.jnt_stiffness[number]),
            0.0 if model.disabled("DAMPER") else float(mj.dof_damping[v]),
            0.0 if model.disabled("FRICTIONLOSS", "CONSTRAINT") else float(mj.dof_frictionloss[v]),
            0.0 if kind == "ball" else float(mj.qpos_spring[q]),
            *(mj.jnt_range[number].tolist() if limited else (-inf, inf)),
        )
        return own.beside(self.tendons.get(number, OfJoint()))

    def _ball_limits(self, number: int) -> dict[str, Any]:
        """MuJoCo's limit is of the whole angle of the turn, here of swing and of twist, each for itself: what turns about
        one axis alone, along the joint's z or at right angles to it, is held at the same angle."""
        most = float(self.model.mj.jnt_range[number][1])
        if not self.model.mj.jnt_limited[number] or self.model.disabled("LIMIT", "CONSTRAINT") or most >= np.pi:
            return {}
        return {"swing_limit": most, "twist_limits": (-most, most)}

    def _leave_out_fields(self, number: int, kind: str, name: str) -> None:
        """What of a joint has no counterpart."""
        model, mj = self.model, self.model.mj
        v = int(mj.jnt_dofadr[number])
        if kind == "ball" and self._ball_limits(number):
            model.leave_out("that limits of ball joints are of the whole angle (swing and twist have it each)", name)
        if kind == "free" and any(model.says(field, v) for field in ("dof_damping", "dof_frictionloss")):
            model.leave_out("damping and frictionloss of free joints", name)
        if kind == "free" and model.says("jnt_stiffness", number):
            model.leave_out("stiffness of free joints", name)
        for field in ("stiffnesspoly", "springyield", "margin"):
            if model.says(f"jnt_{field}", number):
                model.leave_out(f"{field} of joints", name)
        if model.says("dof_dampingpoly", v):
            model.leave_out("dampingpoly of joints", name)
        soft = (("jnt_solref", number), ("jnt_solimp", number), ("dof_solref", v), ("dof_solimp", v))
        if not all(np.allclose(getattr(mj, field)[i], SOLREF if "ref" in field else SOLIMP) for field, i in soft):
            model.leave_out("solref and solimp of joints", name)


def _spring(has: OfJoint, rest: Any) -> Spring | None:
    return Spring(has.stiffness, has.damping, rest) if has.stiffness or has.damping else None
