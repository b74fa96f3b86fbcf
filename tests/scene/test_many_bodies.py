"""Scene.add_bodies: what one by one makes, at once; World.add_bodies alike."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc

SHAPES = (
    mc.Box((0.1, 0.2, 0.3)),
    mc.Sphere(0.2, density=400),
    [mc.Sphere(0.1), mc.Capsule(0.1, 0.2, position=(0.3, 0, 0))],
    [],
)
SINGLE = {"positions": "position", "orientations": "orientation", "velocities": "velocity"}
SINGLE |= {"angular_velocities": "angular_velocity", "names": "name", "shapes": "shape"}


def one_by_one(scene, n, arrays):
    """The same, by add_body."""
    for i in range(n):
        own = {}
        for field, value in arrays.items():
            each = (
                field in ("names", "shapes")
                and isinstance(value, list)
                or isinstance(value, np.ndarray)
                and value.ndim == 2
            )
            each = each or field in ("density", "mass", "material", "user_data") and isinstance(value, (list, np.ndarray))
            own[SINGLE.get(field, field)] = value[i] if each else value
        scene.add_body(own.pop("name", None), **own)
    return scene


def draw(seed):
    """Arrays of some bodies, each argument of all or one for each."""
    rng = np.random.default_rng(seed)
    n, often = int(rng.integers(1, 12)), lambda: rng.random() < 0.6
    kind = str(rng.choice(["dynamic", "dynamic", "kinematic", "static"]))
    arrays = {"positions": rng.normal(size=(n, 3)), "kind": kind}
    if often():
        q = rng.normal(size=(n, 4))
        arrays["orientations"] = q / np.linalg.norm(q, axis=1)[:, None] * (1 + 2e-7 * rng.random((n, 1)))
    if often():
        arrays["names"] = [None if rng.random() < 0.3 else f"some {i}" for i in range(n)]
    if kind != "static" and often():
        arrays["velocities"] = rng.normal(size=(n, 3)) if often() else rng.normal(size=3)
        arrays["angular_velocities"] = rng.normal(size=(n, 3))
    if often():
        arrays["mass"], arrays["inertia"] = (rng.uniform(1, 9, n) if often() else 2.0), (1.0, 1.1, 1.2)
        arrays["shapes"] = [SHAPES[k] for k in rng.integers(0, 4, n)]
    else:
        arrays["shapes"] = [SHAPES[k] for k in rng.integers(0, 3, n)] if often() else SHAPES[0]
        arrays |= {"density": rng.uniform(100, 900, n).tolist()} if often() else {}
    arrays |= {"material": [mc.Material(friction=k / n) for k in range(n)]} if often() else {}
    arrays |= {"enabled": False} if rng.random() < 0.2 else {}
    arrays |= {"user_data": list(range(n))} if often() else {}
    return n, arrays


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_they_are_what_one_by_one_makes(seed):
    n, arrays = draw(seed)
    scenes = [mc.Scene(), mc.Scene()]
    for scene in scenes:
        scene.add_body("body2", shape=mc.Sphere(0.1))  # takes a name that is made up
    added = scenes[0].add_bodies(**arrays)
    one_by_one(scenes[1], n, arrays)
    assert scenes[0] == scenes[1] and added == scenes[0].bodies[1:]
    for a, b in zip(*(scene.bodies for scene in scenes), strict=True):
        assert vars(a).keys() == vars(b).keys() and a.to_dict() == b.to_dict() and a.user_data == b.user_data
        assert (a.index, a.name, a.mass) == (b.index, b.name, b.mass)
        for field in ("position", "orientation", "velocity", "angular_velocity", "inertia", "center_of_mass"):
            ours, theirs = getattr(a, field), getattr(b, field)
            assert ours.tobytes() == theirs.tobytes() and not ours.flags.writeable
    copies = copy.deepcopy(scenes[0]), pickle.loads(pickle.dumps(scenes[0])), mc.Scene.from_dict(scenes[0].to_dict())
    assert copies[2] == scenes[0] and copies[2].to_dict() == scenes[0].to_dict()
    assert len({mc.World(scene).state_hash() for scene in (*scenes, *copies)}) == 1


def test_what_is_wrong_with_a_body_of_a_file_names_it_where_others_are_alike():
    scene = mc.Scene()
    scene.add_bodies(names=["a", "b", "c"], shapes=SHAPES[0], positions=np.zeros((3, 3)))
    data = scene.to_dict()
    data["bodies"][2]["position"] = [0, 0]
    with pytest.raises(mc.SceneError, match=r"bodies\[2\].position must be 3 numbers, got 2: \[0.0, 0.0\] \(body 'c'\)"):
        mc.Scene.from_dict(data)
    data["bodies"][2] = data["bodies"][1] | {"name": "c", "mass": 0.0}
    with pytest.raises(mc.SceneError, match=r"bodies\[2\].mass must be positive, got 0.0 \(body 'c'\)"):
        mc.Scene.from_dict(data)


def test_arrays_are_copied():
    scene, places = mc.Scene(), np.zeros((2, 3))
    bodies = scene.add_bodies(positions=places, shapes=mc.Sphere(0.1))
    places[:] = 7
    assert not bodies[0].position.any() and not bodies[1].position.any()


@pytest.mark.parametrize("world_of", [mc.World, mc.ReducedWorld])
def test_a_running_world_takes_them(world_of):
    found = []
    for bulk in (True, False):
        world = world_of(mc.load("stack", count=2))
        world.step(5)
        arrays = {"shapes": mc.Sphere(0.2), "positions": np.array([(3.0, 0, 2), (4, 0, 2)]), "density": 300.0}
        if bulk:
            names = [body.name for body in world.add_bodies(**arrays)]
        else:
            names = [world.add_body(shape=mc.Sphere(0.2), position=p, density=300.0).name for p in arrays["positions"]]
        world.step(20)
        found.append((names, world.state_hash()))
    assert found[0] == found[1]


def test_a_recorded_call_is_made_again(tmp_path):
    with mc.record_calls(tmp_path / "calls.jsonl"):
        world = mc.World(mc.load("stack", count=2))
        world.add_bodies(shapes=mc.Sphere(0.2), positions=np.array([(3.0, 0, 2), (4, 0, 2)]))
        world.step(5)
    told = mc.replay_calls(tmp_path / "calls.jsonl")
    assert told.difference is None and told.hash == world.state_hash()


HERE = np.zeros((2, 3))


@pytest.mark.parametrize(
    "arrays, words",
    [
        ({}, "add_bodies do not know how many: give names, positions"),
        ({"positions": (0, 0, 0), "shapes": SHAPES[0]}, "do not know how many"),
        ({"names": "ab", "positions": HERE}, "names must be a list of names"),
        ({"names": ["a", "a"], "shapes": SHAPES[0]}, "name 'a' is taken"),
        ({"names": ["there"], "shapes": SHAPES[0]}, "name 'there' is taken"),
        ({"names": [3], "shapes": SHAPES[0]}, "name must be"),
        ({"names": ["a"], "positions": HERE, "shapes": SHAPES[0]}, "positions has 2 where names has 1"),
        ({"positions": HERE, "density": [1.0], "shapes": SHAPES[0]}, "positions has 2 where density has 1"),
        ({"positions": HERE}, "body 'body1' is dynamic and has no shape"),
        ({"positions": [(0, 0, 0), (0, 0, np.nan)], "shapes": SHAPES[0]}, r"body 'body2': position\[2\] must be finite"),
        ({"positions": [(0, 0, 0), (0, 0)], "shapes": SHAPES[0]}, "body 'body2': position must be 3 numbers, got 2"),
        ({"positions": np.ones((2, 3), bool), "shapes": SHAPES[0]}, "body 'body1': position"),
        ({"positions": HERE, "orientations": (1, 1, 0, 0), "shapes": SHAPES[0]}, "orientation must be a unit quaternion"),
        ({"positions": HERE, "velocities": [(0, 0, 0), (1, 0, 0)], "kind": "static"}, "'body2': velocity must be zero"),
        ({"positions": HERE, "shapes": [SHAPES[0], 3]}, "body 'body2': shape must be a shape"),
        ({"positions": HERE, "shapes": SHAPES[0], "density": [1, -1]}, "body 'body2': density must be positive"),
        ({"positions": HERE, "shapes": SHAPES[0], "material": [None, 3]}, "body 'body2': material must be a Material"),
        ({"positions": HERE, "shapes": SHAPES[0], "kind": "dynamik"}, "kind must be one of"),
    ],
)
def test_bad_arrays_are_told_and_change_nothing(arrays, words):
    scene = mc.Scene()
    scene.add_body("there", shape=SHAPES[0])
    before = scene.to_dict()
    with pytest.raises(mc.SceneError, match=words):
        scene.add_bodies(**arrays)
    assert scene.to_dict() == before and list(scene._body_of) == ["there"]
    world = mc.World(scene)
    before = world.state_hash()
    with pytest.raises(mc.SceneError):
        world.add_bodies(**arrays)
    assert world.state_hash() == before and len(world.bodies) == 1


def test_wrong_names_are_answered():
    with pytest.raises(TypeError, match="did you mean 'density'"):
        mc.Scene().add_bodies(positions=HERE, densty=3)
    with pytest.raises(mc.SceneError, match="descriptions or arrays, not both"):
        mc.World(mc.Scene()).add_bodies([{"shape": SHAPES[0]}], positions=HERE)
