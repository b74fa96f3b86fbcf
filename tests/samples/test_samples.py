"""The samples of other engines: each is short, says where it comes from, and does what it says."""

import inspect
import re
from pathlib import Path

import pytest

import mcsim as mc
from mcsim.samples.registry import find, names

SAMPLES = [find(name) for name in names()]
MOST_LINES = 25  # of a sample, decorator and docstring with it
MOST_LINES_OF_FILE = 600
FOLDER = Path(inspect.getfile(mc.samples)).parent


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
@pytest.mark.sampled(1)
def test_a_sample_is_short_and_says_where_it_comes_from(sample):
    """25 lines, a sentence, a title, a source, and the name of its file."""
    lines = inspect.getsource(sample.function).rstrip().splitlines()
    assert len(lines) <= MOST_LINES, len(lines)
    assert sample.description.endswith(".") and len(sample.description) <= 120
    assert sample.title and sample.source
    engine, group, own = sample.name.split("/")
    assert sample.function.__module__ == f"mcsim.samples.{engine}.{group}"
    assert re.fullmatch(r"[a-z0-9_]+", own) and sample.function.__name__ == own


def test_files_are_short():
    for path in FOLDER.rglob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES_OF_FILE, path


def right(sample):
    outcome = sample.run()
    assert outcome.ok, outcome.line()
    assert any(expectation.what not in ("worst joint error", "overlap at the end") for expectation in outcome.expectations)


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not s.slow], ids=lambda sample: sample.name)
@pytest.mark.sampled(1)
def test_quick_samples_are_right(sample):
    right(sample)


@pytest.mark.slow
@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.slow], ids=lambda sample: sample.name)
def test_slow_samples_are_right(sample):
    right(sample)
