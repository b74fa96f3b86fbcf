"""Shapes, materials, bodies, joints and keywords of worlds, drawn at random as data (words.py)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from inspect import signature
from typing import Any

import numpy as np

from mcsim.core.linear import length
from mcsim.fuzz.words import Call, Value, expression, made
from mcsim.scene.joints import TYPES, Joint
from mcsim.scene.shapes import SHAPES

Rng = np.random.Generator

NAMES = ("ice", "rubber", "steel")  # of materials
OCTAHEDRON = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]
OF_OCTAHEDRON = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]]


@cache
def parameters(kind: Any) -> frozenset[str]:
    """The names of what a class is made with."""
    return frozenset(signature(kind).parameters)


def of(kind: Any, values: dict[str, Value], *args: Value, **more: Value) -> Value:
    """A shape or a joint of a registry, made with those of `values` that it takes."""
    given = {name: value for name, value in values.items() if name in parameters(kind)}
    return made(f"mc.{kind.__name__}", *args, **given, **more)


def short(value: float) -> float:
    """A number with few digits, to be read in a script."""
    return float(f"{value:.3g}")


def numbers(rng: Rng, n: int = 3, size: float = 1.0) -> list[float]:
    """n of them, normal."""
    return [short(size * x) for x in rng.normal(size=n)]


def within(rng: Rng, lower: Sequence[float], upper: Sequence[float]) -> list[float]:
    """A point between two corners."""
    return [short(x) for x in rng.uniform(lower, upper)]


def turn(rng: Rng) -> list[float]:
    """A unit quaternion, to all its digits."""
    q = rng.normal(size=4)
    return [float(x) for x in q / length(q)]


def chance(rng: Rng, part: float) -> bool:
    """True in this part of all cases."""
    return bool(rng.random() < part)


def one_of(rng: Rng, values: Sequence[Any]) -> Any:
    """One of them."""
    return values[int(rng.integers(len(values)))]


def material(rng: Rng) -> Value:
    """A material, of one in ten one-way."""
    more: dict[str, Value] = {}
    if chance(rng, 0.2):
        more |= {"rolling_friction": 0.01, "torsional_friction": 0.01}
    if chance(rng, 0.15):
        more["surface_velocity"] = numbers(rng)
    if chance(rng, 0.1):
        more["one_way"] = [0.0, 0.0, 1.0]
    if chance(rng, 0.3):
        more |= {"stiffness": one_of(rng, [1e4, 1e6]), "damping": 50.0}
    if chance(rng, 0.3):
        more["name"] = one_of(rng, NAMES)
    return made("mc.Material", short(rng.uniform(0, 1)), one_of(rng, [0.0, 0.0, 0.5, 1.0]), **more)


def shape(rng: Rng, solid: bool = True) -> Value:
    """A shape; sensors, planes, meshes and height fields only if it need not be solid."""
    size = [short(x) for x in rng.uniform(0.05, 0.3, 3)]
    place: dict[str, Value] = {}
    if chance(rng, 0.2):
        place = {"position": numbers(rng, 3, 0.1), "orientation": turn(rng)}
    if chance(rng, 0.15):
        place["material"] = material(rng)
    if not solid and chance(rng, 0.3):
        if chance(rng, 0.4):
            return of(
                one_of(rng, SOLIDS),
                {"radius": 0.5, "half_length": 0.3, "half_extents": [1.0, 1.0, 0.3]} | _hull(rng) | _of_radii(size),
                sensor=True,
            )
        heights = [[short(x) for x in row] for row in rng.uniform(0, 0.2, (3, 4))]
        values = {"normal": [0.0, 0.0, 1.0], "offset": -0.5, "heights": heights, "spacing": 0.7}
        return of(one_of(rng, SURFACES), values | {"vertices": OCTAHEDRON, "faces": OF_OCTAHEDRON})
    values = {"radius": size[0], "half_length": size[1], "half_extents": size} | _hull(rng) | _of_radii(size)
    if size[2] > 0.2:  # of two in five
        values["rounding"] = short(0.5 * (size[2] - 0.2) + 0.01 * size[0])
    found = of(one_of(rng, SOLIDS), values, **place)
    if chance(rng, 0.1):
        return [found, made("mc.Sphere", size[2], position=numbers(rng, 3, 0.1))]
    return found


def _of_radii(size: list[float]) -> dict[str, Value]:
    return {"radii": size, "bottom_radius": size[0], "top_radius": size[2]}


def _hull(rng: Rng) -> dict[str, Value]:
    return {"points": [numbers(rng, 3, 0.15) for _ in range(8)]}


# Solids have a density; surfaces have none.
_ALL: list[Any] = [*SHAPES.values()]
SOLIDS = [kind for kind in _ALL if "density" in parameters(kind)]
SURFACES = [kind for kind in _ALL if kind not in SOLIDS]


def body(rng: Rng, name: str) -> dict[str, Value]:
    """The keywords of a body."""
    kind = one_of(rng, ["dynamic"] * 6 + ["kinematic", "static"])
    found: dict[str, Value] = {
        "name": name,
        "kind": kind,
        "shape": shape(rng, kind == "dynamic"),
        "position": within(rng, (-1, -1, 0.3), (1, 1, 2)),
    }
    if chance(rng, 0.6):
        found["orientation"] = turn(rng)
    if chance(rng, 0.3):
        found["material"] = material(rng)
    if kind != "static" and chance(rng, 0.5):
        found |= {"velocity": numbers(rng), "angular_velocity": numbers(rng)}
    if chance(rng, 0.1):
        found |= {"linear_damping": 0.3, "angular_damping": 0.1}
    if chance(rng, 0.1):
        found["bullet"] = True
    if chance(rng, 0.1):
        found["gravity_scale"] = one_of(rng, [0.0, -1.0])
    if chance(rng, 0.1):
        found |= {"collision_group": 2, "collision_mask": one_of(rng, [-1, 1, 2])}
    return found


def motor(rng: Rng) -> Value:
    """A motor of one coordinate."""
    return one_of(
        rng,
        [
            made("mc.Motor", velocity=short(rng.uniform(-2, 2)), max_force=5.0),
            made("mc.Motor", position=short(rng.uniform(-1, 1)), max_force=50.0),
            made("mc.Motor", position=short(rng.uniform(-1, 1)), max_velocity=0.5),
            made("mc.Motor", velocity=1.0),
            made("mc.Motor", position=0.3, kp=50.0, kd=2.0),
        ],
    )


def drives(rng: Rng, n: int) -> dict[str, Value]:
    """limits, motor, spring, friction, motion: of one coordinate, or of each of n."""

    def each(draw: Any) -> Value:
        return draw() if n == 1 else [draw() if chance(rng, 0.5) else None for _ in range(n)]

    found: dict[str, Value] = {}
    if chance(rng, 0.05):
        name = one_of(rng, ["swing", "swing", "swing_that_fails", "swing_of_garbage"])
        given = one_of(rng, [{"amplitude": 0.2, "frequency": 1.0}, {"position": expression(f"callbacks.{name}")}])
        return {"motion": each(lambda: made("mc.Motion", **given))}
    if chance(rng, 0.3):
        found["limits"] = each(lambda: [short(-rng.uniform(0, 1)), short(rng.uniform(0, 1))])
    if chance(rng, 0.3):
        found["motor"] = each(lambda: motor(rng))
    if chance(rng, 0.2):
        found["spring"] = each(lambda: made("mc.Spring", 20.0, 1.0, acts=one_of(rng, ["both", "pull", "push"])))
    if chance(rng, 0.15):
        found["friction"] = 0.2
    return found


def joint(rng: Rng, a: str | None, b: str, anchor: list[float], name: str, joints: Sequence[str]) -> Value:
    """A joint of any type: what each takes is known by the names of its parameters."""
    axis, other, _ = np.eye(3)[rng.permutation(3)].tolist()
    kind = one_of(rng, KINDS)
    more: dict[str, Value] = {"name": name} | ({"collide": True} if chance(rng, 0.2) else {})
    if chance(rng, 0.15):
        more["break_force"] = one_of(rng, [1.0, 200.0])
    if {"joint_a", "joint_b"} <= parameters(kind):
        pair = [*joints, "none", "nor this"][:2] if len(joints) < 2 else [str(x) for x in rng.permutation(joints)[:2]]
        return of(kind, {"ratio": one_of(rng, [1.5, -1.0])}, *pair, name=name)
    if "residual" in parameters(kind):
        residual = one_of(rng, ["Apart", "Apart", "Apart", "Failing", "Garbled"])
        made_of = made(f"callbacks.{residual}", int(rng.integers(3)), short(rng.normal()))
        return of(kind, {"residual": made_of} | ({} if residual == "Apart" else {"size": 1}), a, b, name=name)
    driven = kind._driven_coordinates()
    if driven == 1 or driven > 1 and chance(rng, 0.5):
        more |= drives(rng, driven)
    far = [x + y for x, y in zip(anchor, one_of(rng, [[0.5, 0.0, 0.0], [0.0, 0.0, 0.4], [0.0, 0.0, 0.0]]))]
    values: dict[str, Value] = {"anchor": anchor, "anchor_a": anchor, "anchor_b": far}
    values |= {"axis": axis, "axis_a": axis, "axis_b": other, "normal": axis, "rack_axis": axis, "pinion_axis": other}
    values |= {"pitch": 0.1, "radius": 0.2}
    values |= {"translation": one_of(rng, ["", "x", "yz"]), "rotation": one_of(rng, ["xz", "xyz", "y"])}
    if chance(rng, 0.5):
        values |= {"swing_limit": 1.0, "twist_limits": [-0.5, 0.5]}
    return of(kind, values, a, b, **more)


# The first ones of the registry are what scenes are mostly made of.
KINDS: list[type[Joint]] = [*TYPES.values(), *list(TYPES.values())[:4]]

WORLD_OPTIONS: list[dict[str, Value]] = [
    {},
    {},
    {},
    {"joint_solver": "rows"},
    {"solver": "pgs"},
    {"solver": "pgs", "stabilization": "baumgarte"},
    {"stabilization": "projection"},
    {"stabilization": "ggl"},
    {"stabilization": "split_impulse"},
    {"stabilization": "none"},
    {"stabilization": "baumgarte"},
    {"integrator": "rk4"},
    {"integrator": "rk4", "stabilization": "soft"},
    {"integrator": "rattle"},
    {"integrator": "variational"},
    {"contact": "compliant"},
    {"contact": "compliant", "compliant_law": "hunt_crossley"},
    {"contact": "event"},
    {"contact": "event", "integrator": "euler"},
    {"friction": "pyramid"},
    {"friction_points": "point"},
    {"restitution_law": "newton"},
    {"restitution_law": "poisson"},
]
LABORATORY = ("admm", "newton", "ipm", "staggered", "nncg", "jacobi", "apgd", "bb", "lemke", "dantzig")
MORE_OPTIONS: list[dict[str, Value]] = [
    {"threads": 2},
    {"strict": True},
    {"sleep": False},
    {"sleep_time": 0.02, "sleep_speed": 5.0},
    {"substeps": 2},
    {"iterations": 2},
    {"stop": "residual"},
    {"hertz": 30.0},
    {"slop": 0.001},
    {"push_speed": 1.0},
    {"restitution_threshold": 0.0},
    {"speculative_distance": 0.1},
]


def world(rng: Rng) -> Call:
    """The line that makes a world; one in six of whatever keywords, which may not go together."""
    reduced = chance(rng, 0.4)
    options = [
        given for given in WORLD_OPTIONS if not reduced or given.get("stabilization") not in ("ggl", "split_impulse")
    ]
    options = [given for given in options if not reduced or given.get("integrator") not in ("rattle", "variational")]
    keywords = dict(one_of(rng, options))
    if chance(rng, 0.08):
        keywords = {"solver": one_of(rng, LABORATORY)}
    if chance(rng, 0.05):
        keywords = {"integrator": one_of(rng, ["reference", "radau", "bdf"])}
    if chance(rng, 0.4):
        keywords |= one_of(rng, MORE_OPTIONS)
    if chance(rng, 0.15):
        for _ in range(2):
            keywords |= one_of(rng, [*WORLD_OPTIONS, *MORE_OPTIONS])
    keywords["dt"] = one_of(rng, [1 / 64, 1 / 64, 1 / 128, 0.004])
    if reduced and chance(rng, 0.15):
        keywords["ball"] = "ypr"
    return Call("make", "w = mc.ReducedWorld(*)" if reduced else "w = mc.World(*)", (expression("scene"),), keywords)
