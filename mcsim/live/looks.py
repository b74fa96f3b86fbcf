"""What is drawn of a world beside its shapes: colours of bodies by what they do, and lines for what cannot be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mcsim.core.rotation import matrices
from mcsim.scene import Scene
from mcsim.scene.shapes import Plane
from mcsim.view.colors import PALETTE, STATIC, body_colors
from mcsim.view.instances import Batch, batches, boxes
from mcsim.view.marks import AXIS, JointMarks, force_arrows, usual_size
from mcsim.world import World

COLORINGS = ("body", "island", "speed", "energy", "joint error")
LINES = ("joints", "contacts", "inertia", "boxes")
ASLEEP = 0.45  # how much of its colour a sleeping body keeps
USUAL_SPEED, USUAL_ENERGY = 1.5, 1.0  # [m/s], [J/kg]: in the middle of the scale
LEAST_ERROR, MOST_ERROR = -9.0, -2.0  # decades of a metre at the ends of the scale
# Half axes of the marks that can be clicked, in usual bodies' sizes: of a contact, of a joint across its axis.
CONTACT_MARK, JOINT_MARK = 0.05, 0.08
ARROW = 2.5  # usual bodies' sizes that a usual impulse's arrow is long
LONGEST_ARROW = 12.0  # of a contact's arrow, by the length for a body's weight
_GRADIENT = np.array([[0.16, 0.30, 0.70], [0.35, 0.70, 0.75], [0.97, 0.85, 0.30], [0.98, 0.22, 0.12]])
_EDGES = np.array([(i, i | 1 << k) for k in range(3) for i in range(8) if not i >> k & 1])
_CORNERS = np.array([[2.0 * (i >> k & 1) - 1.0 for k in range(3)] for i in range(8)])


class Marks(NamedTuple):
    """What can be clicked of one kind: positions (k, 3) [m], orientations (k, 4), half axes (k, 3) [m], and for each the
    names of what it belongs to."""

    positions: np.ndarray
    orientations: np.ndarray
    halves: np.ndarray
    names: Sequence[tuple[str, ...]]


def gradient(parts: np.ndarray) -> np.ndarray:
    """(n, 3) colours from cold to hot of numbers (n,) from 0 to 1."""
    places = np.linspace(0.0, 1.0, len(_GRADIENT))
    return np.stack([np.interp(parts, places, _GRADIENT[:, k]) for k in range(3)], axis=1)


class Looks:
    """Of one world, until its bodies or joints are others. size [m]: of a usual body. marks: by "joint" and "contact",
    those of the last lines."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.scene = scene = world.scene
        self.colors = body_colors(scene)
        self.dynamic = np.array([body.kind == "dynamic" for body in scene.bodies], bool)
        self.size = usual_size(scene)
        self._mass = np.array([body.mass for body in scene.bodies])
        self._joints = JointMarks(scene, self.size)
        self._ends = self._joints.ends
        gravity = float(np.linalg.norm(scene.gravity)) or 9.81
        mass, count = self._usual_group()
        self._usual_impulse = mass * gravity * world.dt
        self._arrow = ARROW * self.size * count**0.5  # [m] of the arrow of a usual impulse
        self._inertia = _inertia_boxes(scene)
        self.marks: dict[str, Marks] = {}
        self._boxed = np.array([not isinstance(shape, Plane) for body in scene.bodies for shape in body.shapes], bool)
        self._batches: list[Batch] = []  # found when boxes are asked for

    # ---- colours -----------------------------------------------------------------------------------------------------

    def coloring(self, how: str) -> np.ndarray:
        """(n, 3) colours of the bodies, 0 to 1; how: one of COLORINGS."""
        world = self.world
        if how == "body":
            found = self.colors.copy()
        elif how == "island":
            found = self._islands()
        else:
            if how == "speed":
                speed = np.linalg.norm(world.velocities, axis=1)
                parts = speed / (speed + USUAL_SPEED)
            elif how == "energy":
                energy = self._energies()
                parts = energy / (energy + USUAL_ENERGY)
            else:
                parts = self._errors()
            found = gradient(np.clip(np.nan_to_num(parts), 0.0, 1.0))
            found[~self.dynamic] = STATIC
        asleep = world.asleep
        found[asleep] = ASLEEP * found[asleep] + (1.0 - ASLEEP) * 0.62
        return found

    def _energies(self) -> np.ndarray:
        """(n,) kinetic energy [J/kg]."""
        world = self.world
        rotations = matrices(world.orientations)
        spin = np.einsum("nji,nj->ni", rotations, world.angular_velocities)
        inertia = np.array([body.inertia for body in self.scene.bodies])
        turning = 0.5 * np.einsum("ni,nij,nj->n", spin, inertia, spin) / np.where(self._mass > 0.0, self._mass, 1.0)
        return 0.5 * np.sum(world.velocities**2, axis=1) + turning

    def _errors(self) -> np.ndarray:
        """(n,) the largest position error of the joints on each body, 0 to 1 over its decades."""
        worst = np.zeros(len(self.scene.bodies))
        errors = self.world.joint_errors()[:, 0]
        for side in ("a", "b"):
            numbers = self._ends["body_" + side]
            there = numbers >= 0
            np.maximum.at(worst, numbers[there], errors[there])
        decades = np.log10(np.maximum(worst, 1e-300))
        return (decades - LEAST_ERROR) / (MOST_ERROR - LEAST_ERROR)

    def _together(self, *pairs: np.ndarray) -> np.ndarray:
        """(n,) a number for each body, the same for those that pairs (k, 2) of dynamic bodies hold together."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        found, n = np.concatenate(pairs).astype(int), len(self.scene.bodies)
        found = found[(found >= 0).all(axis=1)]
        found = found[self.dynamic[found].all(axis=1)]
        graph = coo_array((np.ones(len(found)), (found[:, 0], found[:, 1])), shape=(n, n))
        return connected_components(graph, directed=False)[1]

    def _usual_group(self) -> tuple[float, float]:
        """-> mass [kg] and number of the bodies that joints hold together, each the median."""
        if not self.dynamic.any():
            return 1.0, 1.0
        label = self._together(np.stack([self._ends["body_a"], self._ends["body_b"]], axis=1))
        groups = np.unique(label[self.dynamic])
        masses, counts = np.bincount(label, self._mass)[groups], np.bincount(label[self.dynamic], minlength=1)
        return float(np.median(masses)), float(np.median(counts[groups]))

    def _islands(self) -> np.ndarray:
        """Bodies that joints and contacts hold together have one colour."""
        contacts, n = self.world.contacts, len(self.scene.bodies)
        label = self._together(
            np.stack([contacts["body_a"], contacts["body_b"]], axis=1),
            np.stack([self._ends["body_a"], self._ends["body_b"]], axis=1),
        )
        first = np.full(n, n)
        np.minimum.at(first, label, np.arange(n))  # an island keeps the colour of its first body
        found = np.array(PALETTE)[first[label] % len(PALETTE)]
        found[~self.dynamic] = STATIC
        return found

    # ---- lines -------------------------------------------------------------------------------------------------------

    def lines(self, what: str) -> dict[str, np.ndarray]:
        """Name of LINE_COLORS -> segments (k, 2, 3) [m], of one of LINES."""
        ways = {"joints": self._joint_axes, "contacts": self._contacts, "inertia": self._boxes, "boxes": self._bounds}
        return ways[what]()

    def _joint_axes(self) -> dict[str, np.ndarray]:
        """From each body to its joints, and the joints' axes."""
        rods, axes, points = self._joints.lines(self.world.positions, self.world.orientations)
        halves = self.size * np.where(self._ends["along"], AXIS, JOINT_MARK)
        turned = self._joints.turned(self.world.orientations)
        self.marks["joint"] = Marks(points, turned, halves, [(joint.name,) for joint in self.scene.joints])
        return {"joints": rods, "axes": axes}

    def _contacts(self) -> dict[str, np.ndarray]:
        """An arrow at each point, as long as the impulse on what moves is large; a stub where there is none."""
        found, names = self.world.contacts, [body.name for body in self.scene.bodies]
        pairs = [(names[a], names[b]) for a, b in zip(found["body_a"].tolist(), found["body_b"].tolist())]
        upright = np.tile((1.0, 0.0, 0.0, 0.0), (len(found), 1))
        halves = np.full((len(found), 3), CONTACT_MARK * self.size)
        self.marks["contact"] = Marks(found["position"], upright, halves, pairs)
        scale = self._arrow / self._usual_impulse
        return {"contacts": force_arrows(found, self.dynamic, scale, self.size, LONGEST_ARROW * self._arrow)}

    def _boxes(self) -> dict[str, np.ndarray]:
        """The boxes of even density that have each body's mass and inertia, about its centre of mass."""
        corners, owners = self._inertia
        turns = matrices(self.world.orientations)[owners]
        placed = corners @ turns.swapaxes(1, 2) + self.world.positions[owners][:, None]
        return {"inertia": placed[:, _EDGES].reshape(-1, 2, 3)}

    def _bounds(self) -> dict[str, np.ndarray]:
        """The boxes of the broad phase; where it has none yet, those around the shapes."""
        found = self.world.shape_boxes()[self._boxed]
        if np.isnan(found).any():
            positions, orientations = self.world.shape_poses()
            self._batches = self._batches or batches(self.scene, 1.0)
            exact = np.stack(boxes(self._batches, positions, matrices(orientations)), axis=1)
            found = np.where(np.isnan(found), exact[self._boxed], found)
            found = found[np.isfinite(found).all(axis=(1, 2))]
        middle, half = found.mean(axis=1), 0.5 * (found[:, 1] - found[:, 0])
        return {"boxes": (middle[:, None] + _CORNERS * half[:, None])[:, _EDGES].reshape(-1, 2, 3)}


def _inertia_boxes(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """-> corners (k, 8, 3) in body axes about the centre of mass, numbers (k,) of the bodies."""
    chosen = np.array([i for i, body in enumerate(scene.bodies) if body.mass > 0.0], int)
    if not len(chosen):
        return np.zeros((0, 8, 3)), chosen
    moments, axes = np.linalg.eigh(np.array([scene.bodies[i].inertia for i in chosen]))
    mass = np.array([scene.bodies[i].mass for i in chosen])[:, None]
    half = np.sqrt(np.maximum(1.5 * (moments.sum(axis=1, keepdims=True) - 2.0 * moments) / mass, 0.0))
    return (_CORNERS * half[:, None]) @ axes.swapaxes(1, 2), chosen
