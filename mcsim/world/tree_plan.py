"""What the pipeline of a ReducedWorld is told of its scene and its trees."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Container, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from mcsim.core._noted import Noted
from mcsim.core.notes import note
from mcsim.reduced.dynamics import link_records, link_turns
from mcsim.reduced.kinds import KINDS
from mcsim.reduced.links import Link
from mcsim.reduced.system import System
from mcsim.scene import Scene
from mcsim.world.sparse_loops import sparse_loops

if TYPE_CHECKING:
    from mcsim.step._tree_space import TreeSpace

BROKEN = 1e-4  # how far off a joint may be in a state that from_maximal takes [m, rad, m/s, rad/s]


def tree_plan(
    system: System,
    scene: Scene,
    count: int,
    coordinates: tuple[np.ndarray, np.ndarray, np.ndarray],
    smooth: bool,
    projection: bool,
) -> SimpleNamespace:
    """The plan of step/_tree_space.pyx and _tree_constraints.pyx. count: of bodies; coordinates: q, qd, tau, worked in;
    smooth, projection: whether trees move by Runge-Kutta, and loops are closed by projection."""
    q, qd, tau = coordinates
    in_tree = {link.joint.name for link in system.links if link.joint is not None}
    links = link_records(system, np.asarray(scene.gravity, float))
    return SimpleNamespace(
        links=links,
        fronts=sparse_loops(system, scene, links),
        turns=link_turns(system),
        users=[(link.number, link.model.fill) for link in system.links if link.model is not None],
        held=np.array([joint.name in in_tree for joint in scene.joints], bool),
        jointed=_jointed(system, count),
        ranks=_ranks(system, count),
        carriers=_carriers(system, scene),
        angles=angles_of_joints(system, scene),
        pitched=_pitched(system),
        q=q,
        qd=qd,
        tau=tau,
        smooth=smooth,
        projection=projection,
    )


def _jointed(system: System, bodies: int) -> np.ndarray:
    """(bodies + 1,) int8, the world's first: which bodies joints move; 0 of what is free, stands still or is driven."""
    jointed = np.zeros(bodies + 1, np.int8)
    for link in system.links:
        if link.joint is not None or len(system.children(link.number)) > 0:
            jointed[link.body_number + 1] = system.scene.bodies[link.body_number].kind == "dynamic"
    return jointed


def _ranks(system: System, bodies: int) -> tuple[np.ndarray, np.ndarray]:
    """(bodies,) twice: the bodies' ranks, and their trees, -1 of what has no link (constraints/_contact_order.pyx)."""
    ranks, trees = np.arange(bodies), np.full(bodies, -1)
    of_trees: dict[int, list[int]] = {}
    for link in system.links:
        root = link.number if link.parent < 0 else int(trees[system.links[link.parent].body_number])
        trees[link.body_number] = root
        of_trees.setdefault(root, []).append(link.body_number)
    for members in of_trees.values():
        ranks[members] = sorted(members)
    return ranks, trees


def _carriers(system: System, scene: Scene) -> list[tuple[int, int]]:
    """[(link, joint)] numbers of the tree's joints that are the scene's."""
    numbers = {joint.name: i for i, joint in enumerate(scene.joints)}
    return [(link.number, numbers[link.joint.name]) for link in system.links if link.joint is not None]


def angles_of_joints(system: System, scene: Scene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Joint, axis and place in q of the coordinates that are those of a joint of the scene."""
    numbers = {joint.name: i for i, joint in enumerate(scene.joints)}
    found = [
        (numbers[link.joint.name], axis, link.q.start + axis)
        for link in system.links
        if link.joint is not None and KINDS[link.kind].plain
        for axis in range(link.q.stop - link.q.start)
    ]
    joints, axes, places = np.array(found, np.intp).reshape(-1, 3).T
    return joints, axes, places


def _pitched(system: System) -> list[tuple[str, int, int]]:
    """Name, and place in q and qd, of the joints that have yaw, pitch and roll."""
    return [
        (link.joint.name, link.q.start, link.v.start)
        for link in system.links
        if link.joint is not None and link.kind == "spherical_ypr"
    ]


def note_torn(noted: Noted, system: System, scene: Scene, state: Sequence[np.ndarray]) -> None:
    """Joints of the tree that the bodies' state has open, which coordinates cannot be."""
    numbers = {joint.name: i for i, joint in enumerate(scene.joints)}
    for link, off in zip(system.links, system.tree_errors(*state)[:, :2].max(axis=1)):
        if link.joint is not None and off > BROKEN:
            note(noted, "torn joints", numbers[link.joint.name], off)


def carry_over(
    before: TreeSpace, system: System, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, struck: Container[int]
) -> None:
    """Coordinates, velocities and forces of joints that are in both trees: whole turns are not read off poses. struck:
    links whose velocities have changed."""
    numbers = {_held_by(link): link for link in before.system.links}
    for link in system.links:
        other = numbers.get(_held_by(link))
        if other is not None and other.kind == link.kind:
            q[link.q], tau[link.v] = before.q[other.q], before.tau[other.v]
            if link.number not in struck:
                qd[link.v] = before.qd[other.v]


def _held_by(link: Link) -> tuple[str, str]:
    return ("body", link.body) if link.joint is None else ("joint", link.joint.name)
