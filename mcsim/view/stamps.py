"""Small pieces that stand over a picture: captions, the scale bar, the scale of arrows, borders between pictures."""

from __future__ import annotations  # signatures read as they are written here

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from mcsim.view.colors import Colors

LETTERS = 15  # pixels high
PLACE = 12  # pixels from the edges of the picture
CAPTION = 28  # pixels that a line of text takes
RIM = 2  # pixels of the background's colour around letters
MIDDLE = 16  # pixels from the top to the middle of the first line
ROW = 30  # pixels that a scale takes
LONGEST = 0.25  # of the picture's width, of a scale
THICK = 3  # pixels, of the scale bar
PREFIXES = ((1e-6, "µ"), (1e-3, "m"), (1.0, ""), (1e3, "k"))


@cache
def font() -> Any:
    """What pictures are lettered with."""
    from matplotlib import font_manager
    from PIL import ImageFont

    return ImageFont.truetype(font_manager.findfont("DejaVu Sans"), LETTERS)


def rgb(color: str) -> np.ndarray:
    """(3,) of "#rrggbb", 0 to 255."""
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])


@lru_cache(64)
def lettered(text: str, ink: str, rim: str) -> tuple[np.ndarray, np.ndarray]:
    """Text with a rim, to be read over bodies too: how much of it is left of a picture (height, width, 1), and what comes
    to that (height, width, 3), both float32."""
    from PIL import Image, ImageDraw

    wide = math.ceil(font().getlength(text)) + 2 * RIM + 1
    masks = []
    for width in (RIM, 0):
        mask = Image.new("L", (wide, CAPTION))
        ImageDraw.Draw(mask).text((RIM, CAPTION // 2), text, fill=255, font=font(), anchor="lm", stroke_width=width)
        masks.append(np.asarray(mask, np.float32)[..., None] / 255)
    grown, letters = masks
    added = grown * (1 - letters) * rgb(rim).astype(np.float32) + letters * rgb(ink).astype(np.float32)
    return (1 - grown) * (1 - letters), added


def put(picture: np.ndarray, text: str, colors: Colors, x: int, y: int) -> None:
    """Text into a picture, its left edge at x and its middle at y pixels from the upper left."""
    left, added = lettered(text, colors.text, colors.background)
    x, y = max(x - RIM, 0), max(y - CAPTION // 2, 0)
    part = picture[y : y + CAPTION, x : x + left.shape[1]]
    rows, columns = part.shape[:2]
    part[:] = left[:rows, :columns] * part + added[:rows, :columns] + np.float32(0.5)


def width_of(text: str) -> int:
    """Of a text, in pixels."""
    return math.ceil(font().getlength(text))


def write(picture: np.ndarray, title: str, label: str, colors: Colors) -> None:
    """A title into the upper left corner and a label into the upper right, or below it where there is no room."""
    crowded = bool(title and label) and width_of(title) + width_of(label) + 3 * PLACE > picture.shape[1]
    if title:
        put(picture, title, colors, PLACE, MIDDLE)
    if label:
        right = picture.shape[1] - PLACE - width_of(label)
        put(picture, label, colors, PLACE if crowded else right, MIDDLE + CAPTION if crowded else MIDDLE)


def nice(longest: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above."""
    power = 10.0 ** math.floor(math.log10(longest))
    return max(m * power for m in (1, 2, 5) if m == 1 or m * power <= longest * (1 + 1e-9))


def told(value: float, unit: str) -> str:
    """A number with its unit, such as 20 mm."""
    factor, prefix = max((entry for entry in PREFIXES if entry[0] <= value * (1 + 1e-9)), default=PREFIXES[0])
    return f"{value / factor:g} {prefix}{unit}"


class Scale:
    """A bar, or an arrow, that shows how long something is in a picture. value: what it shows, in its unit; pixels: its
    length; text: what stands beside it."""

    def __init__(self, per_pixel: float, unit: str, width: int, arrow: bool = False) -> None:
        self.value = nice(LONGEST * width * per_pixel)
        self.pixels = self.value / per_pixel
        self.text = told(self.value, unit)
        self._arrow = arrow

    def draw(self, picture: np.ndarray, colors: Colors, color: Sequence[float], row: int) -> None:
        """Into the lower left of a picture, in rows from below."""
        from PIL import Image, ImageDraw

        height = picture.shape[0]
        low = height - ROW * row
        part = picture[max(low - ROW, 0) : low]
        drawn = Image.fromarray(np.ascontiguousarray(part))
        pen, ink = ImageDraw.Draw(drawn), tuple(int(255 * c + 0.5) for c in color)
        middle, end = part.shape[0] // 2, PLACE + round(self.pixels) - 1
        edge = tuple(rgb(colors.background).tolist())
        half = THICK // 2
        for grown, fill in ((2, edge), (0, ink)):
            if self._arrow:
                pen.line([(PLACE - grown, middle), (end - 6, middle)], fill=fill, width=THICK - 1 + 2 * grown)
                tip = [(end + grown, middle), (end - 9 - grown, middle - 4 - grown), (end - 9 - grown, middle + 4 + grown)]
                pen.polygon(tip, fill=fill)
                continue
            pen.rectangle([PLACE - grown, middle - half - grown, end + grown, middle + half + grown], fill=fill)
            for x in (PLACE, end):
                pen.line([(x, middle - 5 - grown), (x, middle + 5 + grown)], fill=fill, width=1 + 2 * grown)
        part[:] = np.asarray(drawn)
        put(picture, self.text, colors, end + 9, max(low - ROW, 0) + middle)


def in_rows(rows: Sequence[Sequence[np.ndarray]], colors: Colors) -> np.ndarray:
    """Pictures of one size as one, row by row, with a thin line around each where there are several."""
    joined = np.concatenate([np.concatenate(row, axis=1) for row in rows])
    if len(rows) * len(rows[0]) > 1:
        height, width = rows[0][0].shape[:2]
        line = np.round(255 * np.array(colors.grid)).astype(np.uint8)
        joined[::height] = joined[-1] = line
        joined[:, ::width] = joined[:, -1:] = line
    return joined
