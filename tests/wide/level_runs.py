"""One process for each level of processors, which a test process starts once and has run its scripts, one after the
other: a level is chosen when mcsim is imported, and that takes longer than what most of them do."""

import atexit
import json
import os
import subprocess
import sys
from functools import cache

from mcsim.wide import levels

# Runs each script that comes as a line of JSON, as a program of its own, and answers with whether it ended well and with
# what it wrote.
SERVER = """
import contextlib, io, json, sys, traceback
for line in sys.stdin:
    written, well = io.StringIO(), True
    with contextlib.redirect_stdout(written):
        try:
            exec(compile(json.loads(line), "<script>", "exec"), {"__name__": "__main__"})
        except BaseException:
            well = False
            traceback.print_exc(file=written)
    print(json.dumps([well, written.getvalue()]), flush=True)
"""


@cache
def server(level):
    """The process of a level. It finds what this one finds."""
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"MCSIM_LEVEL": level, "PYTHONPATH": paths},
    )

    def end():
        process.stdin.close()
        process.wait()
        process.stdout.close()

    atexit.register(end)
    return process


def on_every_level(script):
    """{level: what the script writes there}"""
    processes = {level: server(level) for level in levels.available()}
    for process in processes.values():
        process.stdin.write(json.dumps(script) + "\n")
        process.stdin.flush()
    found = {}
    for level, process in processes.items():
        well, found[level] = json.loads(process.stdout.readline())
        assert well, f"{level}: {found[level]}"
    return found
