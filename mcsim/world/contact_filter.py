"""The user's function of which bodies meet, as the step asks it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.scene import Body, Scene
from mcsim.scene.checks import show

ContactFilter = Callable[[Body, Body], bool]


def filter_calls(function: ContactFilter | None, scene: Scene) -> Callable[[int, int], bool] | None:
    """-> function(number of a body, of another): what the user's says of the two, checked; None if there is none."""
    if function is None:
        return None
    bodies, asked = scene.bodies, function

    def meets(a: int, b: int) -> bool:
        said = asked(bodies[a], bodies[b])
        if not isinstance(said, (bool, np.bool_)):
            names = f"{bodies[a].name!r} and {bodies[b].name!r}"
            raise SceneError(f"World.contact_filter: of {names} it must return True or False, got {show(said)}")
        return bool(said)

    return meets
