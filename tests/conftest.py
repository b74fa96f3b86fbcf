"""What all tests share: --slow, the Hypothesis profile, helper modules found from anywhere."""

import gc
import math
import os
import sys
from collections import defaultdict
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

# Tests are imported under their paths, so that two folders may hold files of one name. Their helper modules (names
# without test_, each only once) are found here.
FOLDERS = [folder for folder in sorted(Path(__file__).parent.rglob("*")) if folder.is_dir()]
sys.path[:0] = [str(folder) for folder in (*FOLDERS, Path(__file__).parent) if not folder.name.startswith("__")]

import amounts  # noqa: E402

# Folders and files that step whole worlds for long, or start processes: what `-m quick` leaves out.
DEAR = {
    "physics",
    "regression",
    "scenes",
    "lab",
    "test_benchmarks.py",
    "test_build.py",
    "test_busy.py",
    "test_cli.py",
    "test_demos.py",
    "test_families.py",
    "test_lint.py",
    "test_pages.py",
    "test_processors.py",
    "test_threads.py",
}

# Threads of a world that wait for each other leave the processor to other tests. OpenMP reads this when mcsim is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def pytest_xdist_auto_num_workers(config):
    """All tests run on all processors; those that are named, which are few, in this process."""
    return None if config.args_source is not config.ArgsSource.ARGS else 0


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests that build anew or take long as well")


def pytest_configure(config):
    amounts.SLOW = config.getoption("--slow")
    # The same examples in every run; a slow machine is no failure.
    settings.register_profile(
        "mcsim", max_examples=amounts.amount(20, 100), derandomize=True, deadline=None, print_blob=True
    )
    settings.load_profile("mcsim")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session):
    """What collection makes is there to the end, and much of what rewrites asserts: nothing for the garbage collector."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish(session):
    """Ten thousand tests are there to the end: the garbage collector need not look at them again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """One case of each function is marked quick, but of those in DEAR. Without --slow: no test marked slow; of the cases
    of a function marked sampled(n) every n-th (where n has no factor in common with how many values each parameter has,
    all values are met, in turns with those of the others); of other functions with n cases the cube root of n, rounded
    up, chosen by their names, which no order of parameters is in step with. The others are left out, as pytest's -k
    leaves out: to skip ten thousand takes a minute."""
    functions = defaultdict(list)
    for item in items:
        functions[item.path, item.originalname].append(item)
    chosen = set()
    for (path, _), cases in functions.items():
        sampled = cases[0].get_closest_marker("sampled")
        by_name = sorted(cases, key=lambda item: crc32(item.name.encode()))
        first = cases[0] if sampled else by_name[0]
        if not DEAR & set(path.parts) and "slow" not in first.keywords:
            first.add_marker("quick")
        chosen.update(cases[:: sampled.args[0]] if sampled else by_name[: math.ceil(math.cbrt(len(cases)))])
    if config.getoption("--slow"):
        return
    left_out = [item for item in items if item not in chosen or "slow" in item.keywords]
    items[:] = [item for item in items if item in chosen and "slow" not in item.keywords]
    config.hook.pytest_deselected(items=left_out)
