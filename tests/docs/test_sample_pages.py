"""docs/samples: the pages are what their script writes, and every group has its picture."""

import pytest

import mcsim as mc
from markdown_pages import ROOT
from scripts import script_at

FOLDER = ROOT / "docs" / "samples"
pytestmark = pytest.mark.skipif(not (FOLDER / "make.py").exists(), reason="the pages are not beside the tests")


@pytest.fixture(scope="module")
def make():
    return script_at(FOLDER / "make.py")


def test_the_pages_are_what_the_script_writes(make):
    """After a change: python docs/samples/make.py box3d/stacking"""
    assert (FOLDER / "index.md").read_text(encoding="utf-8") == make.index()
    for engine in mc.samples.engines():
        text = (FOLDER / f"{engine}.md").read_text(encoding="utf-8")
        assert text == make.page(engine)
        assert all(f"`{name.rpartition('/')[2]}`" in text for name in mc.samples.names(engine))
    pages = {path.stem for path in FOLDER.glob("*.md")}
    assert pages == {"index", *mc.samples.engines()}


def test_every_group_is_drawn(make):
    drawn = {make.picture_of(group) for group in make.groups()}
    assert drawn == set(make.PICTURES.glob("*.png"))
    assert all(path.stat().st_size <= make.LARGEST for path in drawn)


def test_a_group_is_drawn(make, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(make, "PICTURES", tmp_path)
    make.draw("box3d/manifold", ["box3d/manifold/shape_distance"])
    assert 500 < (tmp_path / "box3d_manifold.png").stat().st_size <= make.LARGEST
