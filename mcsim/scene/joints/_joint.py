"""What all joints have in common."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mcsim.core.linear import length
from mcsim.core.rotation import IDENTITY, Frame, compose, relative
from mcsim.scene import checks
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, text
from mcsim.scene.described import Described
from mcsim.scene.drives import AxisSpec
from mcsim.scene.joints._arguments import body_name, bound_of, placed_frame, with_armature, with_motion

BodyName = Body | str | None

# id of a joint that a scene is about to take -> who takes it. A dict's setdefault lets one of several threads in.
_takers: dict[int, object] = {}

# Arguments that place a joint in world coordinates.
PLACEMENT = ("anchor", "axis", "axis_a", "axis_b", "normal", "anchor_a", "anchor_b", "rack_axis", "pinion_axis")


class TreeKind(NamedTuple):
    """What a joint is in generalized coordinates (reduced/kinds.py): motions of F_s against F_p, ways first.

    name: of the kind. ways: the axes of F_p along which it slides, of "xyz"; of velocities along them, those of a joint
    that slides and turns about z, ways "xy", are along the axes of F_s.
    turn: "" (not), "z", "zx" or "zyx": angles about these axes one after the other; "q": freely, a unit quaternion.
    geared: the axis of F_p along which it goes by the joint's constant a radian of its angle, which tells whole turns.
    """

    name: str
    ways: str = ""
    turn: str = ""
    geared: str = ""


class Joint(Described):
    """What all joints have in common. `Scene.add_joint` adds it and places it; then it serves as its own handle.

    type: its name in files, a key of JOINTS. index, name: in the scene; name is None before, if none was given.
    a, b: names of the two bodies, None for the world.
    frame_a, frame_b: (position (3,) [m], quaternion (4,)) of the joint's frame in each body's own frame.
    axes: list of AxisSpec, one for each free coordinate, in the order of the joint's position.
    collide: whether the two bodies collide with each other.
    swing_limit: [rad], of a ball joint; infinite if there is none.
    constant: of a screw its pitch [m/rad], of a rack and pinion the radius [m], of a rod its length [m] (infinite for a
        distance joint that is not a rod), of a gear q_a + ratio q_b (NaN: that of the initial pose); else 0.
    break_force [N], break_torque [N m], about the joint's point: if the joint carried more at the end of a step, it
        breaks and holds nothing any more; infinite if it cannot break. Its bodies go on not to collide, unless
        `collide`.

    What a type is to the rest of mcsim:
    coordinates: what each is: "way" [m], "angle" [rad], or three of "turn", the rotation vector. turns_freely: whether no
        row binds turning alone. tree: what it is in a tree of generalized coordinates, or None. couples: whether it is a
        coupling there. urdf: its names in URDF files. in_files: whether a scene file can hold it.
    """

    type: ClassVar[str]
    # What each coordinate of a type is: a "way" [m], an "angle" [rad] whose whole turns it alone counts, a "thread", an
    # angle whose whole turns a way tells, or three of "turn", the rotation vector of b's axes in those of a, last.
    coordinates: ClassVar[tuple[str, ...]] = ()
    turns_freely: ClassVar[bool] = False  # no row of the type binds turning alone
    tree: ClassVar[TreeKind | None] = None  # what it is in a tree; None: it couples bodies, and is in none
    couples: ClassVar[bool] = False  # it is a coupling still, unless a model says otherwise
    urdf: ClassVar[tuple[str, ...]] = ()  # the types that it is called in URDF files
    in_files: ClassVar[bool] = True  # whether a scene file can hold it
    index: int | None
    name: str  # this and the frames may be None until a scene takes the joint
    a: str | None
    b: str | None
    frame_a: Frame
    frame_b: Frame
    axes: list[AxisSpec]
    collide: bool
    swing_limit: float
    constant: float
    break_force: float
    break_torque: float

    _ends: tuple[BodyName, BodyName]  # the bodies as they were given, handles or names
    _written = frozenset({"name", "a", "b"})

    def _describe(
        self,
        a: Any,
        b: Any,
        name: Any,
        frame_a: Any,
        frame_b: Any,
        collide: Any,
        break_force: Any,
        break_torque: Any,
        axes: list[AxisSpec],
        **arguments: Any,
    ) -> None:
        """Check the arguments that all joints have, and keep everything."""
        name = None if name is None else text(name, "name")
        arguments = (
            {"name": name, "a": body_name(a, "a"), "b": body_name(b, "b")}
            | arguments
            | {
                "frame_a": None if frame_a is None else checks.frame(frame_a, "frame_a"),
                "frame_b": None if frame_b is None else checks.frame(frame_b, "frame_b"),
                "collide": checks.flag(collide, "collide"),
                "break_force": bound_of(break_force, "break_force"),
                "break_torque": bound_of(break_torque, "break_torque"),
            }
        )
        if frame_a is not None or frame_b is not None:
            self._refuse_placement(arguments)
        for axis, kind in zip(axes, self.coordinates):
            if kind == "turn" and axis.spring is not None and axis.spring.acts != "both":
                raise FieldError("spring.acts", f"must be 'both' of what turns freely, got {axis.spring.acts!r}")
        if arguments["a"] == arguments["b"]:
            raise FieldError(
                "",
                "joins " + ("the world" if a is None else repr(arguments["a"])) + " to itself; "
                "give two different bodies, or None for the world",
            )
        self._set(
            _arguments=arguments,
            _ends=(a, b),
            index=None,
            name=name,
            a=arguments["a"],
            b=arguments["b"],
            axes=with_motion(with_armature(axes, arguments.get("armature", 0.0)), arguments.get("motion")),
            frame_a=placed_frame(arguments["frame_a"]),
            frame_b=placed_frame(arguments["frame_b"]),
            collide=arguments["collide"],
            swing_limit=inf,
            constant=0.0,
            **{bound: inf if arguments[bound] is None else arguments[bound] for bound in ("break_force", "break_torque")},
        )

    @classmethod
    def _takes(cls, what: str, axis: int) -> bool:
        """Whether a coordinate may have "limits" or "springs"."""
        return cls.coordinates[axis] != "turn"

    @classmethod
    def _driven_coordinates(cls) -> int:
        """How many coordinates, the first ones, limits, motors, springs and motions are given for."""
        return len(cls.coordinates) - cls.coordinates.count("turn")

    def _refuse_placement(self, arguments: dict[str, Any]) -> None:
        """Anchor and axes say the same as the frames."""
        for field in PLACEMENT:
            if arguments.get(field, self._defaults().get(field)) != self._defaults().get(field):
                raise FieldError(field, "is given together with frame_a or frame_b; give one or the other")

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        """The joint's frame in the world, from anchor and axes, with the bodies at the given frames."""
        raise NotImplementedError

    def _world_frames(self, body_a: Frame, body_b: Frame) -> tuple[Frame, Frame]:
        """The joint's frames on a and on b, in the world: the same one, but for a joint with two anchors."""
        world = self._world_frame(body_a, body_b)
        return world, world

    def _constant_at(self, gap: float) -> float:
        """The joint's constant, once it is placed with its two points `gap` [m] apart."""
        return self.constant

    def _point(self, body_a: Frame, body_b: Frame) -> np.ndarray:
        """The anchor if there is one, else the position of b, or of a if b is the world."""
        anchor = self._arguments["anchor"]
        if anchor is not None:
            return np.array(anchor)
        return (body_a if self.b is None else body_b)[0]

    @contextmanager
    def taken_once(self) -> Iterator[None]:
        """The block in which a scene takes the joint: one that is in a scene, or that another thread gives to one
        meanwhile, is refused."""
        refused = FieldError("", "is in a scene already; make a new one", f"joint {self.name!r}")
        taker = object()
        if _takers.setdefault(id(self), taker) is not taker:
            raise refused
        try:
            if self.index is not None:
                raise refused
            yield
        finally:
            del _takers[id(self)]

    def _look_up(self, body_of: Callable[[Body | str], Body], joint_of: Callable[[Joint | str], Joint]) -> None:
        """What the joint needs of the scene beside its bodies: nothing, but for a gear. body_of, joint_of: the scene's."""

    def _place(self, index: int, name: str, bodies: tuple[Body | None, Body | None]) -> None:
        """Take the place in the scene, and find the frames on both bodies."""
        with np.errstate(over="ignore", invalid="ignore"):
            frame_a, frame_b, gap = self._frames(*bodies)
        if not (np.isfinite(gap) and np.isfinite(frame_a[0]).all() and np.isfinite(frame_b[0]).all()):
            raise FieldError("", "is placed so far from its bodies that the distance leaves the range of numbers")
        self._set(
            index=index,
            name=name,
            frame_a=frame_a,
            frame_b=frame_b,
            _ends=(self.a, self.b),
            constant=self._constant_at(gap),
            _arguments=self._arguments | {"name": name},
        )

    def _frames(self, a: Body | None, b: Body | None) -> tuple[Frame, Frame, float]:
        """The joint's frames on two bodies, and how far apart its two points are [m]."""
        body_a, body_b = (IDENTITY if body is None else (body.position, body.orientation) for body in (a, b))
        frame_a, frame_b = self.frame_a, self.frame_b
        if frame_a is None and frame_b is None:
            world_a, world_b = self._world_frames(body_a, body_b)
        else:
            world_a = world_b = compose(body_b, frame_b) if frame_b is not None else compose(body_a, frame_a)
        frame_a = relative(body_a, world_a) if frame_a is None else frame_a
        frame_b = relative(body_b, world_b) if frame_b is None else frame_b
        return frame_a, frame_b, length(compose(body_b, frame_b)[0] - compose(body_a, frame_a)[0])

    def _told_by_frames(self) -> dict[str, Any]:
        """The arguments that place the joint as it is, whatever poses its bodies are described with."""
        frames = {name: tuple(tuple(part.tolist()) for part in getattr(self, name)) for name in ("frame_a", "frame_b")}
        unplaced = {field: self._defaults().get(field) for field in PLACEMENT if field in self._arguments}
        return self._arguments | unplaced | frames

    def _told_axes(self, axes: list[AxisSpec]) -> dict[str, Any]:
        """The arguments that say the same as these axes: one thing, or one for each of several coordinates that are no turn
        about all axes."""
        count = self._driven_coordinates()
        told: dict[str, Any] = {
            "limits": [None if (axis.lower, axis.upper) == (-inf, inf) else (axis.lower, axis.upper) for axis in axes],
            "motor": [axis.motor for axis in axes],
            "spring": [axis.spring for axis in axes],
            "motion": [axis.motion for axis in axes],
        }
        return {
            name: values[0] if count == 1 else tuple(values[:count]) if any(values) else None
            for name, values in told.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """The joint as JSON data."""
        try:
            return {"type": self.type, **super().to_dict()}
        except FieldError as error:
            raise error.within(f"joint {self.name!r}") from None

    def __repr__(self) -> str:
        ends = " - ".join("world" if end is None else repr(end) for end in (self.a, self.b))
        place = "" if self.index is None else f" {self.index} {self.name!r}"
        return f"<{type(self).__name__}{place}: {ends}>"
