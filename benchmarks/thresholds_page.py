"""docs/thresholds.md between its markers: a list of each room's thresholds, from the sources and from what thresholds.py
measured."""

from pathlib import Path

from folding import folded

PAGE = Path(__file__).resolve().parent.parent / "docs" / "thresholds.md"
BEGIN, END = "<!-- begin: made by benchmarks/thresholds.py --page -->", "<!-- end -->"

ROOMS = {
    "core": "Threads, and numbers that several rooms take.",
    "state": "What a world is described by.",
    "collide": "Which bodies touch, and where: cosines and parts of a pair's size within which two directions or places "
    "are the same, rounds of iterations, and room for what they keep.",
    "constraints": "Rows of contacts, joints, springs and motors; who sleeps.",
    "solve": "Factors of the joints' systems, impacts, and under `problems` the laboratory's solvers: pivots, tolerances "
    "and patience.",
    "stabilize": "Displacements that close what stands open.",
    "direct": "Articulations whose joints are solved at once: when they fly, when a step of Newton's method has done "
    "enough, and what energy may be lost.",
    "integrate": "Rotations over a substep.",
    "reduced": "Trees in their own coordinates.",
    "event": "Contacts at their own times.",
    "step": "The order of a step, and what one may take.",
    "wide": "The same several at a time: where its values are those of another room, they are taken from there.",
}


def write_page(thresholds, results):
    head, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    tail = rest.split(END, 1)[1]
    PAGE.write_text(f"{head}{BEGIN}\n\n{body(thresholds, results)}\n{END}{tail}", encoding="utf-8")


def body(thresholds, results):
    rooms = list(dict.fromkeys(one.room for one in thresholds))
    found = [measured(one, results) for one in thresholds]
    same = sum(bool(some) and not any(result.changed for result in some) for some in found)
    count = f"{len(thresholds)} thresholds; {sum(map(bool, found))} are measured, {same} of which no scene notices.\n"
    return "\n".join(
        [
            count,
            *(
                text
                for room in [*ROOMS, *(room for room in rooms if room not in ROOMS)]
                if room in rooms
                for text in section(room, [one for one in thresholds if one.room == room], results)
            ),
        ]
    )


def measured(one, results):
    """The results that are of a threshold, at its value."""
    return [result for result in results if (result.file, result.name, result.value) == (one.file, one.name, one.number)]


def section(room, thresholds, results):
    yield from (f"## {room}", "", *folded(ROOMS.get(room, "")), "")
    for one in thresholds:
        told = "; ".join(map(effect, measured(one, results))) or "not measured"
        unit = "" if one.unit in ("1", "count") else f" {one.unit}"
        meaning = one.comment.rstrip(" .,;:") + "."
        yield from folded(f"- `{one.name}`, {one.value}{unit} (`{one.file}`): {meaning} Effect: {told}.", "  ")
    yield ""


def effect(result):
    """What another value does, in a few words."""
    text = f"at {result.tried:g} "
    if result.failed.startswith("the process"):
        return text + f"fails: {result.failed}"
    if not result.changed:
        return text + "same bits"
    text += (
        f"{result.changed} scenes differ, by up to {result.moved:.1g} in {result.moved_in}"
        if result.moved_in
        else "only counts differ"
    )
    if result.sweeps:
        text += f", {result.sweeps:+d} sweeps"
    if result.notes:
        text += f", {result.notes:+d} notes"
    return text + (f", fails: {result.failed}" if result.failed else "")
