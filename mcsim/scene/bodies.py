"""Body: one rigid body of a scene, with its mass properties resolved."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from mcsim.core.linear import eigenvalues
from mcsim.core.rotation import normalized
from mcsim.scene.checks import (
    FieldError,
    Vector,
    bits,
    choose,
    flag,
    items,
    not_negative,
    number,
    positive,
    show,
    unit_quaternion,
    vector,
)
from mcsim.scene.described import Described, signature_defaults
from mcsim.scene.mass import SLENDEREST, MassProperties, combined, inertia_problem
from mcsim.scene.materials import Material
from mcsim.scene.shapes import AT_ORIGIN, IS_UPRIGHT, ORIGIN, UPRIGHT, Plane, Shape

KINDS = ("static", "kinematic", "dynamic")  # the registry of body kinds
SMALLEST, LARGEST = 1e-100, 1e100  # of mass [kg] and inertia [kg m²]
DENSITY = 1000.0  # [kg/m³], of a body that gives none
USUAL = Material()  # of a body that gives none


class Kept:
    """A value that copies share."""

    __slots__ = ("value",)

    value: Any

    def __init__(self, value: Any) -> None:
        self.value = value

    def __deepcopy__(self, memo: dict[int, Any]) -> Kept:
        return self


class Body(Described):
    """A body of a scene, made by `Scene.add_body`; also its handle. Read-only.

    index: its number in the scene; name; kind: "static", "kinematic" or "dynamic".
    shapes: list[Any] of Shape, in the body's frame.
    position (3,) [m], orientation (4,): of the body's own frame in the world, at the start.
    velocity (3,) [m/s], of the centre of mass, and angular_velocity (3,) [rad/s], at the start, world axes.
    mass [kg] and inertia (3, 3) [kg m²] about the centre of mass, body axes; both 0 unless dynamic: nothing that
        happens to a static or kinematic body moves it.
    center_of_mass (3,) [m], in the body's frame. Without one given it is that of the shapes; planes and
        surfaces do not count.
    material: Material of the shapes that have none of their own.
    collision_group, collision_mask: 32-bit; two bodies collide if each one's group is in the other's mask.
    gravity_scale: multiplies gravity. linear_damping, angular_damping [1/s].
    bullet: does not pass through dynamic bodies either, however fast. Against static and kinematic ones no body needs
        it; contacts of coming meetings are found for all pairs.
    unphysical_inertia: its moments may break the triangle inequality, as those of many robot files do.
    enabled: whether it takes part. One that does not stands still and meets nothing: its `kind` is "static", its mass,
        group and mask are 0, whatever it was made with, and joints on it hold nothing. described_kind is the kind that it
        has when it takes part.
    user_data: whatever you gave it. Copies of the scene have the same object. Files do not hold it, equality does not look
        at it, and pickles hold it, so that it must be one that pickles.
    """

    index: int
    name: str
    kind: str
    shapes: list[Shape]
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    mass: float
    inertia: np.ndarray
    center_of_mass: np.ndarray
    material: Material
    collision_group: int
    collision_mask: int
    gravity_scale: float
    linear_damping: float
    angular_damping: float
    bullet: bool
    unphysical_inertia: bool
    enabled: bool
    _own: Kept

    _written = frozenset({"name", "kind", "shapes"})

    def __init__(
        self,
        index: int,
        name: str,
        *,
        shape: Shape | Sequence[Shape] | None = None,
        kind: str = "dynamic",
        position: Vector = ORIGIN,
        orientation: Vector = UPRIGHT,
        velocity: Vector = ORIGIN,
        angular_velocity: Vector = ORIGIN,
        density: float | None = None,
        mass: float | None = None,
        inertia: Vector | None = None,
        center_of_mass: Vector | None = None,
        material: Material | None = None,
        collision_group: int = 1,
        collision_mask: int = -1,
        gravity_scale: float = 1.0,
        linear_damping: float = 0.0,
        angular_damping: float = 0.0,
        bullet: bool = False,
        unphysical_inertia: bool = False,
        enabled: bool = True,
        user_data: Any = None,
    ):
        kind = choose(kind, KINDS, "kind")
        unphysical_inertia = flag(unphysical_inertia, "unphysical_inertia")
        arguments: dict[str, Any] = {
            "name": name,
            "kind": kind,
            "shapes": _shapes(shape, kind),
            "position": vector(position, "position"),
            "orientation": unit_quaternion(orientation, "orientation"),
            "velocity": checked_motion(velocity, kind, "velocity"),
            "angular_velocity": checked_motion(angular_velocity, kind, "angular_velocity"),
            "density": None if density is None else positive(density, "density"),
            "mass": None if mass is None else positive(mass, "mass"),
            "inertia": None if inertia is None else _inertia(inertia, unphysical_inertia),
            "center_of_mass": None if center_of_mass is None else vector(center_of_mass, "center_of_mass"),
            "material": material,
            "collision_group": bits(collision_group, "collision_group"),
            "collision_mask": bits(collision_mask, "collision_mask"),
            "gravity_scale": number(gravity_scale, "gravity_scale"),
            "linear_damping": not_negative(linear_damping, "linear_damping"),
            "angular_damping": not_negative(angular_damping, "angular_damping"),
            "bullet": flag(bullet, "bullet"),
            "unphysical_inertia": unphysical_inertia,
            "enabled": flag(enabled, "enabled"),
        }
        if not isinstance(material, Material | None):
            raise FieldError("material", f"must be a Material, got {show(material)}")
        properties = _mass_properties(arguments)
        self.__dict__.update(arguments)
        self._set(
            _arguments=arguments,
            index=index,
            shapes=list(arguments["shapes"]),
            position=np.array(arguments["position"]),
            orientation=IS_UPRIGHT if orientation is UPRIGHT else normalized(arguments["orientation"]),
            velocity=AT_ORIGIN if velocity is ORIGIN else np.array(arguments["velocity"]),
            angular_velocity=AT_ORIGIN if angular_velocity is ORIGIN else np.array(arguments["angular_velocity"]),
            mass=properties.mass,
            inertia=properties.inertia,
            center_of_mass=properties.center,
            material=USUAL if material is None else material,
            _own=Kept(user_data),
        )
        if not arguments["enabled"]:
            self._set(kind="static", mass=0.0, inertia=np.zeros((3, 3)), collision_group=0, collision_mask=0)
            self._set(velocity=np.zeros(3), angular_velocity=np.zeros(3))

    @property
    def described_kind(self) -> str:
        """The kind that it was made with, which `kind` is while it is enabled."""
        return self._arguments["kind"]

    @property
    def user_data(self) -> Any:
        """What was given as user_data."""
        return self._own.value

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return signature_defaults(cls) | {"shapes": ()}  # type: ignore[arg-type]  # as Described._defaults

    def __repr__(self) -> str:
        kinds = ", ".join(type(shape).__name__ for shape in self.shapes) or "no shape"
        mass = f", {self.mass:.6g} kg" if self.kind == "dynamic" else ""
        kind = self.kind if self.enabled else f"{self.described_kind}, not enabled"
        return f"<Body {self.index} {self.name!r}: {kind}, {kinds}{mass}>"


def _shapes(shape: Any, kind: str) -> tuple[Shape, ...]:
    """The `shape` argument as a tuple."""
    if shape is None:
        return ()
    shapes = (shape,) if isinstance(shape, Shape) else tuple(items(shape, "a shape or a list of shapes", "shape"))
    for i, part in enumerate(shapes):
        if not isinstance(part, Shape):
            raise FieldError(f"shapes[{i}]", f"must be a shape such as Box or Sphere, got {show(part)}")
        if isinstance(part, Plane) and kind != "static":
            raise FieldError(
                f"shapes[{i}]",
                f"is a Plane, which only a static body may have, this one is {kind}; use kind='static' or a Box",
            )
        if not part.massive and kind == "dynamic":
            raise FieldError(
                f"shapes[{i}]",
                f"is a {type(part).__name__}, which no dynamic body may have: a surface "
                "has no inside; use kind='static', or ConvexHulls for a body that moves",
            )
    return shapes


def checked_motion(value: Any, kind: str, field: str) -> tuple[float, ...]:
    """A velocity, which a static body has not."""
    result = vector(value, field)
    if kind == "static" and any(result):
        raise FieldError(field, f"must be zero for a static body, got {show(value)}; use kind='kinematic' to move it")
    return result


def _inertia(value: Any, unphysical: bool) -> tuple[Any, ...]:
    """3 principal moments, or 3×3 numbers; checked to be the inertia of a solid, or else just positive definite."""
    rows = items(value, "3 numbers or 3 rows of 3", "inertia")
    if len(rows) != 3:
        raise FieldError("inertia", f"must be 3 numbers or 3 rows of 3, got {show(value)}")
    if not hasattr(rows[0], "__len__"):
        result: tuple[Any, ...] = vector(rows, "inertia")
    else:
        result = tuple(vector(row, f"inertia[{i}]") for i, row in enumerate(rows))
        full = np.array(result)
        if np.abs(full - full.T).max() > 1e-9 * np.abs(full).max():
            raise FieldError("inertia", f"must be symmetric, got {show(value)}")
    problem = inertia_problem(_inertia_matrix(result), unphysical)
    if problem:
        raise FieldError("inertia", problem)
    return result


def _inertia_matrix(value: tuple[Any, ...]) -> np.ndarray:
    """3×3, exactly symmetric."""
    full = np.array(value)
    return np.diag(full) if full.ndim == 1 else (full + full.T) / 2


def _mass_properties(arguments: dict[str, Any]) -> MassProperties:
    """What mass, inertia and center_of_mass say, or else the shapes and their densities."""
    kind, mass, inertia, center = (arguments[name] for name in ("kind", "mass", "inertia", "center_of_mass"))
    if mass is not None and arguments["density"] is not None:
        raise FieldError("", "takes density or mass, not both")
    if inertia is not None and mass is None:
        raise FieldError("inertia", "needs mass as well")
    if kind == "dynamic" and center is not None and inertia is None:
        raise FieldError("center_of_mass", "needs mass and inertia as well: without them the shapes give all three")
    solid = [shape for shape in arguments["shapes"] if shape.massive and not _weightless(shape)]
    from_shapes = _from_shapes(solid, DENSITY if arguments["density"] is None else arguments["density"])
    center = from_shapes.center if center is None else np.array(center)
    if kind != "dynamic":
        return MassProperties(0.0, center, np.zeros((3, 3)))
    if inertia is not None:
        return _in_range(MassProperties(mass, center, _inertia_matrix(inertia)))
    if not solid:
        raise FieldError(
            "",
            f"is dynamic and has no shape{' but sensors' if arguments['shapes'] else ''}, so it needs "
            "mass and inertia; give them, a shape, or another kind",
        )
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what comes out of range is refused
        return _in_range(from_shapes if mass is None else from_shapes.scaled(np.float64(mass) / from_shapes.mass))


def _weightless(shape: Shape) -> bool:
    """A sensor without a density of its own."""
    return shape.sensor and shape.density is None


def _in_range(properties: MassProperties) -> MassProperties:
    """Refuse what would overflow when it is divided by or squared, and moments too different to be kept apart."""
    inertia = properties.inertia.tolist()
    moments = [inertia[i][i] for i in range(3)]
    for field, value in (("mass", properties.mass), *(("inertia", value) for value in moments)):
        if not SMALLEST <= value <= LARGEST:
            raise FieldError(field, f"comes to {value:.3g}, out of [{SMALLEST:g}, {LARGEST:g}]; check sizes and units")
    if any(inertia[i][k] for i in range(3) for k in range(3) if i != k):
        moments = eigenvalues(properties.inertia).tolist()
    least, most = min(moments), max(moments)
    if not least > SLENDEREST * most:
        raise FieldError(
            "inertia",
            f"comes to moments from {least:.3g} to {most:.3g}: too slender to compute with; "
            "make it thicker, or give mass and inertia",
        )
    return properties


def _from_shapes(shapes: Sequence[Shape], density: float) -> MassProperties:
    """The shapes together, each with its own density if it has one; nothing at the origin if there are none."""
    if not shapes:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))
    with np.errstate(all="ignore"):
        try:
            result = combined([shape.mass_properties(shape.density or density) for shape in shapes])
        except (OverflowError, ZeroDivisionError):
            result = None
    if result is None or not (
        result.mass and all(map(isfinite, (*result.inertia.ravel().tolist(), *result.center.tolist())))
    ):
        raise FieldError("shape", "is so large, so small or so far away that its mass is not a positive number")
    return result
