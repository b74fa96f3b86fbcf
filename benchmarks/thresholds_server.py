"""thresholds_panel.py again and again, each time in a process of its own with other values in its environment, for mcsim
reads them when it is loaded. What takes long to load and does not change is loaded once, before.

Requests come as lines of JSON, [file of the results, {variable: value}, [part of the panel, ...]]; a line that says how the
process ended answers each: 0, or what os.waitstatus_to_exitcode says.
"""

import json
import os
import signal
import sys
import traceback

import numpy  # noqa: F401  that thresholds_panel.py need not load it
import scipy.sparse  # noqa: F401

LONGEST = 600  # seconds of one


def run(out, values, parts):
    signal.alarm(LONGEST)
    os.environ.update(values)
    try:
        import thresholds_panel  # with mcsim

        thresholds_panel.main(out, *parts)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main():
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(run(*json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
