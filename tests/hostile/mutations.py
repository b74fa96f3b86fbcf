"""Good files, changed at random, read one after the other in a process with little memory.

    python tests/hostile/mutations.py --seed 0 --seconds 300
    python tests/hostile/mutations.py --kind urdf --seed 7 --count 200

The process that reads (--worker) has 512 MB more than it needs to be ready, and a minute for a file. Whatever it does but
read the file, or refuse it by one line that names it, is written out, with the kind and the seed that make the file again.
"""

import argparse
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
import zlib
from pathlib import Path

HERE = Path(__file__).parent
PATIENCE = 60.0  # seconds for a file
ODD = [b"0", b"-1", b"1e308", b"-1e308", b"1e-308", b"1e400", b"nan", b"inf", b"4294967296", b"9223372036854775808",
       b"99999999999999999999", b"0.0", b"true", b"null", b'""', b"[]", b"{}", b"..", b"/dev/zero"]  # fmt: skip
WHOLE = [0, 1, -1, 2**31 - 1, -(2**31), 2**32 - 1, 2**62, 255]


# ---- changes -----------------------------------------------------------------------------------------------------------


def flip(data, chance):
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def overwrite(data, chance):
    at = chance.randrange(len(data))
    length = chance.choice((1, 4, 8, 64))
    return data[:at] + chance.choice((b"\0", b"\xff", chance.randbytes(1))) * length + data[at + length :]


def cut(data, chance):
    return data[: chance.randrange(len(data))]


def leave_out(data, chance):
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.choice((1, 10, 100, 1000)) :]


def splice(data, chance):
    """A piece of it somewhere else."""
    at, other = chance.randrange(len(data)), chance.randrange(len(data))
    piece = data[other : other + chance.choice((1, 16, 256, 4096))]
    return data[:at] + piece + data[at + chance.choice((0, len(piece))) :]


def repeat(data, chance):
    """A piece of it, many times."""
    at = chance.randrange(len(data))
    length = chance.choice((1, 2, 8, 64, 512))
    return data[:at] + data[at : at + length] * chance.choice((2, 10, 1000)) + data[at + length :]


def odd_number(data, chance):
    """A number of the text, another one."""
    found = list(re.finditer(rb"-?\d+\.?\d*(?:e[-+]?\d+)?", data))
    if not found:
        return flip(data, chance)
    at = chance.choice(found)
    return data[: at.start()] + chance.choice(ODD) + data[at.end() :]


def whole_number(data, chance):
    """Four or eight bytes, an odd whole number."""
    size = chance.choice((4, 8))
    if len(data) <= size:
        return flip(data, chance)
    at = chance.randrange(len(data) - size)
    value = chance.choice(WHOLE) & ((1 << 8 * size) - 1)
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


def swap_words(data, chance):
    words = list(re.finditer(rb"[A-Za-z_]{2,}", data))
    if len(words) < 2:
        return splice(data, chance)
    one, other = chance.choice(words), chance.choice(words)
    return data[: one.start()] + other[0] + data[one.end() :]


def nest(data, chance):
    """An element or a list of the text within itself, again and again."""
    found = list(re.finditer(rb"<(\w+)[^<>/]*>|\[|\{", data))
    if not found:
        return repeat(data, chance)
    at = chance.choice(found)
    return data[: at.start()] + at[0] * chance.choice((2, 50, 500, 20_000)) + data[at.end() :]


BYTES = (flip, overwrite, cut, leave_out, splice, repeat, whole_number)
TEXT = (*BYTES, odd_number, odd_number, odd_number, swap_words, swap_words, nest)


def of_archive(data, chance):
    """An archive with one of its files changed, its sums made right again; or its own bytes."""
    if chance.random() < 0.3:
        return chance.choice(BYTES)(data, chance)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        inside = {name: archive.read(name) for name in archive.namelist()}
    if not inside:
        return chance.choice(BYTES)(data, chance)
    name = chance.choice(sorted(inside))
    content = inside[name]
    if chance.random() < 0.3 and len(inside) > 1:
        content = inside[chance.choice(sorted(inside))]
    else:
        head = content.find(b"\n") + 1
        if chance.random() < 0.4:
            content = chance.choice(TEXT)(content[:head], chance) + content[head:]
        elif head < len(content):
            content = content[:head] + chance.choice(TEXT)(content[head:], chance)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for other in inside:
            archive.writestr(other, content if other == name else inside[other])
    return out.getvalue()


def changed(data, chance, text):
    """A file, changed in one to three ways."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        if not data:
            break
        if data.startswith(b"PK"):
            try:
                data = of_archive(data, chance)
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError, OSError, zlib.error):
                data = chance.choice(BYTES)(data, chance)
        else:
            data = chance.choice(TEXT if text else BYTES)(data, chance)
    return data


def damage(path, kind, seed):
    """One of the files of what was made at `path` is changed, in place."""
    chance = random.Random(f"{kind} {seed}")
    if path.is_dir():
        path = chance.choice(sorted(p for p in path.iterdir() if p.is_file()))
    elif kind.startswith("mesh") or (kind.startswith("mjcf_") and chance.random() < 0.7):
        path = next(p for p in sorted(path.parent.iterdir()) if p.stem == "hand")
    text = path.suffix in (".json", ".toml", ".urdf", ".xml", ".obj", ".ply", ".off", ".dae")
    path.write_bytes(changed(path.read_bytes(), chance, text))


# ---- the process that reads --------------------------------------------------------------------------------------------


def work(kinds, seed, folder):
    """Reads files until it is ended: a line as each begins, and one of what is wrong with how it ended."""
    from hostile_server import outcome, prepare

    good = prepare()
    originals = {}
    for kind in kinds:
        originals[kind] = Path(folder) / kind
        originals[kind].mkdir()
        originals[kind] = good[kind][0](originals[kind]).relative_to(originals[kind])
    print(json.dumps(["ready"]), flush=True)
    where = Path(folder) / "try"
    while True:
        for kind in kinds:
            print(json.dumps(["begin", kind, seed]), flush=True)
            shutil.copytree(Path(folder) / kind, where)
            path = where / originals[kind]
            damage(path, kind, seed)
            names, message = outcome(good[kind][1], path)
            problem = problem_of(names, message, str(where))
            shutil.rmtree(where)
            print(json.dumps(["end", kind, seed, bool(names), problem]), flush=True)
        seed += 1


def problem_of(names, message, where):
    """What is wrong with how a file was refused, or ""."""
    if not names:
        return ""
    if not {"SceneError", "InputError"} & set(names) and "FileNotFoundError" not in names:
        return f"{names[0]}: {message[:500]}"
    if "\n" in message or "\r" in message or len(message) > 2000:
        return f"the message is no line: {message[:500]!r}"
    return "" if where in message else f"the message does not name the file: {message[:500]}"


# ---- the process that watches ------------------------------------------------------------------------------------------


class Run:
    """read: how many files; refused: how many of them; found: (kind, seed, what is wrong)."""

    def __init__(self, end):
        self.read = self.refused = 0
        self.found = []
        self.end = end


def run(kinds, seed, seconds=None, count=None):
    """Changes and reads files for so long, or so many of each kind -> Run."""
    told = Run(time.monotonic() + seconds if seconds else None)
    last = None if count is None else seed + count
    while True:
        with tempfile.TemporaryDirectory() as folder:
            seed = watch(told, kinds, seed, last, folder)
        if seed is None:
            return told


def watch(told, kinds, seed, last, folder):
    """One process, until it dies -> the seed with which to go on, None: the run is over."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *(path for path in sys.path if path)])}
    process = subprocess.Popen(
        [sys.executable, __file__, "--worker", folder, "--seed", str(seed), "--kind", *kinds],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)  # fmt: skip
    at = None
    while True:
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        line = process.stdout.readline()
        timer.cancel()
        if not line:
            errors = process.communicate()[1]
            if at is None:
                raise RuntimeError(f"the process that reads does not begin: {errors[-2000:]}")
            told.found.append((*at, f"it ended, or took too long: {process.returncode}; {errors[-1500:]}"))
            return at[1] + 1  # the other kinds of this seed are left out
        word, *rest = json.loads(line)
        if word == "begin":
            at = rest
            if (told.end and time.monotonic() > told.end) or (last is not None and at[1] >= last):
                process.kill()
                process.communicate()
                return None
        elif word == "end":
            told.read += 1
            told.refused += rest[2]
            if rest[3]:
                told.found.append((rest[0], rest[1], rest[3]))


def main():
    from good_files import GOOD

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kind", nargs="*", default=list(GOOD), choices=list(GOOD))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--count", type=int, help="of each kind")
    parser.add_argument("--worker", metavar="FOLDER", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(given.kind, given.seed, given.worker)
    told = run(given.kind, given.seed, given.seconds, given.count if given.seconds else given.count or 20)
    for kind, seed, problem in told.found:
        print(f"{kind}, seed {seed}: {problem}")
    print(f"{told.read} files, {told.refused} refused, {len(told.found)} failures")
    return bool(told.found)


if __name__ == "__main__":
    sys.path[:0] = [str(HERE)]
    sys.exit(main())
