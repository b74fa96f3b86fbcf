"""Scene: the bodies and joints there are, and gravity. Plain data; it does not move."""

from __future__ import annotations  # signatures read as they are written here

import copy
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Sequence
from os import PathLike
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.files import write_json
from mcsim.core.rotation import normalized
from mcsim.scene.bodies import Body
from mcsim.scene.calls import explain_methods
from mcsim.scene.checks import FieldError, Vector, flag, listing, show, suggestion, text, unit_quaternion, vector
from mcsim.scene.described import VERSION
from mcsim.scene.joints import GearJoint, Joint
from mcsim.scene.many_bodies import POSES, bodies_of, columns_of
from mcsim.scene.materials import Material
from mcsim.scene.merging import Added, added, is_place, refuse_clashes, told_prefix
from mcsim.scene.pair_materials import PairMaterial, material_name, same_pairs, with_pair
from mcsim.scene.shapes import ORIGIN, UPRIGHT, Shape

EARTH = (0.0, 0.0, -9.81)  # [m/s²]
NAME = "scene"


@explain_methods
class Scene:
    """What exists: bodies, joints and gravity.

    gravity: (3,) [m/s²], world axes, z up. name: what the scene is called.
    bodies, joints: lists of Body and Joint in the order in which they were added.
    ignored_pairs: list[Any] of pairs of bodies' names that do not collide: `ignore_collision`.
    pair_materials: list[Any] of PairMaterial, of bodies and of materials whose surfaces are told together:
        `set_pair`, `set_material_pair`.

    A handle is what `add_body` and `add_joint` return; wherever a body or joint is asked for, its handle or its name
    serves. Scenes compare by content, copy, deep-copy and pickle; `save` and `mc.load` keep every number to the bit.
    """

    _known: tuple[Any, dict[frozenset[str], int]] = None, {}  # ignored_pairs, and the place of each pair there
    _first: int = 0  # the number of the first body, where they are to come behind others (`_extension`)

    def __init__(self, gravity: Vector = EARTH, name: str = NAME):
        self.gravity = gravity
        self.name = name
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.ignored_pairs: list[tuple[str, str]] = []
        self.pair_materials: list[PairMaterial] = []
        self._body_of: dict[str, Body] = {}
        self._joint_of: dict[str, Joint] = {}
        self._written = frozenset({"version", "name", "gravity", "bodies", "joints"})  # even if equal to the default

    # ---- what there is -----------------------------------------------------------------------------------------------

    @property
    def gravity(self) -> np.ndarray:
        """(3,) [m/s²], world axes. Set it whole; single numbers of it cannot be set."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Vector) -> None:
        try:
            gravity = np.array(vector(value, "gravity"))
        except FieldError as error:
            raise error.within("scene") from None
        gravity.flags.writeable = False
        self._gravity = gravity

    @property
    def name(self) -> str:
        """What the scene is called."""
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        try:
            self._name = text(value, "name")
        except FieldError as error:
            raise error.within("scene") from None

    def body(self, which: Body | str) -> Body:
        """The body of this name or handle."""
        return _find(which, Body, self._body_of, "body", "bodies")

    def joint(self, which: Joint | str) -> Joint:
        """The joint of this name or handle."""
        return _find(which, Joint, self._joint_of, "joint", "joints")

    # ---- adding ------------------------------------------------------------------------------------------------------

    def add_body(
        self,
        name: str | None = None,
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
    ) -> Body:
        """Add a body and return it: its handle. A failed call changes nothing.

        name: unique; body0, body1, … by its number in the scene if None.
        shape: a shape, or a list of them for a compound. Where the shapes of one body overlap, the overlap counts
            once for each of them in mass and inertia.
        kind: "dynamic" moves by forces, "kinematic" by its velocities alone, "static" not at all.
        position [m], orientation (w, x, y, z): of the body's own frame in the world. Shapes are placed in that frame.
        velocity: [m/s], of the centre of mass, world axes. angular_velocity: [rad/s], world axes.
        density: [kg/m³] of shapes that have none of their own, 1000 by default. mass: [kg], in place of a density, to
            which the shapes' mass and inertia are scaled.
        inertia [kg m²]: 3 principal moments or 3×3, about the centre of mass, in body axes; needs mass.
            A dynamic body without a shape needs both.
        center_of_mass: [m] in the body's frame; needs mass and inertia, unless the body is static or kinematic.
            Without it, it is that of the shapes.
        material: of shapes that have none of their own; Material() by default.
        collision_group, collision_mask: 32-bit integers; two bodies collide if each one's group is in the other's mask.
        gravity_scale: multiplies gravity. linear_damping, angular_damping: the rates at which velocities decay [1/s].
        bullet: whether to keep it from passing through dynamic bodies, too, however fast.
        unphysical_inertia: let the moments of `inertia` break the triangle inequality, which no solid's do, but those
            of many robot files. They must be positive definite in any case.
        enabled: whether it takes part. One that does not stands where it is as if it were not there: nothing collides with
            it, rays do not see it, and joints on it hold nothing.
        user_data: anything of your own, read back as body.user_data, from a world's handle too. No file holds it.
        """
        arguments = {key: value for key, value in locals().items() if key not in ("self", "name")}
        return self._add_body(name, lambda index, name: Body(index, name, **arguments))

    def add_bodies(
        self,
        *,
        names: Iterable[str | None] | None = None,
        shapes: Shape | Iterable[Shape | Sequence[Shape]] | None = None,
        positions: ArrayLike | None = None,
        orientations: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        angular_velocities: ArrayLike | None = None,
        kind: str = "dynamic",
        density: Any = None,
        mass: Any = None,
        inertia: Vector | None = None,
        center_of_mass: Vector | None = None,
        material: Any = None,
        collision_group: int = 1,
        collision_mask: int = -1,
        gravity_scale: float = 1.0,
        linear_damping: float = 0.0,
        angular_damping: float = 0.0,
        bullet: bool = False,
        unphysical_inertia: bool = False,
        enabled: bool = True,
        user_data: Any = None,
    ) -> list[Body]:
        """Add many bodies at once from arrays, a row for each, which takes a tenth of the time of one by one. -> their
        handles. A failed call changes nothing.

            scene.add_bodies(names=[f"box{i}" for i in range(n)], shapes=mc.Box((0.5, 0.5, 0.5)), positions=places)

        names: of all; as of `add_body` where it is None, or one of them is. shapes: one for all bodies, or a list with one
            for each: a shape, or a list of shapes for a compound.
        positions (n, 3) [m], orientations (n, 4), velocities (n, 3) [m/s], angular_velocities (n, 3) [rad/s]: as the
            arguments of `add_body`, a row for each body; or one row for all.
        density, mass, material, user_data: one for all, or a list of one for each. All others are as of `add_body`, and the
            same for all.
        """
        arguments = {key: value for key, value in locals().items() if key not in ("self", "names", "shapes")}
        poses = {field: arguments.pop(field) for field in POSES}
        names = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else names
        first, taken = self._first + len(self.bodies), cast(Any, ChainMap({}, self._body_of))
        try:
            columns = columns_of(names, shapes, poses, arguments)
            for i in range(columns.number):
                taken[_new_name(None if names is None else names[i], first + i, taken, "body")] = None
            bodies = bodies_of(list(taken.maps[0]), first, columns, arguments)
        except FieldError as error:
            raise (error if error.subject else error.within("add_bodies")) from None
        self.bodies += bodies
        self._body_of.update((body.name, body) for body in bodies)
        return bodies

    def _add_body(self, name: str | None, make: Callable[[int, str], Body]) -> Body:
        """Add the body that is made of its number and its name."""
        index = self._first + len(self.bodies)
        name = _new_name(name, index, self._body_of, "body")
        try:
            body = make(index, name)
        except FieldError as error:
            raise error.within(f"body {name!r}") from None
        self.bodies.append(body)
        self._body_of[name] = body
        return body

    def add_joint(self, joint: Joint) -> Joint:
        """Add a joint such as HingeJoint, place it on its bodies and return it: its handle.

        Its bodies must be in the scene, and one of them dynamic. A failed call changes nothing.
        """
        self._add_joint(joint, lambda body: body)
        return joint

    def _add_joint(self, joint: Joint, posed: Callable[[Body], Body]) -> None:
        """Add a joint. posed: the version of a body that has the pose at which the joint is placed."""
        if not isinstance(joint, Joint):
            raise FieldError("joint", f"must be a joint such as HingeJoint, got {show(joint)}", "add_joint")
        with joint.taken_once():
            self._place_joint(joint, posed)

    def _place_joint(self, joint: Joint, posed: Callable[[Body], Body]) -> None:
        """Place a joint that is nobody else's on its bodies, and add it."""
        index = len(self.joints)
        name = _new_name(joint.name, index, self._joint_of, "joint")
        try:
            joint._look_up(self.body, self.joint)
            bodies = self._end(joint, "a"), self._end(joint, "b")
            if not any(body is not None and body.described_kind == "dynamic" for body in bodies):
                ends = " and ".join(
                    "the world" if body is None else f"{body.name!r} ({body.described_kind})" for body in bodies
                )
                raise FieldError("", f"joins {ends}: at least one of the two must be dynamic")
            a, b = (body and posed(body) for body in bodies)
            joint._place(index, name, (a, b))
        except FieldError as error:
            raise error.within(f"joint {name!r}") from None
        self.joints.append(joint)
        self._joint_of[name] = joint

    def _end(self, joint: Joint, field: str) -> Body | None:
        """The body at one end of a joint."""
        which = joint._ends["ab".index(field)]
        try:
            return None if which is None else self.body(which)
        except FieldError as error:
            raise FieldError(field, f"is wrong: {error.problem}") from None

    def add(self, other: Scene, position: Vector = ORIGIN, orientation: Vector = UPRIGHT, prefix: str = "") -> Added:
        """Add all that another scene has, and return the new handles: `added.bodies[name]` and `added.joints[name]`, by the
        names in the other scene. That one is only read, so it may be added many times, and be this one or a world's.

        position (3,) [m], orientation (4,): where the other scene's origin comes to lie in this one, and how it is turned.
        Bodies, their velocities, and what joints hold to the world go with it. Gravity, and the name, stay this scene's.
        prefix: what all the new names begin with. SceneError where a name is taken, which says so; a failed call changes
        nothing.

        Of a world's `scene` bodies come as they were when they were added; `world.to_scene()` is that of its present state.
        Joints of your own get the poses that they would have had at their old place, so they hold what they held there.
        """
        if not isinstance(other, Scene):
            raise FieldError("other", f"must be a Scene, got {show(other)}", "Scene.add")
        try:
            prefix = told_prefix(prefix)
            place = np.array(vector(position, "position")), normalized(unit_quaternion(orientation, "orientation"))
        except FieldError as error:
            raise error.within("Scene.add") from None
        refuse_clashes("body", other._body_of, self._body_of, prefix)
        refuse_clashes("joint", other._joint_of, self._joint_of, prefix)
        first, ignored = (len(self.bodies), len(self.joints)), [(prefix + a, prefix + b) for a, b in other.ignored_pairs]
        pairs = [pair.prefixed(prefix) for pair in other.pair_materials]
        new = added((other.bodies, other.joints), place, prefix, first, is_place(place))
        self.bodies.extend(new.bodies.values())
        self.joints.extend(new.joints.values())
        self._body_of.update((body.name, body) for body in new.bodies.values())
        self._joint_of.update((joint.name, joint) for joint in new.joints.values())
        self.ignored_pairs.extend(ignored)
        for pair in pairs:
            self._set_pair(pair)
        return new

    def ignore_collision(self, a: Body | str, b: Body | str, ignored: bool = True) -> None:
        """Let two bodies pass through each other, by handle or name: they do not collide, whatever their groups and
        masks say. ignored=False: let them collide again. Bodies that a joint with collide=False joins never do."""
        self._set_ignored((self.body(a).name, self.body(b).name), ignored)

    def set_pair(
        self,
        a: Body | str,
        b: Body | str,
        *,
        friction: float | None = None,
        restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
    ) -> None:
        """Say what the surfaces of two bodies, by handle or name, are like against each other, in place of what their
        materials give together; each as of Material. What is not given is as the materials have it, so without any of them
        the pair is as others again. SceneError where a number is wrong or a body is not there.

            scene.set_pair("ice", "tyre", friction=0.02)
        """
        numbers = (friction, restitution, rolling_friction, torsional_friction)
        self._set_pair(PairMaterial(self.body(a).name, self.body(b).name, *numbers))

    def set_material_pair(
        self,
        a: Material | str,
        b: Material | str,
        *,
        friction: float | None = None,
        restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
    ) -> None:
        """Say what the surfaces of two materials, by their names, are like wherever they meet, in place of what the two
        give together; each as of Material. a and b may be one: ice on ice. What `set_pair` says of two bodies stands above
        it. What is not given is as the materials have it, so without any of them the pair is as others again. A name need
        not be in use yet. SceneError where a number is wrong or a material has no name.

            ice, rubber = mc.Material(friction=0.1, name="ice"), mc.Material(friction=0.9, name="rubber")
            scene.set_material_pair(ice, rubber, friction=0.15)
            scene.set_material_pair("ice", "ice", friction=0.03)
        """
        numbers = (friction, restitution, rolling_friction, torsional_friction)
        self._set_pair(PairMaterial(material_name(a, "a"), material_name(b, "b"), *numbers, of="materials"))

    def _set_pair(self, pair: PairMaterial) -> None:
        """The same of bodies that are there, or of materials."""
        self.pair_materials = with_pair(self.pair_materials, pair)

    def _set_ignored(self, pair: tuple[str, str], ignored: bool) -> None:
        """The same of names of bodies that are there."""
        ignored = flag(ignored, "ignored")
        if pair[0] == pair[1]:
            raise FieldError("b", f"is body {pair[0]!r} too; a pair is of two bodies", "ignore_collision")
        both = frozenset(pair)
        places = self._places(both)
        if ignored and both not in places:
            places[both] = len(self.ignored_pairs)
            self.ignored_pairs.append(pair)
        elif not ignored and both in places:
            del self.ignored_pairs[places[both]]
            self._known = None, {}

    def _places(self, pair: frozenset[str]) -> dict[frozenset[str], int]:
        """Where each pair stands in the list of those that do not collide; found anew if the list, which is the caller's,
        too, is another, has another length, or another pair where this one should stand."""
        listed, places = self._known
        place = places.get(pair)
        if (
            listed is not self.ignored_pairs
            or len(places) != len(listed)
            or (place is not None and frozenset(listed[place]) != pair)
        ):
            places = {frozenset(other): i for i, other in enumerate(self.ignored_pairs)}
            self._known = self.ignored_pairs, places
        return places

    # ---- files, copies -----------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The scene as JSON data: dicts, lists, strings and numbers.

        Defaults are left out, unless the scene was read from data that wrote them out.
        """
        fields = {
            "version": VERSION,
            "name": self.name,
            "gravity": self.gravity.tolist(),
            "bodies": [body.to_dict() for body in self.bodies],
            "joints": [joint.to_dict() for joint in self.joints],
            "ignored_pairs": [list(pair) for pair in self.ignored_pairs],
            "pair_materials": [pair.to_dict() for pair in self.pair_materials],
        }
        defaults = {"name": NAME, "gravity": list(EARTH)} | {part: [] for part in PARTS}
        return {key: value for key, value in fields.items() if key in self._written or value != defaults[key]}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> Scene:
        """The scene that JSON data describes. What is wrong is answered by a SceneError with the place in the data."""
        from mcsim.scene.files import fill  # here, because pydantic takes long to import

        scene = Scene()
        fill(scene, data)
        return scene

    def save(self, path: str | PathLike[str]) -> None:
        """Write the scene to a JSON file."""
        write_json(self.to_dict(), path, "scene file")

    def copy(self) -> Scene:
        """A scene of its own with the same content. Bodies and joints, which are fixed, are those of this one."""
        return self.sharing_parts()

    def __deepcopy__(self, memo: dict[int, Any]) -> Scene:
        memo.update((id(part), part) for parts in (self.bodies, self.joints) for part in parts)
        return self.sharing_parts()

    def sharing_parts(self) -> Scene:
        """A scene of its own with the same bodies and joints, which are fixed once they are in a scene: quick."""
        other = copy.copy(self)
        other.bodies, other.joints = list(self.bodies), list(self.joints)
        other.ignored_pairs, other.pair_materials = list(self.ignored_pairs), list(self.pair_materials)
        other._body_of, other._joint_of = self._body_of.copy(), self._joint_of.copy()  # dict() would be slow after removals
        return other

    def _extension(self) -> Scene:
        """A scene for bodies that are to come behind this one's, whose names are taken: its own are those alone."""
        other = Scene.__new__(Scene)
        other.__dict__.update(self.__dict__)
        other.bodies, other._first, other._body_of = [], len(self.bodies), cast(Any, ChainMap({}, self._body_of))
        return other

    def without(self, bodies: Collection[str], joints: Collection[str]) -> Scene:
        """A scene of its own without these bodies and joints, by their names. Nothing may hang on them that stays."""
        number, joint_number = self.numbers()
        return self._without_numbers(sorted(number[name] for name in bodies), sorted(joint_number[name] for name in joints))

    def _without_numbers(self, bodies: Sequence[int], joints: Sequence[int]) -> Scene:
        """The same, by their numbers, ascending."""
        if len(bodies) + len(joints) > 3:
            gone = frozenset(bodies), frozenset(joints)
            return self.of_parts(
                [body for i, body in enumerate(self.bodies) if i not in gone[0]],
                [joint for i, joint in enumerate(self.joints) if i not in gone[1]],
            )
        other = self.sharing_parts()
        for i in reversed(bodies):
            del other._body_of[other.bodies.pop(i).name]
        for i in reversed(joints):
            del other._joint_of[other.joints.pop(i).name]
        other._forget_pairs()
        return other

    def disabled_joints(self, joints: Iterable[Joint] | None = None) -> set[str]:
        """Names of the joints, of all or of some, that hold nothing because a body of theirs is not enabled, and of the
        gears on them."""
        return {joint.name for joint in (self.joints if joints is None else joints) if self._holds_nothing(joint)}

    def _holds_nothing(self, joint: Joint) -> bool:
        ends = [self._body_of[name] for name in (joint.a, joint.b) if name is not None]
        geared = (joint.joint_a, joint.joint_b) if isinstance(joint, GearJoint) else ()
        return not all(body.enabled for body in ends) or any(self._holds_nothing(self._joint_of[name]) for name in geared)

    def numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        """The place of each body and of each joint, by name."""
        return dict(zip(self._body_of, range(len(self.bodies)))), dict(zip(self._joint_of, range(len(self.joints))))

    def _forget_pairs(self) -> None:
        """Pairs of bodies that are here no longer."""
        self.ignored_pairs = [pair for pair in self.ignored_pairs if all(name in self._body_of for name in pair)]
        self.pair_materials = [pair for pair in self.pair_materials if self._has_both(pair)]

    def _has_both(self, pair: PairMaterial) -> bool:
        """Whether the two bodies are here; materials are anywhere."""
        return pair.of == "materials" or pair.names <= self._body_of.keys()

    def of_parts(
        self,
        bodies: list[Body],
        joints: list[Joint],
        ignored_pairs: Sequence[tuple[str, str]] | None = None,
        pair_materials: Sequence[PairMaterial] | None = None,
    ) -> Scene:
        """A scene of its own with other parts, whose names and ends go together. ignored_pairs, pair_materials: those of
        this scene if None, as far as their bodies are there."""
        other = copy.copy(self)
        other.bodies, other.joints = bodies, joints
        other._body_of = {body.name: body for body in bodies}
        other._joint_of = {joint.name: joint for joint in joints}
        if ignored_pairs is not None:
            other.ignored_pairs = list(ignored_pairs)
        if pair_materials is not None:
            other.pair_materials = list(pair_materials)
        other._forget_pairs()
        return other

    def numbered(self) -> Scene:
        """This scene if its parts' numbers are their places, as they are unless some were removed; else another one."""
        lists: tuple[list[Any], list[Any]] = self.bodies, self.joints
        if all(part.index == i for parts in lists for i, part in enumerate(parts)):
            return self
        bodies, joints = (
            [part if part.index == i else part.changed(index=i) for i, part in enumerate(parts)] for parts in lists
        )
        return self.of_parts(bodies, joints)

    def frozen(self) -> Scene:
        """This scene to be read alone: what would change it is refused. Its copies are scenes like others."""
        return FrozenScene(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_known"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._gravity.flags.writeable = False  # copied and unpickled arrays come back writable

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, Scene):
            return NotImplemented
        return (
            self.name == other.name
            and np.array_equal(self.gravity, other.gravity)
            and _all_same(self.bodies, other.bodies)
            and _all_same(self.joints, other.joints)
            and set(map(frozenset, self.ignored_pairs)) == set(map(frozenset, other.ignored_pairs))
            and same_pairs(self.pair_materials, other.pair_materials)
        )

    __hash__: ClassVar[None]  # type: ignore[assignment]  # as Python has it: equal scenes may change

    def __repr__(self) -> str:
        return f"<Scene {self.name!r}: {len(self.bodies)} bodies, {len(self.joints)} joints>"


class FrozenList(list[Any]):
    """A list to be read; its copies are lists like others."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise SceneError(
            "this list is of the scene of a running world, to be read: change the world (add_body, add_joint, "
            "remove_body, …), or a copy of the scene (scene.copy())"
        )

    append: Any = _refuse
    clear: Any = _refuse
    extend: Any = _refuse
    insert: Any = _refuse
    pop: Any = _refuse
    remove: Any = _refuse
    reverse: Any = _refuse
    sort: Any = _refuse
    __delitem__: Any = _refuse
    __iadd__: Any = _refuse
    __imul__: Any = _refuse
    __setitem__: Any = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


class FrozenScene(Scene):
    """The scene of a running world, as it shows it."""

    def __init__(self, scene: Scene):
        self.__dict__.update(scene.__dict__)
        self.__dict__.update({name: FrozenList(getattr(scene, name)) for name in PARTS})

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse()

    def __delattr__(self, name: str) -> None:
        self._refuse()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise SceneError(
            f"scene {self.name!r} is that of a running world, to be read: change the world (add_body, "
            "add_joint, remove_body, …), or a copy of the scene (scene.copy())"
        )

    _add_body: Any = _refuse  # with any arguments
    add_bodies: Any = _refuse
    _add_joint: Any = _refuse
    add: Any = _refuse
    ignore_collision: Any = _refuse
    set_pair: Any = _refuse
    set_material_pair: Any = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return _thawed, (self.__getstate__() | {name: list(getattr(self, name)) for name in PARTS},)


PARTS = ("bodies", "joints", "ignored_pairs", "pair_materials")


def _thawed(state: dict[str, Any]) -> Scene:
    scene = Scene.__new__(Scene)
    scene.__setstate__(state)
    return scene


def _all_same(ours: list[Any], theirs: list[Any]) -> bool:
    return len(ours) == len(theirs) and all(a.same(b) for a, b in zip(ours, theirs))


def _find(which: Any, family: type[Any], names: dict[str, Any], noun: str, nouns: str) -> Any:
    """A body or joint by handle or name. A copy's handle serves too, if it has the same content."""
    if isinstance(which, family):
        found = names.get(which.name)
        if found is which or (found is not None and found.same(which)):
            return found
        raise FieldError("", f"{which!r} is not in this scene")
    if not isinstance(which, str):
        raise FieldError("", f"a {noun} is asked for by its name or handle, got {show(which)}")
    if which not in names:
        there = f"the {nouns} are: {listing(names)}" if names else f"there are no {nouns} yet"
        raise FieldError("", f"there is no {noun} {which!r}{suggestion(which, names)}; {there}")
    return names[which]


def _new_name(name: Any, index: int, taken: dict[str, Any], noun: str) -> str:
    """A name that is free: the given one, or else noun and number."""
    if name is None:
        while f"{noun}{index}" in taken:
            index += 1
        return f"{noun}{index}"
    try:
        name = text(name, "name")
    except FieldError as error:
        raise error.within(noun) from None
    if name in taken:
        raise FieldError("name", f"{name!r} is taken by another {noun}; choose another name", noun)
    return name
