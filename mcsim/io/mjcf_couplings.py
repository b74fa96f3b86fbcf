"""What couples bodies of a MuJoCo model beside its tree: equality constraints and tendons, as joints of a scene."""

from __future__ import annotations  # signatures read as they are written here

from typing import Any

import numpy as np

from mcsim.core.rotation import IDENTITY, Frame, compose, normalized
from mcsim.io.mjcf_bodies import Maker
from mcsim.io.mjcf_model import WORLD, unused
from mcsim.io.mjcf_tendons import over_one_joint, wraps
from mcsim.scene import BallJoint, DistanceJoint, FixedJoint, GearJoint, Scene, Spring

End = tuple[str | None, Frame]


def add_couplings(maker: Maker, scene: Scene) -> None:
    """Add a joint for every equality constraint and tendon that has a counterpart; the others are left out by name."""
    _Couplings(maker, scene).add_all()


class _Couplings:
    def __init__(self, maker: Maker, scene: Scene):
        self.maker, self.model, self.mj, self.scene = maker, maker.model, maker.model.mj, scene

    def add_all(self) -> None:
        kinds = self.model.mujoco.mjtEq
        for i in range(self.mj.neq):
            kind = kinds(int(self.mj.eq_type[i])).name.removeprefix("mjEQ_").lower()
            if not self.mj.eq_active0[i]:
                self._leave("equality constraints that are not active", i)
            elif self.model.disabled("EQUALITY", "CONSTRAINT"):
                self._leave("equality constraints, which the file switches off", i)
            elif kind in ("connect", "weld"):
                self._bodies(i, kind)
            elif kind == "joint":
                self._joints(i)
            elif kind == "tendon":
                self._tendons(i)
            else:
                self._leave(f"{kind} constraints", i)
        for i in range(self.mj.ntendon):
            self._tendon(i)

    def _leave(self, what: str, i: int) -> None:
        self.model.leave_out(what, self.model.equalities[i])

    def _name(self, name: str) -> str:
        return unused(name, self.maker.taken_joints)

    # ---- between bodies ----------------------------------------------------------------------------------------------

    def _bodies(self, i: int, kind: str) -> None:
        """connect: two points stay together; weld: two frames. By sites, their frames are those."""
        data = self.mj.eq_data[i]
        numbers = int(self.mj.eq_obj1id[i]), int(self.mj.eq_obj2id[i])
        if int(self.mj.eq_objtype[i]) == int(self.model.mujoco.mjtObj.mjOBJ_SITE):
            a, b = (self._at_site(number) for number in numbers)
        else:
            turn = normalized(data[6:10]) if kind == "weld" else IDENTITY[1]
            first, second = (data[0:3], data[3:6]) if kind == "connect" else (data[3:6], data[0:3])
            a = self._on_body(numbers[0], (np.array(first), turn))
            b = self._on_body(numbers[1], (np.array(second), IDENTITY[1]))
        if a[0] == b[0] or not self._dynamic(a[0], b[0]):
            return self._leave("equality constraints between bodies that cannot move against each other", i)
        make: Any = BallJoint if kind == "connect" else FixedJoint
        name = self._name(self.model.equalities[i])
        self.scene.add_joint(make(a[0], b[0], name=name, frame_a=a[1], frame_b=b[1], collide=True))
        return None

    def _on_body(self, body: int, frame: Frame) -> End:
        leader = self.maker.welds.leader[body]
        return (
            None if leader == WORLD else self.maker.names[leader],
            compose(self.maker.welds.frame[body], frame),
        )

    def _at_site(self, site: int) -> End:
        return self._on_body(int(self.mj.site_bodyid[site]), self.model.frame_of("site", site))

    def _dynamic(self, *names: str | None) -> bool:
        return any(name is not None and self.scene.body(name).kind == "dynamic" for name in names)

    # ---- between joints ----------------------------------------------------------------------------------------------

    def _joints(self, i: int) -> None:
        """q1 - q1_0 = Σ c_k (q2 - q2_0)^k: a gear, if c_2 and beyond are zero."""
        numbers = int(self.mj.eq_obj1id[i]), int(self.mj.eq_obj2id[i])
        c = self.mj.eq_data[i][:5].tolist()
        if numbers[1] < 0 or c[1] == 0.0:
            return self._leave("joint constraints of one joint alone", i)
        if any(c[2:]):
            return self._leave("joint constraints that are no straight line", i)
        if not all(self.model.kind_of_joint(number) in ("hinge", "slide") for number in numbers):
            return self._leave("joint constraints of other joints than hinges and slides", i)
        zeros = [float(self.mj.qpos0[int(self.mj.jnt_qposadr[number])]) for number in numbers]
        self._gear(self.model.equalities[i], numbers, -c[1], zeros[0] + c[0] - c[1] * zeros[1])
        return None

    def _gear(self, name: str, numbers: tuple[int, int], ratio: float, constant: float) -> None:
        a, b = (self.model.joints[number] for number in numbers)
        self.scene.add_joint(GearJoint(a, b, ratio, constant=constant, collide=True, name=self._name(name)))

    def _tendons(self, i: int) -> None:
        """The length of a fixed tendon over two joints is kept: a gear."""
        tendon, over = int(self.mj.eq_obj1id[i]), wraps(self.model, int(self.mj.eq_obj1id[i]))
        c = self.mj.eq_data[i][:5].tolist()
        if int(self.mj.eq_obj2id[i]) >= 0 or [kind for kind, _, _ in over] != ["joint", "joint"]:
            return self._leave("tendon constraints but those of one fixed tendon over two joints", i)
        (_, first, a), (_, second, b) = over
        if a == 0.0 or b == 0.0:
            return self._leave("tendon constraints with a coefficient of zero", i)
        length = float(self.mj.tendon_length0[tendon]) + c[0]
        self._gear(self.model.equalities[i], (first, second), b / a, length / a)
        return None

    # ---- tendons -----------------------------------------------------------------------------------------------------

    def _tendon(self, i: int) -> None:
        """A straight one between two sites is a distance joint with limits or a spring; one over a joint alone is part of
        that joint; what others do is left out."""
        model, mj, name = self.model, self.mj, self.model.tendons[i]
        limited = bool(mj.tendon_limited[i]) and not model.disabled("LIMIT", "CONSTRAINT")
        stiffness, damping, friction = (
            float(getattr(mj, f"tendon_{field}")[i]) for field in ("stiffness", "damping", "frictionloss")
        )
        for field in ("armature", "stiffnesspoly", "dampingpoly", "springyield"):
            if model.says(f"tendon_{field}", i):
                model.leave_out(f"{field} of tendons", name)
        if not (limited or stiffness or damping or friction) or over_one_joint(model, i) is not None:
            return
        over = wraps(model, i)
        low, high = mj.tendon_lengthspring[i].tolist()
        straight = [kind for kind, _, _ in over] == ["site", "site"]
        if not straight or (low != high and stiffness):
            for field, value in (("limits", limited), ("springs, damping and friction", stiffness + damping + friction)):
                if value:
                    model.leave_out(f"{field} of tendons", name)
            return
        a, b = (self._at_site(number) for _, number, _ in over)
        if a[0] == b[0] or not self._dynamic(a[0], b[0]):
            model.leave_out("tendons between bodies that cannot move against each other", name)
            return
        self.scene.add_joint(
            DistanceJoint(
                a[0],
                b[0],
                name=self._name(name),
                frame_a=a[1],
                frame_b=b[1],
                limits=tuple(mj.tendon_range[i].tolist()) if limited else None,
                spring=Spring(stiffness, damping, low) if stiffness or damping else None,
                friction=friction,
                collide=True,
            )
        )
