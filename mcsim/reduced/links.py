"""What a system model is made of: links with their joints, and the joints that close loops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcsim.reduced.user_joint import JointModel
from mcsim.scene import Joint
from mcsim.spatial import motion_transform


@dataclass(frozen=True, eq=False)
class Link:
    """A moving body and the joint that holds it to its parent.

    number: of the link. body: its name; body_number: its place in the scene's bodies.
    parent: number of the parent, -1 for the base. joint: of the scene, None for a free joint that the model added.
    kind: of the joint, a key of KINDS. reversed: the link is the joint's predecessor, the parent its successor.
    prescribed: a kinematic body, whose motion is given. q, v: where its coordinates and velocities stand.
    place (3,) [m], turn (3, 3): the joint's frame on the parent, in the parent's frame; x_parent = place + turn x.
    constant: of a helical joint the pitch [m/rad], of a rack and pinion the way a radian [m/rad], else 0.
    mass [kg], com (3,) [m]: centre of mass, and inertia (3, 3) [kg m²] about it, in the link's frame; 0 if prescribed.
    armature: of each velocity of the joint the inertia of a rotor that goes with it [kg or kg m²].
    frame: (position (3,) [m], rotation (3, 3)) of the centre of mass with the body's axes, in the link's frame;
        x_link = position + rotation x_body.
    model: of a joint of kind "user".
    """

    number: int
    body: str
    body_number: int
    parent: int
    joint: Joint | None
    kind: str
    reversed: bool
    prescribed: bool
    q: slice
    v: slice
    place: np.ndarray
    turn: np.ndarray
    constant: float
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    armature: np.ndarray
    frame: tuple[np.ndarray, np.ndarray]
    model: JointModel | None = None


@dataclass(frozen=True, eq=False)
class Loop:
    """A joint that closes a loop: it is not in the tree, and holds as constraints.

    joint: of the scene; kind: a key of KINDS. predecessor, successor: numbers of the links a and b, -1 for the base.
    predecessor_frame, successor_frame: (place (3,) [m], turn (3, 3)) of F_p and F_s in the frames of these two links.
    constant: of a helical joint the pitch [m/rad], else 0.
    """

    joint: Joint
    kind: str
    predecessor: int
    successor: int
    predecessor_frame: tuple[np.ndarray, np.ndarray]
    successor_frame: tuple[np.ndarray, np.ndarray]
    constant: float

    @property
    def X_P(self) -> np.ndarray:
        """(6, 6): takes motions [w; v] from the predecessor link's frame to F_p."""
        place, turn = self.predecessor_frame
        return motion_transform(turn.T, place)

    @property
    def X_S(self) -> np.ndarray:
        """(6, 6): takes motions [w; v] from the successor link's frame to F_s."""
        place, turn = self.successor_frame
        return motion_transform(turn.T, place)
