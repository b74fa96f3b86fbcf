"""System: the model of a scene in generalized coordinates (Featherstone, Rigid Body Dynamics Algorithms, chapter 4).

Links are numbered from 0, parents before children and depth first; the base (the world and all static bodies) is -1.
The frame of a link is that of its joint on the link's own body: F_s of the successor, or, where the tree runs against
the joint's sense (reversed), F_p of the predecessor. The frame of the base is the world's. The joint's other frame is
fixed on the parent, at `place` and `turn`. A link that no joint of the scene holds is free: its F_p is the world's
frame, its F_s the centre of mass with the body's axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.rotation import IDENTITY, Frame, compose, matrix, relative
from mcsim.reduced.kinds import BALLS, KIND_OF, KINDS, QUATERNIONS
from mcsim.reduced.readout import Readout
from mcsim.reduced.spanning import BASE, Branch, Edge, span
from mcsim.scene import Body, Joint, Scene
from mcsim.scene.checks import choose, listing, show, suggestion


@dataclass(frozen=True, eq=False)
class Link:
    """A moving body and the joint that holds it to its parent.

    number: of the link. body: its name; body_number: its place in the scene's bodies.
    parent: number of the parent, -1 for the base. joint: of the scene, None for a free joint that the model added.
    kind: of the joint, a key of KINDS. reversed: the link is the joint's predecessor, the parent its successor.
    prescribed: a kinematic body, whose motion is given. q, v: where its coordinates and velocities stand.
    place (3,) [m], turn (3, 3): the joint's frame on the parent, in the parent's frame; x_parent = place + turn x.
    constant: of a helical joint the pitch [m/rad], else 0.
    mass [kg], com (3,) [m]: centre of mass, and inertia (3, 3) [kg m²] about it, in the link's frame; 0 if prescribed.
    frame: (position (3,) [m], rotation (3, 3)) of the centre of mass with the body's axes, in the link's frame;
        x_link = position + rotation x_body.
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
    frame: tuple[np.ndarray, np.ndarray]


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


class System:
    """The model of a scene in generalized coordinates: a spanning tree of links and joints, and what closes loops.

    scene: what it is a model of. Static bodies are part of the base, where they stand in the scene.
    tree: joints (handles or names) that must be in the tree. The others are chosen: those with the fewest freedoms
        first, so that loops are cut where it costs the fewest rows, then in the scene's order.
    roots: bodies (handles or names) that a free joint holds to the base. Otherwise a component that no joint holds to
        the base has one at its first body.
    ball: coordinates of ball joints: "quaternion", or "ypr" (yaw, pitch, roll; singular at pitch ±π/2); or a dict of
        these by the joints' names, "quaternion" for the others.

    links: list of Link; loops: list of Loop. couplings: list of the scene's joints that are neither (distance, gear,
        rack and pinion, rolling, knife edge, of the user's own).
    nq, nv: number of coordinates q and of velocities qd. parent (n,): the links' parents, -1 for the base.
    link_of: name of a body -> number of its link, -1 for a static one.
    """

    scene: Scene
    links: list[Link]
    loops: list[Loop]
    couplings: list[Joint]
    nq: int
    nv: int
    parent: np.ndarray
    link_of: dict[str, int]

    def __init__(self, scene: Scene, tree: Iterable[Joint | str] | None = None,
                 roots: Iterable[Body | str] | None = None, ball: str | Mapping[str, str] = "quaternion"):
        self.scene = scene
        balls = _balls(scene, ball)
        spanning = span(scene, tree, roots)
        self.link_of = {body.name: BASE for body in scene.bodies}
        self.link_of |= {scene.bodies[branch.body].name: i for i, branch in enumerate(spanning.branches)}
        self._frames: list[Frame] = []              # of each link, in its body's own frame
        self.links = []
        self.nq = self.nv = 0
        for branch in spanning.branches:
            self._add_link(branch, balls)
        self.parent = np.array([link.parent for link in self.links], dtype=np.intp)
        self.loops = [self._loop(edge, balls) for edge in spanning.loops]
        self.couplings = spanning.couplings
        self._link_of_joint = {link.joint.name: link for link in self.links if link.joint is not None}
        self._readout: Readout | None = None

    # ---- building ----------------------------------------------------------------------------------------------------

    def _add_link(self, branch: Branch, balls: Mapping[str, str]) -> None:
        """The next link, to which a branch of the tree leads."""
        body, joint = self.scene.bodies[branch.body], branch.joint
        if joint is None:
            kind, inner, outer = "free", (body.center_of_mass, IDENTITY[1]), IDENTITY
        else:
            kind = _kind(joint, balls)
            inner, outer = joint.frame_b, joint.frame_a
            if branch.reversed:
                inner, outer = outer, inner
            outer = self._in_link(joint.b if branch.reversed else joint.a, outer)
        center = relative(inner, (body.center_of_mass, IDENTITY[1]))
        axes = matrix(center[1])
        size = KINDS[kind]
        self._frames.append(inner)
        self.links.append(Link(
            number=len(self.links), body=body.name, body_number=branch.body,
            parent=BASE if branch.parent == BASE else self.link_of[self.scene.bodies[branch.parent].name],
            joint=joint, kind=kind, reversed=branch.reversed, prescribed=body.kind == "kinematic",
            q=slice(self.nq, self.nq + size.nq), v=slice(self.nv, self.nv + size.nv), place=outer[0],
            turn=matrix(outer[1]), constant=_constant(joint, kind), mass=body.mass, com=center[0],
            inertia=_turned(body.inertia, axes), frame=(center[0], axes)))
        self.nq += size.nq
        self.nv += size.nv

    def _in_link(self, name: str | None, frame: Frame) -> Frame:
        """A frame that is given in a body's own frame, in the frame of the body's link."""
        if name is None:
            return frame
        number = self.link_of[name]
        if number == BASE:
            body = self.scene.body(name)
            return compose((body.position, body.orientation), frame)
        return relative(self._frames[number], frame)

    def _loop(self, edge: Edge, balls: Mapping[str, str]) -> Loop:
        """The model of a joint that is not in the tree."""
        joint = edge.joint
        kind = _kind(joint, balls)
        numbers = (BASE if name is None else self.link_of[name] for name in (joint.a, joint.b))
        frames = (self._in_link(joint.a, joint.frame_a), self._in_link(joint.b, joint.frame_b))
        return Loop(joint, kind, *numbers, *((place, matrix(turn)) for place, turn in frames), _constant(joint, kind))

    # ---- coordinates -------------------------------------------------------------------------------------------------

    def index(self, which: Joint | Body | str) -> tuple[slice, slice]:
        """Where the coordinates of a tree joint stand: (slice of q, slice of qd).

        which: handle or name of a joint, or of a body that hangs on a free joint of the model's own. A name that both
        a joint and a body have is the joint's.
        """
        name = getattr(which, "name", which)
        joint = None if isinstance(which, Body) else self._link_of_joint.get(name)
        if joint is not None:
            return joint.q, joint.v
        joints = {loop.joint.name: "closes a loop and is cut: it has no coordinates in the tree; take it into the "
                                   "tree by System(scene, tree=[...])" for loop in self.loops}
        joints |= {coupling.name: f"is a {coupling.type} joint, which has no coordinates: it couples those of others"
                   for coupling in self.couplings}
        if not isinstance(which, Body) and name in joints:
            raise SceneError(f"joint {name!r} {joints[name]}")
        number = None if isinstance(which, Joint) else self.link_of.get(name)
        if number is None:
            free = [link.body for link in self.links if link.joint is None]
            there = [*self._link_of_joint, *free]
            known = suggestion(name, there) if isinstance(name, str) else ""
            raise SceneError(f"there is no tree joint or free body {show(name)}{known}; "
                             + (f"there are: {listing(there)}" if there else "the model has none"))
        if number == BASE:
            raise SceneError(f"body {name!r} is static: it is part of the base and has no coordinates")
        link = self.links[number]
        if link.joint is not None:
            raise SceneError(f"body {name!r} hangs on joint {link.joint.name!r}: ask for the joint")
        return link.q, link.v

    def neutral(self) -> np.ndarray:
        """q (nq,) with all ways and angles zero and unit quaternions."""
        q = np.zeros(self.nq)
        for link in self.links:
            if link.kind in QUATERNIONS:
                q[link.q.start + QUATERNIONS[link.kind]] = 1.0
        return q

    def initial(self) -> tuple[np.ndarray, np.ndarray]:
        """q (nq,) and qd (nv,) of the poses and velocities that the scene describes."""
        bodies = self.scene.bodies
        return self.coordinates(
            np.array([compose((b.position, b.orientation), (b.center_of_mass, IDENTITY[1]))[0] for b in bodies]
                     ).reshape(-1, 3),
            *(np.array([getattr(b, field) for b in bodies]).reshape(-1, size)
              for field, size in (("orientation", 4), ("velocity", 3), ("angular_velocity", 3))))

    def coordinates(self, positions: np.ndarray, orientations: np.ndarray, velocities: np.ndarray,
                    angular_velocities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tree's q (…, nq) and qd (…, nv) of a state of all the scene's bodies, as a World has it.

        positions (…, bodies, 3) of centres of mass [m], orientations (…, bodies, 4), velocities (…, bodies, 3) of
        centres of mass [m/s], angular_velocities (…, bodies, 3) [rad/s]; all in world axes. Static bodies do not count.
        Angles come in (-π, π], but for those of helical joints, whose way counts their turns. Quaternions keep the sign
        that follows from those of the bodies. What a joint forbids is left out: see `tree_errors`.
        """
        return self.readout.coordinates(positions, orientations, velocities, angular_velocities)

    def tree_errors(self, positions: np.ndarray, orientations: np.ndarray, velocities: np.ndarray,
                    angular_velocities: np.ndarray) -> np.ndarray:
        """(…, links, 4): by how much a state of the bodies breaks each tree joint [m, rad, m/s, rad/s]."""
        return self.readout.errors(positions, orientations, velocities, angular_velocities)

    @property
    def readout(self) -> Readout:
        """What reads the tree's coordinates from the bodies' state."""
        if self._readout is None:
            self._readout = Readout([body.name for body in self.scene.bodies], self.links)
        return self._readout

    def __repr__(self) -> str:
        return (f"<System of {self.scene.name!r}: {len(self.links)} links, {self.nq} coordinates, {self.nv} velocities, "
                f"{len(self.loops)} loops, {len(self.couplings)} couplings>")


def _turned(inertia: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """R I R', exactly symmetric."""
    turned = axes @ inertia @ axes.T
    return 0.5 * (turned + turned.T)


def _kind(joint: Joint, balls: Mapping[str, str]) -> str:
    return balls.get(joint.name, KIND_OF[joint.type])


def _constant(joint: Joint | None, kind: str) -> float:
    return joint.constant if kind == "helical" else 0.0


def _balls(scene: Scene, ball: str | Mapping[str, str]) -> dict[str, str]:
    """Name of each ball joint -> its kind."""
    names = [joint.name for joint in scene.joints if joint.type == "ball"]
    if isinstance(ball, Mapping):
        for name in ball:
            joint = scene.joint(name)
            if joint.type != "ball":
                raise SceneError(f"joint {name!r} is a {joint.type} joint, not a ball: leave it out of ball")
        chosen = {scene.joint(name).name: choose(how, BALLS, f"ball[{name!r}]") for name, how in ball.items()}
    else:
        chosen = dict.fromkeys(names, choose(ball, BALLS, "ball"))
    return {name: BALLS[chosen.get(name, "quaternion")] for name in names}
