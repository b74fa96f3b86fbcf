"""Calls of the command line, in this process and in one of its own, and a scene file written by hand for them."""

import signal
import subprocess
import sys

from mcsim import cli

HAND_WRITTEN = {
    "version": 1,
    "name": "hand",
    "bodies": [
        {"name": "floor", "kind": "static", "shapes": [{"type": "plane", "normal": [0, 0, 1]}]},
        {"name": "box", "shapes": [{"type": "box", "half_extents": [0.5, 0.5, 0.5]}], "position": [0, 0, 0.5]},
        {"name": "bob", "shapes": [{"type": "sphere", "radius": 0.2}], "position": [3, 0, 2]},
    ],
    "joints": [{"type": "ball", "a": None, "b": "bob", "anchor": [2, 0, 2], "name": "hook"}],
}


def call(capsys, *arguments):
    """Exit code, standard output and standard error of a call in this process."""
    code = cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def process(*arguments, **options):
    """A call in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mcsim", *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )


def hear_ctrl_c() -> None:
    """For preexec_fn: a shell lets what it starts in the background ignore Ctrl-C, and so all that this starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
