"""The tree of links and joints that a URDF file describes: its checks, which links make one body, where they stand.

A joint's frame is the frame of its child link where all coordinates are zero; `origin` gives it in the parent link's.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import length
from mcsim.core.rotation import IDENTITY, Frame, compose, from_axes, from_matrix, normalized
from mcsim.core.trig import cos, sin
from mcsim.io.urdf_xml import wrong
from mcsim.scene.checks import SHORTEST_DIRECTION, FieldError, listing, number, show, suggestion

WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")
ONE_COORDINATE = ("revolute", "continuous", "prismatic")


def frame_of(matrix: np.ndarray | None) -> Frame:
    """yourdfpy's origin, 4×4 or None, as a frame."""
    return IDENTITY if matrix is None else (matrix[:3, 3], from_matrix(matrix[:3, :3]))


class Tree:
    """Links and joints as a tree.

    name: the robot's. links, joints: name -> yourdfpy's Link or Joint, in the order of the file.
    root: name of the link without parent.
    joint_to: link -> the joint whose child it is; order: all links, a parent before its children.
    axes: joint -> unit axis (3,) in its frame, of joints that have one.
    """

    path: str
    name: str
    links: dict[str, Any]
    joints: dict[str, Any]
    joint_to: dict[str, Any]
    root: str
    order: list[str]
    axes: dict[str, np.ndarray]

    def __init__(self, path: str, robot: Any, lines: Mapping[tuple[str, str], int]):
        self.path, self.name, self._lines = path, robot.name, lines
        self.links = {link.name: link for link in robot.links}
        self.joints = {joint.name: joint for joint in robot.joints}
        self.joint_to = self._parents()
        self.root = self._root()
        self.order = self._from_the_root()
        self.axes = {joint.name: self._axis(joint) for joint in robot.joints if joint.type in WITH_AXIS}

    def wrong(self, kind: str, name: str, problem: str) -> SceneError:
        """The error for a "link" or a "joint"."""
        return wrong(self.path, self._lines[kind, name], f"{kind} {show(name)}: {problem}")

    def _parents(self) -> dict[str, Any]:
        joint_to: dict[str, Any] = {}
        for joint in self.joints.values():
            for end in ("parent", "child"):
                link = getattr(joint, end)
                if link not in self.links:
                    raise self.wrong(
                        "joint",
                        joint.name,
                        f"there is no link {show(link)}, its {end}"
                        f"{suggestion(link, self.links)}; the links are: {listing(self.links)}",
                    )
            if joint.parent == joint.child:
                raise self.wrong("joint", joint.name, f"joins link {show(joint.child)} to itself")
            if joint.child in joint_to:
                raise self.wrong(
                    "joint",
                    joint.name,
                    f"link {show(joint.child)} is the child of joint "
                    f"{show(joint_to[joint.child].name)} already, and links must form a tree; take this "
                    "joint out, and close the loop with add_joint once the file is loaded",
                )
            joint_to[joint.child] = joint
        return joint_to

    def _root(self) -> str:
        roots = [name for name in self.links if name not in self.joint_to]
        if len(roots) > 1:
            raise self.wrong(
                "link",
                roots[1],
                f"has no parent, and neither {'has' if len(roots) == 2 else 'have'} "
                f"{listing(roots[:1] + roots[2:])}; join them to one tree, with fixed or floating joints",
            )
        if not roots:
            raise self._cycle(next(iter(self.links)))
        return roots[0]

    def _from_the_root(self) -> list[str]:
        """All links, depth first, children in the order of their joints."""
        children: dict[str, list[str]] = {name: [] for name in self.links}
        for joint in self.joints.values():
            children[joint.parent].append(joint.child)
        order, waiting = [], [self.root]
        while waiting:
            order.append(waiting.pop())
            waiting += reversed(children[order[-1]])
        if len(order) < len(self.links):
            raise self._cycle(next(name for name in self.links if name not in set(order)))
        return order

    def _cycle(self, link: str) -> SceneError:
        """The error for links each of which is another one's child; `link` hangs on them."""
        seen: list[str] = []
        while link not in seen:
            seen.append(link)
            link = self.joint_to[link].parent
        cycle = seen[seen.index(link) :]
        return self.wrong(
            "joint",
            self.joint_to[link].name,
            f"closes a cycle of links without a root: "
            f"{listing(reversed([link, *reversed(cycle)]))}; links must form a tree",
        )

    def _axis(self, joint: Any) -> np.ndarray:
        if length(joint.axis) < SHORTEST_DIRECTION:
            raise self.wrong("joint", joint.name, f"its axis is zero and has no direction; a {joint.type} joint needs one")
        return normalized(joint.axis)

    # ---- which links make one body -----------------------------------------------------------------------------------

    def bodies(self, merge_fixed: bool, fixed_base: bool) -> dict[str, tuple[str, Frame]]:
        """link -> (the link that gives its body name and frame, its frame in that one's).

        Links on fixed joints are one body with their parents, all of them if `merge_fixed`, else only where one of the
        two has no mass, and that one is not the base that stands fast.
        """
        mass = {name: 0.0 if link.inertial is None else link.inertial.mass for name, link in self.links.items()}
        merged = set()
        for name in reversed(self.order[1:]):
            joint = self.joint_to[name]
            stands = fixed_base and joint.parent == self.root
            weightless = mass[name] == 0.0 or mass[joint.parent] == 0.0 and not stands
            if joint.type == "fixed" and (merge_fixed or weightless):
                merged.add(name)
                mass[joint.parent] += mass[name]
        bodies: dict[str, tuple[str, Frame]] = {}
        for name in self.order:
            if name in merged:
                joint = self.joint_to[name]
                body, frame = bodies[joint.parent]
                bodies[name] = body, compose(frame, frame_of(joint.origin))
            else:
                bodies[name] = name, IDENTITY
        return bodies

    # ---- where they stand --------------------------------------------------------------------------------------------

    def positions(self, given: Mapping[str, Any]) -> dict[str, float]:
        """joint -> position [rad or m] of those with one coordinate: as given, 0, or as the mimicked joint has it."""
        for name, value in given.items():
            joint = self.joints.get(name)
            if joint is None or joint.type not in ONE_COORDINATE or joint.mimic is not None:
                free = [j.name for j in self.joints.values() if j.type in ONE_COORDINATE and j.mimic is None]
                raise FieldError(
                    "joint_positions",
                    f"cannot place {show(name)}{suggestion(str(name), free)}; "
                    f"the joints with a position of their own are: {listing(free) or 'none'}",
                )
            number(value, f"joint_positions[{name!r}]")
        positions = {
            name: float(given.get(name, 0.0)) for name, joint in self.joints.items() if joint.type in ONE_COORDINATE
        }
        placed: set[str] = set()
        for name in positions:
            self._follow(name, positions, placed)
        return positions

    def _follow(self, name: str, positions: dict[str, float], placed: set[str]) -> None:
        """Put a mimic joint where the joint that it follows puts it. placed: those that are where they should be."""
        way = {name: None}
        while (last := next(reversed(way))) not in placed and (mimic := self.joints[last].mimic) is not None:
            self._check_mimic(last, mimic)
            if mimic.joint in way:
                raise self.wrong("joint", name, f"mimics itself, by way of {listing([*list(way)[1:], mimic.joint])}")
            way[mimic.joint] = None
        placed.update(way)
        names = list(way)
        for follower, leader in zip(names[-2::-1], names[::-1]):
            mimic = self.joints[follower].mimic
            positions[follower] = mimic.multiplier * positions[leader] + mimic.offset

    def _check_mimic(self, name: str, mimic: Any) -> None:
        leader = self.joints.get(mimic.joint)
        if leader is None:
            raise self.wrong(
                "joint",
                name,
                f"mimics {show(mimic.joint)}, which is no joint of the file{suggestion(mimic.joint, self.joints)}",
            )
        if leader.type not in ONE_COORDINATE:
            raise self.wrong(
                "joint",
                name,
                f"mimics {show(leader.name)}, a {leader.type} joint, which has no single "
                f"coordinate; only {', '.join(ONE_COORDINATE)} joints can be mimicked",
            )
        if mimic.multiplier == 0.0:
            raise self.wrong("joint", name, "mimics with the multiplier 0, which holds it fast; make it fixed")

    def poses(self, positions: Mapping[str, float], root: Frame) -> dict[str, Frame]:
        """link -> its frame in the world, with the root at the given one."""
        poses = {self.root: root}
        for name in self.order[1:]:
            joint = self.joint_to[name]
            place = compose(poses[joint.parent], frame_of(joint.origin))
            poses[name] = compose(place, self._motion(joint, positions.get(joint.name, 0.0)))
        return poses

    def _motion(self, joint: Any, position: float) -> Frame:
        """What a joint with one coordinate adds to its frame."""
        if position == 0.0:
            return IDENTITY
        axis = self.axes[joint.name]
        if joint.type == "prismatic":
            return position * axis, IDENTITY[1]
        return IDENTITY[0], np.array([cos(position / 2), *(sin(position / 2) * axis)])

    def joint_frames(self, joint: Any, bodies: Mapping[str, tuple[str, Frame]]) -> tuple[Frame, Frame]:
        """The joint's frames on the bodies of its parent and its child, z along its axis if it has one."""
        turned = (IDENTITY[0], from_axes(self.axes[joint.name])) if joint.name in self.axes else IDENTITY
        on_parent = compose(bodies[joint.parent][1], frame_of(joint.origin))
        return compose(on_parent, turned), compose(bodies[joint.child][1], turned)
