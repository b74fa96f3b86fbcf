"""mcsim play: a recording, in the browser or as files."""

from pathlib import Path
from typing import Annotated

import typer

from mcsim.cli.files import kind_of_arrays, refuse_other_kinds
from mcsim.cli.outputs import CameraOption, Gif, Glb, Html, Outputs, Png, Show, Speed, Strip, ThemeOption, play_page
from mcsim.cli.terminal import InputError
from mcsim.core.errors import SceneError


def play(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A recording (.npz), as mcsim run SCENE --out FILE makes it.")
    ],
    png: Png = None,
    strip: Strip = None,
    gif: Gif = None,
    html: Html = None,
    glb: Glb = None,
    speed: Speed = None,
    camera: CameraOption = None,
    show: Show = None,
    theme: ThemeOption = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            rich_help_panel="Page",
            help="Where the page can be opened from: 127.0.0.1 is this machine alone, 0.0.0.0 is whoever reaches it.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", rich_help_panel="Page", help="0: any that is free.")
    ] = 8080,
) -> None:
    """Play a recording in the browser, or write it as a picture, a film, a page or a 3-D file.

    Without an output the page is served at the address that is printed, until Ctrl-C.
    """
    from mcsim.io import Recording

    outputs = Outputs(png, strip, gif, speed, html, glb, camera, show, theme)
    outputs.check()
    if file.suffix != ".npz" or (file.is_file() and kind_of_arrays(file) != "recording"):
        refuse_other_kinds(file)
        raise InputError(f"{file}: is no recording; mcsim run SCENE --out FILE.npz makes one")
    recording = Recording.load(file)
    try:
        scene = recording.shown_scene()
    except SceneError as error:
        raise InputError(f"{file}: {str(error).removeprefix('recording: ')}") from None
    if outputs.wanted():
        outputs.write(scene, recording)
        return
    play_page(str(file), scene, recording, host, port)
