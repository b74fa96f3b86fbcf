"""Writes the gallery: index.md, and a picture of each ready scene. `python docs/gallery/make.py [SCENE ...]`

A new scene needs a line in SHOWN. Pictures are drawn again only of the scenes that are named, or of all if none is.
"""

import sys
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import mcsim as mc

HERE = Path(__file__).resolve().parent
PAGE, PICTURES = HERE / "index.md", HERE / "pictures"
SIZE = (640, 420)  # pixels of a picture
COLORS = 96  # of its palette
LARGEST = 40_000  # bytes


class Shown(NamedTuple):
    """title, and what one sees; parameters and seconds: of the run that the picture is of; frames: pictures side by side,
    from the start to the end."""

    title: str
    told: str
    seconds: float
    parameters: Mapping[str, float] = MappingProxyType({})
    frames: int = 1


GROUPS = {
    "Stacks and structures": ("stack", "tower", "tower10_heavy", "wall", "pyramid", "one", "card_tower", "arch"),
    "Things that fall, slide and roll": (
        "rain",
        "terrain",
        "marbles",
        "marble_run",
        "galton_board",
        "dominoes",
        "domino_spiral",
        "incline",
        "tumbler",
        "wrecking_ball",
    ),
    "Chains and nets": ("chain", "chain20_heavy", "grid", "bridge", "rope_bridge"),
    "Mechanisms": (
        "pendulum",
        "double_pendulum",
        "newton_cradle",
        "slider_crank",
        "four_bar",
        "cardan_shaft",
        "gear_train",
        "escapement",
    ),
    "Mechanisms of the literature": (
        "point_pendulum",
        "four_bars",
        "squeezer",
        "bricard",
        "governor",
        "heavy_top",
        "planar_chain",
    ),
    "Machines that walk and stand": ("jansen_walker", "quadruped"),
    "Tops and free rotation": ("spinning_top", "tippe_top", "rattleback", "dzhanibekov"),
    "Ragdolls": ("ragdolls", "ragdoll_stairs", "free_ragdoll", "ragdolls11"),
}
SHOWN = {
    "stack": Shown("A stack of boxes", "Fifteen boxes stand on each other and stay where they are.", 2.0),
    "tower": Shown("A tower of cubes", "Cubes of 1 m, one on the other, as other engines are measured on.", 2.0),
    "tower10_heavy": Shown(
        "A heavy cube on a tower",
        "The cube on top weighs 100 times as much as each of those below, which do not give way.",
        2.0,
    ),
    "wall": Shown("A brick wall", "Bricks in running bond rest on each other.", 2.0),
    "pyramid": Shown("A pyramid", "Cubes in rows, each on two of the row below: 210 of them with the base of 20.", 2.0),
    "one": Shown("One cube", "The smallest scene: a cube rests on a plane.", 1.0),
    "card_tower": Shown("A card tower", "Cards lean against each other and stand by friction alone.", 2.0),
    "arch": Shown("A stone arch", "Wedge-shaped stones without mortar: the arch stands by its weight and friction.", 2.0),
    "rain": Shown("Rain into a pit", "Boxes, balls and capsules fall into a pit and make a heap.", 2.2, {"count": 300}),
    "terrain": Shown("Bodies on hills", "Bodies of five shapes fall on a height field, and roll into its valleys.", 2.0),
    "marbles": Shown("Marbles in a chute", "Marbles roll down a winding mesh into a bowl.", 1.6),
    "marble_run": Shown("A marble run", "Marbles run down a gutter, a mesh, and round its screw into a tray.", 4.0),
    "galton_board": Shown(
        "A Galton board", "Balls fall through rows of pins, to the left or the right at each, and heap up as a bell.", 22.0
    ),
    "dominoes": Shown("Dominoes", "The first one is tipped, and the row falls, round a bend.", 3.0),
    "domino_spiral": Shown(
        "A spiral of dominoes", "The outermost one was tipped; the wave runs inwards and leaves nobody standing.", 9.0
    ),
    "incline": Shown(
        "A block on a slope",
        "Where the slope is steeper than friction can hold, the block slides: tan 0.55 is more than 0.4.",
        0.8,
        {"angle": 0.55, "friction": 0.4},
        frames=2,
    ),
    "tumbler": Shown(
        "A tumbler",
        "A drum that turns by itself lifts three hundred bodies, and lets them fall.",
        4.0,
        {"count": 300, "radius": 3.0, "depth": 2.0},
    ),
    "wrecking_ball": Shown("A wrecking ball", "A heavy ball on a chain has swung into a brick wall.", 1.5),
    "chain": Shown("A chain", "Released from the horizontal, it swings down and whips.", 1.0, {"count": 30}),
    "chain20_heavy": Shown("A heavy ball on a chain", "1000 kg hang on links of 1 kg; the joints stay closed.", 1.5),
    "grid": Shown("A net", "Balls on ball joints, hung by two corners, swing down.", 1.2, {"side": 16}),
    "bridge": Shown("A plank bridge", "Hinged planks carry crates that were dropped on them.", 2.0),
    "rope_bridge": Shown("A rope bridge", "Planks on two ropes sway under crates that were dropped on them.", 3.0),
    "pendulum": Shown("A pendulum", "A rod on a hinge: one swing, from left to right in time.", 1.2, frames=3),
    "double_pendulum": Shown(
        "A double pendulum", "Two rods, and chaos: the smallest difference at the start grows.", 1.6, frames=3
    ),
    "newton_cradle": Shown(
        "Newton's cradle", "One ball is lifted and released, and the last one flies off.", 0.85, frames=3
    ),
    "slider_crank": Shown("A slider crank", "A motor turns the crank, and the rod drives a piston.", 0.5, frames=2),
    "four_bar": Shown("A four-bar linkage", "Crank, coupler and rocker make a closed loop of four hinges.", 0.9, frames=2),
    "cardan_shaft": Shown("A cardan shaft", "Two universal joints carry a turn round two bends.", 0.5),
    "gear_train": Shown("A train of gears", "Involute teeth hand on what a motor gives, by nothing but contact.", 1.0),
    "escapement": Shown(
        "A clock's escapement", "The pendulum lets one tooth pass in each full swing, and the tooth pushes it on.", 1.4
    ),
    "point_pendulum": Shown("The simplest pendulum", "A point on a massless bar: problem A01 of a library.", 1.2, frames=3),
    "four_bars": Shown(
        "Four-bar linkages in a row",
        "All fall together, and pass through poses in which they could go on in many ways.",
        1.4,
        {"windows": 5},
        frames=2,
    ),
    "squeezer": Shown("Andrews' squeezing mechanism", "Seven small bodies in three loops, driven by a torque.", 1 / 60),
    "bricard": Shown(
        "Bricard's mechanism", "Six hinges along the edges of a cube, which should be rigid, fall and swing.", 1.2, frames=3
    ),
    "governor": Shown("A flyball governor", "The balls swing out as the shaft spins, and lift the ring.", 0.5, frames=2),
    "heavy_top": Shown("A heavy top", "A fast disc, held at one end of its axis, goes round and nods.", 1.0, frames=3),
    "planar_chain": Shown("A chain of bars", "Released from the horizontal: chaos in a plane.", 1.5, frames=3),
    "jansen_walker": Shown("Jansen's walker", "One crank moves twelve legs of Theo Jansen's linkage, and it walks.", 1.0),
    "quadruped": Shown(
        "A quadruped", "Springs about the angles of its stand carry it, and 10 kg on its back.", 1.5, {"load": 10.0}
    ),
    "spinning_top": Shown("A spinning top", "On its tip, fast enough to precess in place of falling.", 0.6, frames=2),
    "tippe_top": Shown(
        "A tippe top", "Friction at its foot turns the spinning ball over, with its heavy side up.", 6.0, frames=3
    ),
    "rattleback": Shown(
        "A rattleback", "Spun against its liking it begins to rattle, stops, and turns back.", 1.2, frames=3
    ),
    "dzhanibekov": Shown(
        "The Dzhanibekov effect",
        "Spun about its middle axis in free flight, a T-handle flips over and over.",
        2.6,
        frames=3,
    ),
    "ragdolls": Shown(
        "Ragdolls", "People of 16 segments, with limits and friction in their joints, fall on a floor.", 0.9, {"count": 9}
    ),
    "ragdoll_stairs": Shown("Ragdolls on stairs", "Pushed off the landing, they tumble down a staircase.", 1.6),
    "free_ragdoll": Shown("A thrown ragdoll", "In free flight nothing but its own joints acts on it.", 0.8, frames=3),
    "ragdolls11": Shown(
        "Simple ragdolls",
        "Eleven bodies each, which touch the floor only, as other engines are measured on.",
        0.9,
        {"count": 16},
    ),
}


def lines_of(name):
    """The lines of Python that run a scene."""
    shown = SHOWN[name]
    arguments = "".join(f", {key}={value!r}" for key, value in shown.parameters.items())
    return f'world = mc.World(mc.load("{name}"{arguments}))\nworld.step({round(60 * shown.seconds)})'


def command_of(name):
    """The command that films a scene."""
    shown = SHOWN[name]
    given = "".join(f" --set {key}={value}" for key, value in shown.parameters.items())
    return f"mcsim run {name}{given} --seconds {max(3.0, shown.seconds):g} --gif {name}.gif"


def draw(name):
    """Run a scene and draw its end, or a strip."""
    from PIL import Image

    from mcsim.io import Recorder
    from mcsim.view import save_png

    shown = SHOWN[name]
    scene = mc.load(name, **shown.parameters)
    world = mc.World(scene)
    recorder = Recorder(world)
    for _ in range(round(60 * shown.seconds)):
        world.step()
        recorder.keep()
    width, height = SIZE
    size = (width, height) if shown.frames == 1 else (960 // shown.frames, 380)
    target = PICTURES / f"{name}.png"
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.png"
        save_png(whole, scene, recorder.recording(), frames=shown.frames, size=size)
        for colors in (COLORS, 48, 24, 16):
            Image.open(whole).convert("RGB").quantize(colors, dither=Image.Dither.NONE).save(target, optimize=True)
            if target.stat().st_size <= LARGEST:
                break


def parameters_of(name):
    """Its parameters with their defaults, as Markdown."""
    parameters = mc.scenes.parameters(name)
    if not parameters:
        return "No parameters."
    return "Parameters: " + ", ".join(f"`{key}={_shown(value)}`" for key, value in parameters.items()) + "."


def _shown(value):
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def page():
    """The page's text."""
    parts = [
        "# Gallery",
        wrapped(
            f"The {len(SHOWN)} ready scenes. `mc.load(name)` makes one, with its parameters as keywords; `mcsim run name` "
            "runs it, with a parameter changed by `--set`, and `mcsim scenes name` tells all that is known of it. "
            "This page and its pictures are written by `python docs/gallery/make.py`."
        ),
        "```python\nimport mcsim as mc\n```",
    ]
    for title, names in GROUPS.items():
        parts.append(f"## {title}")
        for name in names:
            shown = SHOWN[name]
            parts += [
                f"### {shown.title}",
                f"![{shown.title}](pictures/{name}.png)",
                wrapped(f"`{name}`: {shown.told}"),
                f"```python\n{lines_of(name)}\n```",
                wrapped(f"A film: `{command_of(name)}`"),
                wrapped(parameters_of(name)),
            ]
    return "\n\n".join(parts) + "\n"


def main(names):
    PICTURES.mkdir(exist_ok=True)
    for name in names or SHOWN:
        draw(name)
        print(name, (PICTURES / f"{name}.png").stat().st_size)
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
