"""System models as JSON data: the scene and the choices that the model is made from, and the model itself, written out.

Reading makes the model anew from scene and choices, and refuses a file whose written-out model is another one.
"""

from __future__ import annotations

import json
import math
from os import PathLike
from typing import TYPE_CHECKING, Any

from mcsim.core.errors import SceneError
from mcsim.core.files import path_name, read_json, written_whole
from mcsim.reduced.kinds import BALLS
from mcsim.scene import Scene

if TYPE_CHECKING:
    from mcsim.reduced.system import Link, Loop, System

VERSION = 1
WHAT = "file of a system model"
SAME = 1e-9                     # relative difference up to which two numbers of a model are the same
FIELDS = ("version", "scene", "tree", "roots", "ball", "nq", "nv", "links", "loops", "couplings")
MODEL = ("nq", "nv", "links", "loops", "couplings")


def system_to_dict(system: System) -> dict[str, Any]:
    """The model as JSON data. tree, roots, ball, models: what System takes to make it again; the rest is for other
    readers. Joint models of the user's own are functions, which no data hold: SceneError."""
    for name in system.own_models():
        raise SceneError(f"joint {name!r} has a JointModel of your own, a function, which no file holds: write the system "
                         "without models= and give them anew when it is read")
    hows = {kind: how for how, kind in BALLS.items()}
    placed: list[Any] = [*system.links, *system.loops]
    return {
        "version": VERSION,
        "scene": system.scene.to_dict(),
        "tree": [link.joint.name for link in system.links if link.joint is not None],
        "roots": [link.body for link in system.links if link.joint is None],
        "ball": {part.joint.name: hows[part.kind] for part in placed if part.kind in hows},
        **({"models": dict(system._models)} if system._models else {}),
        "nq": system.nq, "nv": system.nv,
        "links": [_link_to_dict(link) for link in system.links],
        "loops": [_loop_to_dict(loop) for loop in system.loops],
        "couplings": [joint.name for joint in system.couplings],
    }


def _link_to_dict(link: Link) -> dict[str, Any]:
    return {
        "number": link.number, "body": link.body, "parent": link.parent,
        "joint": None if link.joint is None else link.joint.name, "kind": link.kind, "reversed": link.reversed,
        "prescribed": link.prescribed, "q": [link.q.start, link.q.stop], "v": [link.v.start, link.v.stop],
        "place": link.place.tolist(), "turn": link.turn.tolist(), "constant": link.constant, "mass": link.mass,
        "com": link.com.tolist(), "inertia": link.inertia.tolist(), "frame": [part.tolist() for part in link.frame],
    }


def _loop_to_dict(loop: Loop) -> dict[str, Any]:
    return {
        "joint": loop.joint.name, "kind": loop.kind, "predecessor": loop.predecessor, "successor": loop.successor,
        "predecessor_frame": [part.tolist() for part in loop.predecessor_frame],
        "successor_frame": [part.tolist() for part in loop.successor_frame], "constant": loop.constant,
    }


def system_from_dict(data: Any, name: str = "system") -> System:
    """The model that JSON data describes. name: of the data in messages."""
    from mcsim.reduced.system import System

    if not isinstance(data, dict) or any(field not in data for field in FIELDS):
        missing = [field for field in FIELDS if not isinstance(data, dict) or field not in data]
        raise SceneError(f"{name}: not a system model: {missing[0]} is missing; write it by System.save")
    if data["version"] != VERSION:
        raise SceneError(f"{name}: version must be {VERSION}, got {data['version']!r}")
    try:
        system = System(Scene.from_dict(data["scene"]), tree=data["tree"], roots=data["roots"], ball=data["ball"],
                        models=data.get("models"))
    except SceneError as error:
        raise SceneError(f"{name}: {error}") from None
    made = system_to_dict(system)
    for field in MODEL:
        place = _difference(made[field], data[field], field)
        if place is not None:
            raise SceneError(f"{name}: {place} is not what the scene gives; change the scene in the file, not what "
                             "follows from it")
    return system


def save_system(system: System, path: str | PathLike[str]) -> None:
    """Write a model to a JSON file, one line for each link and loop."""
    parts = []
    for key, value in system_to_dict(system).items():
        if key in ("links", "loops") and value:
            lines = ",\n    ".join(json.dumps(item, ensure_ascii=False) for item in value)
            parts.append(f"{json.dumps(key)}: [\n    {lines}\n  ]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    with written_whole(path, WHAT) as file:
        file.write(("{\n  " + ",\n  ".join(parts) + "\n}\n").encode())


def load_system(path: str | PathLike[str]) -> System:
    """The model of a JSON file. FileNotFoundError if there is none, SceneError if it is wrong."""
    return system_from_dict(read_json(path, WHAT), path_name(path, WHAT))


def _difference(made: Any, given: Any, place: str) -> str | None:
    """Where two pieces of JSON data differ; None if they do not."""
    if isinstance(made, dict) and isinstance(given, dict) and made.keys() == given.keys():
        pairs = [(f"{place}.{key}", made[key], given[key]) for key in made]
    elif isinstance(made, list) and isinstance(given, list) and len(made) == len(given):
        pairs = [(f"{place}[{i}]", *both) for i, both in enumerate(zip(made, given))]
    elif isinstance(made, float) and isinstance(given, (int, float)) and not isinstance(given, bool):
        near = abs(given) < 1e300 and math.isclose(made, given, rel_tol=SAME, abs_tol=SAME)   # a whole number may be more
        return None if near else place
    else:
        return None if type(made) is type(given) and made == given else place
    return next(filter(None, (_difference(a, b, where) for where, a, b in pairs)), None)
