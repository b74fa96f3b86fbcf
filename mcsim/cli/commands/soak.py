"""mcsim soak: small scenes for days of simulated time, watched for what grows."""

import math
from pathlib import Path
from typing import Annotated

import typer

from mcsim.cli.terminal import FAILED, INTERRUPTED, InputError, progress


def soak(
    hours: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="H", show_default=False, help="Simulated time a scene [h]; 1 without --seconds."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.0, metavar="S", show_default=False, help="Wall time of all scenes together, at most [s]."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="What is drawn follows from it.")] = 0,
    scene: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", show_default=False, help="Only this scene; may be given several times."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", file_okay=False, show_default=False, help="Where soak.csv and soak.png go."),
    ] = None,
) -> None:
    """Let small scenes run for days of simulated time, and watch what grows.

    Ragdolls, a pile, a machine, a robot, bodies that come and go without end: each in a process of its own, whose memory,
    objects, open files, energy and time of a step are read all the while. The code is 1 where memory grows by more than
    1 MB after the first simulated hour, or a quarter of the run if that is less, or where a state is not sound.
    """
    from mcsim.soak import SOAKED, Soak
    from mcsim.soak.result import table

    names = tuple(scene or SOAKED)
    for name in names:
        if name not in SOAKED:
            raise InputError(f"--scene {name}: there is none of this name; there are {', '.join(SOAKED)}")
    if out is not None:
        from mcsim.core.extras import require_matplotlib

        require_matplotlib()
    if hours is None and seconds is None:
        hours = 1.0
    total = len(names) * (hours if hours is not None else 0.0)
    running = Soak(seed, math.inf if hours is None else hours, math.inf if seconds is None else seconds, out, names)
    with progress(total or 1.0, "soaking", "h") as show:
        if total:
            running.tell = lambda name, done: show(hours * (len(running.found) - 1) + done, None)  # type: ignore[operator]
        try:
            found = running.run()
        except KeyboardInterrupt:
            print(table(running.found))
            raise typer.Exit(INTERRUPTED) from None
    print(table(found))
    wrong = [one for one in found if one.wrong]
    for one in wrong:
        print(f"{one.name}: {one.wrong}")
    if wrong:
        raise typer.Exit(FAILED)
