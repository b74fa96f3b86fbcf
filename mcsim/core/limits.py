"""How large a file may be: what says that it holds more is refused before memory is taken for it.

The limits are far above what scenes, robots and runs need. A file of the user's own that is beyond them is read with the
environment variable MCSIM_LARGE_FILES=1, which lifts those of size, and none of form.
"""

import os

VARIABLE = "MCSIM_LARGE_FILES"

MOST_TEXT = 64_000_000  # bytes of JSON, TOML or XML
MOST_VALUES = 4_000_000  # numbers, strings, lists and objects of a JSON file
MOST_DEPTH = 100  # lists and objects within each other
MOST_ELEMENTS = 400_000  # of an XML file
MOST_ATTRIBUTES = 2_000_000
MOST_ARRAYS = 65_535  # of a .npz file
MOST_UNPACKED = 1_000_000_000  # bytes of all arrays of a .npz file, each number counted as a double
MOST_HEADER = 10_000  # bytes that say what an array of a .npz file is
MOST_MESH = 200_000_000  # bytes of a mesh file, or of all that is in an archive of them
MOST_POINTS = 10_000_000  # of a mesh
MOST_PIXELS = 100_000_000  # of a picture


def lifted() -> bool:
    """Whether the user wants files of any size to be read."""
    return os.environ.get(VARIABLE, "") not in ("", "0")


def excess(amount: float, most: float, what: str) -> str:
    """What is wrong with a file that has `amount` of something, or "": how much, how much at most, and what to do."""
    if amount <= most or lifted():
        return ""
    return f"{told(amount)} {what}; at most {told(most)} are read: if the file is yours, set {VARIABLE}=1"


def told(amount: float) -> str:
    """A large number, short."""
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if amount >= size:
            return f"{amount / size:.3g}{word}"
    return f"{amount:.0f}"
