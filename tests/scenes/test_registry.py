"""Names and parameters of scenes, right and wrong."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from mcsim import scenes
from mcsim.core.errors import SceneError

WRONG = [
    ("pyramids", {}, ["there is no scene 'pyramids'", "did you mean 'pyramid'", "ragdolls", "grid"]),
    ("", {}, ["there is no scene"]),
    ("pyramid", {"bass": 3}, ["scene pyramid", "no parameter 'bass'", "did you mean 'base'", "base=20"]),
    ("one", {"n": 3}, ["scene one", "no parameter 'n'", "it takes none"]),
    ("pyramid", {"base": "many"}, ["scene pyramid: base", "must be a number", "'many'"]),
    ("pyramid", {"base": "2.5"}, ["base", "whole number"]),
    ("pyramid", {"base": 0}, ["base", "[1, 300]"]),
    ("pyramid", {"base": 10**9}, ["base", "[1, 300]"]),
    ("pyramid", {"base": True}, ["base", "must be a number"]),
    ("pyramid", {"base": None}, ["base", "must be a number"]),
    ("pendulum", {"length": -1}, ["length", "must be positive"]),
    ("pendulum", {"length": "nan"}, ["length", "must be finite"]),
    ("pendulum", {"angle": "inf"}, ["angle", "must be finite"]),
    ("incline", {"angle": 2.0}, ["angle", "between 0 and 1.5"]),
    ("incline", {"friction": -0.1}, ["friction", "must not be negative"]),
    ("cardan_shaft", {"in_phase": "perhaps"}, ["in_phase", "True or False"]),
    ("slider_crank", {"rod": 0.2}, ["rod", "longer than crank"]),
    ("four_bar", {"rocker": 0.1, "coupler": 0.1}, ["cannot span", "change a length"]),
    ("newton_cradle", {"lifted": 5}, ["lifted", "below balls"]),
    ("card_tower", {"thickness": 0.5}, ["thickness", "a tenth of card"]),
    ("tumbler", {"count": 4000}, ["count", "at most"]),
    ("spinning_top", {"spin": 1.0}, ["spin", "steady"]),
    ("galton_board", {"swing": 1.5}, ["scene galton_board: swing", "below 1"]),
    ("gear_train", {"second": 12}, ["second", "[17, 60]"]),
    ("quadruped", {"bend": 2.0}, ["bend", "between 0 and 1.2"]),
    ("tippe_top", {"offset": 1.0}, ["offset", "between 0 and 1"]),
]


@pytest.mark.parametrize("name, parameters, words", WRONG, ids=[f"{n}-{p}" for n, p, _ in WRONG])
def test_wrong_names_and_parameters(name, parameters, words):
    with pytest.raises(SceneError) as caught:
        scenes.build(name, **parameters)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_how_many_is_one_word():
    """No scene has a parameter n; its former spelling makes the same scene, in functions, by name and with a study."""
    assert not [name for name in scenes.SCENES if "n" in scenes.parameters(name)]
    for name, word, value in (
        ("tower", "count", 3),
        ("rain", "count", 4),
        ("chain", "count", "5"),
        ("ragdolls11", "count", 2),
        ("grid", "side", 3),
    ):
        assert scenes.build(name, n=value) == scenes.build(name, **{word: value})
        with pytest.raises(SceneError, match=f"scene {name}: {word} is given twice, the other time by its former name n"):
            scenes.build(name, **{word: value, "n": value})
    assert scenes.chain(n=3) == scenes.chain(count=3)
    with pytest.raises(SceneError, match="scene stack: there is no parameter 'm'; the parameters are: count=15"):
        scenes.build("stack", m=3)


def test_functions_check_as_build_does():
    with pytest.raises(SceneError, match="scene pyramid: base"):
        scenes.pyramid(base=-1)
    with pytest.raises(TypeError):
        scenes.pyramid(3)  # keywords only


def test_text_is_as_good_as_numbers():
    assert scenes.build("pyramid", base="3") == scenes.pyramid(base=3)
    assert scenes.build("pendulum", angle="1e-1") == scenes.pendulum(angle=0.1)
    assert scenes.build("four_bar", driven="no") == scenes.four_bar(driven=False)


def test_help_keeps_the_signature():
    assert scenes.parameters("pyramid") == {"base": 20}
    assert str(inspect.signature(scenes.pyramid)) == "(*, base: int = 20) -> mcsim.scene.scene.Scene"
    assert scenes.pyramid.__doc__.startswith(scenes.description("pyramid"))


def test_load_takes_names_and_files(tmp_path):
    assert scenes.load("pyramid", base=3) == scenes.pyramid(base=3)
    scenes.arch().save(tmp_path / "arch.json")
    assert scenes.load(tmp_path / "arch.json") == scenes.arch()
    assert scenes.load(str(tmp_path / "arch.json")) == scenes.arch()


@pytest.mark.parametrize(
    "what, error, words",
    [
        ("nothing", SceneError, ["there is no scene 'nothing'", "pendulum"]),
        ("nothing.json", FileNotFoundError, ["nothing.json"]),
        ("folder/nothing", FileNotFoundError, ["folder/nothing"]),
        (Path("nothing"), FileNotFoundError, ["nothing"]),
        ("robot.urdf", FileNotFoundError, ["robot.urdf"]),
        ("model.xml", FileNotFoundError, ["no such MJCF file", "model.xml"]),
    ],
)
def test_load_says_what_is_missing(what, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error) as caught:
        scenes.load(what)
    for word in words:
        assert word in str(caught.value)


def test_a_file_takes_no_parameters(tmp_path):
    scenes.one().save(tmp_path / "one.json")
    with pytest.raises(SceneError, match="takes no parameters"):
        scenes.load(tmp_path / "one.json", base=3)


def test_scenes_import_light():
    """Listing and building scenes needs neither Matplotlib nor pydantic nor SciPy."""
    program = (
        "import sys, mcsim.scenes as s; s.pyramid(); "
        "print([m for m in ('matplotlib', 'pydantic', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
