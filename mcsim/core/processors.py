"""The processors that this process may use."""

import os


def processors() -> int:
    """How many there are; of all of the machine, where the system does not say which are this process's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
