"""How much a test tries: a part by default, all of it with --slow, which conftest.py tells here before tests are
imported."""

from zlib import crc32

SLOW = False


def amount(quick, slow):
    """Of draws, examples, seconds: `quick` by default, `slow` with --slow."""
    return slow if SLOW else quick


def some(values, n, *case):
    """Of what a test goes through in each of its cases every n-th by default, from a place that hangs on the case, so that
    the cases together meet all of it; all of it with --slow."""
    values = list(values)
    return values if SLOW else values[crc32(repr(case).encode()) % n :: n]
