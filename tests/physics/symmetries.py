"""The same scene told otherwise: in a mirror, its bodies and joints in another order, joints with their two bodies swapped.

All take and give what `Scene.to_dict` gives, with a name for every body."""

import copy

import numpy as np

import mcsim as mc


def named(scene):
    """As a dict in which every body has a name, which other orders leave it."""
    data = scene.to_dict()
    for i, body in enumerate(data["bodies"]):
        body.setdefault("name", f"body{i}")
    return data


# ---- a mirror in the plane y = 0: vectors with a place, and axes of turning --------------------------------------------


def place(v):
    return [v[0], -v[1], v[2]]


def axis(v):
    return [-v[0], v[1], -v[2]]


def orientation(q):
    return [q[0], -q[1], q[2], -q[3]]


def _mirror(fields, **ways):
    for key, way in ways.items():
        if fields.get(key) is not None:
            fields[key] = way(fields[key])


def _mirror_shape(shape):
    _mirror(
        shape,
        position=place,
        normal=place,
        orientation=orientation,
        points=lambda points: [place(p) for p in points],
        vertices=lambda points: [place(p) for p in points],
        triangles=lambda faces: [[a, c, b] for a, b, c in faces],
        heights=lambda rows: [row[::-1] for row in rows],
    )


def mirrored(data):
    """Joints keep their coordinates: what they turn about goes as an axis, what they slide along as a place."""
    data = copy.deepcopy(data)
    _mirror(data, gravity=place)
    for body in data["bodies"]:
        _mirror(body, position=place, velocity=place, center_of_mass=place, orientation=orientation, angular_velocity=axis)
        for shape in body.get("shapes", []):
            _mirror_shape(shape)
    for joint in data.get("joints", []):
        if joint["type"] == "ball":
            joint.setdefault("axis", [0.0, 0.0, 1.0])
        _mirror(
            joint,
            anchor=place,
            anchor_a=place,
            anchor_b=place,
            axis_a=axis,
            axis_b=axis,
            normal=place,
            axis=place if joint["type"] in ("slider", "slot") else axis,
        )
    return data


# ---- orders ------------------------------------------------------------------------------------------------------------


def reordered(data, rng, bodies=True, joints=True):
    """Gears last, for they name other joints."""
    data = dict(data)
    if bodies:
        data["bodies"] = [data["bodies"][i] for i in rng.permutation(len(data["bodies"]))]
    if joints and data.get("joints"):
        others = [joint for joint in data["joints"] if joint["type"] != "gear"]
        data["joints"] = [others[i] for i in rng.permutation(len(others))] + [
            joint for joint in data["joints"] if joint["type"] == "gear"
        ]
    return data


def swapped(data):
    """Every other joint with its two bodies the other way round: along the opposite axis coordinates are the same."""
    data = copy.deepcopy(data)
    for joint in data.get("joints", [])[::2]:
        if joint["type"] == "gear":
            continue
        joint["a"], joint["b"] = joint.get("b"), joint.get("a")
        if joint["type"] == "ball":
            joint.setdefault("axis", [0.0, 0.0, 1.0])
        if joint["type"] in ("distance", "universal"):
            for key in ("anchor", "axis"):
                a, b = f"{key}_a", f"{key}_b"
                if a in joint:
                    joint[a], joint[b] = joint[b], joint[a]
        for key in ("limits", "motor", "spring", "friction") if joint["type"] == "universal" else ():
            if isinstance(joint.get(key), list):
                joint[key] = joint[key][::-1]
        _mirror(joint, **dict.fromkeys(("axis", "axis_a", "axis_b", "normal"), lambda v: [-x for x in v]))
    return data


def places(data, World, steps, **keywords):
    """{name: position} after the steps."""
    world = World(mc.Scene.from_dict(data), **({"dt": 1 / 60} | keywords))
    world.step(steps)
    return dict(zip(world.body_names, world.positions.copy(), strict=True))


def apart(first, second, mirror=False):
    """The largest distance along an axis between where bodies are [m]"""
    return max(np.abs(first[name] - (place(second[name]) if mirror else second[name])).max() for name in first)
