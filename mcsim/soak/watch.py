"""What a soak reads of its process and of its world."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress
from typing import Any

# A row of the table, of one moment of a run; times and energies are those since the row before.
COLUMNS = (
    "simulated [h]",
    "wall [s]",
    "memory [MB]",
    "objects",
    "open files",
    "mean step [us]",
    "worst step [ms]",
    "lowest energy [J]",
    "highest energy [J]",
)


def memory() -> float:
    """[MB] of this process that are in memory now, when the C library has given back what it keeps free (glibc keeps it in
    pieces, whose number settles in some 100,000 calls that allocate and is no leak); where only the most so far is told,
    that."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError), open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


def objects() -> int:
    """How many objects Python's collector knows, when it has collected."""
    gc.collect()
    return len(gc.get_objects())


def open_files() -> int:
    """How many file descriptors this process has open; -1 where that is not told."""
    try:
        return len(os.listdir("/proc/self/fd")) - 1  # one of them lists the folder
    except OSError:
        return -1


def notes_of(world: Any) -> dict[str, int]:
    """Kind of a note -> in how many steps something of the kind could not be done."""
    return {note.kind: note.total for note in world.stats.all_notes}
