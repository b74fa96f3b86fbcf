"""Files made to break their readers: one line of words each, in bounded memory, and nothing else happens."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from corpus import CORPUS, ODD
from good_files import GOOD

pytest.importorskip("mujoco")
pytest.importorskip("yourdfpy")

PATIENCE = 120.0  # seconds, from which on a reader hangs


class Server:
    """A process that reads files, begun anew where a file ends it."""

    def __init__(self):
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()

    def start(self):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        command = [sys.executable, str(Path(__file__).parent / "hostile_server.py")]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, stderr=subprocess.PIPE
        )
        assert json.loads(self.line()) == "ready"

    def line(self):
        """The next line that it writes; where it hangs, or ends, the test fails."""
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        try:
            found = self.process.stdout.readline()
        finally:
            timer.cancel()
        if not found:
            process, self.process = self.process, None
            errors = process.communicate()[1]
            pytest.fail(f"the reader was ended: {process.returncode}; {errors[-2000:]}")
        return found

    def ask(self, kind, path):
        if self.process is None:
            self.start()
        self.process.stdin.write(json.dumps([kind, str(path)]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.line())

    def stop(self):
        if self.process is not None:
            self.process.communicate(timeout=PATIENCE)  # which closes its input, so that it ends


@pytest.fixture(scope="module")
def server():
    with Server() as server:
        yield server


def below(folder):
    """All files and how long they are."""
    return {str(path): path.lstat().st_size for path in sorted(folder.rglob("*"))}


@pytest.mark.sampled(31)
@pytest.mark.parametrize("kind, name", CORPUS, ids=[f"{kind}-{name}" for kind, name in CORPUS])
def test_hostile_files_are_refused_in_one_line(tmp_path, server, kind, name):
    """The message names the file and says what is wrong; the process lives, and took less than half a gigabyte for it."""
    make, words = CORPUS[kind, name]
    path = make(tmp_path)
    before = below(tmp_path)
    kinds, message, _ = server.ask(kind, path)
    assert {"SceneError", "InputError"} & set(kinds), (kinds, message[:500])
    assert "\n" not in message and "\r" not in message and len(message) < 1500, message[:3000]
    assert str(path) in message, message
    assert re.search(words, message), message
    assert below(tmp_path) == before and not os.path.exists("/tmp/unpickled-by-mcsim")


@pytest.mark.parametrize("name", ODD)
def test_odd_meshes_are_read_or_refused(tmp_path, server, name):
    path = ODD[name](tmp_path)
    kinds, message, _ = server.ask("urdf", path)
    assert not kinds or ("SceneError" in kinds and str(path) in message and "\n" not in message), message


@pytest.mark.parametrize("kind", GOOD)
def test_good_files_are_read(tmp_path, server, kind):
    """In the same process, after all the others: what the hostile files are made of is not what is refused in them."""
    kinds, message, _ = server.ask(kind, GOOD[kind][0](tmp_path))
    assert not kinds, message


@pytest.mark.parametrize("kind", ["scene", "urdf", "mjcf", "recording", "state", "study"])
def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path, server, kind):
    path = tmp_path / GOOD[kind][0](tmp_path).name
    path.unlink()
    os.mkfifo(path)
    kinds, message, _ = server.ask(kind, path)
    assert {"SceneError", "InputError"} & set(kinds) and str(path) in message, message


def test_a_pipe_in_the_place_of_a_mesh_is_not_waited_for(tmp_path, server):
    for kind in ("urdf", "mjcf"):
        (tmp_path / kind).mkdir()
        path = GOOD[kind][0](tmp_path / kind)
        (path.parent / "hand.stl").unlink()
        os.mkfifo(path.parent / "hand.stl")
        kinds, message, _ = server.ask(kind, path)
        assert "SceneError" in kinds and str(path) in message, message


def test_limits_of_size_are_lifted_for_files_of_ones_own(tmp_path, monkeypatch):
    import mcsim as mc
    from mcsim.core import archives, files

    scene, recording = (GOOD[kind][0](tmp_path) for kind in ("scene", "recording"))
    monkeypatch.setattr(files, "MOST_VALUES", 20)
    monkeypatch.setattr(archives, "MOST_UNPACKED", 100)
    for path, load in ((scene, mc.load), (recording, mc.io.Recording.load)):
        monkeypatch.delenv("MCSIM_LARGE_FILES", raising=False)
        with pytest.raises(mc.SceneError, match="at most .* are read: if the file is yours, set MCSIM_LARGE_FILES=1"):
            load(path)
        monkeypatch.setenv("MCSIM_LARGE_FILES", "1")
        load(path)


def test_the_corpus_is_large():
    assert len(CORPUS) >= 200 and {kind for kind, _ in CORPUS} >= set(GOOD) - {k for k in GOOD if "_" in k}
