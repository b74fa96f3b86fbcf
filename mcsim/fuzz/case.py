"""A case: a scene, a world of it, and calls on that world; all of it lines, all of it data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mcsim.fuzz.parts import body, chance, joint, numbers, one_of, world
from mcsim.fuzz.words import Call, Value, made

# What the second world does beside the same calls: nothing, read everything, be copied, forget all but its record before
# each step, share its work among threads.
TWINS = ("same", "looks", "copies", "forgets", "threads")


@dataclass(frozen=True)
class Case:
    """scene: lines that describe one; make: the line that makes the world; calls: lines that follow; twin: of TWINS."""

    seed: int
    scene: tuple[Call, ...]
    make: Call
    calls: tuple[Call, ...] = ()
    twin: str = "same"

    def data(self) -> dict[str, Any]:
        """What JSON takes."""
        return {
            "seed": self.seed,
            "scene": [call.data() for call in self.scene],
            "make": self.make.data(),
            "calls": [call.data() for call in self.calls],
            "twin": self.twin,
        }

    @classmethod
    def of(cls, data: dict[str, Any]) -> Case:
        """From `data()`."""
        scene, calls = (tuple(map(Call.of, data[name])) for name in ("scene", "calls"))
        return cls(data["seed"], scene, Call.of(data["make"]), calls, data["twin"])

    def with_calls(self, calls: tuple[Call, ...]) -> Case:
        """The same with other calls."""
        return replace(self, calls=calls)


def drawn_case(seed: int) -> tuple[Case, np.random.Generator]:
    """-> a case without calls yet, and the generator to draw them from."""
    rng = np.random.default_rng(seed)
    isolated = chance(rng, 0.15)
    lines = [_scene_line(rng, isolated)]
    names = []
    if not isolated:
        floor: Value = one_of(rng, [made("mc.Plane", [0.0, 0.0, 1.0]), made("mc.Box", [4.0, 4.0, 0.2])])
        place: dict[str, Value] = {"position": [0.0, 0.0, -0.2]} if floor["call"] == "mc.Box" else {}
        keywords = {"name": "floor", "kind": "static", "shape": floor, **place, "material": made("mc.Material", 0.6)}
        keywords["material"]["kw"] = {"stiffness": 1e5, "damping": 100.0}
        lines.append(Call("scene.add_body", "scene.add_body(*)", (), keywords))
        names.append("floor")
    bodies = []
    for i in range(int(rng.integers(1, 7))):
        new = body(rng, f"b{i}")
        if isolated:
            new |= {"kind": "dynamic", "shape": made("mc.Box", [0.1, 0.15, 0.2])}
            new.pop("linear_damping", None), new.pop("angular_damping", None), new.pop("gravity_scale", None)
        bodies.append(new)
        names.append(new["name"])
        lines.append(Call("scene.add_body", "scene.add_body(*)", (), new))
    joints: list[str] = []
    for i in range(int(rng.integers(0, len(bodies) + 1))):
        b = one_of(rng, bodies)
        a = one_of(rng, names if isolated else [None, *names])
        anchor = [float(x) for x in np.round(np.add(b["position"], numbers(rng, 3, 0.2)), 3)]
        lines.append(Call("scene.add_joint", "scene.add_joint(*)", (joint(rng, a, b["name"], anchor, f"j{i}", joints),)))
        joints.append(f"j{i}")
    return Case(seed, tuple(lines), world(rng), (), one_of(rng, TWINS)), rng


def _scene_line(rng: np.random.Generator, isolated: bool) -> Call:
    if isolated:
        gravity = [0.0, 0.0, 0.0]
    else:
        gravity = one_of(rng, [[0.0, 0.0, -9.81]] * 5 + [[0.0, 0.0, 0.0], [3.0, 0.0, -5.0]])
    return Call("scene", "scene = mc.Scene(*)", (), {"gravity": gravity})
