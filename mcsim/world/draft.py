"""The scene that a world is to have, told by what becomes of its bodies: made where somebody needs it whole."""

from __future__ import annotations  # signatures read as they are written here

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mcsim.scene import Body, Joint, Scene
from mcsim.scene.pair_materials import PairMaterial
from mcsim.state._closing_up import Rows
from mcsim.world.protocols import There

# Without a lock of the interpreter nobody can tell whether another thread looks at something.
LOCKED: bool = getattr(sys, "_is_gil_enabled", lambda: True)()

Deed = tuple[Callable[..., Any], tuple[Any, ...]]


class Drafted(Sequence[Body]):
    """The bodies of a draft, of which those that come or are others are asked for."""

    def __init__(self, rows: Rows, fresh: Sequence[Body]) -> None:
        self._count, self._fresh = rows.count, dict(zip(rows.fresh.tolist(), fresh))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        return self._fresh[number]


class Draft:
    """Of a scene whose joints stay. rows: Rows of its bodies; fresh: those that come, or come in the place of others."""

    def __init__(self, scene: Scene, rows: Rows, fresh: Sequence[Body]) -> None:
        self._scene, self._rows, self._fresh = scene, rows, fresh
        self.bodies = Drafted(rows, fresh)
        self.joints: list[Joint] = scene.joints
        self.ignored_pairs: list[tuple[str, str]] = scene.ignored_pairs
        self.pair_materials: list[PairMaterial] = scene.pair_materials
        self.gravity: np.ndarray = scene.gravity

    def scene(self) -> Scene:
        """The scene, one of its own."""
        rows = self._rows
        if rows.count < rows.old:
            return self._scene._without_numbers(rows.gone, ())
        scene = self._scene.sharing_parts()
        for i, body in zip(rows.fresh.tolist(), self._fresh):
            scene.bodies[i : i + 1] = [body]
            scene._body_of[body.name] = body
        return scene

    def deeds(self, there: There) -> list[Deed] | None:
        """What is to be done to the lists and dicts of this scene, and to `body_index`, where nobody else has them; None
        where bodies get other numbers, or where who has them is not known."""
        rows, bodies, body_of, index = self._rows, there.scene.bodies, there.scene._body_of, there.body_index
        if rows.moves or not LOCKED:
            return None
        deeds: list[Deed] = []
        for body in bodies[rows.count :]:
            deeds += [(bodies.pop, ()), (body_of.pop, (body.name,)), (index.pop, (body.name,))]
        for i, body in zip(rows.fresh.tolist(), self._fresh):
            place = (bodies.append, (body,)) if i >= rows.old else (bodies.__setitem__, (i, body))
            deeds += [place, (body_of.__setitem__, (body.name, body)), (index.__setitem__, (body.name, i))]
        return deeds
