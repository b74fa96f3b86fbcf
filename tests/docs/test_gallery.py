"""docs/gallery: the page is what its script writes, and shows every ready scene."""

import pytest

import mcsim as mc
from markdown_pages import ROOT
from scripts import script_at

FOLDER = ROOT / "docs" / "gallery"
pytestmark = pytest.mark.skipif(not (FOLDER / "make.py").exists(), reason="the pages are not beside the tests")


@pytest.fixture(scope="module")
def make():
    return script_at(FOLDER / "make.py")


def test_every_scene_is_shown(make):
    assert set(make.SHOWN) == set(mc.scenes.SCENES)
    assert sorted(name for names in make.GROUPS.values() for name in names) == sorted(make.SHOWN)
    for name, shown in make.SHOWN.items():
        assert set(shown.parameters) <= set(mc.scenes.parameters(name)), name


def test_the_page_is_what_the_script_writes(make):
    """After a change: python docs/gallery/make.py one"""
    text = make.PAGE.read_text(encoding="utf-8")
    assert text == make.page()
    for name in mc.scenes.SCENES:
        assert f"`{name}`: " in text and f"pictures/{name}.png" in text
        assert (make.PICTURES / f"{name}.png").stat().st_size <= make.LARGEST
    assert {path.stem for path in make.PICTURES.glob("*.png")} == set(make.SHOWN)


def test_a_scene_is_drawn(make, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(make, "PICTURES", tmp_path)
    make.draw("one")
    assert 1_000 < (tmp_path / "one.png").stat().st_size <= make.LARGEST
