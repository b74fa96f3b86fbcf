"""Bodies, and joints of two bodies, in maximal coordinates by the formulas of the texts, for one or for arrays of any
leading axes.

A body is (position (…, 3) of its centre of mass [m], unit quaternion (…, 4)), None for the world, and moves with a twist
[v; w] (…, 6): the centre of mass's velocity [m/s] and the angular velocity [rad/s], both in world axes. A joint is two
frames, each a pair (place (…, 3) [m], quaternion (…, 4)) that is fixed in a body: seen from the body's centre of mass, in
the body's axes. `joint_frames` tells them of a scene's joint. Its axis is the z of its frames, a universal joint's second
axis the x of the frame on b.

A joint's rows are those that a World has (docs/theory): the errors C, J over [twist of a; twist of b] with dC/dt = J v, and
J̇ v, so that J a + J̇ v = 0 holds for the bodies' accelerations a = [v̇; ẇ]. Each J is the exact derivative of its C, also
where the joint is open. Their derivations: E. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989,
section 9.4, with the equations seen from body a.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.linear import dots, product, turned
from mcsim.core.rotation import conjugates, matrices, products, rotated
from mcsim.scene import Body, Joint, Scene
from mcsim.scene.batches import batch, broadcast, unit_quaternions
from mcsim.scene.calls import explain_functions
from mcsim.scene.checks import FieldError, show

__all__ = [
    "JointRows",
    "applied_force",
    "ball",
    "cylindrical",
    "fixed",
    "hinge",
    "joint_frames",
    "mass_matrix",
    "slider",
    "universal",
]

Pair = tuple[ArrayLike, ArrayLike]  # a place or position (…, 3), and a quaternion (…, 4)

WORLD: Pair = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
UPRIGHT = 1e-12  # 1 + cosine of the lean of two axes that counts as zero


class JointRows(NamedTuple):
    """The m rows of a joint at poses and twists of its two bodies.

    C (…, m): its errors [m, or 1 where it turns: to first order rad]. J (…, m, 12): dC/dt = J [twist of a; twist of b].
    drift (…, m): J̇ times the twists.
    """

    C: np.ndarray
    J: np.ndarray
    drift: np.ndarray


# ---- joints ----------------------------------------------------------------------------------------------------------


def ball(
    a: Pair | None,
    b: Pair | None,
    frame_a: Pair,
    frame_b: Pair,
    twist_a: ArrayLike | None = None,
    twist_b: ArrayLike | None = None,
) -> JointRows:
    """Ball (spherical) joint, three rows: C = E_a' (p_b - p_a), the two points seen in the axes E_a of the frame on a.

    a, b: bodies; frame_a, frame_b: the joint's frames on them; twist_a, twist_b (…, 6): 0 if None. See mcsim.maximal.
    """
    at = _Ends(a, b, frame_a, frame_b, twist_a, twist_b)
    return _rows(at.offset(0), at.offset(1), at.offset(2))


def universal(
    a: Pair | None,
    b: Pair | None,
    frame_a: Pair,
    frame_b: Pair,
    twist_a: ArrayLike | None = None,
    twist_b: ArrayLike | None = None,
) -> JointRows:
    """Universal (Cardan, Hooke) joint, four rows: those of a ball joint, and C = z_a · x_b, the cosine of the angle between
    its axes. Arguments as of `ball`."""
    at = _Ends(a, b, frame_a, frame_b, twist_a, twist_b)
    return _rows(at.offset(0), at.offset(1), at.offset(2), at.right_angle())


def hinge(
    a: Pair | None,
    b: Pair | None,
    frame_a: Pair,
    frame_b: Pair,
    twist_a: ArrayLike | None = None,
    twist_b: ArrayLike | None = None,
) -> JointRows:
    """Hinge (revolute) joint, five rows: those of a ball joint, and C = s (z_b · x_a, z_b · y_a), s = 2 / (1 + z_a · z_b):
    where z_b stands on a plane that is seen from the point opposite to z_a. It has one zero alone. Arguments as of `ball`.
    """
    at = _Ends(a, b, frame_a, frame_b, twist_a, twist_b)
    return _rows(at.offset(0), at.offset(1), at.offset(2), at.lean(0), at.lean(1))


def slider(
    a: Pair | None,
    b: Pair | None,
    frame_a: Pair,
    frame_b: Pair,
    twist_a: ArrayLike | None = None,
    twist_b: ArrayLike | None = None,
) -> JointRows:
    """Slider (prismatic) joint, five rows: C = (x_a · (p_b - p_a), y_a · (p_b - p_a), 2 vec(q)), q the quaternion, w >= 0,
    of the frame on b seen from the one on a. Arguments as of `ball`."""
    at = _Ends(a, b, frame_a, frame_b, twist_a, twist_b)
    return _rows(at.offset(0), at.offset(1), at.turn(0), at.turn(1), at.turn(2))


def cylindrical(
    a: Pair | None,
    b: Pair | None,
    frame_a: Pair,
    frame_b: Pair,
    twist_a: ArrayLike | None = None,
    twist_b: ArrayLike | None = None,
) -> JointRows:
    """Cylindrical joint, four rows: the first two of `slider`, the last two of `hinge`. Arguments as of `ball`."""
    at = _Ends(a, b, frame_a, frame_b, twist_a, twist_b)
    return _rows(at.offset(0), at.offset(1), at.lean(0), at.lean(1))


def fixed(
    a: Pair | None,
    b: Pair | None,
    frame_a: Pair,
    frame_b: Pair,
    twist_a: ArrayLike | None = None,
    twist_b: ArrayLike | None = None,
) -> JointRows:
    """Fixed joint (weld), six rows: those of a ball joint, and the last three of `slider`. Arguments as of `ball`."""
    at = _Ends(a, b, frame_a, frame_b, twist_a, twist_b)
    return _rows(at.offset(0), at.offset(1), at.offset(2), at.turn(0), at.turn(1), at.turn(2))


def joint_frames(scene: Scene, joint: Joint | str) -> tuple[Pair, Pair]:
    """-> frame_a, frame_b of a joint of a scene, handle or name, as the functions here take them: a place (3,) [m] from the
    body's centre of mass, and a quaternion (4,), in the body's axes; of the world those in the world."""
    if not isinstance(scene, Scene):
        raise FieldError("scene", f"must be a Scene, got {show(scene)}")
    found = scene.joint(joint)
    sides = []
    for name, (place, quaternion) in ((found.a, found.frame_a), (found.b, found.frame_b)):
        body: Body | None = None if name is None else scene.body(name)
        sides.append((np.array(place) if body is None else place - body.center_of_mass, np.array(quaternion)))
    return sides[0], sides[1]


# ---- bodies ----------------------------------------------------------------------------------------------------------


def mass_matrix(mass: ArrayLike, inertia: ArrayLike, orientation: ArrayLike) -> np.ndarray:
    """M (…, 6, 6) = [m 1 0; 0 R I R'] of bodies, over their twists [v; w]: M v is the momentum [linear; angular] about the
    centre of mass, in world axes.

    mass (…) [kg]; inertia (…, 3, 3) [kg m²] about the centre of mass, in body axes; orientation (…, 4): unit quaternions.
    """
    mass, inertia, orientation = _body(mass, inertia, orientation)
    R = matrices(orientation)
    out = np.zeros((*mass.shape, 6, 6))
    out[..., :3, :3] = mass[..., None, None] * np.eye(3)
    out[..., 3:, 3:] = product(R, inertia, np.swapaxes(R, -1, -2))
    return out


def applied_force(
    mass: ArrayLike,
    inertia: ArrayLike,
    orientation: ArrayLike,
    twist: ArrayLike,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    force: ArrayLike | None = None,
) -> np.ndarray:
    """ξ (…, 6) = [f + m g; n - w × R I R' w] of bodies: with M of `mass_matrix` and a = [v̇; ẇ], Newton's and Euler's
    equations are M a = ξ + J' λ.

    mass, inertia, orientation as of mass_matrix. twist (…, 6): [v; w]. gravity (…, 3) [m/s²]. force (…, 6): [f; n] at the
    centre of mass [N, N m], world axes; none if None.
    """
    twist, gravity = batch(twist, "twist", 6), batch(gravity, "gravity", 3)
    force = np.zeros(6) if force is None else batch(force, "force", 6)
    mass, inertia, orientation = _body(mass, inertia, orientation)
    mass, inertia, orientation, twist, gravity, force = broadcast(
        mass=(mass, 0),
        inertia=(inertia, 2),
        orientation=(orientation, 1),
        twist=(twist, 1),
        gravity=(gravity, 1),
        force=(force, 1),
    )
    R, w = matrices(orientation), twist[..., 3:]
    spin = turned(product(R, inertia, np.swapaxes(R, -1, -2)), w)
    return force + np.concatenate([mass[..., None] * gravity, -np.cross(w, spin)], axis=-1)


def _body(mass: ArrayLike, inertia: ArrayLike, orientation: ArrayLike) -> list[np.ndarray]:
    return broadcast(
        mass=(batch(mass, "mass"), 0),
        inertia=(batch(inertia, "inertia", 3, 3), 2),
        orientation=(unit_quaternions(orientation, "orientation"), 1),
    )


# ---- what joints are made of -----------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """One row: C (…), J (…, 12), drift (…)."""

    C: np.ndarray
    J: np.ndarray
    drift: np.ndarray


def _rows(*rows: _Row) -> JointRows:
    return JointRows(
        np.stack([row.C for row in rows], axis=-1),
        np.stack([row.J for row in rows], axis=-2),
        np.stack([row.drift for row in rows], axis=-1),
    )


class _Ends:
    """The two frames of a joint in the world, and how they move. Equations are seen from a: there b turns with
    w = w_b - w_a, and where no body has an angular acceleration the rate of w is -w_a × w.

    gap: p_b - p_a. axes_a, axes_b (…, 3, 3): the axes of the two frames, columns. arm_a, arm_b: from the centres of mass to
    p_b. slip: the velocity of p_b less that of the point of a that is there.
    """

    def __init__(
        self,
        a: Pair | None,
        b: Pair | None,
        frame_a: Pair,
        frame_b: Pair,
        twist_a: ArrayLike | None,
        twist_b: ArrayLike | None,
    ):
        checked: dict[str, tuple[np.ndarray, int]] = {}
        for name, given in (("a", a), ("b", b), ("frame_a", frame_a), ("frame_b", frame_b)):
            place, quaternion = _pair(WORLD if given is None and name in "ab" else given, name)
            checked |= {f"place of {name}": (place, 1), f"quaternion of {name}": (quaternion, 1)}
        for name, twist in (("twist_a", twist_a), ("twist_b", twist_b)):
            checked[name] = (np.zeros(6) if twist is None else batch(twist, name, 6), 1)
        x_a, q_a, x_b, q_b, place_a, basis_a, place_b, basis_b, v_a, v_b = broadcast(**checked)
        self.arm_b = rotated(q_b, place_b)
        point = x_b + self.arm_b
        self.arm_a = point - x_a
        self.gap = self.arm_a - rotated(q_a, place_a)
        from_a, from_b = products(q_a, basis_a), products(q_b, basis_b)
        self.axes_a, self.axes_b = matrices(from_a), matrices(from_b)
        relative = products(conjugates(from_a), from_b)
        self.relative = np.where(relative[..., :1] < 0.0, -relative, relative)
        self.w_a, self.w_b = v_a[..., 3:], v_b[..., 3:]
        self.w = self.w_b - self.w_a
        self.slip = v_b[..., :3] + np.cross(self.w_b, self.arm_b) - v_a[..., :3] - np.cross(self.w_a, self.arm_a)

    def offset(self, i: int) -> _Row:
        """C = d · (p_b - p_a), d axis i of the frame on a. The rate of the slip is what p_b's two centripetal accelerations
        differ by, and -w_a × slip, for the point of a changes; d turns with a."""
        d = self.axes_a[..., i]
        bend = np.cross(self.w_b, np.cross(self.w_b, self.arm_b)) - np.cross(self.w_a, np.cross(self.w_a, self.arm_a))
        jacobian = np.concatenate([-d, -np.cross(self.arm_a, d), d, np.cross(self.arm_b, d)], axis=-1)
        return _Row(dots(d, self.gap), jacobian, dots(d, bend - 2.0 * np.cross(self.w_a, self.slip)))

    def right_angle(self) -> _Row:
        """C = z_a · x_b, whose rate is (x_b × z_a) · w."""
        z, x = self.axes_a[..., 2], self.axes_b[..., 0]
        return self._turning(dots(z, x), np.cross(x, z), np.cross(np.cross(self.w, x), z))

    def lean(self, i: int) -> _Row:
        """C = s z_b · e, e = x_a or y_a and s = 2 / (1 + z_a · z_b), whose rate is -s²/2 (z_b × z_a) · w: so that of C is
        (z_b × p) · w with p = s e - s²/2 (z_b · e) z_a."""
        e, up, z = self.axes_a[..., i], self.axes_a[..., 2], self.axes_b[..., 2]
        upright = 1.0 + dots(up, z)
        if (upright < UPRIGHT).any():
            raise FieldError("", "the joint's two axes point against each other: half a turn has no direction to lean in")
        s = 2.0 / upright
        half, along = 0.5 * s * s, dots(z, e)
        p = s[..., None] * e - (half * along)[..., None] * up
        moved = np.cross(self.w, z)
        growth = -half * dots(moved, up)  # of s, which is that of up · z
        change = growth[..., None] * e - (s * growth * along + half * dots(moved, e))[..., None] * up
        return self._turning(s * along, np.cross(z, p), np.cross(moved, p) + np.cross(z, change))

    def turn(self, i: int) -> _Row:
        """C = 2 u_i, (c, u) the relative quaternion: its rate is (c e_i + u × e_i) · w, and that of this direction, times
        w, is -(w · w) u_i / 2."""
        e = self.axes_a[..., i]
        u = turned(self.axes_a, self.relative[..., 1:])
        direction = self.relative[..., :1] * e + np.cross(u, e)
        return self._turning(2.0 * self.relative[..., 1 + i], direction, -0.5 * self.relative[..., 1 + i, None] * self.w)

    def _turning(self, C: np.ndarray, direction: np.ndarray, change: np.ndarray) -> _Row:
        """dC/dt = direction · w, and the rate of the direction as a sees it."""
        nothing = np.zeros_like(direction)
        jacobian = np.concatenate([nothing, -direction, nothing, direction], axis=-1)
        return _Row(C, jacobian, dots(change, self.w) - dots(direction, np.cross(self.w_a, self.w)))


def _pair(value: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    try:
        place, quaternion = value
    except (TypeError, ValueError):
        raise FieldError(name, f"must be a pair of a place (…, 3) and a quaternion (…, 4), got {show(value)}") from None
    return batch(place, f"{name}[0]", 3), unit_quaternions(quaternion, f"{name}[1]")


explain_functions(globals(), __all__)
