"""Markdown that scripts write, folded to the width of the pages."""

import re
from textwrap import wrap

WIDTH = 124
# What at a line's beginning would begin a list, a heading, a quotation or a rule.
STARTS = re.compile(r"([-+*>#=|]|\d+[.)])(\s|$)|[-=]+$|\|")


def folded(text, indent=""):
    """A paragraph, or with an indent an item of a list, in lines of at most WIDTH columns; none begins anything else."""
    words = text.split()
    for k in range(len(words) - 1, 0, -1):  # what would begin something stays beside the word before it
        if STARTS.match(words[k] + " "):
            words[k - 1 : k + 1] = [words[k - 1] + "\0" + words[k]]
    lines = wrap(" ".join(words), WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in lines]
