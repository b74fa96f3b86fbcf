"""Scenes in other units: the same things, told in lengths × L, masses × M and times × T."""

import mcsim as mc

# field of a body, shape, joint or drive -> its powers of (length, mass, time)
POWERS = {
    "position": (1, 0, 0),
    "velocity": (1, 0, -1),
    "angular_velocity": (0, 0, -1),
    "density": (-3, 1, 0),
    "mass": (0, 1, 0),
    "inertia": (2, 1, 0),
    "center_of_mass": (1, 0, 0),
    "linear_damping": (0, 0, -1),
    "angular_damping": (0, 0, -1),
    "radius": (1, 0, 0),
    "half_extents": (1, 0, 0),
    "half_length": (1, 0, 0),
    "offset": (1, 0, 0),
    "points": (1, 0, 0),
    "vertices": (1, 0, 0),
    "heights": (1, 0, 0),
    "spacing": (1, 0, 0),
    "gravity": (1, 0, -2),
    "anchor": (1, 0, 0),
    "anchor_a": (1, 0, 0),
    "anchor_b": (1, 0, 0),
    "length": (1, 0, 0),
    "rolling_friction": (1, 0, 0),
    "torsional_friction": (1, 0, 0),
    "surface_velocity": (1, 0, -1),
    "pitch": (1, 0, 0),
}
# ... of joints that are measured in radians, and of those that are measured in metres
TURNING = {
    "friction": (2, 1, -2),
    "max_force": (2, 1, -2),
    "stiffness": (2, 1, -2),
    "damping": (2, 1, -1),
    "velocity": (0, 0, -1),
    "hertz": (0, 0, -1),
}
SLIDING = {
    "friction": (1, 1, -2),
    "max_force": (1, 1, -2),
    "stiffness": (0, 1, -2),
    "damping": (0, 1, -1),
    "velocity": (1, 0, -1),
    "hertz": (0, 0, -1),
    "limits": (1, 0, 0),
    "position": (1, 0, 0),
    "rest": (1, 0, 0),
}


def _scaled(value, factor):
    if isinstance(value, (list, tuple)):
        return [_scaled(v, factor) for v in value]
    return None if value is None else value * factor


def _walk(fields, powers, units):
    for key, value in fields.items():
        if isinstance(value, dict):
            _walk(value, powers, units)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for item in value:
                _walk(item, powers, units)
        elif key in powers:
            factor = 1.0
            for unit, power in zip(units, powers[key], strict=True):
                factor *= unit**power
            fields[key] = _scaled(value, factor)


def in_units(scene, length=1.0, mass=1.0, time=1.0):
    """The scene, told in units that are so many times smaller."""
    data, units = scene.to_dict(), (length, mass, time)
    for body in data["bodies"]:  # 1000 kg/m³ if nothing is said
        if body.get("kind", "dynamic") == "dynamic" and "mass" not in body:
            body.setdefault("density", 1000.0)
    data.setdefault("gravity", [0.0, 0.0, -9.81])
    joints = data.pop("joints", [])
    _walk(data, POWERS, units)
    for joint in joints:
        _walk(joint, POWERS | (SLIDING if joint["type"] in ("slider", "distance") else TURNING), units)
    return mc.Scene.from_dict({**data, "joints": joints} if joints else data)
