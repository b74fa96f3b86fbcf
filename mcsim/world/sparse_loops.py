"""Which loops of a ReducedWorld are solved by a sparse system (solve/_loop_fronts.pyx), and what such a world refuses."""

from __future__ import annotations  # signatures read as they are written here

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.reduced.kinds import freedoms
from mcsim.reduced.system import System
from mcsim.scene import Joint, Scene

LEAST_SPARSE_WORK = 5e5  # products of a dense matrix from which a sparse system takes less
MOST_DENSE_WORK = 5e9  # in a step: some ten seconds


class _Tie(NamedTuple):
    """A joint that closes loops by so many rows: link of a and of b, -1 the base; whether a sparse system takes it."""

    joint: Joint
    predecessor: int
    successor: int
    size: int
    sparse: bool


def sparse_loops(system: System, scene: Scene, links: np.ndarray) -> SimpleNamespace | None:
    """The plan of TreeLoopFronts, of all loops in bonds that are large; None: there are none. A bond is what joints that
    are not in the trees tie to each other. links: LINK_DTYPE.

    Of what a dense matrix would take more than a few seconds for a SceneError tells.
    """
    ties = _ties(system)
    bond = _bonds(system, ties)
    rows, widths, dense = np.zeros((3, len(bond) + 1))
    for tie in ties:
        own = bond[max(tie.predecessor, tie.successor)]
        rows[own] += tie.size
        dense[own] += not tie.sparse
    np.add.at(widths, bond, links["freedoms"])
    work = rows * rows * widths
    large = (work > LEAST_SPARSE_WORK) & (dense == 0)
    _check_dense(system, ties, rows, widths, np.where(large, 0.0, work))
    return _plan(system, scene, links, ties, bond, large) if large.any() else None


def _ties(system: System) -> list[_Tie]:
    """Of a joint with a prescribed motion up to six rows, of what is neither a rod nor a joint that a tree could have as
    many as it may have; what has no rows of its own ties nothing."""
    ties = [
        _Tie(
            loop.joint,
            loop.predecessor,
            loop.successor,
            6 if getattr(loop.joint, "motion", None) is not None else 6 - (freedoms(loop.joint) or 0),
            True,
        )
        for loop in system.loops
    ]
    for joint in system.couplings:
        a, b = (-1 if name is None else system.link_of[name] for name in (joint.a, joint.b))
        rod = joint.type == "distance"
        if max(a, b) >= 0 and not (rod and np.isinf(joint.constant)):
            ties.append(_Tie(joint, a, b, 1 if rod else 6, rod))
    return ties


def _bonds(system: System, ties: list[_Tie]) -> np.ndarray:
    """(links,) int: of each the first link of the first tree that its tree is tied to."""
    tree, over = np.arange(len(system.links)), np.arange(len(system.links))
    for link in system.links:
        tree[link.number] = link.number if link.parent < 0 else tree[link.parent]
    for tie in ties:
        if min(tie.predecessor, tie.successor) >= 0:
            a, b = (_first(over, int(tree[number])) for number in (tie.predecessor, tie.successor))
            over[max(a, b)] = min(a, b)
    return np.array([_first(over, number) for number in tree.tolist()], int)


def _first(over: np.ndarray, number: int) -> int:
    while over[number] != number:
        number = over[number]
    return int(number)


def _plan(
    system: System, scene: Scene, links: np.ndarray, ties: list[_Tie], bond: np.ndarray, large: np.ndarray
) -> SimpleNamespace:
    numbers = {joint.name: i for i, joint in enumerate(scene.joints)}
    body = np.append(links["body"], -1)
    found = [
        (body[tie.predecessor], body[tie.successor], tie.size, -1, numbers[tie.joint.name])
        for tie in ties
        if large[bond[max(tie.predecessor, tie.successor)]]
    ]
    for link, record in zip(system.links, links):
        freely = 0 if record["given"] else record["freedoms"]
        size = 6 - freely + int(np.count_nonzero(record["armature"][:freely]))
        if large[bond[link.number]] and not record["prescribed"] and size > 0:
            found.append((body[link.number], body[link.parent], size, link.number, -1))
    a, b, size, link, joint = np.array(found, np.int64).T
    piece = np.where(large[bond], np.searchsorted(np.unique(bond[large[bond]]), bond), -1)
    moving = (piece >= 0) & (links["prescribed"] == 0)
    pieces, moves = np.full(len(scene.bodies) + 1, -1), np.zeros(len(scene.bodies), bool)
    pieces[links["body"][moving]], moves[links["body"][moving]] = piece[moving], True
    members, of_bodies = np.argsort(piece, kind="stable"), np.full(len(scene.bodies), -1)
    of_bodies[links["body"]] = np.arange(len(links))
    return SimpleNamespace(
        pairs=np.stack([a, b], axis=1),
        sizes=size,
        links=link,
        joints=joint,
        moves=moves,
        pieces=pieces,
        count=len(numbers),
        members=(
            np.append(members, -1).astype(np.int32),
            np.searchsorted(piece[members], np.arange(piece.max() + 2)).astype(np.int32),
        ),
        of_bodies=of_bodies,
    )


def _check_dense(system: System, ties: list[_Tie], rows: np.ndarray, widths: np.ndarray, work: np.ndarray) -> None:
    """Refuse what would not be done within seconds: every entry of a dense matrix is a product over a tree's velocities."""
    if work.sum() > MOST_DENSE_WORK:
        worst = int(np.argmax(work))
        beside = next((tie.joint.name for tie in ties if not tie.sparse), "")
        raise SceneError(
            f"ReducedWorld: {len(ties)} of the joints close loops, {rows[worst]:.0f} rows over the {widths[worst]:.0f} "
            f"velocities of what they tie; beside couplings as {beside!r} their matrix is dense here, and a step would "
            "take minutes: take World, which has a sparse one, or cut joints out of the scene"
        )
