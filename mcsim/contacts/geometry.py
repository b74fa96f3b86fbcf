"""Where the bodies of a world touch, and how the points and normals of its contacts move as the bodies do.

    s = v_b + w_b × r_b - v_a - w_a × r_a,   r = p - x;      zeta = n . s
    d/dt (e . s) = e . (v_b' + w_b' × r_b - v_a' - w_a' × r_a) + e . (w_b × r_b' - w_a × r_a') + e' . s,    r' = p' - v

for the directions e = n, t1, t2 of a contact. The point p and the normal n go with the features that meet there, as a
step's contacts do (collide/_carrying.pxd, docs/theory/contact_normal.md): n with a face, with the line between the centres
of two roundings, with edges; p with the vertex, the rounding's centre, the crossing of the edges, the rim.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcsim.solve.problems.impacts import contact_axes
from mcsim.world import World

BETWEEN_A, BETWEEN_B, FACE_A, FACE_B, EDGES, RING_A, RING_B = range(1, 8)  # Turns of state/_contact_reference.pxd


class Motion(NamedTuple):
    """Positions and velocities of bodies: x, v, w (m, 3), world."""

    x: np.ndarray
    v: np.ndarray
    w: np.ndarray


class Touching(NamedTuple):
    """c contacts: bodies (c, 2), points (c, 3), axes (c, 3, 3) rows [n, t1, t2], gap, friction, restitution (c,).

    R (3c, 6m): rows over the bodies' twists [v; w], in threes; rates (3c,) = R twists; drift (3c,): what their rates are
    at accelerations of zero.
    """

    bodies: np.ndarray
    points: np.ndarray
    axes: np.ndarray
    gap: np.ndarray
    friction: np.ndarray
    restitution: np.ndarray
    R: np.ndarray
    rates: np.ndarray
    drift: np.ndarray


def touching(world: World, most: float) -> Touching:
    """Its contacts at the present poses whose gap is at most `most` [m]."""
    motion = Motion(world.positions, world.velocities, world.angular_velocities)
    with world._observing("contacts.equations"):
        found = world._manifolds_now()
    places = [
        (manifold, point)
        for manifold in found
        for point in manifold["points"][: manifold["point_count"]]
        if point["separation"] <= most
    ]
    count = len(places)
    out = Touching(
        np.array([(m["body_a"], m["body_b"]) for m, _ in places], np.intp).reshape(-1, 2),
        np.array([point["position"] for _, point in places]).reshape(-1, 3),
        np.array([contact_axes(m["normal"]) for m, _ in places]).reshape(-1, 3, 3),
        np.array([point["separation"] for _, point in places]),
        np.array([m["friction"] for m, _ in places]),
        np.array([m["restitution"] for m, _ in places]),
        np.zeros((3 * count, 6 * len(motion.x))),
        np.zeros(3 * count),
        np.zeros(3 * count),
    )
    for i, (manifold, point) in enumerate(places):
        _fill(out, i, manifold, point, motion)
    return out


def _fill(out: Touching, i: int, manifold: np.void, point: np.void, motion: Motion) -> None:
    """Rows, rates and drift of contact i."""
    a, b = out.bodies[i]
    axes, p = out.axes[i], out.points[i]
    n = axes[0]
    velocity, w = motion.v[[a, b]], motion.w[[a, b]]
    arms = p - motion.x[[a, b]]
    rows = slice(3 * i, 3 * i + 3)
    for body, sign, arm in ((a, -1.0, arms[0]), (b, 1.0, arms[1])):
        out.R[rows, 6 * body : 6 * body + 6] += sign * np.concatenate([axes, np.cross(arm, axes)], axis=1)
    apart = velocity + np.cross(w, arms)
    s = apart[1] - apart[0]
    turning, going = _way(manifold, point, axes, p, motion)
    speeds = np.cross(w, going - velocity)
    rates = np.stack([turning, -(turning @ axes[1]) * n, -(turning @ axes[2]) * n])  # tangents go by the shortest turn
    out.rates[rows] = axes @ s
    out.drift[rows] = axes @ (speeds[1] - speeds[0]) + rates @ s


def _way(
    manifold: np.void, point: np.void, axes: np.ndarray, p: np.ndarray, motion: Motion
) -> tuple[np.ndarray, np.ndarray]:
    """n' and p' of a contact."""
    n, turns = axes[0], int(manifold["turns"])
    bodies = manifold["body_a"], manifold["body_b"]
    w_a, w_b = (motion.w[body] for body in bodies)
    round_a, round_b, half = manifold["rounding_a"], manifold["rounding_b"], 0.5 * point["separation"]
    if turns in (RING_A, RING_B):
        face = w_b if turns == RING_A else w_a
        return np.cross(face, n), _way_of_rim(manifold, p, n, np.cross(face, n), motion)
    centers = p - (half + round_a) * n, p + (half + round_b) * n
    v_a, v_b = (motion.v[body] + np.cross(motion.w[body], center - motion.x[body]) for body, center in zip(bodies, centers))
    past = v_b - v_a
    turning = _turn_of_normal(manifold, n, w_a, w_b, past)
    along = round_a - point["share"] * (round_a + round_b)
    going = v_a + along * turning + point["share"] * past
    if (int(point["feature"]) >> 56) & 3 not in (1, 2):  # no vertex makes it: `cross` is in use
        x, y = axes[1:] @ (past - (round_a + round_b) * turning)
        first, second, third = point["cross"]
        going = going + (first * x + second * y) * axes[1] + (third * x - first * y) * axes[2]
    return turning, going


def _turn_of_normal(manifold: np.void, n: np.ndarray, w_a: np.ndarray, w_b: np.ndarray, past: np.ndarray) -> np.ndarray:
    """n', of all but rims. past: b's velocity against a at the roundings' centres."""
    turns, line = int(manifold["turns"]), manifold["line"]
    if turns in (BETWEEN_A, BETWEEN_B):
        rate = (past - (line @ past) * line) / (manifold["rounding_a"] + manifold["rounding_b"])
        rate = rate + (line @ np.cross(w_a if turns == BETWEEN_A else w_b, n)) * line
    elif turns == EDGES:
        other = manifold["line_b"]
        rate = np.cross(np.cross(w_a, line), other) + np.cross(line, np.cross(w_b, other))
        across = np.cross(line, other)
        rate = rate / np.linalg.norm(across) * np.sign(across @ n)
    elif turns in (FACE_A, FACE_B):
        rate = np.cross(w_a if turns == FACE_A else w_b, n)
    else:  # two faces that turn as one
        rate = np.cross(0.5 * (w_a + w_b), n)
    return rate - (n @ rate) * n


def _way_of_rim(manifold: np.void, p: np.ndarray, n: np.ndarray, turning: np.ndarray, motion: Motion) -> np.ndarray:
    """p' of the lowest point p = O + R e + r d of a rim, e = d - (d . u) u made a unit vector, u its axis, d towards the
    face, r the radius of the ball that rounds it."""
    on_a = int(manifold["turns"]) == RING_A
    body, sign = (manifold["body_a"], 1.0) if on_a else (manifold["body_b"], -1.0)
    ball, u, w = manifold["line_b"][0], manifold["line"], motion.w[body]
    radius = manifold["rounding_a" if on_a else "rounding_b"] - ball
    d, d_rate, u_rate = sign * n, sign * turning, np.cross(w, u)
    e = d - (d @ u) * u
    size = np.linalg.norm(e)
    e_rate = d_rate - (d_rate @ u + d @ u_rate) * u - (d @ u) * u_rate
    e = e / size
    e_rate = (e_rate - (e @ e_rate) * e) / size
    middle = p - radius * e - ball * d
    return motion.v[body] + np.cross(w, middle - motion.x[body]) + radius * e_rate + ball * d_rate
