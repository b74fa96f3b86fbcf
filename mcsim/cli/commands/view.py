"""mcsim view: a scene, played on a page in the browser."""

import sys
import warnings
from typing import Annotated

import typer

from mcsim.cli.options import floor_option, given_parameters, load_scene, positive, scene_argument, set_option
from mcsim.cli.terminal import InputError, folded


def view(
    scene: Annotated[
        str,
        scene_argument(),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="METHODS",
            show_default=False,
            help="Up to four, played in step: maximal:SOLVER+STABILIZATION\\[@INTEGRATOR] or reduced:ALGORITHM, as in "
            "maximal:si+baumgarte maximal:tree+soft reduced:aba. Without any, a World as it is by itself.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        set_option(),
    ] = None,
    floor: Annotated[bool, floor_option()] = False,
    dt: Annotated[
        float | None,
        typer.Option(
            parser=positive,
            metavar="S",
            show_default=False,
            help="Time step in seconds; 1/60, or 1/240 with methods.",
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where the page is served; any other one lets others in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="N", help="The first port that is tried.")] = 8080,
    paused: Annotated[bool, typer.Option("--paused", help="Do not begin to play at once.")] = False,
    browser: Annotated[
        bool | None,
        typer.Option("--browser/--no-browser", help="Whether to open the page; by default if there is a display."),
    ] = None,
) -> None:
    """Play a scene on a page in the browser, with the mouse in it, until Ctrl-C.

    Bodies can be dragged, kicked, thrown in, frozen and deleted; time goes slower, stands still and goes back. Several
    methods stand side by side, or over each other.
    """
    from mcsim.core.extras import require_viser
    from mcsim.lab.methods import methods_of
    from mcsim.live import view as open_view
    from mcsim.live.commands import MOST_WORLDS
    from mcsim.world import World

    require_viser()
    described = load_scene(scene, given_parameters(set_ or []), floor)
    if methods and len(methods) > MOST_WORLDS:
        raise InputError(f"METHODS: {len(methods)} of them; at most {MOST_WORLDS} are shown together")
    if methods:
        chosen = methods_of(methods)
        names = [method.name for method in chosen]
        worlds = [method.world(described, dt or 1 / 240) for method in chosen]
    else:
        names, worlds = [described.name], [World(described, dt=dt or 1 / 60)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        shown = open_view(worlds, names=names, host=host, port=port, open_browser=browser, playing=not paused)
    try:
        for warning in caught:
            print(folded(f"warning: {warning.message}", sys.stderr), file=sys.stderr)
        print(f"{described.name} is played at {shown.url} until Ctrl-C", flush=True)
    finally:
        shown.wait()
