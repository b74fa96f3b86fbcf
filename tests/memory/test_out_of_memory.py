"""Memory that runs out: MemoryError, and a world that lives on."""

from pathlib import Path

import pytest

import failing_malloc

PROGRAM = Path(__file__).parent / "out_of_memory.py"
WORLDS = ["rain", "rain, rows", "rain, pgs", "rain, split", "rain, compliant", "rain, threads", "rain, trees", "ragdolls",
          "ragdolls, trees", "arm", "arm, projection", "arm, rk4", "arm, reference", "arm, trees, radau", "heap",
          "pendulum, rk4"]  # fmt: skip
GROWING = {"rain", "rain, rows", "rain, trees", "ragdolls, trees"}  # whose contacts ask for room again and again

pytestmark = pytest.mark.skipif(failing_malloc.compiler() is None, reason="needs a C compiler and glibc")


@pytest.mark.sampled(10)
@pytest.mark.parametrize("world", WORLDS)
def test_a_step_without_memory_is_not_made(tmp_path, world):
    """Whichever call for memory fails, once or again: the state before the step, and from there the bits of a world that
    never failed."""
    failed = int(failing_malloc.run(tmp_path, PROGRAM, world, "1", "steps"))
    assert failed > 0 or world not in GROWING


@pytest.mark.slow
@pytest.mark.parametrize("world", ["rain", "ragdolls", "ragdolls, trees"])
@pytest.mark.parametrize("kind", ["construction", "changes"])
def test_worlds_that_are_made_and_changed_without_memory(tmp_path, world, kind):
    """A world that cannot be made, or changed, is not; the next one is."""
    assert int(failing_malloc.run(tmp_path, PROGRAM, world, "3" if kind == "changes" else "5", kind)) > 0
