"""Dynamics: the algorithms over the tree of a System."""

from __future__ import annotations

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.rotation import IDENTITY, compose
from mcsim.reduced import _dynamics
from mcsim.reduced.kinds import KINDS
from mcsim.reduced.system import System
from mcsim.scene import Body
from mcsim.scene.checks import FieldError, count, listing, show, suggestion, vector

MOST_THREADS = 64

# A link as kernels know it: the record Link of _links.pxd.
LINK_DTYPE = np.dtype([
    ("parent", "i4"), ("kind", "i4"), ("reversed", "i4"), ("q", "i4"), ("v", "i4"), ("freedoms", "i4"), ("body", "i4"),
    ("user", "i4"), ("given", "i4"), ("prescribed", "i4"), ("turn", "f8", (3, 3)), ("place", "f8", 3), ("constant", "f8"), ("mass", "f8"), ("com", "f8", 3),
    ("inertia", "f8", 6), ("weight", "f8", 3)], align=True)


class Dynamics(_dynamics.Dynamics):
    """Forward and inverse dynamics, mass matrix and bias force of a System, of one state or of many in one call.

    system: the System. gravity (3,) [m/s²], the scene's by default; each body's gravity_scale counts.
    threads: among which calls for many states are shared out. Results do not depend on it.

    Coordinates q (nq,), velocities qd (nv,) and accelerations qdd (nv,) are those of the system (`system.index`). A
    Dynamics belongs to one thread at a time.
    """

    def __init__(self, system: System, gravity=None, threads: int = 1):
        self.system = system
        gravity = np.array(vector(system.scene.gravity if gravity is None else gravity, "gravity"))
        bodies = system.scene.bodies
        frames = [compose((b.position, b.orientation), (b.center_of_mass, IDENTITY[1])) for b in bodies]
        try:
            threads = count(threads, "threads", 1, MOST_THREADS)
        except FieldError as error:
            raise SceneError(f"Dynamics: {error}") from None
        names = [f"body {link.body!r}" if link.joint is None else f"joint {link.joint.name!r}" for link in system.links]
        super().__init__(link_records(system, gravity), system.nq, system.nv, link_turns(system),
                         np.array([p for p, _ in frames]).reshape(-1, 3),
                         np.array([q for _, q in frames]).reshape(-1, 4), names, (), threads)

    def body_jacobian(self, body: Body | str, q) -> np.ndarray:
        """(6, nv): takes qd to the body's twist [v; w] of its centre of mass, in world axes, as World has it; (n, 6, nv)
        for q (n, nq). It is 0 for a static body."""
        name = getattr(body, "name", body)
        if not isinstance(name, str) or name not in self.system.link_of:
            raise SceneError(f"there is no body {show(name)}{suggestion(name, self.system.link_of) if isinstance(name, str) else ''}; there are: "
                             f"{listing(list(self.system.link_of))}")
        return self._jacobian(self.system.link_of[name], q)


def as_state(value, name: str, size: int) -> np.ndarray:
    """(size,) finite numbers, from whatever a caller gives as q, qd or tau."""
    array = _dynamics.as_doubles(value, name)
    if array.shape != (size,):
        raise SceneError(f"{name} must be ({size},), got {array.shape}")
    if not np.isfinite(array).all():
        raise SceneError(f"{name} has values that are not finite")
    return array


def link_turns(system: System) -> np.ndarray:
    """(links, 3, 3): the axes of each link's body, in the link's."""
    return np.array([link.frame[1] for link in system.links]).reshape(-1, 3, 3)


def link_records(system: System, gravity: np.ndarray) -> np.ndarray:
    """(links,) LINK_DTYPE"""
    records = np.zeros(len(system.links), LINK_DTYPE)
    for record, link in zip(records, system.links):
        record["parent"], record["kind"], record["reversed"] = link.parent, KINDS[link.kind].number, link.reversed
        record["q"], record["v"] = link.q.start, link.v.start
        record["freedoms"] = link.v.stop - link.v.start
        record["body"], record["user"] = link.body_number, -1
        record["given"] = record["prescribed"] = link.prescribed
        record["turn"], record["place"], record["constant"] = link.turn.T, link.place, link.constant
        record["mass"], record["com"] = link.mass, link.com
        record["inertia"] = link.inertia[np.triu_indices(3)]
        record["weight"] = gravity * system.scene.bodies[link.body_number].gravity_scale
    return records
