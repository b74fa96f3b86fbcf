"""Pages do what they say: blocks of Python run and print what the page has, links and their anchors are there, lines of
`mcsim` run, and the site is built without a warning.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import zlib

import numpy as np
import pytest

from markdown_pages import ROOT, anchors, blocks, differences, links, run

PAGES = sorted(page for page in ROOT.glob("docs/**/*.md") if "_build" not in page.parts)
EVERYWHERE = sorted(
    page
    for folder in ("docs", "benchmarks", "demos")
    for page in ROOT.glob(f"{folder}/**/*.md")
    if "_build" not in page.parts
) + [ROOT / "README.md"]
TEXTS = {page: page.read_text(encoding="utf-8") for page in EVERYWHERE}
LONGEST, LARGEST = 124, 60_000

pytestmark = pytest.mark.skipif(not (ROOT / "docs" / "conf.py").exists(), reason="the pages are not beside the tests")


def name(page):
    return str(page.relative_to(ROOT))


# ---- code ------------------------------------------------------------------------------------------------------------

PYTHON = [page for page in PAGES if any(block.language == "python" and block.runs for block in blocks(TEXTS[page]))]
SHELL = [
    page
    for page in PAGES
    if any(block.language == "sh" and re.search("^mcsim ", block.text, re.M) for block in blocks(TEXTS[page]))
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "page",
    # The gallery runs every ready scene, as tests of their own do.
    [pytest.param(page, marks=[pytest.mark.slow] * (page.parent.name == "gallery"), id=name(page)) for page in PYTHON],
)
def test_python_of_a_page_runs_and_prints_what_it_says(page, tmp_path, monkeypatch):
    """One namespace a page, an empty folder, no display. Pictures that it makes are those that it shows."""
    matplotlib = pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    matplotlib.use("Agg")
    try:
        with np.printoptions():  # what a page sets is its own
            complaints = run(TEXTS[page], name(page))
    finally:
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
        matplotlib.rcdefaults()
    assert not complaints, complaints[0]


@pytest.mark.slow
@pytest.mark.parametrize("page", SHELL, ids=name)
def test_lines_of_mcsim_run(page, tmp_path):
    """In a folder where the files are that the page's JSON blocks make, and those of TOML that begin with the name of
    a file."""
    for block in blocks(TEXTS[page]):
        if block.language == "json" and (found := re.search(r'"name": "(\w+)"', block.text)):
            (tmp_path / f"{found[1]}.json").write_text(block.text, encoding="utf-8")
        if block.language == "toml" and (found := re.match(r"# (\w+\.toml)\n", block.text)):
            (tmp_path / found[1]).write_text(block.text, encoding="utf-8")
    for block in blocks(TEXTS[page]):
        if block.language != "sh" or not block.runs:
            continue
        for line in re.findall(r"^mcsim (.*)$", block.text, re.M):
            words = shlex.split(line, comments=True)
            done = subprocess.run(
                [sys.executable, "-m", "mcsim", *words],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                timeout=300,
            )
            assert done.returncode == 0, f"{name(page)}: mcsim {line}\n{done.stdout}{done.stderr}"


def test_the_runner_sees_what_is_wrong():
    assert not run('```python\nx = 1 / 3\nprint("a", x)\n```\n\n```text\na 0.3333\n```\n', "page")
    assert "0.34" in run("```python\nprint(1 / 3)\n```\n\n```text\n0.34\n```\n", "page")[0]
    assert "2 lines" in run("```python\nprint(1)\nprint(2)\n```\n```text\n1\n```\n", "page")[0]
    assert "ZeroDivision" in run("Text\n\n```python\n1 / 0\n```\n", "page")[0]
    assert "UserWarning" in run('```python\nimport warnings\nwarnings.warn("x")\n```\n', "page")[0]
    assert not run("<!-- not run: no reason -->\n```python\n1 / 0\n```\n", "page")
    assert differences("a −1.0\n", "b -1.0\n") and not differences("a −1.0\n", "a -1.0005\n")


def test_what_is_not_run_says_so_to_who_reads_it():
    """Blocks marked `python` run from an empty folder, one after the other; `python3` need something that is not there."""
    wrong = [
        f"{name(page)}:{block.line}"
        for page in PAGES
        for block in blocks(TEXTS[page])
        if (block.language == "python" and not block.runs) or (block.language == "python3" and block.runs)
    ]
    assert not wrong


# ---- text ------------------------------------------------------------------------------------------------------------


def too_long(page):
    """Lines of text that are too long: no tables, formulas that stand indented, nor what cannot be broken."""
    inside = {block.line + k for block in blocks(TEXTS[page]) for k in range(block.text.count("\n") + 2)}
    return [
        f"{name(page)}:{number}"
        for number, line in enumerate(TEXTS[page].splitlines(), 1)
        if len(line) > LONGEST and number not in inside and not line.startswith(("|", "![", "#", "    "))
    ]


def test_lines_are_not_too_long():
    assert not [line for page in PAGES for line in too_long(page)]


def test_links_lead_somewhere():
    """Every relative link and picture of every page, and the heading that it names."""
    known = {page: anchors(text) for page, text in TEXTS.items()}
    wrong = []
    for page, text in TEXTS.items():
        for target in links(text):
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                wrong.append(f"{name(page)}: {target} is not there")
            elif anchor and anchor not in known.get(file, {anchor}):
                wrong.append(f"{name(page)}: {target} names no heading")
    assert not wrong, "\n".join(wrong)


def test_a_wrong_link_is_seen():
    assert links("[a](b.md#c) `[d](e)` [x](https://y) ![p](q.png)") == ["b.md#c", "q.png"]
    assert anchors('# One, two\n\n## `x`: it\n\n## `x`: it\n### <a id="z"></a>Z') == {"one-two", "x-it", "x-it-1", "z"}


def test_pictures_of_pages_are_small():
    """Those of tutorials and how-to pages, and of the gallery; and none lies there that no page shows."""
    shown = {(page.parent / target).resolve() for page, text in TEXTS.items() for target in links(text)}
    for folder in ("tutorials", "howto", "gallery", "coming_from"):
        for picture in ROOT.glob(f"docs/{folder}/**/*.png"):
            assert picture.stat().st_size <= LARGEST, picture
            assert picture.resolve() in shown, picture


# ---- the site --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site."""
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    pytest.importorskip("furo")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
def test_the_site_has_every_page_and_name(site):
    from public_names import NAMES

    for page in PAGES:
        assert (site / page.relative_to(ROOT / "docs").with_suffix(".html")).exists(), page
    listed = zlib.decompress((site / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode()
    there = {line.split(" ")[0] for line in listed.splitlines() if " py:" in line}
    assert not NAMES - there
