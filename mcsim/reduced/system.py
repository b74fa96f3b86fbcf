"""System: the model of a scene in generalized coordinates (Featherstone, Rigid Body Dynamics Algorithms, chapter 4).

Links are numbered from 0, parents before children and depth first; the base (the world and all static bodies) is -1.
The frame of a link is that of its joint on the link's own body: F_s of the successor, or, where the tree runs against
the joint's sense (reversed), F_p of the predecessor. The frame of the base is the world's. The joint's other frame is
fixed on the parent, at `place` and `turn`. A link that no joint of the scene holds is free: its F_p is the world's
frame, its F_s the centre of mass with the body's axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import path_name, read_json, write_json
from mcsim.core.linear import product
from mcsim.core.rotation import IDENTITY, Frame, compose, matrix, relative
from mcsim.reduced.drawing import draw
from mcsim.reduced.files import WHAT, check_fields, check_same, model_to_dict
from mcsim.reduced.kinds import BALLS, KIND_OF, KINDS, QUATERNIONS
from mcsim.reduced.links import Link, Loop
from mcsim.reduced.readout import Readout
from mcsim.reduced.report import report
from mcsim.reduced.spanning import BASE, Branch, Edge, span
from mcsim.reduced.user_joint import JointModel
from mcsim.scene import Body, Joint, Scene
from mcsim.scene.checks import choose, listing, show, suggestion
from mcsim.spatial import motion_transform


class System:
    """The model of a scene in generalized coordinates: a spanning tree of links and joints, and what closes loops.

    scene: what it is a model of. Static bodies are part of the base, where they stand in the scene.
    tree: joints (handles or names) that must be in the tree. The others are chosen: those with the fewest freedoms
        first, so that loops are cut where it costs the fewest rows, then in the scene's order.
    roots: bodies (handles or names) that a free joint holds to the base. Otherwise a component that no joint holds to
        the base has one at the body that its joints lead from: the one to which none leads, or else the tree's median.
    ball: coordinates of ball joints: "quaternion", or "ypr" (yaw, pitch, roll; singular at pitch ±π/2); or a dict of
        these by the joints' names, "quaternion" for the others.

    models: a dict by joints' names: a JointModel of your own, or "rack_pinion" for a RackPinionJoint that is to be the one
        joint between its bodies (the pinion rolls along the rack).

    links: list of Link; loops: list of Loop. couplings: list of the scene's joints that are neither (distance, gear,
        rack and pinion, rolling, knife edge, of the user's own).
    nq, nv: number of coordinates q and of velocities qd. parent (n,): the links' parents, -1 for the base.
    subtree_size (n,): number of links that a link supports, itself included.
    link_of: name of a body -> number of its link, -1 for a static one.
    """

    scene: Scene
    links: list[Link]
    loops: list[Loop]
    couplings: list[Joint]
    nq: int
    nv: int
    parent: np.ndarray
    subtree_size: np.ndarray
    link_of: dict[str, int]

    def __init__(
        self,
        scene: Scene,
        tree: Iterable[Joint | str] | None = None,
        roots: Iterable[Body | str] | None = None,
        ball: str | Mapping[str, str] = "quaternion",
        models: Mapping[str, JointModel | str] | None = None,
    ):
        if not isinstance(scene, Scene):
            raise SceneError(f"System: the first argument must be a Scene, got {type(scene).__name__}")
        self.scene = scene
        balls = _balls(scene, ball)
        self._models = _models(scene, models)
        balls |= {name: "rack_pinion" if model == "rack_pinion" else "user" for name, model in self._models.items()}
        spanning = span(
            scene,
            tree,
            roots,
            {name: model.size if isinstance(model, JointModel) else 1 for name, model in self._models.items()},
        )
        self.link_of = {body.name: BASE for body in scene.bodies}
        self.link_of |= {scene.bodies[branch.body].name: i for i, branch in enumerate(spanning.branches)}
        self._frames: list[Frame] = []  # of each link, in its body's own frame
        self.links = []
        self.nq = self.nv = 0
        for branch in spanning.branches:
            self._add_link(branch, balls)
        self.parent = np.array([link.parent for link in self.links], dtype=np.intp)
        self.loops = [self._loop(edge, balls) for edge in spanning.loops]
        self.couplings = spanning.couplings
        self.subtree_size = np.ones(len(self.links), dtype=np.intp)
        children: dict[int, list[int]] = {number: [] for number in range(BASE, len(self.links))}
        for link in self.links:
            children[link.parent].append(link.number)
        for link in self.links[::-1]:
            if link.parent != BASE:
                self.subtree_size[link.parent] += self.subtree_size[link.number]
        self._children = {number: np.array(found, dtype=np.intp) for number, found in children.items()}
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
        model = _user_model(self._models, joint) if kind == "user" else None
        nq, nv = (KINDS[kind].nq, KINDS[kind].nv) if model is None else (model.size, model.size)
        self._frames.append(inner)
        self.links.append(
            Link(
                number=len(self.links),
                body=body.name,
                body_number=branch.body,
                parent=BASE if branch.parent == BASE else self.link_of[self.scene.bodies[branch.parent].name],
                joint=joint,
                kind=kind,
                reversed=branch.reversed,
                prescribed=body.kind == "kinematic",
                q=slice(self.nq, self.nq + nq),
                v=slice(self.nv, self.nv + nv),
                place=outer[0],
                turn=matrix(outer[1]),
                constant=_constant(joint, kind),
                mass=body.mass,
                com=center[0],
                inertia=_turned(body.inertia, axes),
                armature=_rotors(joint, kind, nv),
                frame=(center[0], axes),
                model=model,
            )
        )
        self.nq += nq
        self.nv += nv

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
        a, b = (BASE if name is None else self.link_of[name] for name in (joint.a, joint.b))
        frame_a, frame_b = self._in_link(joint.a, joint.frame_a), self._in_link(joint.b, joint.frame_b)
        return Loop(
            joint, kind, a, b, (frame_a[0], matrix(frame_a[1])), (frame_b[0], matrix(frame_b[1])), _constant(joint, kind)
        )

    # ---- the graph ---------------------------------------------------------------------------------------------------

    @property
    def predecessor(self) -> np.ndarray:
        """(links + loops,): p, the link from which each joint leads; the links' joints first, then those of loops."""
        return np.array(
            [
                *(link.number if link.reversed else link.parent for link in self.links),
                *(loop.predecessor for loop in self.loops),
            ],
            dtype=np.intp,
        )

    @property
    def successor(self) -> np.ndarray:
        """(links + loops,): s, the link to which each joint leads, in the order of `predecessor`."""
        return np.array(
            [
                *(link.parent if link.reversed else link.number for link in self.links),
                *(loop.successor for loop in self.loops),
            ],
            dtype=np.intp,
        )

    def support(self, link: int) -> np.ndarray:
        """κ: the links whose joints hold the link to the base, from there to the link itself; none for the base."""
        path = []
        while link != BASE:
            path.append(link)
            link = int(self.parent[link])
        return np.array(path[::-1], dtype=np.intp)

    def children(self, link: int) -> np.ndarray:
        """μ: the links whose parent it is, in the order of numbers; the base is -1."""
        return self._children[link]

    def subtree(self, link: int) -> np.ndarray:
        """ν: the link and all that it supports, which have consecutive numbers; all links for the base."""
        first = max(link, 0)
        return np.arange(first, first + (len(self.links) if link == BASE else self.subtree_size[link]))

    def loop_links(self, loop: Loop) -> np.ndarray:
        """The links whose joints form a loop with the loop's joint: those that support one of its ends, not both."""
        return np.setxor1d(self.support(loop.predecessor), self.support(loop.successor))

    @property
    def X_T(self) -> np.ndarray:
        """(links, 6, 6): takes motions [w; v] from the parent's frame to that of the link's joint on the parent.

        That is F_p, or F_s of a reversed joint.
        """
        return np.array([motion_transform(link.turn.T, link.place) for link in self.links]).reshape(-1, 6, 6)

    # ---- coordinates -------------------------------------------------------------------------------------------------

    def index(self, which: Joint | Body | str) -> tuple[slice, slice]:
        """Where the coordinates of a tree joint stand: (slice of q, slice of qd).

        which: handle or name of a joint, or of a body that hangs on a free joint of the model's own. A name that both
        a joint and a body have is the joint's.
        """
        name: Any = getattr(which, "name", which)
        key: Any = name if isinstance(name, str) else object()  # what is no name may have no hash either
        joint = None if isinstance(which, Body) else self._link_of_joint.get(key)
        if joint is not None:
            return joint.q, joint.v
        joints = {
            loop.joint.name: "closes a loop and is cut: it has no coordinates in the tree; take it into the "
            "tree by System(scene, tree=[...])"
            for loop in self.loops
        }
        joints |= {
            coupling.name: f"is a {coupling.type} joint, which has no coordinates: it couples those of others"
            for coupling in self.couplings
        }
        joints |= dict.fromkeys(self.scene.disabled_joints(), "is on a body that is not enabled: it has no coordinates")
        if not isinstance(which, Body) and key in joints:
            raise SceneError(f"joint {name!r} {joints[name]}")
        number = None if isinstance(which, Joint) else self.link_of.get(key)
        if number is None:
            free = [link.body for link in self.links if link.joint is None]
            there = [*self._link_of_joint, *free]
            known = suggestion(name, there) if isinstance(name, str) else ""
            raise SceneError(
                f"there is no tree joint or free body {show(name)}{known}; "
                + (f"there are: {listing(there)}" if there else "the model has none")
            )
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
            np.array([compose((b.position, b.orientation), (b.center_of_mass, IDENTITY[1]))[0] for b in bodies]).reshape(
                -1, 3
            ),
            *(
                np.array([getattr(b, field) for b in bodies]).reshape(-1, size)
                for field, size in (("orientation", 4), ("velocity", 3), ("angular_velocity", 3))
            ),
        )

    def coordinates(
        self, positions: np.ndarray, orientations: np.ndarray, velocities: np.ndarray, angular_velocities: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The tree's q (…, nq) and qd (…, nv) of a state of all the scene's bodies, as a World has it.

        positions (…, bodies, 3) of centres of mass [m], orientations (…, bodies, 4), velocities (…, bodies, 3) of
        centres of mass [m/s], angular_velocities (…, bodies, 3) [rad/s]; all in world axes. Static bodies do not count.
        Angles come in (-π, π], but for those of helical joints, whose way counts their turns. Quaternions of
        ball joints come with w >= 0, those of free joints with the sign that follows from the bodies'. What a joint
        forbids is left out: see `tree_errors`.
        """
        return self.readout.coordinates(positions, orientations, velocities, angular_velocities)

    def tree_errors(
        self, positions: np.ndarray, orientations: np.ndarray, velocities: np.ndarray, angular_velocities: np.ndarray
    ) -> np.ndarray:
        """(…, links, 4): by how much a state of the bodies breaks each tree joint [m, rad, m/s, rad/s]."""
        return self.readout.errors(positions, orientations, velocities, angular_velocities)

    @property
    def readout(self) -> Readout:
        """What reads the tree's coordinates from the bodies' state."""
        if self._readout is None:
            self._readout = Readout([body.name for body in self.scene.bodies], self.links)
        return self._readout

    # ---- files, pictures ---------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON data: scene and choices, and links, loops and couplings as they follow from these."""
        for name in self.own_models():
            raise SceneError(
                f"joint {name!r} has a JointModel of your own, a function, which no file holds: write the "
                "system without models= and give them anew when it is read"
            )
        return model_to_dict(self.scene, self._models, self.links, self.loops, self.couplings)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> System:
        """The model that JSON data describes."""
        return _of_data(data, "system")

    def own_models(self) -> list[str]:
        """Names of the joints that have a JointModel of the user's own."""
        return [name for name, model in self._models.items() if isinstance(model, JointModel)]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a JSON file."""
        write_json(self.to_dict(), path, WHAT)

    @staticmethod
    def load(path: str | PathLike[str]) -> System:
        """The model of a JSON file. FileNotFoundError if there is none, SceneError with the place if it is wrong."""
        return _of_data(read_json(path, WHAT), path_name(path, WHAT))

    def draw(self, target: str | PathLike[str] | Any, *, theme: str = "light") -> Any:
        """Draw the connectivity graph to a file (.png, .svg, .pdf) or on Matplotlib axes; answers with the axes. theme:
        "light" or "dark".

        The base is a box, links are circles. Arrows run from a joint's predecessor to its successor: solid in the tree,
        grey for free joints that the model added, dashed where they close loops.
        """
        return draw(self.links, self.loops, target, theme)

    def __repr__(self) -> str:
        parts = [
            (len(self.links), "link"),
            (self.nq, "coordinate"),
            (len(self.loops), "loop"),
            (len(self.couplings), "coupling"),
        ]
        counts = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in parts]
        velocities = f"{self.nv} {'velocity' if self.nv == 1 else 'velocities'}"
        return f"<System of {self.scene.name!r}: {', '.join([*counts[:2], velocities, *counts[2:]])}>"

    def __str__(self) -> str:
        return report(repr(self)[1:-1], self.links, self.loops, self.couplings, list(map(self.loop_links, self.loops)))


def _of_data(data: Any, name: str) -> System:
    """The model that JSON data describes. name: of the data in messages."""
    check_fields(data, name)
    try:
        system = System(
            Scene.from_dict(data["scene"]),
            tree=data["tree"],
            roots=data["roots"],
            ball=data["ball"],
            models=data.get("models"),
        )
    except SceneError as error:
        raise SceneError(f"{name}: {error}") from None
    check_same(system.to_dict(), data, name)
    return system


def _turned(inertia: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """R I R', exactly symmetric."""
    turned = product(axes, inertia, axes.T)
    return 0.5 * (turned + turned.T)


def _kind(joint: Joint, balls: Mapping[str, str]) -> str:
    return balls.get(joint.name) or KIND_OF[joint.type]


def _user_model(models: Mapping[str, JointModel | str], joint: Joint | None) -> JointModel | None:
    model = None if joint is None else models.get(joint.name)
    return model if isinstance(model, JointModel) else None


def _rotors(joint: Joint | None, kind: str, nv: int) -> np.ndarray:
    """(nv,) the joint's armature, which is that of its own coordinates."""
    found = np.zeros(nv)
    rotors = [] if joint is None else [axis.armature for axis in joint.axes]
    if any(rotors):
        if joint is not None and kind != KIND_OF[joint.type]:
            raise SceneError(
                f"joint {joint.name!r} has an armature, which is that of its own coordinates: take "
                + ("ball='quaternion'" if kind in BALLS.values() else "no model of your own")
                + " for it, or leave the armature out"
            )
        found[: len(rotors)] = rotors
    return found


def _constant(joint: Joint | None, kind: str) -> float:
    if joint is None:
        return 0.0
    return joint.constant if kind == "helical" else -joint.constant if kind == "rack_pinion" else 0.0


def _models(scene: Scene, models: Mapping[str, JointModel | str] | None) -> dict[str, JointModel | str]:
    """The joints that have models of their own, by name, checked."""
    found = {}
    if models is not None and not isinstance(models, Mapping):
        raise SceneError(f"models must be a dict by joints' names, got {show(models)}")
    for name, model in (models or {}).items():
        joint = scene.joint(name)
        if isinstance(model, JointModel):
            model.check(joint.name)
        elif model != "rack_pinion" or joint.type != "rack_pinion":
            raise SceneError(
                f'models[{joint.name!r}] must be a JointModel, or "rack_pinion" for a RackPinionJoint; got '
                f"{show(model)} for a {joint.type} joint"
            )
        found[joint.name] = model
    return found


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
