"""Docstrings of mcsim as reST: they are plain text in one style, which this renders as it stands.

A paragraph that begins with `name: `, a name being an argument or attribute, is a list of what each is; a further
`name: ` after a full stop begins another one. Lines that are indented by four more and come after an empty line are
code. All else is text, in which single back quotes mean code.
"""

import inspect
import re

CODE = re.compile(r"``([^`]+)``|`([^`]+)`")
SPECIAL = re.compile(r"([\\*|_])")
# Pages and public names, which become links.
LINK = re.compile(r"\bdocs/([\w/-]+)\.md|\bmc\.(\w+(?:\.\w+)*)")
# "solver: ", "a, b: ", "points (k, 3) [m]: ", "position [m], orientation (w, x, y, z): "
NAME = r"[A-Za-z_]\w*(?:\([^()]*\))?(?: (?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\]))*"
ENTRY = re.compile(rf"({NAME}(?:(?:, | or ){NAME})*): ")


def escaped(text):
    """Plain text that reST reads as itself, code in back quotes as code, docs/NAME.md as a link."""
    found, at = [], 0
    for code in CODE.finditer(text):
        found += [_plain(text[at : code.start()]), _code(code[1] or code[2])]
        at = code.end()
    return "".join(found) + _plain(text[at:])


def _code(text):
    return f"\\ ``{text}``\\ "


def _plain(text):
    found, at = [], 0
    for link in LINK.finditer(text):
        role = f":doc:`/{link[1]}`" if link[1] else f":py:obj:`mc.{link[2]} <mcsim.{link[2]}>`"
        found += [SPECIAL.sub(r"\\\1", text[at : link.start()]), f"\\ {role}\\ "]
        at = link.end()
    return "".join(found) + SPECIAL.sub(r"\\\1", text[at:])


def names_of(obj):
    """Arguments and attributes that a docstring may tell about."""
    known = set()
    try:
        known |= set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        pass
    if inspect.isclass(obj):
        for kind in obj.__mro__:
            known |= set(vars(kind)) | set(vars(kind).get("__annotations__", ()))
    return known


def entries(text, known):
    """[("", text before), (names, what they are), ...] of one paragraph."""
    cuts = []
    for match in ENTRY.finditer(text):
        before = text[: match.start()]
        words = re.findall(r"[A-Za-z_]\w*", re.sub(r"\([^()]*\)|\[[^\]]*\]", "", match[1]))
        first = not before.strip()
        if first or (before.rstrip()[-1] in ".;" and words and words[0] in known):
            cuts.append(match)
    if not cuts:
        return [("", text)]
    found = [("", text[: cuts[0].start()].strip())] if text[: cuts[0].start()].strip() else []
    for cut, following in zip(cuts, [*cuts[1:], None]):
        found.append((cut[1], text[cut.end() : following.start() if following else len(text)].strip()))
    return found


def as_rest(doc, obj=None):
    """Lines of reST."""
    known, lines = names_of(obj), []
    for block in re.split(r"\n[ \t]*\n", inspect.cleandoc(doc)):
        rows = block.split("\n")
        if rows[0].startswith("    "):  # a sample
            lines += ["::", "", *(f"    {row}" for row in rows), ""]
            continue
        for part in _paragraphs(rows):
            found = entries(part, known)
            for names, told in found:
                if names:
                    lines += [f"**{_plain(names)}**", f"    {escaped(told.rstrip(';'))}", ""]
                else:
                    lines += [escaped(told), ""]
    return lines or [""]


def _paragraphs(rows):
    """Texts of one block: an entry begins at a line that is not indented, and goes on in those that are."""
    found = []
    hanging = any(row.startswith("    ") for row in rows)
    for row in rows:
        begins = not found or hanging and not row.startswith(" ") and ENTRY.match(row)
        if begins or ENTRY.match(row) and found and ENTRY.match(found[0]) and found[-1].rstrip()[-1] in ".;":
            found.append(row.strip())
        else:
            found[-1] += " " + row.strip()
    return found
