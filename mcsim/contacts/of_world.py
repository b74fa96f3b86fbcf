"""The equations of the contacts of a World or ReducedWorld, at its present state."""

from __future__ import annotations

from typing import Any

import numpy as np

from mcsim.contacts.equations import STILL, Equations
from mcsim.contacts.geometry import touching as touching_contacts
from mcsim.core.errors import SceneError
from mcsim.reduced.dynamics import given_velocities
from mcsim.scene.checks import not_negative
from mcsim.world import ReducedWorld, World

TOUCHING = 1e-4  # [m] gaps up to which contacts touch


def equations(world: World, *, touching: float = TOUCHING, still: float = STILL) -> Equations:
    """The equations of all contacts of a world at its present state: see Equations for H, f, T, drift, K, k, M and d.

        zeta' = M lambda + d,   M = T' H^-1 T,   d = T' H^-1 f + drift                       (11.20), (11.34)

    world: a World, whose n velocities are the twists [v; w] of its dynamic bodies, joints being rows K; or a
        ReducedWorld, whose are the velocities qd of the tree that are not given, loops being rows K.
    touching [m]: gaps up to which contacts touch; bodies that a World has stacked overlap by some micrometres.
    still [m/s]: slower than this a gap is at rest.

    f: gravity, forces and tau, springs, damping, and what position motors give without contacts, less the velocity terms.
    Limits, joint friction, velocity motors and joints' stabilization are left out, and what moves by a prescribed motion
    goes on at its velocity; belts (surface_velocity) count as still. Contacts are those that a step would find; points,
    normals and drift are those of the features that meet (docs/theory/contact_normal.md), whatever the world's `contact`
    is. A face on a face has a contact for each corner, so forces are often not unique. All matrices
    are dense: for some hundreds of contacts.

    Source: R. Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 11.2 and 11.3."""
    if not isinstance(world, World):
        raise SceneError(
            f"contacts.equations: the first argument must be a World or a ReducedWorld, got {type(world).__name__}; of "
            "arrays contacts.Equations(H, f, T) makes one"
        )
    found = touching_contacts(world, not_negative(touching, "touching"))
    kkt = world.kkt()
    n = 6 * kkt.body_count
    mass, force = kkt.matrix[:n, :n].toarray(), kkt.rhs[:n]
    drift = found.drift
    if isinstance(world, ReducedWorld):
        system = _of_tree(world, mass, force, found.R)
        drift = drift + found.R @ system.pop("still_accelerations")
    else:
        system = _of_bodies(world, mass, force, kkt.matrix[n:, :n].toarray(), kkt.rhs[n:], found.R)
    places, columns = system.pop("places"), system.pop("columns")
    normal = np.arange(len(found.gap)) * 3
    tangent = np.setdiff1d(np.arange(3 * len(found.gap)), normal)
    made = Equations(
        T=columns[:, normal],
        drift=drift[normal],
        zeta=found.rates[normal],
        gap=found.gap,
        restitution=found.restitution,
        friction=found.friction,
        tangents=columns[:, tangent],
        tangent_drift=drift[tangent],
        slip=found.rates[tangent].reshape(-1, 2),
        still=still,
        **system,
    )
    made.bodies, made.points, made.normals = found.bodies, found.points, found.axes[:, 0]
    made.names = [(world.body_names[a], world.body_names[b]) for a, b in found.bodies.tolist()]
    made.places = places
    return made


def _of_bodies(
    world: World, mass: np.ndarray, force: np.ndarray, K: np.ndarray, k: np.ndarray, R: np.ndarray
) -> dict[str, Any]:
    """Of the twists of the dynamic bodies."""
    dynamic = [body.kind == "dynamic" for body in world.scene.bodies]
    places = np.flatnonzero(np.repeat(dynamic, 6))
    velocities = np.concatenate([world.velocities, world.angular_velocities], axis=1).ravel()
    return {
        "H": mass[np.ix_(places, places)],
        "f": force[places],
        "K": K[:, places],
        "k": k,
        "v": velocities[places],
        "columns": R[:, places].T,
        "places": places,
    }


def _of_tree(world: ReducedWorld, mass: np.ndarray, force: np.ndarray, R: np.ndarray) -> dict[str, Any]:
    """Of the velocities of the tree that are not given: the bodies' equations along G, a = G qdd + still_accelerations."""
    q, qd, dynamics = world.q, world.qd, world.dynamics
    places = np.flatnonzero(~given_velocities(world.system, None))
    G = np.array([dynamics.body_jacobian(name, q) for name in world.body_names]).reshape(len(mass), len(qd))[:, places]
    rest = np.concatenate(dynamics.accelerations(q, qd, np.zeros(len(qd))), axis=1).ravel()
    K, k = _loops(world)
    return {
        "H": dynamics.mass_matrix(q)[np.ix_(places, places)],
        "f": G.T @ (force - mass @ rest),
        "K": K @ G,
        "k": k - K @ rest,
        "v": qd[places],
        "columns": (R @ G).T,
        "places": places,
        "still_accelerations": rest,
    }


def _loops(world: ReducedWorld) -> tuple[np.ndarray, np.ndarray]:
    """K and k, over the accelerations of all bodies, of the joints that the tree does not have."""
    tree = {link.joint.name for link in world.system.links if link.joint is not None}
    n = 6 * len(world.body_names)
    if all(joint.name in tree for joint in world.scene.joints):
        return np.zeros((0, n)), np.zeros(0)
    maximal = world.maximal()
    rows = maximal.rows
    joints = rows["source"][rows["kind"] == "joint"]
    kept = np.array([maximal.scene.joints[i].name not in tree for i in joints.tolist()], bool)
    kkt = maximal.kkt()
    return kkt.matrix[n:, :n].toarray()[kept], kkt.rhs[n:][kept]
