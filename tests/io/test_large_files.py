"""Files whose cost must not grow faster than they do, and small ones that unpack to gigabytes."""

import copy
import itertools
import pickle
import time
import zipfile

import numpy as np
import pytest

import mcsim as mc
from mcsim.io import urdf_meshes
from mcsim.io.urdf_tree import Tree
from mcsim.reduced import System
from urdf_robots import collision, joint, link, robot

# ---- fields that stand twice -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [mc.load, System.load])
@pytest.mark.parametrize(
    "text",
    [
        "{%s}" % ",".join(f'"k{i}": 1' for i in [*range(200_000), 199_999]),
        "{%s}" % ",".join(f'"k{i // 2}": 1' for i in range(200_000)),
        "{%s}" % ",".join(['"k": 1'] * 200_000),
        '{"version": 1, "bodies": [{%s}]}' % ",".join(f'"k{i}": 1' for i in [*range(100_000), 99_999]),
    ],
)
def test_very_many_fields_one_of_which_stands_twice(tmp_path, load, text):
    """Each was counted among all: minutes."""
    path = tmp_path / "scene.json"
    path.write_text(text)
    began = time.perf_counter()
    with pytest.raises(mc.SceneError, match="field 'k[0-9]*' stands twice in one object"):
        load(path)
    assert time.perf_counter() - began < 20.0


# ---- pairs that do not collide ---------------------------------------------------------------------------------------


def many(count):
    scene = mc.Scene()
    for i in range(count):
        scene.add_body(f"b{i}", mass=1, inertia=(1, 1, 1), position=(i, 0, 0))
    return scene


@pytest.mark.slow
def test_all_pairs_of_many_bodies(tmp_path):
    """Each was looked for in the list of all before it: 52 s for 600 bodies, from a file or one by one."""
    scene = many(400)
    began = time.perf_counter()
    for a, b in itertools.combinations(range(400), 2):
        scene.ignore_collision(f"b{a}", f"b{b}")
        scene.ignore_collision(f"b{b}", f"b{a}")
    assert len(scene.ignored_pairs) == 400 * 399 / 2 and scene.ignored_pairs[1] == ("b0", "b2")
    scene.save(tmp_path / "all.json")
    assert mc.load(tmp_path / "all.json") == scene
    assert time.perf_counter() - began < 30.0


def test_the_list_of_pairs_is_the_callers_too():
    """What is known of it follows whatever was done to it, and copies have their own."""
    scene = many(5)
    scene.ignore_collision("b0", "b1"), scene.ignore_collision("b2", "b1")
    others = [
        scene.copy(),
        copy.copy(scene),
        copy.deepcopy(scene),
        pickle.loads(pickle.dumps(scene)),
        scene.sharing_parts(),
    ]
    for other in others:
        other.ignored_pairs = list(other.ignored_pairs)  # a copy.copy shares it, as ever
        other.ignore_collision("b1", "b2"), other.ignore_collision("b3", "b4")
        assert other.ignored_pairs == [("b0", "b1"), ("b2", "b1"), ("b3", "b4")]
    assert scene.ignored_pairs == [("b0", "b1"), ("b2", "b1")]
    scene.ignored_pairs[0] = ("b3", "b4")
    scene.ignore_collision("b1", "b0")
    assert scene.ignored_pairs == [("b3", "b4"), ("b2", "b1"), ("b1", "b0")]
    scene.ignored_pairs.clear()
    scene.ignore_collision("b1", "b0")
    scene.ignored_pairs.append(("b0", "b1"))  # twice: harmless
    scene.ignore_collision("b1", "b0"), scene.ignore_collision("b2", "b0")
    assert scene.ignored_pairs == [("b1", "b0"), ("b0", "b1"), ("b2", "b0")]
    scene.ignored_pairs = [("b3", "b0")]
    scene.ignore_collision("b0", "b3"), scene.ignore_collision("b1", "b0")
    assert scene.ignored_pairs == [("b3", "b0"), ("b1", "b0")]


# ---- joints that mimic others ----------------------------------------------------------------------------------------


def followers(order):
    """Joints j0 ... of which j(k) mimics j(k - 1), in this order in the file."""
    parts = [link("l0"), *(link(f"l{k + 1}") for k in order)]
    for k in order:
        extra = f'<mimic joint="j{k - 1}" multiplier="{-1.0 if k % 2 else 1.0}" offset="0.25"/>' if k else ""
        parts.append(joint(f"j{k}", "continuous", "l0", f"l{k + 1}", xyz=f"{k} 0 0", axis="0 1 0", extra=extra))
    return robot(*parts)


@pytest.mark.parametrize("order", [range(300), range(299, -1, -1), np.random.default_rng(0).permutation(300).tolist()])
def test_a_chain_of_mimic_joints_is_gone_along_once(tmp_path, monkeypatch, order):
    """Each joint went along all before it, and looked each of them up in a list: 76 s for 3,000."""
    asked = []
    check = Tree._check_mimic
    monkeypatch.setattr(Tree, "_check_mimic", lambda self, *given: (asked.append(given[0]), check(self, *given)))
    path = tmp_path / "chain.urdf"
    path.write_text(followers(list(order)))
    scene = mc.load(path, joint_positions={"j0": 0.5}, base="fixed")
    assert len(asked) <= 2 * len(order)
    position, expected = 0.5, {}
    for k in range(300):
        position = position if k == 0 else (-1.0 if k % 2 else 1.0) * position + 0.25
        expected[f"j{k}"] = position
    world = mc.World(scene)
    for name in ("j0", "j1", "j150", "j299"):
        turn = world.body(f"l{int(name[1:]) + 1}").orientation
        assert 2 * np.arctan2(turn[2], turn[0]) == pytest.approx(expected[name], abs=1e-12)


def test_mimics_in_a_circle_are_named(tmp_path):
    parts = [link("l0"), *(link(f"l{k + 1}") for k in range(5))]
    for k in range(5):
        extra = f'<mimic joint="j{(k + 1) % 4}"/>'
        parts.append(joint(f"j{k}", "continuous", "l0", f"l{k + 1}", axis="0 1 0", extra=extra))
    path = tmp_path / "circle.urdf"
    path.write_text(robot(*parts))
    with pytest.raises(mc.SceneError, match="joint 'j0': mimics itself, by way of j1, j2, j3, j0"):
        mc.load(path)


# ---- meshes in archives ----------------------------------------------------------------------------------------------


def with_mesh(tmp_path, name):
    path = tmp_path / "robot.urdf"
    path.write_text(robot(link("a", collision(f'<mesh filename="{name}"/>'))))
    return path


def cube(path):
    import trimesh

    trimesh.creation.box((1, 1, 1)).export(path)
    return path.read_bytes()


@pytest.mark.parametrize("suffix", [".zip", ".zae", ".3mf", ".stl"])
def test_an_archive_that_unpacks_to_gigabytes_is_refused_before(tmp_path, monkeypatch, suffix):
    """A file of a megabyte took 4.4 GB of memory before it was refused."""
    monkeypatch.setattr(urdf_meshes, "MOST_UNPACKED", 10_000_000)
    with zipfile.ZipFile(tmp_path / f"mesh{suffix}", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.stl", bytes(6_000_000))
        archive.writestr("two.stl", bytes(6_000_000))
    with pytest.raises(mc.SceneError, match="link 'a': the mesh .*unpacks to 12 MB; at most 10 MB"):
        mc.load(with_mesh(tmp_path, f"mesh{suffix}"))


@pytest.mark.parametrize("name", ["mesh.stl.gz", "mesh.tar.gz", "mesh.stl.bz2", "mesh.TAR.BZ2"])
def test_packed_files_that_do_not_say_how_large_they_are_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x1f\x8b" + bytes(100))
    with pytest.raises(mc.SceneError, match="is a packed file; unpack it"):
        mc.load(with_mesh(tmp_path, name))


def test_archives_in_archives_are_refused_and_small_ones_read(tmp_path):
    data = cube(tmp_path / "cube.stl")
    with zipfile.ZipFile(tmp_path / "good.zip", "w") as archive:
        archive.writestr("cube.stl", data)
    (shape,) = mc.load(with_mesh(tmp_path, "good.zip")).body("a").shapes
    assert len(shape.vertices) == 8
    with zipfile.ZipFile(tmp_path / "nested.zip", "w") as archive:
        archive.write(tmp_path / "good.zip", "good.zip")
    with pytest.raises(mc.SceneError, match="archive with another one in it"):
        mc.load(with_mesh(tmp_path, "nested.zip"))
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04" + bytes(50))
    with pytest.raises(mc.SceneError, match="cannot be read|is empty"):
        mc.load(with_mesh(tmp_path, "broken.zip"))
