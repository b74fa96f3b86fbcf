"""The command line: mcsim run | view | play | compare | sweep | solvers | scenes | samples | check |
fuzz | soak | replay.

Bad input ends with exit code 2 and one line, a run that fails with 1, Ctrl-C with 130; what was recorded is kept.
"""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from mcsim import __version__
from mcsim.cli.app import add_command, app
from mcsim.cli.commands.check import check
from mcsim.cli.commands.compare import compare
from mcsim.cli.commands.fuzz import fuzz
from mcsim.cli.commands.play import play
from mcsim.cli.commands.replay import replay
from mcsim.cli.commands.run import run
from mcsim.cli.commands.samples import samples
from mcsim.cli.commands.scenes import scenes
from mcsim.cli.commands.soak import soak
from mcsim.cli.commands.solvers import solvers
from mcsim.cli.commands.sweep import sweep
from mcsim.cli.commands.view import view
from mcsim.cli.terminal import BAD_INPUT, FAILED, INTERRUPTED, InputError, folded, one_line
from mcsim.core.errors import SceneError, SimulationError

for function in (run, view, play, compare, sweep, solvers, scenes, samples, check, replay, fuzz, soak):
    add_command(function)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"mcsim {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and leave.")
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and answers with the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that knows no µ is no reason to fail
    try:
        result = app(args=list(arguments) or ["--help"], prog_name="mcsim", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (InputError, SceneError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError):  # mcsim scenes | head
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return _complain(error, BAD_INPUT)
    except SimulationError as error:
        return _complain(error, FAILED)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except MemoryError:
        return _complain(MemoryError("out of memory: take fewer bodies, --seconds or --fps"), FAILED)
    except Exception as error:
        # Typer's complaints (unknown option, missing argument, bad value) share this method and nothing else public.
        if not hasattr(error, "format_message"):
            raise
        return _complain(InputError(error.format_message()), BAD_INPUT)


def _complain(error: Exception, code: int) -> int:
    if isinstance(error, OSError) and error.strerror:
        told: object = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    else:
        told = error
    print(folded(f"error: {one_line(told)}", sys.stderr), file=sys.stderr)
    return code
