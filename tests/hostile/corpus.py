"""All hostile files: (kind, name) -> what makes the file in a folder and gives its path, the words of its message."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np

import hostile_texts as texts
from good_files import ARM, GOOD, arrays_of, npy
from hostile_archives import ATTACKS
from hostile_meshes import MESHES, TOLERATED

ARCHIVED = ("recording", "problem", "comparison", "state")


def _text(name, content):
    def make(folder):
        path = Path(folder) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
        return path

    return make


def _robot(name, content, files):
    def make(folder):
        for other, held in files.items():
            if isinstance(held, tuple):
                (Path(folder) / other).symlink_to(held[1])
            else:
                (Path(folder) / other).write_bytes(held)
        return _text(name, content)(folder)

    return make


def _with_mesh(suffix, content):
    def make(folder):
        name = f"hand.{suffix}".rstrip(".")
        return _robot("robot.urdf", ARM.replace("MESH", name), {name: content()})(folder)

    return make


def _attacked(kind, attack):
    """A good file of a kind, by its bytes made bad."""

    def make(folder):
        path = GOOD[kind][0](folder)
        path.write_bytes(attack(path.read_bytes()))
        return path

    return make


def _with_arrays(kind, **changes):
    """A good file of a kind with other arrays, or raw entries where they are bytes; None: without."""

    def make(folder):
        path = GOOD[kind][0](folder)
        arrays = arrays_of(path) | changes
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, array in arrays.items():
                if array is not None:
                    file.writestr(f"{name}.npy", array if isinstance(array, bytes) else _npy(array))
        return path

    return make


def _npy(array):
    data = io.BytesIO()
    np.save(data, array)
    return data.getvalue()


def _sweep(change):
    def make(folder):
        path = GOOD["sweep"][0](folder)
        change(path)
        return path

    return make


def _first_result(path):
    return sorted(path.glob("*.npz"))[0]


def _index(**changes):
    def change(path):
        index = json.loads((path / "sweep.json").read_text())
        (path / "sweep.json").write_text(json.dumps(index | changes))

    return change


def _told(**changes):
    """What the description of a world's state says, otherwise."""

    def make(folder):
        path = GOOD["state"][0](folder)
        told = json.loads(str(arrays_of(path)["world"])) | changes
        return _with_arrays("state", world=np.array(json.dumps(told)))(folder)

    return make


STATES = {
    "a format of tomorrow": ({"format": 2}, "its format is 2, not 1"),
    "a format that is true": ({"format": True}, "its format is True"),
    "another layout": ({"layout": "0"}, "another version of mcsim wrote it"),
    "another kind": ({"kind": "os.system"}, "kind must be one of: World, ReducedWorld"),
    "the other kind": ({"kind": "ReducedWorld"}, "another version|other things"),
    "keywords that there are not": ({"keywords": {"exec": "rm"}}, "there is no keyword 'exec'"),
    "keywords of another sort": ({"keywords": [1]}, "does not tell keywords"),
    "a step of infinity": ({"keywords": {"dt": {"number": "inf"}}}, "dt"),
    "a step that is a word": ({"keywords": {"dt": "1"}}, "dt"),
    "a step that is a number of no sort": ({"keywords": {"dt": {"number": "nan"}}}, "keywords.dt must be a number"),
    "a million threads": ({"keywords": {"threads": 10**6}}, "threads"),
    "substeps beyond all": ({"keywords": {"substeps": 10**12}}, "substeps"),
    "a choice that there is not": ({"keywords": {"integrator": {"choice": "Popen"}}}, "is of the kind 'Popen'"),
    "a choice of fields that there are not": ({"keywords": {"integrator": {"choice": "RK4", "x": 1}}}, "x"),
    "shapes of minus": ({"shapes": {"joints": [-1]}}, "the shape of 'joints' is"),
    "shapes beyond all": ({"shapes": {"joints": [2**50]}}, "the shape of 'joints' is"),
    "shapes of other things": ({"shapes": {"../../x": [1]}}, "not a state of a world"),
    "shapes that are left out": ({"shapes": {}}, "it keeps other things"),
    "counts of another scene": ({"counts": [1, 1]}, "is of another scene"),
    "counts that are none": ({"counts": "ab"}, "counts must be how many"),
    "bodies that are words": ({"bodies": ["x"]}, "bodies must be the numbers"),
    "bodies that there are not": ({"bodies": [10**9]}, "has 1000000000 for a body"),
    "bodies twice": ({"bodies": [0, 0]}, "have one name"),
    "joints that there are not": ({"joints": [-5, 3]}, "for a joint"),
    "pairs of one": ({"ignored_pairs": [["a"]]}, "ignored_pairs must be pairs"),
    "gravity of words": ({"gravity": ["x", 0, 0]}, "gravity"),
    "contact of another sort": ({"contact": "soft"}, "contact must be one of"),
}
FRAMES = 4
ARRAYS = {
    ("recording", "no times"): ({"time": None}, "there is no array 'time'"),
    ("recording", "times that go back"): ({"time": np.arange(FRAMES, 0.0, -1)}, "grow from frame to frame"),
    ("recording", "times of NaN"): ({"time": np.full(FRAMES, np.nan)}, "time must be finite"),
    ("recording", "times that are words"): ({"time": np.array(["x"] * FRAMES)}, "time must be an array of real numbers"),
    ("recording", "times that are complex"): ({"time": np.zeros(FRAMES, complex)}, "time must be an array of real numbers"),
    ("recording", "other frames"): ({"positions": np.zeros((2, 8, 3))}, "positions must have shape"),
    ("recording", "places of infinity"): ({"positions": np.full((FRAMES, 8, 3), np.inf)}, "positions has entries"),
    ("recording", "turns of zeros"): ({"orientations": np.zeros((FRAMES, 8, 4))}, "unit quaternions"),
    ("recording", "names that are numbers"): ({"body_names": np.arange(8)}, "body_names must be a list of names"),
    ("recording", "names in rows"): ({"body_names": np.full((8, 1), "x")}, "body_names must be a list of names"),
    ("recording", "names of characters that there are not"): (
        {"body_names": npy(b"\xff\xff\xff\x7f" * 8, descr="<U1", shape=(8,))},
        "text that has no such characters",
    ),
    ("recording", "a hundred million names"): (
        {"body_names": npy(bytes(100_000_000), descr="|S1", shape=(100_000_000,))},
        "body_names must be a list of names",
    ),
    ("recording", "a scene that is text"): ({"scene": np.array("x")}, "scene must be the bytes of a scene file"),
    ("recording", "a scene that is none"): ({"scene": np.frombuffer(b"[" * 5000, np.uint8)}, "nested too deeply"),
    ("recording", "the scene of another"): (
        {"scene": np.frombuffer(b'{"version": 1}', np.uint8)},
        "the bodies of its scene are not those",
    ),
    ("recording", "contacts without counts"): ({"contact_counts": None}, "contact_counts must say how many"),
    ("recording", "counts below zero"): ({"contact_counts": np.full(FRAMES, -1)}, "contact_counts must say how many"),
    ("recording", "counts beyond all"): ({"contact_counts": np.full(FRAMES, 2**62)}, "contact_counts"),
    ("problem", "no format"): ({"format": None}, "there is no array 'format'"),
    ("problem", "a format of tomorrow"): ({"format": np.array(99)}, "its format is"),
    ("problem", "indices from elsewhere"): ({"jacobian_indices": np.full(3, 2**31 - 1, np.int32)}, "jacobian"),
    ("problem", "row pointers that go back"): ({"jacobian_indptr": np.array([0, 9, 1, 3])}, "jacobian"),
    ("problem", "a vast matrix"): ({"jacobian_shape": np.array([2**40, 2**40])}, "jacobian"),
    ("problem", "numbers that are NaN"): ({"b": np.full(3, np.nan)}, "b "),
    ("state", "no description"): ({"world": None}, "there is no array 'world'"),
    ("state", "a description of numbers"): ({"world": np.arange(3)}, "there is no array 'world'"),
    ("state", "a description of brackets"): ({"world": np.array("[" * 5000)}, "nested too deeply"),
    ("state", "no scene"): ({"scene": None}, "it has no scene"),
    ("state", "a scene of another"): ({"scene": np.frombuffer(b'{"version": 1}', np.uint8)}, "is of another scene, of"),
    ("state", "no present scene"): ({"present": None}, "it has 0 bodies that are not those of its scene"),
    ("state", "positions that are not there"): ({"position.words": None}, "position.words"),
    ("state", "positions of NaN"): (
        {"position.mask": np.full(27 * 9 // 8, 255, np.uint8), "position.words": np.full(27, 2**64 - 1, np.uint64)},
        "position",
    ),
    ("state", "words of another type"): ({"position.words": np.zeros(27, np.float32)}, "position is no packed array"),
    ("state", "a clock of minus"): ({"clock.words": np.array([2**64 - 5, 0, 0], np.uint64)}, "clock|steps"),
    ("comparison", "no description"): ({"study": None}, "not a study"),
    ("comparison", "a description of brackets"): ({"study": np.array("[" * 50_000)}, "nested too deeply"),
    ("comparison", "a description that is a number"): ({"study": np.array(3)}, "not a study"),
    ("comparison", "a version of tomorrow"): ({"study": np.array('{"version": 99}')}, "a study of format 99"),
    ("comparison", "runs that there are not"): ({"runs.0.time": None}, "not a study"),
    ("comparison", "times of another shape"): ({"runs.0.time": np.zeros((2, 2))}, "not a study"),
}

SWEEPS = {
    "no index": (lambda path: (path / "sweep.json").unlink(), "there is no sweep.json in it"),
    "an index of brackets": (lambda path: (path / "sweep.json").write_text("[" * 100_000), "nested too deeply"),
    "an index of another sort": (lambda path: (path / "sweep.json").write_text("{}"), "is not what a sweep writes"),
    "an index of tomorrow": (_index(version=99), "of format 99"),
    "parameters that are none": (_index(parameters=[1, 2]), "parameters must be a list of objects"),
    "a study that is a path": (_index(study=["../../etc"]), "is not what a sweep writes"),
    "a shape of other runs": (_index(shape=[10**9, 10**9]), "shape"),
    "a result that is text": (lambda path: _first_result(path).write_text("x"), "no whole zip file"),
    "a result of objects": (
        lambda path: _first_result(path).write_bytes(ATTACKS["objects of Python"][0](b"")),
        "Python objects, which are never read",
    ),
    "a result that is a bomb": (
        lambda path: _first_result(path).write_bytes(ATTACKS["a bomb of zeros"][0](b"")),
        "billion bytes of arrays are in it",
    ),
    "a result that is a folder": (
        lambda path: ((found := _first_result(path)).unlink(), found.mkdir()),
        "is a folder",
    ),
}

CORPUS = {
    **{(kind, name): (_attacked(kind, attack), words) for kind in ARCHIVED for name, (attack, words) in ATTACKS.items()},
    **{(kind, name): (_with_arrays(kind, **changes), words) for (kind, name), (changes, words) in ARRAYS.items()},
    **{("state", name): (_told(**changes), words) for name, (changes, words) in STATES.items()},
    **{("sweep", name): (_sweep(change), words) for name, (change, words) in SWEEPS.items()},
    **{
        (kind, name): (_text(file, text), words)
        for kind, file, tables in (
            ("scene", "scene.json", (texts.JSON, texts.SCENES)),
            ("system", "model.json", (texts.JSON, texts.SYSTEMS)),
            ("study", "study.toml", (texts.STUDIES,)),
        )
        for table in tables
        for name, (text, words) in table.items()
    },
    **{("urdf", name): (_robot("robot.urdf", *given), words) for name, (given, words) in texts.URDFS.items()},
    **{("mjcf", name): (_robot("robot.xml", *given), words) for name, (given, words) in texts.MJCFS.items()},
    **{
        ("urdf", f"mesh: {name}"): (
            _with_mesh(suffix, content),
            words,
        )
        for name, (suffix, content, words) in MESHES.items()
    },
}

# Those that may be read: name -> maker.
ODD = {name: _with_mesh(suffix, content) for name, (suffix, content) in TOLERATED.items()}
