"""Files that are not what their names say: an error that names the file, whatever is in them; no crash, no other error."""

import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.io.recording import Recorder, Recording
from mcsim.lab.study import Study
from mcsim.reduced import System

ROOT = Path(__file__).parents[2]
ZEROS = np.zeros(3)


def make_recording(path):
    recorder = Recorder(mc.World(mc.scenes.pendulum()))
    recorder.step(3)
    recorder.recording().save(path)


def make_problem(path):
    world = mc.World(mc.load("pyramid", base=2))
    world.step(3)
    world.problem().save(path)


def make_study(path):
    mc.compare(mc.scenes.pendulum(), ["maximal:si+soft"], 0.02, 0.01, timing=False).save(path)


KINDS = {
    "recording": (make_recording, Recording.load, "r.npz"),
    "problem": (make_problem, mc.Problem.load, "p.npz"),
    "study": (make_study, Study.load, "s.npz"),
    "system": (lambda path: System(mc.load("four_bar")).save(path), System.load, "s.json"),
    "scene": (lambda path: mc.load("four_bar").save(path), mc.load, "s.json"),
}


@pytest.fixture(params=KINDS)
def kind(request, tmp_path):
    """(path of a good file, what loads it)"""
    make, load, name = KINDS[request.param]
    make(tmp_path / name)
    load(tmp_path / name)
    return tmp_path / name, load


def refused(load, path):
    """It is refused by its name, or fits all the same."""
    try:
        load(path)
    except mc.SceneError as error:
        assert str(error).startswith(str(path)) and len(str(error)) < 1000, error
        return True
    return False


def test_bytes_that_are_other_ones(kind):
    """zlib.error, NotImplementedError, struct.error and others came through."""
    path, load = kind
    good = path.read_bytes()
    rng = np.random.default_rng(1)
    count, found = amount(150, 400), 0
    for _ in range(count):
        bad = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            bad[rng.integers(len(bad))] = rng.integers(256)
        path.write_bytes(bad)
        found += refused(load, path)
    for end in rng.integers(0, len(good), 40):
        path.write_bytes(good[:end])
        found += refused(load, path)
    assert found > count / 4


def zipped(content, **change):
    """A .npz file of one array, its zip directory changed."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", change.pop("compression", zipfile.ZIP_DEFLATED)) as file:
        file.writestr("time.npy", content)
    data = bytearray(data.getvalue())
    places = {"flags": (6, 8), "method": (8, 10)}
    for name, value in change.items():
        for signature, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 1)):
            at = data.index(signature) + places[name][shift]
            data[at : at + 2] = struct.pack("<H", value)
    return bytes(data)


def npy(array=ZEROS, **header):
    data = io.BytesIO()
    np.lib.format.write_array_header_1_0(data, {"descr": "<f8", "fortran_order": False, "shape": (3,)} | header)
    return data.getvalue() + array.tobytes()


ZIPS = {
    "encrypted": lambda: zipped(npy(), flags=1),
    "unknown compression": lambda: zipped(npy(), method=98),
    "another compression": lambda: zipped(npy(), method=14),
    "lzma, damaged": lambda: spoilt(zipfile.ZIP_LZMA),
    "bzip2, damaged": lambda: spoilt(zipfile.ZIP_BZIP2),
    "deflate, damaged": lambda: spoilt(zipfile.ZIP_DEFLATED),
    "more than there is memory for": lambda: zipped(npy(shape=(2**50,))),
    "negative": lambda: zipped(npy(shape=(-3,))),
    "objects": lambda: zipped(npy(descr="|O")),
    "short": lambda: zipped(npy(shape=(300,))),
    "an array, not a zip": lambda: npy(),
    "pickle": lambda: pickle.dumps({"time": 1}),
    "text": lambda: b"time,x\n0,1\n",
    "nothing": lambda: b"",
    "a zip of nothing": lambda: b"PK\x05\x06" + bytes(18),
    "nested header": lambda: zipped(b"\x93NUMPY\x01\x00\x00\x10" + b"(" * 4000 + b" " * 96),
}


def spoilt(compression):
    data = bytearray(zipped(np.random.default_rng(0).bytes(400), compression=compression))
    data[60:80] = b"\xff" * 20
    return bytes(data)


@pytest.mark.parametrize("name", ZIPS)
@pytest.mark.parametrize("load", [Recording.load, mc.Problem.load, Study.load])
def test_archives_of_all_sorts(tmp_path, load, name):
    """LZMAError, RuntimeError (encrypted), NotImplementedError, MemoryError, AttributeError came through."""
    path = tmp_path / "file.npz"
    path.write_bytes(ZIPS[name]())
    assert refused(load, path)


@pytest.mark.parametrize("load", [Recording.load, mc.Problem.load, Study.load, System.load, mc.load])
def test_paths_that_are_of_no_file(tmp_path, load):
    """OSErrors (a circle of links, a name too long), TypeError and ValueError came through."""
    suffix = ".json" if load in (System.load, mc.load) else ".npz"
    (tmp_path / f"one{suffix}").symlink_to(tmp_path / f"two{suffix}")
    (tmp_path / f"two{suffix}").symlink_to(tmp_path / f"one{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"file{suffix}").write_text("")
    for path in (f"one{suffix}", f"folder{suffix}", "a" * 10000 + suffix, f"file{suffix}/inside{suffix}"):
        with pytest.raises(mc.SceneError) as caught:
            load(tmp_path / path)
        assert len(str(caught.value)) < 1000
    for path in (0, None, 1.5, "", f"a\0b{suffix}", ["x"], b"\xff\0"):
        with pytest.raises(mc.SceneError):
            load(path)
    for path in (f"nothing{suffix}", f"no/where{suffix}"):
        with pytest.raises(FileNotFoundError, match="nothing|where"):
            load(tmp_path / path)


SAVES = {
    "scene": lambda path: mc.scenes.pendulum().save(path),
    "system": lambda path: System(mc.load("four_bar")).save(path),
    "recording": make_recording,
    "problem": make_problem,
    "study": make_study,
}


@pytest.mark.parametrize("name", SAVES)
def test_paths_that_nothing_can_be_saved_to(tmp_path, name, capfd):
    """Scene.save(0) wrote into the file that has the number 0."""
    save = SAVES[name]
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "file").write_text("kept")
    for path in (
        0,
        1,
        2,
        None,
        1.5,
        "",
        "a\0b.npz",
        "a" * 10000 + ".npz",
        tmp_path / "folder.npz",
        tmp_path / "file" / "x.npz",
    ):
        with pytest.raises(mc.SceneError) as caught:
            save(path)
        assert len(str(caught.value)) < 1000
    with pytest.raises(FileNotFoundError, match="nowhere"):
        save(tmp_path / "nowhere" / "x.npz")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder.npz"] and (tmp_path / "file").read_text() == "kept"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", SAVES)
def test_saving_goes_through_links_and_long_names(tmp_path, name):
    """A link keeps pointing where it did; a name as long as the system has them is written beside a shorter one."""
    (tmp_path / "real.npz").write_text("old")
    (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    SAVES[name](tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink() and (tmp_path / "real.npz").read_bytes() != b"old"
    SAVES[name](tmp_path / ("a" * 251 + ".npz"))
    assert len(os.listdir(tmp_path)) == 3


# ---- problems ----------------------------------------------------------------------------------------------------------


def wrong_arrays(array, rng):
    """What may stand in a file in the place of an array."""
    yield from (np.zeros(()), np.array("x"), np.array([1, 2, 3]), np.zeros((2, 3, 4)), array[None])
    if array.ndim:
        yield from (array[:-1], array[:0], np.append(array, array), array[::-1])
    if array.dtype.names is None:
        yield from (array.astype(complex), array.astype(str), array.astype("f4"), array != 0)
    for value in (np.nan, np.inf, -np.inf, 1e308, -1.0, 2**31, -(2**40), 2**62, 0):
        for at in {0, array.size // 2, array.size - 1}:
            if array.size and not (array.dtype.kind in "iu" and not np.isfinite(value)) and array.dtype.names is None:
                other = array.copy()
                with np.errstate(all="ignore"):
                    other.reshape(-1)[at] = np.array(value).astype(array.dtype)
                yield other
    if array.ndim:
        yield rng.permutation(array)


def try_problems(folder, every):
    """In a process of its own: every array of two problems replaced by all that may stand there, or by every so many
    of it."""
    from mcsim.solve.problems import SOLVERS

    rng = np.random.default_rng(0)
    np.seterr(all="ignore")
    worlds = [mc.World(mc.load("pyramid", base=2)), mc.World(mc.load("four_bar"))]
    for world in worlds:
        world.step(3)
    problems = [world.problem() for world in worlds]
    problems.append(mc.Problem(problems[0].A, problems[0].b, problems[0].friction))
    turn = 0
    for problem in problems:
        problem.save(Path(folder) / "good.npz")
        arrays = dict(np.load(Path(folder) / "good.npz"))
        for name, array in arrays.items():
            for number, wrong in enumerate([None, *wrong_arrays(array, rng)]):
                turn += 1
                if turn % every:
                    continue
                print(name, number, flush=True)
                path = Path(folder) / "bad.npz"
                np.savez(path, **{key: value for key, value in (arrays | {name: wrong}).items() if value is not None})
                try:
                    found = mc.Problem.load(path)
                    found.A, found.spectrum(), found.velocities(found.warm_start)
                    for solver in SOLVERS:
                        model = "frictionless" if solver in ("lemke", "dantzig") else "ncp"
                        mc.solve(found, solver, model, max_iterations=2)
                    pickle.loads(pickle.dumps(found))
                except mc.SceneError:
                    pass


def test_no_array_of_a_saved_problem_crashes(tmp_path):
    """Row pointers that do not ascend, or indices from elsewhere, were followed wherever they led: segmentation faults."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'tests' / 'io')!r}); import test_damaged_files as t; "
        f"t.try_problems({str(tmp_path)!r}, {amount(11, 1)})"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=400, env=environment
    )
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-2000:]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("what", ["A", "jacobian", "inverse_mass"])
def test_matrices_whose_indices_lead_out_of_them_are_refused(form, what):
    """scipy.sparse trusts them, and so did we."""
    from scipy.sparse import csr_array

    good = csr_array(np.eye(6) + np.diag(np.full(3, 0.1), 3) + np.diag(np.full(3, 0.1), -3)).asformat(form)

    def build(matrix):
        if what == "A":
            return mc.Problem(matrix, np.zeros(6))
        pair = (matrix, np.eye(6)) if what == "jacobian" else (np.eye(6), matrix)
        return mc.Problem.factored(*pair, np.zeros(6))

    build(good)
    for part in ("row", "col") if form == "coo" else ("indptr", "indices"):
        for value in (-1, 6, 10**6, 2**31 - 1):
            for at in (0, 1, -1):
                bad = good.copy()
                numbers = getattr(bad, part).copy()
                if numbers[at] == value:
                    continue
                numbers[at] = value
                setattr(bad, part, numbers)
                with pytest.raises(mc.SceneError, match="index|indices|indptr"):
                    build(bad)


def test_pickled_problems_are_checked_too():
    problem = mc.Problem(np.eye(3), np.zeros(3), [0.5])
    state = problem.__getstate__()
    for wrong in (
        {},
        None,
        3,
        {"format": 1},
        state | {"A_indptr": np.array([0, 9, 1, 3])},
        state | {"b": None},
        state | {"format": "x"},
        state | {"A_shape": np.array([3.0, 3.0])},
    ):
        other = mc.Problem.__new__(mc.Problem)
        with pytest.raises(mc.SceneError):
            other.__setstate__(wrong)
    again = pickle.loads(pickle.dumps(problem))
    assert np.array_equal(again.A.toarray(), problem.A.toarray())


# ---- JSON --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [mc.load, System.load])
def test_json_that_is_no_scene(tmp_path, load):
    """RecursionError, quadratic time for fields that stand twice."""
    path = tmp_path / "file.json"
    for content in (
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 10_000,
        '{"version": 1' + "0" * 5000 + "}",
        "[1, 2]",
        "null",
        '"x"',
        "{}",
        '{"version": 1, "version": 1}',
        "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
        json.dumps({"version": 1, "bodies": [[]]}),
        '{"version": NaN}',
        '{"version": 1e400}',
    ):
        path.write_text(content, encoding="utf-8")
        assert refused(load, path)
    path.write_bytes(b"\xff\xfe\x00{")
    assert refused(load, path)


@pytest.mark.slow
def test_system_models_with_other_things_in_their_fields(tmp_path):
    """TypeError, KeyError and AttributeError came through."""
    path = tmp_path / "model.json"
    System(mc.load("four_bar")).save(path)
    good = json.loads(path.read_text())

    def places(data, way=()):
        yield way
        if isinstance(data, (dict, list)):
            for key in data if isinstance(data, dict) else range(min(2, len(data))):
                yield from places(data[key], (*way, key))

    for way in list(places(good))[1:]:
        for wrong in (None, -1, 10**400, 1e300, "x", [], {}, [1], {"x": 1}, True, [[1, 2], [3]]):
            data = json.loads(json.dumps(good))
            at = data
            for key in way[:-1]:
                at = at[key]
            at[way[-1]] = wrong
            bad = tmp_path / "bad.json"
            bad.write_text(json.dumps(data))
            refused(System.load, bad)
            try:
                System.from_dict(data)
            except mc.SceneError:
                pass
