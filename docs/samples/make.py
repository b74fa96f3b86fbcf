"""Writes the gallery of samples: index.md, a page an engine, a picture a group. `python docs/samples/make.py [PART ...]`

A picture is drawn again only of the groups that are named (box3d/stacking), of engines (box3d), or of all if nothing is.
Pages are written in any case.
"""

import importlib
import inspect
import sys
import tempfile
import textwrap
from pathlib import Path

import mcsim as mc

HERE = Path(__file__).resolve().parent
PICTURES = HERE / "pictures"
SIZE = (176, 124)  # pixels of a sample
COLUMNS = 5
COLORS = 64  # of a picture's palette
LARGEST = 60_000  # bytes

HEAD = """# Samples of other engines

{told}

```text
mcsim samples                                  all groups
mcsim samples box3d/stacking                   one group, a line each
mcsim samples box3d/stacking/arch              one, with what it shows and where its code is
mcsim samples box3d/stacking --check           run them: which are right, and their figures
mcsim samples box3d/stacking/arch --gif a.gif  a film of one; also --png, --html, --glb, and --view
```

```python
import mcsim as mc

outcome = mc.samples.run("box3d/shapes/isotropic_friction")
print(outcome.ok, outcome.bodies, "bodies")
for expectation in outcome.expectations:
    assert expectation.ok, expectation
```

```text
True 33 bodies
```

{engines}

What is expected of every sample, beside what it says itself: joints are open by no more than 10 µm (or µrad) at any
time, and bodies overlap by no more than 2 mm at the end. Where a sample asks less, as at the end of a motion, its line
in the code says so. Descriptions and sizes are the originals' where they are known; code and words are ours.
"""


def groups():
    """group -> the names of its samples, engine by engine."""
    found = {}
    for name in mc.samples.names():
        found.setdefault(mc.samples.find(name).group, []).append(name)
    return found


def wrapped(text):
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def picture_of(group):
    """Where a group's picture stands."""
    return PICTURES / f"{group.replace('/', '_')}.png"


def index():
    """The text of index.md."""
    count = len(mc.samples.names())
    told = wrapped(
        f"{count} samples of other engines, by their names, each built here in a function of at most 25 lines that says in "
        "numbers what should happen: heights, speeds by a formula, what sleeps. All are checked by one command; the quick "
        "ones are among the tests. This page and its pictures are written by `python docs/samples/make.py`."
    )
    lines = ["| engine | samples | groups |", "|---|---|---|"]
    for engine, title in mc.samples.engines().items():
        own = [group.partition("/")[2] for group in groups() if group.startswith(engine + "/")]
        lines.append(f"| [{title}]({engine}.md) | {len(mc.samples.names(engine))} | {len(own)} |")
    pages = "\n".join(mc.samples.engines())
    return HEAD.format(told=told, engines="\n".join(lines)) + f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def page(engine):
    """The text of an engine's page."""
    title = mc.samples.engines()[engine]
    told = inspect.getdoc(importlib.import_module(f"mcsim.samples.{engine}")).partition("\n")[2]
    count = len(mc.samples.names(engine))
    parts = [f"# Samples of {title}", wrapped(f"{count} samples; `mcsim samples {engine} --check` runs them. {told}")]
    for group, names in groups().items():
        if not group.startswith(engine + "/"):
            continue
        own = group.partition("/")[2]
        lines = ["| sample | original | what happens |", "|---|---|---|"]
        for name in names:
            sample = mc.samples.find(name)
            lines.append(f"| `{name.rpartition('/')[2]}` | {sample.title} | {sample.description} |")
        parts += [
            f"## {own.replace('_', ' ').capitalize()}",
            f"![The ends of the samples of {group}, in the order of the table](pictures/{picture_of(group).name})",
            "\n".join(lines),
        ]
    return "\n\n".join(parts) + "\n"


def shot(name, folder):
    """The end of a sample as a small picture."""
    from PIL import Image

    from mcsim.view import save_png

    sample = mc.samples.find(name)
    outcome = sample.run(record=True)
    if outcome.recording is None:
        return Image.new("RGB", SIZE, "white")
    path = Path(folder) / "shot.png"
    save_png(path, outcome.scene, outcome.recording, size=(2 * SIZE[0], 2 * SIZE[1]), camera=sample.camera)
    return Image.open(path).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)


def draw(group, names):
    """A group's picture: the ends of its samples side by side."""
    from PIL import Image

    rows = -(-len(names) // COLUMNS)
    sheet = Image.new("RGB", (min(len(names), COLUMNS) * SIZE[0], rows * SIZE[1]), "white")
    with tempfile.TemporaryDirectory() as folder:
        for k, name in enumerate(names):
            sheet.paste(shot(name, folder), ((k % COLUMNS) * SIZE[0], (k // COLUMNS) * SIZE[1]))
    for colors in (COLORS, 32, 16, 10):
        sheet.quantize(colors, dither=Image.Dither.NONE).save(picture_of(group), optimize=True)
        if picture_of(group).stat().st_size <= LARGEST:
            break


def main(parts):
    PICTURES.mkdir(exist_ok=True)
    for group, names in groups().items():
        if not parts or any(group == part or group.startswith(part + "/") for part in parts):
            draw(group, names)
            print(group, picture_of(group).stat().st_size, flush=True)
    (HERE / "index.md").write_text(index(), encoding="utf-8")
    for engine in mc.samples.engines():
        (HERE / f"{engine}.md").write_text(page(engine), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
