"""How much a test tries: a part by default, all of it with --slow, which conftest.py tells here before tests are
imported."""

SLOW = False


def amount(quick, slow):
    """Of draws, examples, seconds: `quick` by default, `slow` with --slow."""
    return slow if SLOW else quick
