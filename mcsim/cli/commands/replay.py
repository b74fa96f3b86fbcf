"""mcsim replay: recorded calls, made again."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mcsim.cli.terminal import FAILED, INTERRUPTED, folded, one_line


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What mc.record_calls has written.")],
    quiet: Annotated[bool, typer.Option("--quiet", help="Tell the outcome alone.")] = False,
) -> None:
    """Make the calls of a recording again, and compare the state after each.

    The file has the worlds, every call that changed them, and the state's hash after each, as mc.record_calls wrote them.
    The first call after which the state differs is told, with both hashes; the code is then 1.
    """
    from mcsim.calls import Replayed, replay_calls

    seen, shown = 0, not quiet and sys.stderr.isatty()

    def tell(told: Replayed) -> None:
        nonlocal seen
        for remark in told.remarks[seen:]:
            print(folded(one_line(remark), sys.stdout), flush=True)  # before a call that may end the process
        seen = len(told.remarks)
        if shown and told.calls % 100 == 0:
            print(f"\r{told.calls} calls, {told.steps} steps", end="", file=sys.stderr, flush=True)

    try:
        told = replay_calls(file, tell=tell)
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if shown:
            print("\r", end="", file=sys.stderr)
    tell(told)
    print(folded(str(told), sys.stdout))
    if told.difference is not None:
        raise typer.Exit(FAILED)
