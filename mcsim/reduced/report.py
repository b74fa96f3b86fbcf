"""The system model as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcsim.reduced.kinds import KINDS

if TYPE_CHECKING:
    from mcsim.reduced.system import Link, System

ALIGNED_RIGHT = ("link", "rows", "mass [kg]")


def report(system: System) -> str:
    """A table of links, and if there are any, of loops and of couplings."""
    parts = [repr(system)[1:-1], _table(
        ("link", "body", "parent", "joint", "kind", "reversed", "q", "v", "mass [kg]"),
        [_link_row(system, link) for link in system.links])]
    if system.loops:
        parts += ["loops: joints that are cut", _table(
            ("joint", "kind", "predecessor", "successor", "rows", "closes the loop of"),
            [(loop.joint.name, loop.kind, node_name(system, loop.predecessor), node_name(system, loop.successor),
              str(6 - KINDS[loop.kind].nv), " ".join(map(str, system.loop_links(loop)))) for loop in system.loops])]
    if system.couplings:
        parts += ["couplings", _table(
            ("joint", "type", "a", "b"),
            [(joint.name, joint.type, joint.a or "base", joint.b or "base") for joint in system.couplings])]
    return "\n".join(parts)


def node_name(system: System, number: int) -> str:
    """A link as its number and its body's name."""
    return "base" if number < 0 else f"{number} {system.links[number].body}"


def _link_row(system: System, link: Link) -> tuple[str, ...]:
    return (str(link.number), link.body, node_name(system, link.parent), "-" if link.joint is None else link.joint.name,
            link.kind, "reversed" if link.reversed else "", _span(link.q), _span(link.v),
            "prescribed" if link.prescribed else f"{link.mass:.6g}")


def _span(part: slice) -> str:
    """The numbers of a slice."""
    if part.stop - part.start < 2:
        return str(part.start) if part.stop > part.start else "-"
    return f"{part.start}..{part.stop - 1}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as what stands in them."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join("  " + "  ".join(
        text.rjust(width) if name in ALIGNED_RIGHT else text.ljust(width)
        for text, width, name in zip(line, widths, header)).rstrip() for line in lines)
