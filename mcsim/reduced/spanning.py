"""The connectivity graph of a scene and its spanning tree (Featherstone, Rigid Body Dynamics Algorithms, 4.1.1-4.1.4).

Nodes are the scene's bodies by their places; the world and all static bodies are one node, the base. Edges are the
joints that a tree can be made of, and free joints from the base: one to each kinematic body, one to each body that is
named as a root, and one to each component that nothing else holds to the base.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

from mcsim.core.errors import SceneError
from mcsim.reduced.kinds import freedoms
from mcsim.scene import Body, Joint, Scene
from mcsim.scene.checks import items, listing

BASE = -1


class Edge(NamedTuple):
    """A joint between two nodes; joint is None for a free joint that no joint of the scene stands for."""

    joint: Any  # Joint | None
    predecessor: int
    successor: int


class Branch(NamedTuple):
    """A step of the tree, from the body it comes from to the one it leads to. reversed: against the joint's sense."""

    joint: Joint | None
    parent: int
    body: int
    reversed: bool


class Spanning(NamedTuple):
    """branches: in regular numbering; loops: edges that are not in the tree; couplings: joints that are no edges."""

    branches: list[Branch]
    loops: list[Edge]
    couplings: list[Joint]


class Groups:
    """Which nodes hang together: a union-find forest over the bodies and the base."""

    def __init__(self, count: int):
        self._parent = list(range(count + 1))  # the base is the last

    def find(self, node: int) -> int:
        """A number that all nodes of a group share."""
        parent = self._parent
        node = node if node >= 0 else len(parent) - 1
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def join(self, a: int, b: int) -> bool:
        """Put two groups together; False if they are one already."""
        a, b = self.find(a), self.find(b)
        self._parent[a] = b
        return a != b


def span(
    scene: Scene,
    tree: Iterable[Joint | str] | None,
    roots: Iterable[Body | str] | None,
    models: Mapping[str, int] = MappingProxyType({}),
) -> Spanning:
    """A spanning tree of the scene.

    The joints of `tree` and the bodies of `roots` are taken first. Then joints with fewer freedoms before those with
    more, so that loops are cut where that costs the fewest rows; among equals in the scene's order. Joints that can break,
    or that a Motion moves, are cut. models: name -> freedoms of joints that have models of their own, which are in
    the tree. What then does not reach the base is held to it by a free joint at the body that its joints lead from
    (_heads).
    """
    edges, couplings = _edges(scene, models)
    groups = Groups(len(scene.bodies))
    chosen = [edge for edge in _implicit(scene, roots) if groups.join(edge.predecessor, edge.successor)]
    for edge in _named(scene, [*models, *_items(tree, "tree", "joints")], edges):
        if why := _must_be_cut(edge.joint):
            raise SceneError(f"joint {edge.joint.name!r} {why}: it cannot be a tree joint; leave it out of tree")
        if not groups.join(edge.predecessor, edge.successor):
            raise SceneError(
                f"joint {edge.joint.name!r} closes a loop with {_path(scene, chosen, edge)}; it cannot be "
                "a tree joint: leave it, or another of these, out of tree and roots"
            )
        chosen.append(edge)
    for _, edge in sorted(enumerate(edges.values()), key=lambda item: (freedoms(item[1].joint) or 0, item[0])):
        if not _must_be_cut(edge.joint) and groups.join(edge.predecessor, edge.successor):
            chosen.append(edge)
    heads = _heads(chosen)
    for place, body in enumerate(scene.bodies):
        if body.kind != "static" and groups.join(BASE, place):
            chosen.append(Edge(None, BASE, heads.get(place, place)))
    in_tree = {edge.joint.name for edge in chosen if edge.joint is not None}
    loops = [edge for name, edge in edges.items() if name not in in_tree]
    return Spanning(_numbered(scene, chosen), loops, couplings)


def _heads(chosen: Sequence[Edge]) -> dict[int, int]:
    """The root that each body's component would have, where joints hold it to others, by the joints alone: for a tree
    moves in a substep as its coordinates have it, to second order, and by those of another root it would end elsewhere.

    It is the one body to which no joint leads. Where there are several, their senses name none, and it is the tree's
    median: from no other body are the ways to all others shorter in all. Of two medians, which one joint joins, it is
    that which the joint leads from.
    """
    pairs = {(a, b) for _, a, b in chosen if BASE not in (a, b)}
    led = {b for _, b in pairs}
    near: dict[int, list[int]] = {}
    for a, b in sorted(pairs):
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    heads: dict[int, int] = {}
    for start in near:
        if start in heads:
            continue
        walk, parent = [start], {start: start}
        for node in walk:
            fresh = [other for other in near[node] if other != parent[node]]
            parent |= dict.fromkeys(fresh, node)
            walk += fresh
        free = [node for node in walk if node not in led]
        heads |= dict.fromkeys(walk, free[0] if len(free) == 1 else _median(walk, parent, pairs))
    return heads


def _median(walk: Sequence[int], parent: Mapping[int, int], pairs: Container[tuple[int, int]]) -> int:
    """Of a tree's bodies in an order in which parents come first; the first one is its own parent."""
    below = dict.fromkeys(walk, 1)
    for node in walk[:0:-1]:
        below[parent[node]] += below[node]
    median = next(node for node in reversed(walk) if 2 * below[node] >= len(walk))
    if 2 * below[median] == len(walk) and (parent[median], median) in pairs:
        return parent[median]
    return median


def _must_be_cut(joint: Joint) -> str:
    """Why a joint cannot be in the tree: its rows are needed. Empty if it can."""
    if min(joint.break_force, joint.break_torque) < inf:
        return "can break"
    return "has a motion that is prescribed" if any(axis.motion is not None for axis in joint.axes) else ""


def _edges(scene: Scene, models: Mapping[str, int]) -> tuple[dict[str, Edge], list[Joint]]:
    """The joints that are edges, by name, and the couplings. Joints of what does not move at all, or of what is not
    enabled, are neither."""
    place: dict[str | None, int] = {body.name: BASE if body.kind == "static" else i for i, body in enumerate(scene.bodies)}
    place[None] = BASE
    edges, couplings, off = {}, [], scene.disabled_joints()
    for joint in scene.joints:
        if joint.name in off:
            continue
        a, b = place[joint.a], place[joint.b]
        if freedoms(joint) is None and joint.name not in models:
            couplings.append(joint)
        elif a != b:
            edges[joint.name] = Edge(joint, a, b)
    return edges, couplings


def _implicit(scene: Scene, roots: Iterable[Body | str] | None) -> list[Edge]:
    """Free joints from the base to kinematic bodies and to named roots, in the scene's order."""
    named = {scene.body(root).name for root in _items(roots, "roots", "bodies")}
    for name in named:
        if scene.body(name).kind == "static":
            raise SceneError(
                f"body {name!r} is static and so part of the base: it cannot be a root; name a body that moves"
            )
    return [
        Edge(None, BASE, place) for place, body in enumerate(scene.bodies) if body.kind == "kinematic" or body.name in named
    ]


def _named(scene: Scene, tree: Iterable[Joint | str] | None, edges: Mapping[str, Edge]) -> list[Edge]:
    """The edges of the joints that the user wants in the tree."""
    names = dict.fromkeys(scene.joint(joint).name for joint in _items(tree, "tree", "joints"))
    for name in names:
        if name not in edges:
            joint = scene.joint(name)
            why = (
                f"is a {joint.type} joint, of which no tree can be made"
                if freedoms(joint) is None
                else "is on a body that is not enabled"
                if name in scene.disabled_joints()
                else "joins two bodies of the base"
            )
            raise SceneError(f"joint {name!r} {why}; leave it out of tree")
    return [edges[name] for name in names]


def _items(value: Iterable[Any] | None, field: str, what: str) -> list[Any]:
    if isinstance(value, str):
        raise SceneError(f"{field} must be a list of {what}, got the string {value!r}; write [{value!r}]")
    return [] if value is None else items(value, f"a list of {what}", field)


def _path(scene: Scene, chosen: Sequence[Edge], edge: Edge) -> str:
    """What joins the two ends of an edge already: joints, and the model's own free joints by their bodies."""
    neighbours: dict[int, list[tuple[int, Edge]]] = {}
    for other in chosen:
        neighbours.setdefault(other.predecessor, []).append((other.successor, other))
        neighbours.setdefault(other.successor, []).append((other.predecessor, other))
    came_by: dict[int, tuple[int, Edge] | None] = {edge.predecessor: None}
    front = [edge.predecessor]
    while edge.successor not in came_by:
        node = front.pop()
        for near, other in neighbours.get(node, []):
            if near not in came_by:
                came_by[near] = node, other
                front.append(near)
    names, free, node = [], [], edge.successor
    while (step := came_by[node]) is not None:
        node, other = step
        if other.joint is None:
            free.append(scene.bodies[other.successor].name)
        else:
            names.append(other.joint.name)
    parts = [listing(names[::-1])] if names else []
    return " and ".join(parts + ([f"the free joint of {listing(free[::-1])}"] if free else []))


def _numbered(scene: Scene, chosen: Sequence[Edge]) -> list[Branch]:
    """The tree's branches, depth first from the base, so that parents come before children and subtrees are contiguous.

    Children come in the order of their joints in the scene, after them the base's free joints in the order of bodies.
    """
    order = {joint.name: i for i, joint in enumerate(scene.joints)}
    branches: dict[int, list[Branch]] = {}
    for joint, a, b in sorted(chosen, key=lambda e: (e.joint is None, order[e.joint.name] if e.joint else e.successor)):
        branches.setdefault(a, []).append(Branch(joint, a, b, False))
        branches.setdefault(b, []).append(Branch(joint, b, a, True))
    numbered, front = [], branches.get(BASE, [])[::-1]
    while front:
        branch = front.pop()
        numbered.append(branch)
        front += [next_ for next_ in branches[branch.body][::-1] if next_.body != branch.parent]
    return numbered
