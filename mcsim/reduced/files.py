"""System models as JSON data: the scene and the choices that the model is made from, and the model itself, written out.

Reading makes the model anew from scene and choices, and refuses a file whose written-out model is another one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.reduced.kinds import BALLS
from mcsim.reduced.links import Link, Loop
from mcsim.scene import Joint, Scene

VERSION = 1
WHAT = "file of a system model"
SAME = 1e-9  # relative difference up to which two numbers of a model are the same
FIELDS = ("version", "scene", "tree", "roots", "ball", "nq", "nv", "links", "loops", "couplings")
MODEL = ("nq", "nv", "links", "loops", "couplings")


def model_to_dict(
    scene: Scene, models: Mapping[str, Any], links: Sequence[Link], loops: Sequence[Loop], couplings: Sequence[Joint]
) -> dict[str, Any]:
    """The model as JSON data. scene, tree, roots, ball, models: what System takes to make it again; the rest is for other
    readers."""
    hows = {kind: how for how, kind in BALLS.items()}
    placed: list[Any] = [*links, *loops]
    return {
        "version": VERSION,
        "scene": scene.to_dict(),
        "tree": [link.joint.name for link in links if link.joint is not None],
        "roots": [link.body for link in links if link.joint is None],
        "ball": {part.joint.name: hows[part.kind] for part in placed if part.kind in hows},
        **({"models": dict(models)} if models else {}),
        "nq": links[-1].q.stop if links else 0,
        "nv": links[-1].v.stop if links else 0,
        "links": [_link_to_dict(link) for link in links],
        "loops": [_loop_to_dict(loop) for loop in loops],
        "couplings": [joint.name for joint in couplings],
    }


def _link_to_dict(link: Link) -> dict[str, Any]:
    return {
        "number": link.number,
        "body": link.body,
        "parent": link.parent,
        "joint": None if link.joint is None else link.joint.name,
        "kind": link.kind,
        "reversed": link.reversed,
        "prescribed": link.prescribed,
        "q": [link.q.start, link.q.stop],
        "v": [link.v.start, link.v.stop],
        "place": link.place.tolist(),
        "turn": link.turn.tolist(),
        "constant": link.constant,
        "mass": link.mass,
        "com": link.com.tolist(),
        "inertia": link.inertia.tolist(),
        "frame": [part.tolist() for part in link.frame],
    }


def _loop_to_dict(loop: Loop) -> dict[str, Any]:
    return {
        "joint": loop.joint.name,
        "kind": loop.kind,
        "predecessor": loop.predecessor,
        "successor": loop.successor,
        "predecessor_frame": [part.tolist() for part in loop.predecessor_frame],
        "successor_frame": [part.tolist() for part in loop.successor_frame],
        "constant": loop.constant,
    }


def check_fields(data: Any, name: str) -> None:
    """Whether JSON data can be that of a model. name: of the data in messages."""
    if not isinstance(data, dict) or any(field not in data for field in FIELDS):
        missing = [field for field in FIELDS if not isinstance(data, dict) or field not in data]
        raise SceneError(f"{name}: not a system model: {missing[0]} is missing; write it by System.save")
    if data["version"] != VERSION:
        raise SceneError(f"{name}: version must be {VERSION}, got {data['version']!r}")


def check_same(made: dict[str, Any], data: dict[str, Any], name: str) -> None:
    """Whether the model that was made from the scene and choices of JSON data is the one that is written out there."""
    for field in MODEL:
        place = _difference(made[field], data[field], field)
        if place is not None:
            raise SceneError(
                f"{name}: {place} is not what the scene gives; change the scene in the file, not what follows from it"
            )


def _difference(made: Any, given: Any, place: str) -> str | None:
    """Where two pieces of JSON data differ; None if they do not."""
    if isinstance(made, dict) and isinstance(given, dict) and made.keys() == given.keys():
        pairs = [(f"{place}.{key}", made[key], given[key]) for key in made]
    elif isinstance(made, list) and isinstance(given, list) and len(made) == len(given):
        pairs = [(f"{place}[{i}]", *both) for i, both in enumerate(zip(made, given))]
    elif isinstance(made, float) and isinstance(given, (int, float)) and not isinstance(given, bool):
        near = abs(given) < 1e300 and math.isclose(made, given, rel_tol=SAME, abs_tol=SAME)  # a whole number may be more
        return None if near else place
    else:
        return None if type(made) is type(given) and made == given else place
    return next(filter(None, (_difference(a, b, where) for where, a, b in pairs)), None)
