"""Texts of XML files, of which nothing is known: how much is in them is counted before a parser has them, and what a
parser might expand, or fetch, is refused. Files of robots need neither."""

import codecs
import re

from mcsim.core.errors import SceneError
from mcsim.core.files import content_of
from mcsim.core.limits import MOST_ATTRIBUTES, MOST_ELEMENTS, MOST_TEXT, excess

DECLARES = re.compile(rb"<!\s*(DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)\b", re.IGNORECASE)
COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)


def xml_of(path: str, what: str) -> bytes:
    """The text of an XML file, as `checked_xml` allows it. FileNotFoundError, SceneError as of content_of()."""
    return checked_xml(content_of(path, what), path)


def checked_xml(content: bytes, name: str) -> bytes:
    """The same text, in UTF-8, which declares no entities and is no larger than a parser should have. `name` stands in
    front of every error."""
    content = _in_utf8(content, name)
    problem = excess(len(content), MOST_TEXT, "bytes are in it")
    problem = problem or excess(content.count(b"<"), MOST_ELEMENTS, "elements are in it")
    problem = problem or excess(content.count(b"="), MOST_ATTRIBUTES, "attributes are in it")
    if problem:
        raise SceneError(f"{name}: is too large: {problem}")
    found = DECLARES.search(COMMENT.sub(b"", content)) if DECLARES.search(content) else None
    if found:
        raise SceneError(
            f"{name}: has a <!{found[1].decode()}>: declarations and entities are not read; write out what they stand for"
        )
    return content


def _in_utf8(content: bytes, name: str) -> bytes:
    """The text, if it has its ASCII characters as they are; from UTF-16 with a byte order mark it is made so."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            content = content.decode("utf-16").encode()
        except UnicodeError:
            raise SceneError(f"{name}: not XML: it is no text in UTF-16; save it as UTF-8") from None
        return re.sub(rb"(<\?xml[^>]*?)\s+encoding\s*=\s*[\"'][^\"']*[\"']", rb"\1", content, count=1)
    if b"\0" in content:
        raise SceneError(f"{name}: not XML in UTF-8: it has bytes that are zero; save it as UTF-8")
    return content
