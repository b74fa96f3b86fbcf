"""Pictures, films, pages and 3-D files of a recording: their options, and the writing of them."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from mcsim.cli.options import check_output, number, output, positive, refuse_alone, theme_option
from mcsim.cli.terminal import InputError, counted, folded, progress


def view_of(text: str) -> Any:
    """A camera, by a name or by its direction."""
    from mcsim.core.errors import SceneError
    from mcsim.view.camera import camera_of

    given = [number(part) for part in text.split(",")] if "," in text else text
    try:
        return camera_of(given)
    except SceneError as error:
        raise typer.BadParameter(str(error)) from None


def marks_of(text: str) -> tuple[str, ...]:
    """Names of marks, with commas between them."""
    from mcsim.view.overlay import MARKS

    names = tuple(part.strip() for part in text.split(","))
    for name in names:
        if name not in MARKS:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(MARKS)}")
    return names


Png = Annotated[Path | None, output("png", "Write a picture of the end (.png).")]
Strip = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=20,
        metavar="N",
        rich_help_panel="Output",
        show_default=False,
        help="With --png: so many pictures side by side, from start to end; 1 is the end alone.",
    ),
]
Gif = Annotated[Path | None, output("gif", "Write a film (.gif).")]
Speed = Annotated[
    float | None,
    typer.Option(
        parser=positive,
        metavar="X",
        rich_help_panel="Output",
        show_default=False,
        help="With --gif: speed of the film; 0.5 is slow motion, 1 if left out.",
    ),
]
CameraOption = Annotated[
    Any,
    typer.Option(
        "--camera",
        parser=view_of,
        metavar="VIEW",
        rich_help_panel="Output",
        show_default=False,
        help="With --png or --gif: perspective, orthographic, front, back, side, top, or a direction towards the eye "
        "such as 1,-1,0.5; perspective if left out.",
    ),
]
Show = Annotated[
    Any,
    typer.Option(
        "--show",
        parser=marks_of,
        metavar="WHAT,...",
        rich_help_panel="Output",
        show_default=False,
        help="With --png or --gif: joints, contacts, or both, over the bodies.",
    ),
]
ThemeOption = Annotated[str | None, theme_option("With --png or --gif: light or dark; light if left out.")]
Html = Annotated[Path | None, output("html", "Write a page that plays the run in any browser, in one file (.html).")]
Glb = Annotated[Path | None, output("glb", "Write a 3-D file with the motion, for Blender and game engines (.glb).")]


@dataclass(frozen=True)
class Outputs:
    """What is to be written of a recording."""

    png: Path | None = None
    strip: int | None = None
    gif: Path | None = None
    speed: float | None = None
    html: Path | None = None
    glb: Path | None = None
    camera: Any = None
    show: Any = None
    theme: str | None = None

    def wanted(self) -> bool:
        """Whether anything is."""
        return bool(self.png or self.gif or self.html or self.glb)

    def check(self) -> None:
        """Whether all can be written, before anything runs."""
        for option in ("png", "gif", "html", "glb"):
            check_output(f"--{option}", getattr(self, option), f".{option}")
        refuse_alone("--strip", self.strip, "--png", self.png)
        refuse_alone("--speed", self.speed, "--gif", self.gif)
        for option in ("camera", "show", "theme"):
            if getattr(self, option) is not None and not (self.png or self.gif):
                raise InputError(f"--{option} does nothing without --png or --gif: add one of them, or leave it out")
        from mcsim.core import extras

        if self.png or self.gif:
            extras.require_matplotlib()
        if self.html:
            extras.require_viser()

    def with_contacts(self) -> bool:
        """Whether a recording has to keep contacts."""
        return "contacts" in (self.show or ())

    def write(self, scene: Any, recording: Any) -> None:
        """Writes them, and says so."""
        from mcsim.view import save_gif, save_gltf, save_html, save_png

        look: dict[str, Any] = {
            "camera": self.camera or "perspective",
            "show": self.show or (),
            "theme": self.theme or "light",
        }
        frames = counted(len(recording), "frame", "frames")
        if self.png:
            save_png(self.png, scene, recording, frames=self.strip or 1, **look)
            told_of(self.png, "picture")
        if self.gif:
            with progress(len(recording), "drawing", "frames") as show:
                told: dict[str, Any] = {"progress": lambda k: show(k + 1, None), "speed": self.speed or 1.0}
                save_gif(self.gif, scene, recording, **told, **look)
            told_of(self.gif, frames)
        if self.html:
            save_html(self.html, scene, recording)
            told_of(self.html, frames)
        if self.glb:
            save_gltf(self.glb, scene, recording)
            told_of(self.glb, frames)


def told_of(path: Path, what: str) -> None:
    """Says what was written."""
    print(f"wrote            {path} ({what}, {path.stat().st_size / 1e6:.2f} MB)")


def play_page(name: str, scene: Any, recording: Any, host: str = "127.0.0.1", port: int = 8080) -> None:
    """Play a recording on a page in the browser until Ctrl-C. name: what the page is told to play."""
    from mcsim.view.html import page
    from mcsim.view.serve import serve, warning_of

    if warning_of(host):
        print(folded(f"warning: {warning_of(host)}", sys.stdout))

    def told(address: str) -> None:
        print(folded(f"{name}: plays at {address} until Ctrl-C", sys.stdout), flush=True)

    serve(page(scene, recording), host, port, told)
