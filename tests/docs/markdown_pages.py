"""Markdown pages as the tests read them: their blocks of code, what these print, links and anchors."""

import contextlib
import io
import math
import re
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<language>[^\n`]*)\n(?P<text>.*?)"
    r"^(?P=indent)(?P=fence) *$",
    re.M | re.S,
)
NOT_RUN = re.compile(r"<!-- not run: \S[^\n]* -->\n\Z")
NUMBER = re.compile(r"[-+−]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
RELATIVE, ABSOLUTE = 1e-3, 1e-9


class Block(NamedTuple):
    """A fenced block. line: of its fence, from 1; runs: whether nothing before it says that it does not."""

    language: str
    text: str
    line: int
    runs: bool
    follows: bool  # right after the block before it


def blocks(page):
    """All fenced blocks of a page's text."""
    found, end = [], None
    for match in FENCE.finditer(page):
        between = page[end : match.start()] if end is not None else None
        found.append(
            Block(
                match["language"].strip(),
                match["text"],
                page.count("\n", 0, match.start()) + 1,
                NOT_RUN.search(page[: match.start()]) is None,
                between is not None and not between.strip(),
            )
        )
        end = match.end()
    return found


def differences(printed, told):
    """What differs between what was printed and what the page says: words exactly, numbers nearly. "" if nothing."""
    lines = [text.rstrip().splitlines() for text in (printed, told)]
    if len(lines[0]) != len(lines[1]):
        return f"{len(lines[0])} lines were printed, the page has {len(lines[1])}"
    for one, other in zip(*lines):
        words = [NUMBER.sub("#", re.sub(r"\s+", " ", text.strip())) for text in (one, other)]
        numbers = [[float(found.replace("−", "-")) for found in NUMBER.findall(text)] for text in (one, other)]
        near = all(math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE) for a, b in zip(*numbers))
        if words[0] != words[1] or not near:
            return f"{one!r} was printed, the page has {other!r}"
    return ""


def run(page, name):
    """Run the python blocks of a page in one namespace. -> complaints: "name:line: what"."""
    names = {"__name__": "__main__"}
    found = blocks(page)
    for block, following in zip(found, [*found[1:], None]):
        if block.language != "python" or not block.runs:
            continue
        out = io.StringIO()
        code = "\n" * block.line + block.text  # so that errors name the page's lines
        try:
            with contextlib.redirect_stdout(out), warnings.catch_warnings():
                warnings.simplefilter("error")
                exec(compile(code, name, "exec"), names)
        except Exception:
            return [f"{name}:{block.line}: {traceback.format_exc()}\nprinted before:\n{out.getvalue()}"]
        if following is not None and following.follows and following.language == "text":
            if differences(out.getvalue(), following.text):
                return [f"{name}:{following.line}: {differences(out.getvalue(), following.text)}\n{out.getvalue()}"]
    return []


# ---- links -----------------------------------------------------------------------------------------------------------

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\((?P<target>[^()\s]*)\)")


def without_code(page):
    """A page without blocks and pieces of code."""
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", FENCE.sub("", page), flags=re.S)


def links(page):
    """Targets of all links and pictures that are not addresses."""
    return [match["target"] for match in LINK.finditer(without_code(page)) if not re.match(r"[a-z]+:", match["target"])]


def anchors(page):
    """What a link into a page may name: headings as code hosts call them, and names that are given."""
    given, found, text = set(re.findall(r'<a id="([\w-]+)">', page)), set(), FENCE.sub("", page)
    for heading in re.findall(r"^#+ +(.+?) *$", text, re.M):
        heading = re.sub(r"<[^>]*>", "", heading)
        heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        number = 0
        while (name := slug if not number else f"{slug}-{number}") in found:
            number += 1
        found.add(name)
    return found | given
