"""A process that reads files one after the other and tells what became of each: python hostile_server.py.

On standard input: a line of JSON, [kind, path]. On standard output: a line with the name of the error's class and of all
that it is derived from, the message, and by how much the most memory that was ever in use has grown [bytes]. It may take
LEAVE bytes more than it has when it is ready.
"""

import json
import os
import resource
import socket
import sys
import warnings

LEAVE = 512_000_000


def _no_network(*args, **kwargs):
    raise AssertionError("a file made its reader open a connection")


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _in_use():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def prepare(leave=LEAVE):
    """All that reading needs is imported, the network is closed, and memory is limited."""
    import tempfile

    import good_files

    warnings.simplefilter("ignore")
    for make, load in good_files.GOOD.values():
        with tempfile.TemporaryDirectory() as folder:
            load(make(folder))
    socket.socket.connect = socket.create_connection = _no_network
    sys.modules["webbrowser"] = None
    if leave is not None:
        most = _in_use() + leave
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return good_files.GOOD


def outcome(load, path):
    """-> the names of the classes of what was raised, the message."""
    try:
        load(path)
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__], str(error)
    return [], ""


def serve():
    good = prepare()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        kind, path = json.loads(line)
        before = _peak()
        kinds, message = outcome(good[kind][1], path)
        print(json.dumps([kinds, message, _peak() - before]), flush=True)


if __name__ == "__main__":
    serve()
