"""What steps could not do, in words: the kinds of notes, and a Note for each that there is.

Kernels and whoever works beside them write numbers into a `Noted` (core/_noted.pyx) where something fails: which kind,
which joint or body, how much. Another kind is a line of KINDS; those of kernels come first and have a number of the same
order in core/_noted.pxd, the others are told by their keys (`tell`).
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mcsim.core._noted import Noted

MOST_NAMES = 4  # of a note; the rest is counted


class Kind(NamedTuple):
    """key: what a Note has as its kind. of: "joint" or "body", what it happens to. text: the sentence, with {who}, {is},
    {turn} and {figure}, or {said} of what has its own words. adds: whether the figure is the sum over bodies or
    joints and steps, else it is the largest. fails: whether it is something that a step could not do, which
    World(strict=True) raises."""

    key: str
    of: str
    text: str
    adds: bool = False
    fails: bool = True


KINDS = (
    Kind(
        "open joints",
        "joint",
        "{who} {is} open by up to {figure:.2g} m or rad at the end of a substep, farther than the "
        "solver asks; more substeps, or a smaller dt, may close what is open",
    ),
    Kind(
        "moved joints",
        "joint",
        "{who} {is} closed by moving bodies, by up to {figure:.2g} m or rad, where no velocities "
        "were found that do it: that keeps momenta, not energy; more substeps, or a smaller dt, may need none of it",
    ),
    Kind(
        "flights",
        "body",
        "what hangs together with {who} drifted on with the velocities of the start, in {figure:.0f} "
        "pieces of a flight for which no end with closed joints and its energy was found; more substeps, or a smaller dt, "
        "may find it",
        adds=True,
    ),
    Kind(
        "loops",
        "joint",
        "{who} and what closes loops there are open, by up to {figure:.2g} m or rad, or contradict each "
        "other or the motion of kinematic bodies: they yield; see joint_errors()",
    ),
    Kind(
        "rows",
        "joint",
        "{who} {is} in nets that a factorization takes {figure:.0f} products a joint for: all joints are "
        "swept row by row, and sag under load; joint_solver='tree' holds them, at that price",
    ),
    Kind(
        "energy",
        "body",
        "what hangs together with {who} moves too fast for dt: its energy came out wrong by "
        "{figure:.3g} J in all, which was mended in its velocities where that could be; a smaller dt, or more substeps, "
        "follows it",
        adds=True,
    ),
    Kind(
        "held back",
        "body",
        "{who} {is} set back, by up to {figure:.2g} m, where something would have been passed "
        "through: the way is shorter than the velocity says; more substeps, or a smaller dt, may need none of it",
    ),
    Kind(
        "stiff contacts",
        "body",
        "{who} {is} on contacts of which up to {figure:.0f} points that bear are too fast for a "
        "substep: they are damped numerically, and hardly rebound; more substeps follow them",
    ),
    Kind(
        "sweeps",
        "body",
        "the sweeps ended at a residual of up to {figure:.2g} N s or N m s, above the tolerance; more "
        "iterations, or more substeps, come nearer",
    ),
    Kind(
        "pivots",
        "body",
        "limits, motors and friction of what hangs together with {who}, up to {figure:.0f} of "
        "them, were not found by as many pivots as there may be: they stay as far as they had come",
    ),
    Kind(
        "changing contacts",
        "body",
        "the further sweeps of a pass ended while they still changed contacts, where "
        "what is heavy lies on something light, at a residual of up to {figure:.2g} N s or N m s; more substeps, or "
        "more_iterations, come nearer",
    ),
    Kind(
        "coarse",
        "body",
        "{who} {is} so far away, or {turn} so fast, that numbers tell its points from each other "
        "no better than to {figure:.1g} of its size: something drives it out of all bounds. A force that Python "
        "gives acts unchanged through a whole step, so one that is to pull a body back by its place or velocity "
        "overshoots, the more the nearer k dt^2 comes to m, or c dt to m: a Spring or damping of a joint is solved "
        "with the step and does not; or take a smaller dt",
    ),
    Kind(
        "motors",
        "joint",
        "{who} {is} not driven as the motor there asks, by up to {figure:.2g} m/s² or rad/s²: other motors, or joints, "
        "forbid it; leave one of them out, or give it a max_force by which it yields",
    ),
    Kind(
        "torn joints",
        "joint",
        "{who} {is} in the tree, where no joint is open: by up to {figure:.3g} m or rad that the "
        "scene, or a change, had left open bodies were moved at once; place them where the joints hold them, or leave the "
        "joint out of the tree, so that it closes a loop",
    ),
    Kind("solver", "body", "{said}"),
    *(
        Kind(key, "body", "{said}")
        for key in ("creep", "painleve", "unsolvable", "not converged", "sequence", "gained energy")
    ),
    Kind("zeno", "body", "{said}", fails=False),  # how bounces that come ever faster are meant to end
)

NUMBERS = {kind.key: k for k, kind in enumerate(KINDS)}


class Note(NamedTuple("Note", [("kind", str), ("bodies", tuple[str, ...]), ("text", str)])):
    """What steps could not do, of one kind: the tuple (kind, bodies, text), and beside it

    joints, bodies: names, the worst first, at most four; bodies are those of the joints, where it happens to joints.
    others: how many more joints, or bodies where it happens to these, it happened to. figure: the largest or the sum, in
    the unit that the text tells. steps: in how many steps of the last call of step(); total: since the world was made.
    """

    joints: tuple[str, ...]
    others: int
    figure: float
    steps: int
    total: int


def new_noted(bodies: int, joints: int, room: int) -> Noted:
    """For so many bodies and joints. room: for how many bodies that may come to be."""
    return Noted([kind.fails for kind in KINDS], max(bodies, joints), room)


def tell(noted: Noted, key: str, who: Iterable[int], text: str) -> None:
    """Note what has its own words, of bodies by their numbers."""
    noted.tell(NUMBERS[key], who, text)


def note(noted: Noted, key: str, who: int, figure: float) -> None:
    """Note a figure of a joint or body, by its number, in the step that comes."""
    noted.note(NUMBERS[key], who, figure)


def notes_of(noted: Noted, bodies: Sequence[Any], joints: Sequence[Any], ever: bool = False) -> list[Note]:
    """In the order of KINDS, those of the last call of step, or with `ever` of all. bodies, joints: of the scene, in the
    order of the world's arrays."""
    found = []
    for k in np.flatnonzero(noted.steps[int(ever)]):
        kind, amounts = KINDS[k], noted.amounts[int(ever), k]
        parts = joints if kind.of == "joint" else bodies
        order = np.argsort(-amounts[1:], kind="stable")
        worst, count = order[:MOST_NAMES], int(np.count_nonzero(amounts[1:]))
        named = [parts[i] for i in worst[:count]]
        figure = float(np.sum(amounts) if kind.adds else np.max(amounts))
        text = kind.text.format(**_who(kind.of, named, count), figure=figure, said=noted.said[int(ever)].get(int(k), ""))
        note = Note(kind.key, _bodies(kind.of, named), text)
        note.joints = tuple(part.name for part in named) if kind.of == "joint" else ()
        note.others, note.figure = count - len(named), figure
        note.steps, note.total = (int(steps) for steps in noted.steps[:, k])
        found.append(note)
    return found


def failure_of(noted: Noted, bodies: Sequence[Any], joints: Sequence[Any]) -> str:
    """The sentences of what the last call of step could not do, for an error."""
    return "; ".join(note.text for note in notes_of(noted, bodies, joints) if KINDS[NUMBERS[note.kind]].fails)


def carry_over(noted: Noted, before: Noted, bodies: np.ndarray, joints: np.ndarray) -> None:
    """What `before` has noted, where bodies and joints have other numbers now: bodies, joints: the new number of each, -1
    of what is gone, whose part nobody has from now on. What waits for the next step waits for it still."""
    noted.steps[...] = before.steps
    pending = before.pending()
    for level in range(2):
        noted.said[level].update(before.said[level])
        for k in np.flatnonzero((before.steps[level] > 0) | pending):
            numbers = joints if KINDS[k].of == "joint" else bodies
            old, new = before.amounts[level, k], noted.amounts[level, k]
            join = np.add if KINDS[k].adds else np.maximum
            new[0] = old[0]
            join.at(new, numbers + 1, old[1 : 1 + len(numbers)])
    noted.await_step(np.flatnonzero(pending & noted.amounts[0, :, 1:].any(axis=1)))


def renumber(noted: Noted, bodies: np.ndarray, count: int) -> None:
    """The same in place, where bodies alone have other numbers. count: how many bodies or joints there are from now on."""
    told = np.zeros((0, 0)) if noted.silent else (noted.steps > 0) | noted.pending()
    for level, k in zip(*np.nonzero(told)):
        if KINDS[k].of == "body":
            amounts = noted.amounts[level, k]
            old = amounts.copy()
            amounts[1:] = 0.0
            (np.add if KINDS[k].adds else np.maximum).at(amounts, bodies + 1, old[1 : 1 + len(bodies)])
    noted.resize(count)


def _who(of: Any, named: Any, count: Any) -> Any:
    """{who}: joints 'a', 'b' and 3 more; {is}: are"""
    many = {"joint": "joints", "body": "bodies"}[of]
    if not named:  # they are gone
        return {"who": f"some {many}", "is": "are", "turn": "turn"}
    names = ", ".join(repr(part.name) for part in named)
    more = f" and {count - len(named)} more" if count > len(named) else ""
    return {
        "who": f"{of if count == 1 else many} {names}{more}",
        "is": "is" if count == 1 else "are",
        "turn": "turns" if count == 1 else "turn",
    }


def _bodies(of: Any, named: Any) -> Any:
    """Names of the bodies that it happened to, or whose joints."""
    if of == "body":
        return tuple(part.name for part in named)
    ends = [getattr(joint, side, None) for joint in named for side in "ab"]
    return tuple(dict.fromkeys(name for name in ends if name is not None))
