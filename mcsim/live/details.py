"""What a page tells of the one thing that was clicked: a body's state; a joint's or contact's rows, impulses and errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcsim.world import World

MOST_ROWS = 12  # of a table
NEAR = 0.12  # of a usual body's size: so near to the ray of a click a joint or contact counts as clicked


class Selection(NamedTuple):
    """world: its number; kind: "body", "joint" or "contact"; name: of the body or joint, of a contact its first body;
    other: a contact's second body."""

    world: int
    kind: str
    name: str
    other: str = ""


def nearest(points: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> tuple[int, float]:
    """-> number of the point (k, 3) that is nearest to a ray, and how far it is from it [m]; -1 if there is none."""
    if not len(points):
        return -1, np.inf
    way = points - origin
    along = way @ direction
    distance = np.linalg.norm(way - along[:, None] * direction, axis=1)
    distance[along < 0.0] = np.inf
    k = int(np.argmin(distance))
    return k, float(distance[k])


def told(world: World, chosen: Selection) -> str:
    """Markdown about what is selected."""
    names = world.joint_names if chosen.kind == "joint" else world.body_names
    if chosen.name not in names or chosen.kind == "contact" and chosen.other not in names:
        return f"**{chosen.name}** is gone"
    return {"body": _body, "joint": _joint, "contact": _contact}[chosen.kind](world, chosen)


def _vector(values: np.ndarray, unit: str) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in np.ravel(values)) + f") {unit}"


def _table(head: str, rows: list[str]) -> list[str]:
    """Lines of a Markdown table; at most MOST_ROWS."""
    if not rows:
        return []
    count = head.count("|") + 1
    shown = rows[:MOST_ROWS]
    more = [f"and {len(rows) - MOST_ROWS} more"] if len(rows) > MOST_ROWS else []
    return ["", head, "|".join(["---"] * count), *shown, "", *more]


def _body(world: World, chosen: Selection) -> str:
    body = world.body(chosen.name)
    spin = np.array(body.angular_velocity)
    lines = [
        f"**{chosen.name}**: {body.kind}, {body.mass:.4g} kg{', asleep' if body.asleep else ''}  ",
        f"centre of mass {_vector(body.position, 'm')}  ",
        f"orientation {_vector(body.orientation, '')}  ",
        f"velocity {_vector(body.velocity, 'm/s')}  ",
        f"angular velocity {_vector(spin, 'rad/s')}",
    ]
    touching = world.contacts
    index = body.index
    touching = touching[(touching["body_a"] == index) | (touching["body_b"] == index)]
    if len(touching):
        load = touching["normal_impulse"].sum() / world.dt
        lines.append(f"\n{len(touching)} contact points, normal forces {load:.4g} N in all")
    joints = [joint for joint in world.scene.joints if chosen.name in (joint.a, joint.b)]
    errors = world.joint_errors() if joints else np.zeros((0, 2))
    rows = [f"{joint.name}|{joint.type}|{errors[world.joint(joint.name).index][0]:.2e} m" for joint in joints]
    return "\n".join(lines + _table("joint|type|error", rows))


def _joint(world: World, chosen: Selection) -> str:
    joint = world.joint(chosen.name)
    described = world.scene.joints[joint.index]
    position, angle = joint.error
    lines = [
        f"**{chosen.name}**: {joint.type} of {described.a or 'the world'} and {described.b or 'the world'}"
        f"{', broken' if joint.broken else ''}  ",
        f"error {position:.3e} m, {angle:.3e} rad  ",
        f"coordinates {_vector(np.atleast_1d(joint.position), '')}  ",
        f"rates {_vector(np.atleast_1d(joint.velocity), '')}  ",
    ]
    if world.settings["contact"] != "event":
        lines += [f"force {_vector(joint.force, 'N')}  ", f"torque {_vector(joint.torque, 'N m')}"]
    rows = world.rows
    own = ("joint", "limit", "motor", "spring", "joint_friction", "armature")
    rows = rows[(rows["source"] == joint.index) & np.isin(rows["kind"], own)]
    return "\n".join(lines + _row_table(rows))


def _row_table(rows: np.ndarray) -> list[str]:
    head = "row|error|bias|impulse [N s]"
    return _table(
        head, [f"{row['kind']} {row['index']}|{row['error']:.2e}|{row['bias']:.2e}|{row['impulse']:.3e}" for row in rows]
    )


def _contact(world: World, chosen: Selection) -> str:
    a, b = world.body(chosen.name).index, world.body(chosen.other).index
    found = world.contacts
    found = found[np.isin(found["body_a"], (a, b)) & np.isin(found["body_b"], (a, b))]
    lines = [f"**{chosen.name} on {chosen.other}**: {len(found)} contact points"]
    if not len(found):
        return lines[0] + ": they do not touch now"
    lines.append(f", friction {found['friction'][0]:.3g}, normal {_vector(found['normal'][0], '')}")
    points = [
        f"{point['separation']:.2e}|{point['normal_impulse']:.3e}|{np.linalg.norm(point['tangent_impulse']):.3e}"
        for point in found
    ]
    rows = world.rows
    rows = rows[np.isin(rows["kind"], ("normal", "friction", "twist", "rolling"))]
    rows = rows[(np.sort(rows["bodies"], axis=1) == sorted((a, b))).all(axis=1)]
    return "\n".join(["".join(lines), *_table("separation [m]|normal [N s]|tangent [N s]", points), *_row_table(rows)])
