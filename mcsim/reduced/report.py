"""The system model as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcsim.reduced.kinds import KINDS
from mcsim.reduced.links import Link, Loop
from mcsim.scene import Joint

ALIGNED_RIGHT = ("link", "rows", "mass [kg]")


def report(
    title: str, links: Sequence[Link], loops: Sequence[Loop], couplings: Sequence[Joint], loop_links: Sequence[np.ndarray]
) -> str:
    """A table of links, and if there are any, of loops and of couplings. loop_links: of each loop, numbers."""
    parts = [
        title,
        _table(
            ("link", "body", "parent", "joint", "kind", "reversed", "q", "v", "mass [kg]"),
            [_link_row(links, link) for link in links],
        ),
    ]
    if loops:
        parts += [
            "loops: joints that are cut",
            _table(
                ("joint", "kind", "predecessor", "successor", "rows", "closes the loop of"),
                [
                    (
                        loop.joint.name,
                        loop.kind,
                        _node_name(links, loop.predecessor),
                        _node_name(links, loop.successor),
                        str(6 - KINDS[loop.kind].nv),
                        " ".join(map(str, numbers)),
                    )
                    for loop, numbers in zip(loops, loop_links)
                ],
            ),
        ]
    if couplings:
        parts += [
            "couplings",
            _table(
                ("joint", "type", "a", "b"),
                [(joint.name, joint.type, joint.a or "base", joint.b or "base") for joint in couplings],
            ),
        ]
    return "\n".join(parts)


def _node_name(links: Sequence[Link], number: int) -> str:
    """A link as its number and its body's name."""
    return "base" if number < 0 else f"{number} {links[number].body}"


def _link_row(links: Sequence[Link], link: Link) -> tuple[str, ...]:
    return (
        str(link.number),
        link.body,
        _node_name(links, link.parent),
        "-" if link.joint is None else link.joint.name,
        link.kind,
        "reversed" if link.reversed else "",
        _span(link.q),
        _span(link.v),
        "prescribed" if link.prescribed else f"{link.mass:.6g}",
    )


def _span(part: slice) -> str:
    """The numbers of a slice."""
    if part.stop - part.start < 2:
        return str(part.start) if part.stop > part.start else "-"
    return f"{part.start}..{part.stop - 1}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as what stands in them."""
    lines = [header, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  "
        + "  ".join(
            text.rjust(width) if name in ALIGNED_RIGHT else text.ljust(width)
            for text, width, name in zip(line, widths, header)
        ).rstrip()
        for line in lines
    )
