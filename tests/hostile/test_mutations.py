"""Good files changed at random: read, or refused by one line, in half a gigabyte and without a crash."""

import pytest

import mutations

pytest.importorskip("mujoco")
pytest.importorskip("yourdfpy")


@pytest.mark.slow
def test_a_few_changes_of_every_kind():
    from good_files import GOOD

    kinds = sorted(GOOD)
    told = mutations.run(kinds, seed=0, count=100)
    assert not told.found, told.found[:3]
    assert told.read >= 100 * len(kinds) and told.refused > told.read / 3


@pytest.mark.slow
def test_minutes_of_changes():
    from good_files import GOOD

    told = mutations.run(sorted(GOOD), seed=10_000, seconds=150)
    assert not told.found, told.found[:3]
