"""Mends the ends of lines of files that are given by name: no blanks there, and one line end at the file's; exit code 1
where there was something to mend. A hook of .pre-commit-config.yaml."""

import re
import sys
from pathlib import Path


def mended(text: bytes) -> bytes:
    """Text without blanks at the ends of lines, and with one line end at its own."""
    text = re.sub(rb"[ \t]+(?=\r?\n|\Z)", b"", text).rstrip(b"\r\n")
    return text + b"\n" if text else b""


def main(names: list[str]) -> int:
    """Mend files. -> how many there were to mend, 1 at most"""
    wrong = [name for name in names if mended(Path(name).read_bytes()) != Path(name).read_bytes()]
    for name in wrong:
        Path(name).write_bytes(mended(Path(name).read_bytes()))
        print(f"mended {name}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
