"""Scenes for the collision tests, and an oracle for the separation of two convex shapes that shares nothing with mcsim.

The signed separation of convex A and B is the maximum over unit n of  s(n) = min over B of n.x - max over A of n.x.
Every n gives a lower bound, so a kernel's answer (s, n) is proved from both sides: s(n) must equal s, and no direction
that a dense search with local zooming finds may be better.
"""

from inspect import signature

import numpy as np
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from mcsim.collide._collider import Collider
from mcsim.scene.shapes import SHAPES
from mcsim.state.fields import HULL_DTYPE, SHAPE_DTYPE, SHAPE_TYPES

STATIC, KINEMATIC, DYNAMIC = 0, 1, 2
SOLIDS = tuple(name for name, shape in SHAPES.items() if shape.massive)
ROUNDED = tuple(f"rounded {name}" for name in SOLIDS if "rounding" in signature(SHAPES[name]).parameters)
KINDS = SOLIDS + ROUNDED


# ---- scenes ----------------------------------------------------------------------------------------------------------


class Shape:
    """A shape in its own frame: kind, size (3,), for a hull its points (v, 3), and the radius of a ball that sweeps it."""

    def __init__(self, kind, size=(0.0, 0.0, 0.0), points=None, rounding=0.0):
        self.kind, self.rounding = kind, rounding
        self.size = np.asarray(size, float)
        self.points = None if points is None else np.asarray(points, float)
        self.equations = None if points is None else ConvexHull(self.points).equations

    def __repr__(self):
        return f"{self.kind}{tuple(self.size) if self.points is None else len(self.points)}"

    def extent(self):
        """Radius of a sphere about the origin that holds the shape."""
        r, h = self.size[0], self.size[1]
        core = {
            "sphere": r,
            "box": np.linalg.norm(self.size),
            "capsule": r + h,
            "cylinder": np.hypot(r, h),
            "cone": np.hypot(r, h),
            "ellipsoid": self.size.max(),
            "tapered_capsule": self.size[2] + max(r, h),
            "plane": 0.0,
            "hull": 0.0 if self.points is None else np.linalg.norm(self.points, axis=1).max(),
        }[self.kind]
        return core + self.rounding

    def support(self, n):
        """max of n.x over the shape for directions n (..., 3)."""
        return self.support_of_core(n) + self.rounding * np.linalg.norm(n, axis=-1)

    def support_of_core(self, n):
        r, h = self.size[0], self.size[1]
        if self.kind == "sphere":
            return np.full(n.shape[:-1], r) * np.linalg.norm(n, axis=-1)
        if self.kind == "box":
            return np.abs(n) @ self.size
        if self.kind == "capsule":
            return h * np.abs(n[..., 2]) + r * np.linalg.norm(n, axis=-1)
        if self.kind == "cylinder":
            return h * np.abs(n[..., 2]) + r * np.hypot(n[..., 0], n[..., 1])
        if self.kind == "cone":
            return np.maximum(h * n[..., 2], r * np.hypot(n[..., 0], n[..., 1]) - h * n[..., 2])
        if self.kind == "ellipsoid":
            return np.linalg.norm(n * self.size, axis=-1)
        if self.kind == "tapered_capsule":  # the hull of two balls, of radius r below and h above
            up, length = self.size[2] * n[..., 2], np.linalg.norm(n, axis=-1)
            return np.maximum(r * length - up, h * length + up)
        return (n @ self.points.T).max(axis=-1)

    def distance(self, p):
        """A number that is 0 on the surface and, near it, the signed distance; p (..., 3) in the shape's frame."""
        if self.rounding > 0.0 and self.kind == "hull":
            return self.distance_of_hull(p) - self.rounding
        return self.distance_of_core(p) - self.rounding

    def distance_of_hull(self, p):
        """Exact outside, too: that of the nearest triangle."""
        over = (p @ self.equations[:, :3].T + self.equations[:, 3]).max(axis=-1)
        a, b, c = (self.points[ConvexHull(self.points).simplices[:, k]] for k in range(3))
        normal = np.cross(b - a, c - a)
        q = p[..., None, :] - a
        height = (q * normal).sum(axis=-1) / np.linalg.norm(normal, axis=-1)
        least, inside = np.full(height.shape, np.inf), np.ones(height.shape, bool)
        for one, other in ((a, b), (b, c), (c, a)):
            e, d = other - one, p[..., None, :] - one
            inside &= (np.cross(normal, e) * d).sum(axis=-1) >= 0.0
            along = np.clip((d * e).sum(axis=-1) / (e * e).sum(axis=-1), 0.0, 1.0)
            least = np.minimum(least, np.linalg.norm(d - along[..., None] * e, axis=-1))
        return np.where(over > 0.0, np.where(inside, np.abs(height), least).min(axis=-1), over)

    def distance_of_core(self, p):
        r, h = self.size[0], self.size[1]
        if self.kind == "sphere":
            return np.linalg.norm(p, axis=-1) - r
        if self.kind == "capsule":
            q = p.copy()
            q[..., 2] -= np.clip(p[..., 2], -h, h)
            return np.linalg.norm(q, axis=-1) - r
        if self.kind == "plane":
            return p[..., 2]
        if self.kind == "cone":  # the triangle that turns about the axis
            out, up = np.hypot(p[..., 0], p[..., 1]), p[..., 2]
            t = np.clip((2 * h * (h - up) + r * out) / (4 * h * h + r * r), 0.0, 1.0)
            side, base = np.hypot(out - t * r, up - h + 2 * h * t), np.hypot(np.maximum(out - r, 0.0), up + h)
            inside = (up >= -h) & (2 * h * out <= r * (h - up))
            return np.where(inside, -1.0, 1.0) * np.minimum(side, base)
        if self.kind == "ellipsoid":
            return self.distance_of_ellipsoid(p)
        if self.kind == "tapered_capsule":  # that of the nearest of the balls along the axis
            out, up, half = np.hypot(p[..., 0], p[..., 1]), p[..., 2], self.size[2]
            slope = (h - r) / (2 * half)
            t = np.clip(up + slope / np.sqrt(1 - slope**2) * out, -half, half)
            return np.hypot(out, up - t) - (0.5 * (r + h) + slope * t)
        if self.kind == "hull":
            return (p @ self.equations[:, :3].T + self.equations[:, 3]).max(axis=-1)
        over = np.abs(p) - self.size
        if self.kind == "cylinder":
            over = np.stack([np.hypot(p[..., 0], p[..., 1]) - r, np.abs(p[..., 2]) - h], axis=-1)
        return np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0)

    def distance_of_ellipsoid(self, p):
        """The nearest point is S² p / (S² + t), with sum (S p / (S² + t))² = 1: convex and falling in t, so that Newton's
        method comes from the left. (D. Eberly, "Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid")"""
        square, p = self.size**2, np.where(np.abs(p) > 1e-13, p, 1e-13)
        k = self.size.argmin()
        t = -square[k] + self.size[k] * np.abs(p[..., k])
        for _ in range(200):
            q = (self.size * p / (square + t[..., None])) ** 2
            t = t + (q.sum(axis=-1) - 1.0) / (2.0 * q / (square + t[..., None])).sum(axis=-1)
        return np.sign(t) * np.linalg.norm(p * (t[..., None] / (square + t[..., None])), axis=-1)


def merged_faces(hull):
    """Qhull's triangles with coplanar ones joined -> list of (normal, offset, vertex numbers counter-clockwise)."""
    same = np.abs(hull.equations[:, None] - hull.equations).max(axis=2) < 1e-10
    firsts = sorted(set(same.argmax(axis=1)))
    planes = hull.equations[firsts]
    faces = [set(hull.simplices[same[k]].ravel()) for k in firsts]
    result = []
    for plane, face in zip(planes, faces):
        normal = plane[:3]
        number = np.array(sorted(face))
        p = hull.points[number]
        p = p - p.mean(axis=0)
        u = p[0] / np.linalg.norm(p[0])
        angle = np.arctan2(p @ np.cross(normal, u), p @ u)
        result.append((normal, -plane[3], number[np.argsort(angle)]))
    return result


def make_collider(shapes, bodies=None, *, excluded=(), **keywords):
    """A Collider of `shapes`; keywords as of shape_arrays."""
    return Collider(*shape_arrays(shapes, bodies, **keywords), np.array(excluded, np.int32).reshape(-1, 2))


def shape_arrays(shapes, bodies=None, *, local=None, group=None, mask=None, friction=0.5, restitution=0.0):
    """The records of `shapes`, their hulls and pools; `bodies` (s,) their bodies (default one each), `local` their
    (position, quaternion)."""
    n = len(shapes)
    array = np.zeros(n, SHAPE_DTYPE)
    array["body"] = np.arange(n) if bodies is None else bodies
    array["group"] = 1 if group is None else group
    array["mask"] = -1 if mask is None else mask
    array["orientation"] = [1.0, 0.0, 0.0, 0.0]
    array["friction"] = friction
    array["restitution"] = restitution
    array["hull"] = -1
    hulls, vertices, normals, offsets, begin, index = [], [], [], [], [0], []
    known = {}
    for i, shape in enumerate(shapes):
        array["type"][i] = SHAPE_TYPES.index(shape.kind)
        array["size"][i], array["rounding"][i] = shape.size, shape.rounding
        if local is not None:
            array["position"][i], array["orientation"][i] = local[i]
        if shape.kind == "hull":
            if id(shape) not in known:
                known[id(shape)] = len(hulls)
                qhull = ConvexHull(shape.points)
                number = {old: new for new, old in enumerate(sorted(qhull.vertices))}
                faces = merged_faces(qhull)
                hulls.append((len(vertices), len(number), len(normals), len(faces), 0, 0, shape.extent()))
                vertices += [shape.points[v] for v in sorted(number)]
                for normal, offset, face in faces:
                    normals.append(normal)
                    offsets.append(offset)
                    index += [number[v] for v in face]
                    begin.append(len(index))
            array["hull"][i] = known[id(shape)]
    return (
        array,
        np.array(hulls, HULL_DTYPE),
        np.array(vertices),
        np.array(normals),
        np.array(offsets),
        np.array(begin, np.int32),
        np.array(index, np.int32),
        np.zeros((0, 2), np.int32),
    )


def random_quaternions(rng, n):
    q = rng.normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def matrix(q):
    """Rotation matrix of a quaternion (w, x, y, z)."""
    return Rotation.from_quat(np.roll(np.asarray(q, float), -1, axis=-1)).as_matrix()


def random_hull(rng, count=12, size=0.5):
    """`count` points on an ellipsoid whose mean is the origin."""
    p = rng.normal(size=(count, 3))
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    p *= size * rng.uniform(0.4, 1.0, 3)
    return Shape("hull", points=p - p.mean(axis=0))


def solid_of(kind, x, y, z):
    """Of a kind that has no points, with the sizes that it takes of three lengths."""
    if kind in ROUNDED:
        return rounded(solid_of(kind.removeprefix("rounded "), x, y, z), 0.25 * z)
    size = {"sphere": (x, 0.0, 0.0), "box": (x, y, z), "ellipsoid": (x, y, z)}
    if kind == "tapered_capsule":  # neither of its balls may hold the other
        return Shape(kind, (x, y, 0.5 * abs(x - y) + z))
    return Shape(kind, size.get(kind, (x, y, 0.0)))


def rounded(shape, rounding):
    return Shape(shape.kind, shape.size, shape.points, rounding)


def random_shape(rng, kind):
    if kind in ROUNDED:
        return rounded(random_shape(rng, kind.removeprefix("rounded ")), 10.0 ** rng.uniform(-3.0, -0.5))
    if kind == "hull":
        return random_hull(rng, int(rng.integers(5, 20)))
    return Shape(
        kind,
        {
            "sphere": (rng.uniform(0.2, 0.8), 0, 0),
            "box": rng.uniform(0.1, 0.8, 3),
            "capsule": (rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.8), 0),
            "cylinder": (rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.8), 0),
            "cone": (rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.8), 0),
            "ellipsoid": rng.uniform(0.2, 0.8, 3),
            "tapered_capsule": (*rng.uniform(0.1, 0.4, 2), rng.uniform(0.2, 0.8)),
            "plane": (0, 0, 0),
        }[kind],
    )


# ---- the oracle ------------------------------------------------------------------------------------------------------


def separation_along(a, ra, b, rb, offset, n):
    """s(n) for directions n (..., 3); ra, rb rotation matrices, offset = position of b - position of a."""
    return n @ offset - b.support(-(n @ rb)) - a.support(n @ ra)


def sphere_directions(count):
    """Nearly even directions (the spherical Fibonacci lattice)."""
    i = np.arange(count) + 0.5
    z = 1.0 - 2.0 * i / count
    angle = np.pi * (1.0 + 5.0**0.5) * i
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


COARSE = sphere_directions(3000)
DISC = np.array(
    [[0.0, 0.0]]
    + [[r * np.cos(t + r), r * np.sin(t + r)] for r in (0.25, 0.5, 0.75, 1.0) for t in np.arange(10) * 2 * np.pi / 10]
)


def best_separation(a, ra, b, rb, offset, cones=10):
    """max over n of s(n), to about 1e-9: coarse search, then cones around the best directions that shrink."""
    s = separation_along(a, ra, b, rb, offset, COARSE)
    chosen = []
    for k in np.argsort(-s)[:400]:
        if all(COARSE[k] @ c < 0.985 for c in chosen):
            chosen.append(COARSE[k])
        if len(chosen) == cones:
            break
    n = np.array(chosen)
    radius = 0.12
    best = -np.inf
    while radius > 1e-10:
        u = np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)])
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        v = np.cross(n, u)
        trial = n[:, None] + radius * (DISC[:, 0, None] * u[:, None] + DISC[:, 1, None] * v[:, None])
        trial /= np.linalg.norm(trial, axis=2, keepdims=True)
        s = separation_along(a, ra, b, rb, offset, trial)
        pick = np.argmax(s, axis=1)
        n = trial[np.arange(len(n)), pick]
        best = max(best, s.max())
        radius *= 0.62
    return best


def one_contact(found):
    """The parts of one pair's patch as one manifold, with all their points."""
    assert len(found) > 0 and len(set(found["key"])) == 1 and np.all(found["normal"] == found["normal"][0])
    points = np.concatenate([m["points"][: m["point_count"]] for m in found])
    return {name: found[name][0] for name in found.dtype.names} | {"points": points, "point_count": len(points)}
