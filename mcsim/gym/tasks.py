"""Three classic tasks: a pole on a cart, a leg that hops, a doll that gets up."""

from __future__ import annotations  # signatures read as they are written here

from typing import Any, ClassVar

import numpy as np

from mcsim.gym.task import Task
from mcsim.scene import Material, Scene, Spring
from mcsim.scene.joints import HingeJoint, SliderJoint
from mcsim.scene.shapes import Box, Capsule, Plane
from mcsim.scenes import ragdolls
from mcsim.world import ReducedWorld, World


def _trees(world: World) -> ReducedWorld:
    """The world of a task in generalized coordinates."""
    assert isinstance(world, ReducedWorld)
    return world


class CartPole(Task):
    """A pole of 1 m and 0.1 kg on a cart of 1 kg, to be kept upright by pushing the cart with up to 10 N.

    Seen: place [m], angle [rad], their rates. 1 an action while the pole leans less than 12° and the cart is within 2.4 m;
    500 actions of 0.02 s. Beginnings are within 0.05 of upright rest.

    Source: A. Barto, R. Sutton, C. Anderson, "Neuronlike adaptive elements that can solve difficult learning control
    problems", 1983.
    """

    actions = (-1.0 * np.ones(1), np.ones(1))
    observations = 4
    length = 500
    FORCE, LEAN, PLACE = 10.0, 12 * np.pi / 180, 2.4

    def make(self) -> World:
        scene = Scene(name="cart_pole")
        scene.add_body("cart", shape=Box((0.25, 0.15, 0.1)), mass=1.0, collision_mask=0)
        scene.add_body("pole", shape=Capsule(0.02, 0.48), mass=0.1, position=(0, 0, 0.5), collision_mask=0)
        scene.add_joint(SliderJoint(None, "cart", axis=(1, 0, 0), name="slide"))
        scene.add_joint(HingeJoint("cart", "pole", anchor=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
        return ReducedWorld(scene, dt=0.02, integrator="rk4")

    def begin(self, world: World, random: np.random.Generator) -> None:
        start = random.uniform(-0.05, 0.05, 4)
        trees = _trees(world)
        trees.q, trees.qd = start[:2], start[2:]

    def act(self, world: World, action: np.ndarray) -> None:
        _trees(world).tau[0] = self.FORCE * action[0]

    def observe(self, world: World) -> np.ndarray:
        trees = _trees(world)
        return np.concatenate([trees.q, trees.qd])

    def worth(self, world: World, action: np.ndarray) -> float:
        return 1.0

    def ended(self, world: World) -> bool:
        place, angle = _trees(world).q
        return bool(abs(place) > self.PLACE or abs(angle) > self.LEAN)


class Hopper(Task):
    """A torso, a thigh, a leg and a foot in a plane, to hop ahead as fast as it can, by torques of up to 200 N m at hip,
    knee and ankle, whose drives have rotors of 1 kg m² and dampers of 1 N m s/rad.

    Seen: height, lean and angles [m, rad], then the rates of all six coordinates. Worth of an action: the speed ahead
    [m/s], 1 for being up, less 0.001 |action|^2; it ends where the torso is below 0.7 m or leans by more than 0.4 rad.
    1,000 actions of 0.008 s. Lengths, densities, axes, limits, rotors and torques are those of Gymnasium's hopper.

    Source: T. Erez, Y. Tassa, E. Todorov, "Infinite-horizon model predictive control for periodic tasks with contacts",
    2011.
    """

    actions = (-1.0 * np.ones(3), np.ones(3))
    observations = 11
    steps = 4
    TORQUE, LOW, LEAN = 200.0, 0.7, 0.4
    DRIVEN: ClassVar[tuple[str, ...]] = ("hip", "knee", "ankle")

    def make(self) -> World:
        scene = Scene(name="hopper")
        scene.add_body("floor", kind="static", shape=Plane((0, 0, 1), material=Material(friction=1.0)))
        upright: dict[str, Any] = {"density": 1000.0, "collision_group": 2, "collision_mask": 1}
        scene.add_body("torso", shape=Capsule(0.05, 0.2), position=(0, 0, 1.25), **upright)
        scene.add_body("thigh", shape=Capsule(0.05, 0.225), position=(0, 0, 0.825), **upright)
        scene.add_body("leg", shape=Capsule(0.04, 0.25), position=(0, 0, 0.35), **upright)
        lying = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
        foot = Capsule(0.06, 0.195, orientation=lying, material=Material(friction=2.0))
        scene.add_body("foot", shape=foot, position=(0.065, 0, 0.1), **upright)
        scene.add_body("carriage", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6), position=(0, 0, 1.25))
        scene.add_body("lift", mass=1e-3, inertia=(1e-6, 1e-6, 1e-6), position=(0, 0, 1.25))
        scene.add_joint(SliderJoint(None, "carriage", axis=(1, 0, 0), name="ahead"))
        scene.add_joint(SliderJoint("carriage", "lift", axis=(0, 0, 1), name="up"))
        scene.add_joint(HingeJoint("lift", "torso", anchor=(0, 0, 1.25), axis=(0, 1, 0), name="lean"))
        drive: dict[str, Any] = {"axis": (0, -1, 0), "armature": 1.0, "spring": Spring(0.0, 1.0)}
        for name, a, b, z, limits in (
            ("hip", "torso", "thigh", 1.05, (-150, 0)),
            ("knee", "thigh", "leg", 0.6, (-150, 0)),
            ("ankle", "leg", "foot", 0.1, (-45, 45)),
        ):
            scene.add_joint(HingeJoint(a, b, anchor=(0, 0, z), limits=np.radians(limits).tolist(), name=name, **drive))
        return ReducedWorld(scene, dt=0.002, sleep=False)

    def begin(self, world: World, random: np.random.Generator) -> None:
        trees = _trees(world)
        trees.q = trees.q + random.uniform(0.0, 5e-3, 6)
        trees.qd = random.uniform(-5e-3, 5e-3, 6)

    def act(self, world: World, action: np.ndarray) -> None:
        _trees(world).tau[3:] = self.TORQUE * action

    def observe(self, world: World) -> np.ndarray:
        trees = _trees(world)
        seen = np.concatenate([trees.q[1:], np.clip(trees.qd, -10.0, 10.0)])
        seen[0] += 1.25
        return seen

    def worth(self, world: World, action: np.ndarray) -> float:
        return float(_trees(world).qd[0] + 1.0 - 1e-3 * np.sum(action * action))

    def ended(self, world: World) -> bool:
        up, lean = _trees(world).q[1:3]
        return bool(up + 1.25 < self.LOW or abs(lean) > self.LEAN)


class GetUp(Task):
    """A doll of sixteen bodies that lies on a floor, to get its head up, by torques at all its joints.

    Seen: of each body the place against the pelvis and the height [m], its z axis and its velocity [m/s]. Worth of an
    action: the height of the head over 1.5 m, less 0.01 |action|^2 / actions. 500 actions of 1/30 s. An action of 1 is the
    torque of a strong human's joint (STRENGTH [N m], about each axis).
    """

    steps = 2
    length = 500
    STRENGTH: ClassVar[dict[str, float]] = {
        "thigh": 150.0,
        "shank": 120.0,
        "foot": 60.0,
        "mid_trunk": 150.0,
        "upper_trunk": 120.0,
        "head": 15.0,
        "upper_arm": 50.0,
        "forearm": 30.0,
        "hand": 3.0,
    }

    def __init__(self) -> None:
        self._scene = ragdolls(count=1, drop=0.3)
        world = World(self._scene, sleep=False)
        torques = np.zeros(len(world.tau))
        for joint in self._scene.joints:
            torques[world.index(joint)[1]] = next(
                most for kind, most in self.STRENGTH.items() if str(joint.b).endswith(kind)
            )
        self._driven = np.flatnonzero(torques)
        self._torques = torques[self._driven]
        self._moving = [i for i, body in enumerate(self._scene.bodies) if body.kind == "dynamic"]
        self._head = next(i for i in self._moving if self._scene.bodies[i].name.endswith("head"))
        self.actions = -np.ones(len(self._driven)), np.ones(len(self._driven))
        self.observations = 9 * len(self._moving)

    def make(self) -> World:
        world = World(self._scene, dt=1 / 60, sleep=False)
        world.step(120)  # it falls, and lies
        return world

    def begin(self, world: World, random: np.random.Generator) -> None:
        for i in self._moving:
            world.set_velocity(i, random.uniform(-0.1, 0.1, 3))

    def act(self, world: World, action: np.ndarray) -> None:
        world.tau[self._driven] = self._torques * action

    def observe(self, world: World) -> np.ndarray:
        places, q, speeds = (array[self._moving] for array in (world.positions, world.orientations, world.velocities))
        w, x, y, z = q.T
        axes = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
        against = places - places[0] * (1, 1, 0)
        return np.concatenate([against.ravel(), axes.ravel(), np.clip(speeds, -20.0, 20.0).ravel()])

    def worth(self, world: World, action: np.ndarray) -> float:
        return float(world.positions[self._head, 2] / 1.5 - 0.01 * np.mean(action * action))

    def ended(self, world: World) -> bool:
        return False
