"""What looks for bodies in a World: rays, slid shapes, overlaps, distances."""

from __future__ import annotations  # signatures read as they are written here

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from math import inf
from operator import itemgetter
from typing import Any, Literal, NamedTuple, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from mcsim.collide import Collider, Finder, Sensors
from mcsim.core.errors import SceneError
from mcsim.core.linear import turned
from mcsim.core.rotation import matrices, multiply
from mcsim.scene import Plane, Scene
from mcsim.scene.bodies import Body
from mcsim.scene.checks import (
    SHORTEST_DIRECTION,
    FieldError,
    Vector,
    bits,
    direction,
    flag,
    items,
    not_negative,
    show,
    unit_quaternion,
    vector,
)
from mcsim.scene.shapes import ORIGIN, SHAPES, UPRIGHT, Shape
from mcsim.state.arrays import ShapeArrays
from mcsim.world.base import WorldBase
from mcsim.world.handles import AnyBody, BodyHandle

# What can be slid and held into the world; a Plane only be held.
PROBES = tuple(shape for shape in SHAPES.values() if shape.massive)


class Hit(NamedTuple):
    """What a ray or a slid shape met.

    body: its handle; shape: the number of the shape in the body. distance [m] along the direction. point (3,): where
    they touch [m]. normal (3,): unit, out of the surface that was hit; zero for a ray that starts inside. World
    axes."""

    body: BodyHandle
    shape: int
    distance: float
    point: np.ndarray
    normal: np.ndarray


class Distance(NamedTuple):
    """distance between two surfaces [m], negative = the depth of their overlap; normal (3,): from a to b; point_a,
    point_b (3,): the nearest points of the two surfaces [m]. World axes."""

    distance: float
    normal: np.ndarray
    point_a: np.ndarray
    point_b: np.ndarray


def _finder_of(shape: Shape) -> Finder:
    """A shape that no world holds."""
    scene = Scene()
    scene.add_body(shape=shape, kind="static", center_of_mass=ORIGIN)
    arrays = ShapeArrays(scene)
    return Finder(
        Collider(
            arrays.shapes,
            arrays.hulls,
            arrays.vertices,
            arrays.face_normals,
            arrays.face_offsets,
            arrays.face_begin,
            arrays.face_index,
            arrays.edges,
            np.zeros((0, 2), np.int32),
        )
    )


_new_hit = cast(Callable[[tuple[Any, ...]], Hit], partial(tuple.__new__, Hit))  # without a function of Python's
_nearest = itemgetter(0, 1)  # of what Finder.told tells: the distance, and where they are equal the shape


class _Probes(threading.local):
    """A Finder of each shape that was asked with before. To ask is to place it, so every thread has its own."""

    def __init__(self) -> None:
        self.of = lru_cache(maxsize=256)(_finder_of)


_probes_here = _Probes()


def _finite(values: ArrayLike, name: str) -> np.ndarray:
    """(3,) or (k, 3) numbers as an array."""
    try:
        array = np.array(values, np.float64)
    except (OverflowError, TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) and (array.ndim != 2 or array.shape[1] != 3):
        raise FieldError(name, f"must be (k, 3) numbers, or 3 for all rays, got {show(values)}")
    if not np.isfinite(array).all():
        raise FieldError(name, f"must be finite, got {array[~np.isfinite(array).all(axis=-1)]}")
    return array


def _rays(origins: ArrayLike, directions: ArrayLike) -> list[np.ndarray]:
    """Both as (k, 3) arrays that a kernel takes; one of them may serve all rays."""
    origins, directions = _finite(origins, "origins"), _finite(directions, "directions")
    if not (np.abs(directions).max(axis=-1, initial=0.0) >= SHORTEST_DIRECTION).all():
        raise FieldError("directions", "must not be zero: it has no direction")
    try:
        rays = np.broadcast_arrays(np.atleast_2d(origins), np.atleast_2d(directions))
    except ValueError:
        raise FieldError("directions", f"must be as many as origins, {len(origins)}; got {len(directions)}") from None
    return [ray.copy() for ray in rays]


def _line(
    start: Vector, along: Vector, max_distance: float, name: str = "origin"
) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """Start and direction, three numbers each, and the length."""
    if type(max_distance) is not float or not max_distance >= 0.0:
        max_distance = not_negative(max_distance, "max_distance", infinite=True)
    return vector(start, name), direction(along, "direction"), max_distance


def _probes(shapes: Shape | Sequence[Shape], position: Vector, orientation: Vector, planes: bool = False) -> list[Finder]:
    """A Finder for each of the shapes, placed. position and orientation are those of the frame they are placed in."""
    parts = [shapes] if isinstance(shapes, Shape) else items(shapes, "a shape or a list of shapes", "shape")
    turned_by = unit_quaternion(orientation, "orientation")
    probes = []
    for part in parts:
        if not isinstance(part, PROBES) and not (planes and isinstance(part, Plane)):
            known = ", ".join(kind.__name__ for kind in (*PROBES, *([Plane] if planes else [])))
            raise FieldError("shape", f"must be one of: {known}; or a list of them; got {show(part)}")
        probe = _probes_here.of(part)
        probe.look_at(position, turned_by)
        probes.append(probe)
    if not probes:
        raise FieldError("shape", "must not be an empty list")
    return probes


def _reaches(values: ArrayLike, count: int) -> np.ndarray:
    """(count,) lengths of rays, infinite ones among them."""
    try:
        array = np.broadcast_to(np.asarray(values, np.float64), (count,))
    except (OverflowError, TypeError, ValueError):
        raise FieldError("max_distance", f"must be a number, or one for each of {count} rays, got {show(values)}") from None
    if not (array >= 0.0).all():
        raise FieldError("max_distance", f"must not be negative, got {show(values)}")
    return array.copy()


def _ranks(bodies: np.ndarray) -> np.ndarray:
    """(s,) int32: which of its body's shapes each one is."""
    order = np.argsort(bodies, kind="stable")
    ordered = bodies[order]
    ranks = np.empty(len(bodies), np.int32)
    ranks[order] = np.arange(len(bodies)) - np.searchsorted(ordered, ordered)
    return ranks


class Queries(WorldBase):
    """The part of World that knows where its shapes are, and looks for bodies, at their present poses. It changes nothing
    that a step computes.

    Solids are closed: what touches is hit. What looks takes `mask`, the collision groups to see (bits; -1: all), and
    `exclude`, a body or a list of them to pass through. Sensors are not seen."""

    _finder: Finder | None = None
    _shape_bodies: np.ndarray
    _shape_ranks: np.ndarray
    _shape_names: list[tuple[Body, int]]

    def _meet_shapes(self) -> None:
        """Follow the collider where its shapes, or the pipeline, are others than before: their bodies and numbers
        there, and a finder for the sensors. What is inside them still is; what was removed, or is a sensor no longer or
        now, goes without an event."""
        if not self._pipeline.shapes_changed:
            return
        inside, names = self._sensed_names()
        shapes = self._collider.get_shapes()
        self._pipeline.see_shapes()
        self._shape_bodies = shapes["body"]
        self._shape_ranks = _ranks(self._shape_bodies)
        self._collider.clear_events()
        self._finder = None
        if shapes["sensor"].any():
            self._finder = Sensors(self._collider)
            self._shape_names = [
                (self._scene.bodies[body].original, int(rank)) for body, rank in zip(self._shape_bodies, self._shape_ranks)
            ]
            number = {name: i for i, name in enumerate(self._shape_names)}
            pairs = [[number.get(names[k], -1) for k in pair] for pair in inside]
            sensor = shapes["sensor"].tolist()
            self._finder.set_inside([[i, k] for i, k in pairs if min(i, k) >= 0 and sensor[i] and not sensor[k]])
        self._pipeline.parts.sensors = self._finder

    @property
    def shape_bodies(self) -> np.ndarray:
        """(s,) numbers of the bodies of all shapes, in the order of the bodies, and of each body's list of shapes."""
        with self._turn.look("shape_bodies"):
            return self._collider.get_shapes()["body"].copy()

    def shape_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """-> positions (s, 3) [m], orientations (s, 4) of the frames of all shapes in the world, in the order of
        `shape_bodies`: where shape.triangles() stand now. A plane's is a point of it, and z along its normal."""
        with self._turn.look("shape_poses"):
            shapes = self._collider.get_shapes()
            position, orientation = self._bodies.position[shapes["body"]], self._bodies.orientation[shapes["body"]]
            return (
                position + turned(matrices(orientation), shapes["position"]),
                multiply(orientation.T, shapes["orientation"].T).T.copy(),
            )

    def shape_boxes(self) -> np.ndarray:
        """-> (s, 2, 3) lowest and highest corners [m] of the boxes, along the world's axes, by whose overlaps the last step
        found the pairs of shapes that may touch; in the order of `shape_bodies`. They are wider than the shapes, so that
        what moves on stays inside for some steps. NaN for planes, which have none, and for what was not there in the last
        step, as nothing is between a restored state and the next step; for all under contact="event"."""
        with self._turn.telling("shape_boxes"):
            boxes = self._collider.get_boxes()
            return boxes if self._event_run is None else np.full_like(boxes, np.nan)

    def _sensed_names(self) -> tuple[Iterable[Any], list[tuple[Body, int]]]:
        """What was in the sensors after the last step, and what the shapes were then: bodies and numbers in them."""
        if isinstance(self._finder, Sensors):
            return self._finder.get_inside(), self._shape_names
        return [], []

    @contextmanager
    def _asking(self, method: str) -> Iterator[Finder]:
        """The finder, at the present poses; errors in the arguments name the method."""
        with self._turn.telling(method):
            try:
                yield self._present_finder()
            except FieldError as error:
                raise SceneError(f"World.{method}: {error}") from None

    def _present_finder(self) -> Finder:
        """It, for who has the turn."""
        self._meet_shapes()
        finder = self._finder
        if finder is None:
            finder = self._finder = Finder(self._collider)
        finder.look(self._bodies.watch)
        return finder

    def _seen(self, mask: int, exclude: AnyBody | Iterable[AnyBody]) -> tuple[int, Collection[int]]:
        """Which groups are seen, and the numbers of the bodies that are passed through."""
        if type(mask) is not int or not -1 <= mask < 2**31:
            mask = bits(mask, "mask")
        if type(exclude) is tuple and not exclude:
            return mask, ()
        if isinstance(exclude, (str, BodyHandle, Body, int, np.integer)):
            exclude = (exclude,)
        exclude = items(exclude, "a body or a list of bodies", "exclude")
        return mask, [self._find(body, BodyHandle) for body in exclude]

    def _hit(self, told: tuple[Any, ...]) -> Hit:
        """What Finder.told tells."""
        distance, _, body, rank, point, normal = told
        handle = BodyHandle(self, self._there.scene.bodies[body])  # type: ignore[arg-type]  # a whole World
        return _new_hit((handle, rank, distance, point, normal))

    def _bodies_of(self, numbers: Iterable[int]) -> list[BodyHandle]:
        """Handles of bodies, each once, in order."""
        bodies = self._there.scene.bodies
        return [BodyHandle(self, bodies[body]) for body in sorted(set(numbers))]  # type: ignore[arg-type]

    @overload
    def ray_cast(
        self,
        origin: Vector,
        direction: Vector,
        max_distance: float = inf,
        *,
        mask: int = -1,
        exclude: AnyBody | Iterable[AnyBody] = (),
        solid: bool = True,
        all: Literal[False] = False,
    ) -> Hit | None: ...

    @overload
    def ray_cast(
        self,
        origin: Vector,
        direction: Vector,
        max_distance: float = inf,
        *,
        mask: int = -1,
        exclude: AnyBody | Iterable[AnyBody] = (),
        solid: bool = True,
        all: Literal[True],
    ) -> list[Hit]: ...

    def ray_cast(
        self,
        origin: Vector,
        direction: Vector,
        max_distance: float = inf,
        *,
        mask: int = -1,
        exclude: AnyBody | Iterable[AnyBody] = (),
        solid: bool = True,
        all: bool = False,
    ) -> Hit | list[Hit] | None:
        """-> the nearest Hit of a ray, or None; with all=True a list of the Hits of all shapes, the nearest first.

        origin (3,) [m], direction (3,) of any length but 0, world; max_distance [m]. A ray that starts inside a shape
        hits it at once, at distance 0 with a zero normal; with solid=False it hits the surface from inside, where it
        comes out, and the normal points inwards. Of shapes at the same distance the first counts.

        mask: bits of the collision groups that are seen. exclude: a body, or a list of bodies, that are not."""
        with self._turn.telling("ray_cast"):  # and not `_asking`: of one ray that would take as long as all else
            try:
                finder = self._present_finder()
                groups, skipped = self._seen(mask, exclude)
                solid = solid if type(solid) is bool else flag(solid, "solid")
                if all is not False and flag(all, "all"):
                    line = _line(origin, direction, max_distance)
                    hits = finder.cast_through(*line, groups, skipped, solid)
                    return [self._hit(hit) for hit in sorted(hits, key=_nearest)]
                found = finder.cast_ray(origin, direction, max_distance, groups, skipped, solid)
                if found is NotImplemented:
                    found = finder.cast_ray(*_line(origin, direction, max_distance), groups, skipped, solid)
                return None if found is None else self._hit(found)
            except FieldError as error:
                raise SceneError(f"World.ray_cast: {error}") from None

    def ray_casts(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distance: ArrayLike = inf,
        *,
        mask: int = -1,
        exclude: AnyBody | Iterable[AnyBody] = (),
        solid: bool = True,
    ) -> np.ndarray:
        """The nearest hits of many rays in one call, as of a lidar: (k,) structured array of body (-1 = nothing), shape
        (its number in the body), distance [m] (inf), point (3,) [m] and normal (3,), world.

        origins, directions (k, 3), or (3,) for all; max_distance: one, or (k,) [m]. mask, exclude, solid: as of
        ray_cast."""
        with self._asking("ray_casts") as finder:
            begins, ways = _rays(origins, directions)
            hits = finder.cast_rays(
                begins,
                ways,
                _reaches(max_distance, len(begins)),
                *self._seen(mask, exclude),
                flag(solid, "solid"),
            )
            struck = hits["body"] >= 0
            hits["shape"][struck] = self._shape_ranks[hits["shape"][struck]]
            return hits

    def shape_cast(
        self,
        shape: Shape | Sequence[Shape],
        position: Vector,
        orientation: Vector,
        direction: Vector,
        max_distance: float = inf,
        *,
        mask: int = -1,
        exclude: AnyBody | Iterable[AnyBody] = (),
    ) -> Hit | None:
        """Slide a shape (or a list of them, a compound) along a direction until it touches: the first Hit, or None.

        shape: one with an inside, so no Plane; position (3,) [m], orientation (4,): of its frame in the world.
        direction (3,) of any length but 0; max_distance [m]. It does not turn. Where it overlaps something at the
        start, the distance is 0 and the normal is the shortest way out. mask, exclude: as of ray_cast."""
        with self._asking("shape_cast") as finder:
            position, way, limit = _line(position, direction, max_distance, "position")
            probes, seen = _probes(shape, position, orientation), self._seen(mask, exclude)
            hits = [hit for probe in probes if (hit := finder.cast_shape(probe, way, limit, *seen)) is not None]
            return self._hit(min(hits, key=_nearest)) if hits else None

    def overlap(
        self,
        shape: Shape | Sequence[Shape],
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        *,
        mask: int = -1,
        exclude: AnyBody | Iterable[AnyBody] = (),
    ) -> list[BodyHandle]:
        """The bodies that a shape (or a list of them) overlaps or touches, in the order of bodies.

        shape: any, a Plane (all that is below it) too; position (3,) [m], orientation (4,): of its frame in the
        world. mask, exclude: as of ray_cast."""
        with self._asking("overlap") as finder:
            probes = _probes(shape, vector(position, "position"), orientation, planes=True)
            seen = self._seen(mask, exclude)
            return self._bodies_of(body for probe in probes for body in finder.overlapped(probe, *seen))

    def overlaps(self, body: AnyBody) -> list[BodyHandle]:
        """The bodies that are in the sensors of a body now, in order. What a sensor sees: collide/_sensors.pyx."""
        with self._asking("overlaps") as finder:
            i = self._find(body, BodyHandle)
            if not isinstance(finder, Sensors) or not any(shape.sensor for shape in self._scene.bodies[i].shapes):
                raise SceneError(
                    f"World.overlaps: body {self.body_names[i]!r} has no sensor; give one of its shapes "
                    "sensor=True, or ask World.overlap with a shape"
                )
            pairs = finder.inside_now(self._bodies.position, self._bodies.orientation, self._bodies.kind)
            return self._bodies_of(self._shape_bodies[pairs[self._shape_bodies[pairs[:, 0]] == i, 1]].tolist())

    def distance(
        self, a: AnyBody, b: AnyBody | Shape, position: Vector = ORIGIN, orientation: Vector = UPRIGHT
    ) -> Distance | None:
        """Distance between body a and body b, or a shape b placed by `position` [m] and `orientation` in the world:
        that of their nearest shapes, sensors not counted. None where one has no shape, or both are planes."""
        with self._asking("distance") as finder:
            i, other, k = self._find(a, BodyHandle), finder, 0
            if isinstance(b, Shape):
                (other,) = _probes(b, vector(position, "position"), orientation, planes=True)
            else:
                k = self._find(b, BodyHandle)
            found = finder.distance(i, other, k)
            return None if found is None else Distance(found[0], *found[1])
