"""MJCF models written by tests, and what MuJoCo says of them."""

import random

import mujoco
import numpy as np

NO_CONSTRAINTS = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)


class Writer:
    """Writes random trees: frames, joints, several of them on one body, welded bodies, geoms, sites. All by one seed."""

    def __init__(self, seed, bodies=8, passive=False):
        self.chance, self.bodies, self.passive = random.Random(seed), bodies, passive
        self.count = 0

    def model(self, extra=""):
        """The text of a model."""
        trees = "".join(self.body(depth=0) for _ in range(self.chance.randint(1, 2)))
        return (
            f'<mujoco model="tree"><option gravity="{self.numbers(3, 9)}"/><worldbody>'
            f'<geom type="plane" size="1 1 1" pos="0 0 -50"/>{trees}</worldbody>{extra}</mujoco>'
        )

    def numbers(self, count=3, size=0.4):
        return " ".join(repr(self.chance.uniform(-size, size)) for _ in range(count))

    def place(self):
        turn = self.chance.choice(("quat", "euler", "axisangle"))
        return f'pos="{self.numbers()}" {turn}="{self.numbers(3 if turn == "euler" else 4, 80)}"'

    def body(self, depth):
        name, self.count = f"b{self.count}", self.count + 1
        inside = [self.joints(name, depth), self.geom(), self.site(name)]
        if self.chance.random() < 0.5:
            inside.append(self.geom())
        while self.count < self.bodies and self.chance.random() < 0.7:
            inside.append(self.body(depth + 1))
        return f'<body name="{name}" {self.place()}>{"".join(inside)}</body>'

    def joints(self, name, depth):
        kind = (
            self.chance.choice(("free", "plain", "plain")) if depth == 0 else self.chance.choice(("plain", "plain", "none"))
        )
        if kind == "free":
            rotor = f' armature="{self.chance.uniform(0, 1)!r}"' if self.chance.random() < 0.3 else ""
            return f'<joint type="free" name="{name}_free"{rotor}/>'
        if kind == "none":
            return ""
        kinds = [self.chance.choice(("hinge", "slide")) for _ in range(self.chance.randint(1, 3))]
        if self.chance.random() < 0.3:
            kinds[self.chance.randrange(len(kinds))] = "ball"
            kinds = kinds[: kinds.index("ball") + 1]  # more turning after a ball makes the mass matrix singular
        return "".join(self.joint(f"{name}_{k}", kind) for k, kind in enumerate(kinds))

    def joint(self, name, kind):
        ref = "" if kind == "ball" else f'axis="{self.numbers()}" ref="{self.chance.uniform(-1, 1)!r}"'
        passive = f'armature="{self.chance.uniform(0, 1)!r}"' if self.chance.random() < 0.5 else ""
        if self.passive and kind != "ball":
            passive += (
                f' stiffness="{self.chance.uniform(0, 5)!r}" damping="{self.chance.uniform(0, 1)!r}" '
                f'springref="{self.chance.uniform(-1, 1)!r}"'
            )
        return f'<joint name="{name}" type="{kind}" pos="{self.numbers()}" {ref} {passive}/>'

    def geom(self):
        kind = self.chance.choice(("sphere", "capsule", "box", "cylinder", "ellipsoid"))
        size = {"sphere": 1, "capsule": 2, "cylinder": 2}.get(kind, 3)
        sizes = " ".join(repr(self.chance.uniform(0.05, 0.2)) for _ in range(size))
        return f'<geom type="{kind}" size="{sizes}" {self.place()} mass="{self.chance.uniform(0.2, 3)!r}"/>'

    def site(self, name):
        return f'<site name="{name}_site" {self.place()}/>'


def random_state(model, seed):
    """-> qpos (nq,), qvel (nv,), qfrc (nv,)"""
    rng = np.random.default_rng(seed)
    q, v, tau = rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)
    mujoco.mj_normalizeQuat(model, q)
    return q, v, tau


def forward(model, q, v, tau=0.0):
    """MjData at a state, without constraints and actuators."""
    data = mujoco.MjData(model)
    before = int(model.opt.disableflags)
    model.opt.disableflags = before | NO_CONSTRAINTS
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
    mujoco.mj_forward(model, data)
    model.opt.disableflags = before
    return data


def mass_matrix(model, data):
    """(nv, nv); the order of arguments is another one since MuJoCo 4."""
    full = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, full)
    except TypeError:
        mujoco.mj_fullM(model, full, data.qM)
    return full
