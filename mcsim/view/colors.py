"""Colours that people with any colour vision can tell apart: the palette of Okabe and Ito (2008), a little softened."""

from typing import NamedTuple

import numpy as np

from mcsim.core.plot_style import THEMES
from mcsim.view.marks import LINE_COLORS

PALETTE = (
    0.85
    * np.array(
        [
            [0, 114, 178],
            [230, 159, 0],
            [0, 158, 115],
            [213, 94, 0],
            [86, 180, 233],
            [204, 121, 167],
            [240, 228, 66],
        ]
    )
    / 255
    + 0.15
)
STATIC = np.array([0.72, 0.72, 0.72])
KINEMATIC = np.array([0.60, 0.63, 0.68])
EDGE = 0.72  # brightness of outlines, relative to the face
TONES = (1.0, 0.88, 1.08, 0.94)  # neighbours of one colour differ a little


class Colors(NamedTuple):
    """What a picture has beside its bodies: background and text "#rrggbb", shadow, grid, rod and, by name of LINE_COLORS,
    marks, (3,) 0 to 1."""

    background: str
    text: str
    shadow: tuple[float, ...]
    grid: tuple[float, ...]
    rod: tuple[float, ...]
    marks: dict[str, tuple[float, ...]]


COLORS = {
    "light": Colors(
        "#fafaf8",
        "#404040",
        (0.886, 0.886, 0.871),
        (0.70, 0.71, 0.72),
        (0.30, 0.30, 0.32),
        {name: tuple(part / 255 for part in color) for name, color in LINE_COLORS.items()},
    ),
    "dark": Colors(
        THEMES["dark"].background,
        THEMES["dark"].text,
        (0.045, 0.050, 0.060),
        (0.36, 0.38, 0.42),
        (0.72, 0.74, 0.78),
        {"joints": (0.86, 0.88, 0.92), "axes": (0.40, 0.72, 1.0), "contacts": (1.0, 0.38, 0.33)},
    ),
}


def body_colors(scene):
    """(n, 3) RGB: statics grey; bodies that joints hold together share a colour, if there are several such groups."""
    group = list(range(len(scene.bodies)))

    def root(k):
        while group[k] != k:
            group[k] = group[group[k]]
            k = group[k]
        return k

    index = {body.name: body.index for body in scene.bodies}
    moving = {body.index for body in scene.bodies if body.kind == "dynamic"}
    for joint in scene.joints:
        pair = [index[name] for name in (joint.a, joint.b) if name is not None and index[name] in moving]
        if len(pair) == 2:
            low, high = sorted(map(root, pair))
            group[high] = low
    roots = sorted({root(k) for k in moving})
    alone = len(roots) == 1
    order = {k: number for number, k in enumerate(sorted(moving) if alone else roots)}
    colors = np.empty((len(scene.bodies), 3))
    members: dict[int, int] = {}
    for body in scene.bodies:
        if body.index not in moving:
            colors[body.index] = KINEMATIC if body.kind == "kinematic" else STATIC
            continue
        key = body.index if alone else root(body.index)
        tone = TONES[members.setdefault(key, 0) % len(TONES)]
        members[key] += 1
        colors[body.index] = np.minimum(PALETTE[order[key] % len(PALETTE)] * tone, 1.0)
    return colors
