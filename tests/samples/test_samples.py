"""The samples of other engines: each is short, says where it comes from, and does what it says."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import pytest

import mcsim as mc
from mcsim.samples.registry import find, names

SAMPLES = [find(name) for name in names()]
MOST_LINES = 25  # of a sample, decorator and docstring with it
MOST_LINES_OF_FILE = 600
FOLDER = Path(inspect.getfile(mc.samples)).parent


def complaint(sample):
    """What is wrong with how a sample is written; None if nothing is."""
    lines = len(inspect.getsource(sample.function).rstrip().splitlines())
    if lines > MOST_LINES:
        return f"has {lines} lines, {MOST_LINES} is the most"
    if not sample.description.endswith(".") or len(sample.description) > 120:
        return "begins with no sentence of at most 120 characters"
    if not (sample.title and sample.source):
        return "has no title or no source"
    engine, group, own = sample.name.split("/")
    place = f"mcsim.samples.{engine}.{group}", own
    if not re.fullmatch(r"[a-z0-9_]+", own) or place != found(sample.function):
        return f"is {found(sample.function)}, not {place}"


def found(function):
    """A function's module and name, without the underscore that tells it from a function that its file uses."""
    return function.__module__, function.__name__.removesuffix("_")


def test_samples_are_short_and_say_where_they_come_from():
    """25 lines, a sentence, a title, a source, and the name of the file."""
    assert len(SAMPLES) >= 200
    wrong = [f"{sample.name} {complaint(sample)}" for sample in SAMPLES if complaint(sample)]
    assert not wrong, "\n".join(wrong)


def test_what_is_written_wrongly_is_seen():
    good = SAMPLES[0]
    assert complaint(good) is None
    assert "title" in complaint(replace(good, title=""))
    assert "sentence" in complaint(replace(good, function=right))
    assert "is (" in complaint(replace(good, function=found))
    assert "is (" in complaint(replace(good, name="box3d/other/" + good.name.split("/")[2]))


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


# What asks a world without stepping it, and what keeps what it was given: right where nothing moves, too.
STILL = {
    "box3d/bodies/cast",
    "box3d/bodies/gyroscopic_precession",
    "box3d/joints/bridge",
    "box3d/manifold/shape_distance",
    "box3d/ragdoll/pose",
    "jolt/broad_phase/insertion",
    "jolt/broad_phase/sim_collide_body_vs_body",
    "jolt/constraints/slider",
    "jolt/convex_collision/cast_ray",
    "jolt/convex_collision/cast_shape",
    "jolt/convex_collision/closest_point",
    "jolt/shapes/height_field",
    "pybullet/examples/batch_ray_cast",
    "pybullet/examples/closest_points",
    "rapier/control/inverse_kinematics",
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of means of what did not happen
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_no_sample_is_right_where_nothing_moves(sample, monkeypatch):
    """Worlds that are never stepped fail all samples but those in STILL: each sees whether its bodies move."""

    def stand(play, world, seconds):
        play.worlds += [world] * all(world is not known for known in play.worlds)
        yield from range(max(1, round(seconds / world.dt)))

    monkeypatch.setattr(mc.samples.Play, "steps", stand)
    assert sample.run().ok == (sample.name in STILL)
