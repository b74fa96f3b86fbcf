"""What a running World gains, loses and has changed: bodies, joints, shapes, materials, kinds.

Every change makes a scene of the parts that are there from now on, and takes it (`_take`): arrays are gathered from the
old ones and what is new (gathering.py), then the collider and the pipeline are made for them. Nothing of the world is
touched before all of it is there, so a call that fails changes nothing. What stays keeps its state to the bit: poses,
velocities, forces, impulses of joints and contacts.
"""

from __future__ import annotations  # signatures read as they are written here

import inspect
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, cast

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.notes import carry_over, renumber
from mcsim.core.rotation import normalized, rotate
from mcsim.scene import Scene
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, items, show
from mcsim.scene.joints import GearJoint, Joint
from mcsim.scene.materials import Material
from mcsim.scene.pair_materials import PairMaterial, material_name
from mcsim.scene.shapes import Shape
from mcsim.state._closing_up import Rows
from mcsim.state.arrays import ShapeArrays, excluded_pairs
from mcsim.state.fields import BODY_FIELDS, JOINT_TYPES
from mcsim.state.motions import check_motions
from mcsim.world.base import WorldBase
from mcsim.world.contact_filter import ContactFilter, filter_calls
from mcsim.world.draft import Draft
from mcsim.world.gathering import Gathering
from mcsim.world.handles import AnyBody, AnyJoint, BodyHandle, JointHandle
from mcsim.world.protocols import There
from mcsim.world.settings import sleep_settings

# What set_body does not change: what moves by itself.
STATE = {"position": "set_pose", "orientation": "set_pose", "velocity": "set_velocity", "angular_velocity": "set_velocity"}
STATE |= {"user_data": "body.user_data = …"}

GEAR, NO_SIZES = JOINT_TYPES.index("gear"), np.zeros(0)

# What changes of a body that wakes.
WOKEN = ("island", "still_time", "still_speed", "carrier", "borne")


class Changes(WorldBase):
    """The part of World that changes what there is.

    Rows close up in order: arrays are new ones after every change, and a view taken before stays as it is, safe to
    read, but follows no longer. Handles follow; one of a removed part raises StaleHandleError.
    """

    # ---- bodies ------------------------------------------------------------------------------------------------------

    def add_body(self, name: str | None = None, **arguments: Any) -> BodyHandle:
        """Add a body to the running world and return its handle; arguments as of Scene.add_body, `position` and
        velocities being those of this moment. It is the last one of all arrays. A failed call changes nothing."""
        return self.add_bodies([{"name": name} | arguments])[0]

    def add_bodies(self, descriptions: Iterable[dict[str, Any]] | None = None, **arrays: Any) -> list[BodyHandle]:
        """Add many bodies at once, which is much faster than one by one. descriptions: a list of dicts, each with the
        arguments of `add_body`. Or the arrays that `Scene.add_bodies` takes: names, shapes, positions (n, 3) and so on. ->
        their handles. If one is wrong nothing is added."""
        with self._turn.telling("add_bodies"):
            more = self._scene._extension()
            if descriptions is None:
                more.add_bodies(**arrays)
            elif arrays:
                raise SceneError("World.add_bodies: takes descriptions or arrays, not both")
            each = () if descriptions is None else _listed(descriptions, "a list of dicts", "add_bodies", "descriptions")
            for i, description in enumerate(each):
                if not isinstance(description, dict):
                    raise SceneError(
                        f"World.add_bodies: descriptions[{i}] must be a dict of the arguments of "
                        f"add_body, got {show(description)}"
                    )
                more.add_body(**description)
            added = more.bodies
            del more  # which has a part of the scene, too
            self._take_bodies(Rows.appended(len(self._scene.bodies), len(added)), added)
        return [BodyHandle(cast(Any, self), body) for body in added]

    def remove_body(self, body: AnyBody) -> tuple[str, ...]:
        """Remove a body, by handle or name, and with it its joints, and the gears on those. -> the names of the joints
        that went."""
        return self.remove_bodies([body])

    def remove_bodies(self, bodies: Iterable[AnyBody]) -> tuple[str, ...]:
        """Remove many bodies at once, with their joints. -> the names of the joints that went."""
        with self._turn.telling("remove_bodies"):
            numbers = sorted(
                {self._find(body, BodyHandle) for body in _listed(bodies, "a list of bodies", "remove_bodies", "bodies")}
            )
            return self._remove(numbers, ())

    def _remove(self, bodies: Sequence[int], joints: Sequence[int]) -> tuple[str, ...]:
        """Remove bodies and joints, by their numbers, ascending, and what hangs on them. -> the names of the joints that
        went."""
        scene, joints = self._scene, self._hanging(bodies, joints)
        rows, gone = Rows.without(len(scene.bodies), bodies), tuple(scene.joints[i].name for i in joints)
        if joints or scene.ignored_pairs or scene.pair_materials:
            self._take(scene._without_numbers(bodies, joints), rows, Rows.without(len(scene.joints), joints))
        else:
            del scene  # only the world is to have it
            self._take_bodies(rows, ())
        return gone

    def _hanging(self, bodies: Sequence[int], joints: Sequence[int]) -> list[int]:
        """The numbers of the joints that go with these bodies and joints. A gear's bodies need not be its joints' all."""
        records = self._joints
        if not len(records):
            return []
        goes = np.isin(records["body_a"], bodies) | np.isin(records["body_b"], bodies)
        goes[list(joints)] = True
        gears = np.flatnonzero(records["type"] == GEAR)
        goes[gears] |= goes[records["geared"][gears]].any(axis=1)
        return np.flatnonzero(goes).tolist()

    # ---- joints ------------------------------------------------------------------------------------------------------

    def add_joint(self, joint: Joint) -> JointHandle:
        """Add a joint such as HingeJoint to the running world and return its handle. Anchors and axes are in world
        coordinates, and angles, lengths and gears start, at the present poses. A failed call changes nothing."""
        return self.add_joints([joint])[0]

    def add_joints(self, joints: Iterable[Joint]) -> list[JointHandle]:
        """Add many joints at once, which is much faster than one by one. -> their handles. If one is wrong nothing is
        added."""
        with self._turn.alone("add_joints"):
            scene = self._scene.sharing_parts()
            given: list[Joint] = _listed(joints, "a list of joints", "add_joints", "joints")
            if len({id(joint) for joint in given}) < len(given):
                raise SceneError("World.add_joints: a joint stands twice in the list; make another one")
            with ExitStack() as taken:
                for joint in given:
                    if isinstance(joint, Joint):
                        taken.enter_context(joint.taken_once())
                self._add_joints(scene, given)
        return [self.joint(joint) for joint in given]

    def _add_joints(self, scene: Scene, given: list[Joint]) -> None:
        """Add joints that nobody else takes meanwhile to the world, whose scene `scene` is a copy of."""
        placed = [self._placed(scene, joint) for joint in given]
        check_motions(placed, self.time)
        # The caller's own objects become the parts, as in Scene.add_joint, once nothing can fail any more.
        scene.joints[len(scene.joints) - len(given) :] = given
        scene._joint_of.update((other.name, joint) for joint, other in zip(given, placed))
        before = [dict(joint.__dict__) for joint in given]
        try:
            for joint, other in zip(given, placed):
                joint.__dict__.update(other.__dict__)
            self._take(scene)
        except BaseException:
            for joint, attributes in zip(given, before):
                joint.__dict__.clear()
                joint.__dict__.update(attributes)
            raise
        for joint, record in zip(given, self._joints[len(self._joints) - len(given) :]):
            if joint.type == "gear":
                joint._set(constant=float(record["constant"]))
                joint._set(_arguments=joint._arguments | {"constant": joint.constant})

    def _placed(self, scene: Scene, joint: Joint) -> Joint:
        """A copy of a joint, added to the scene at the present poses."""
        if not isinstance(joint, Joint):
            raise SceneError(f"World.add_joint: takes a joint such as HingeJoint, got {show(joint)}")
        other = joint.changed()
        other.__dict__.pop("_original")
        if joint.index is None:
            other._set(_ends=tuple(self._scene_body(end) for end in joint._ends))
        scene._add_joint(other, self._present)
        other._set(_arguments=other._told_by_frames())
        return other

    def _scene_body(self, end: Any) -> Any:
        """What a joint was given as its end, in terms of the scene."""
        return self.body(end).name if isinstance(end, BodyHandle | Body) else end

    def _present(self, body: Body) -> Body:
        """A version of a body that begins where the world's body is now."""
        i = self._body_index[body.name]
        if self._scene.bodies[i] is not body:
            return body  # not taken yet: it is where it says
        q, position = self._bodies.orientation[i], self._bodies.position[i]
        if not (np.all(np.isfinite(position)) and np.all(np.isfinite(q)) and np.any(q)):
            raise FieldError("", f"cannot be placed: the pose of body {body.name!r} is not finite; set it first")
        q = normalized(q)
        return body.changed(position=position - rotate(q, body.center_of_mass), orientation=q)

    def remove_joint(self, joint: AnyJoint) -> tuple[str, ...]:
        """Remove a joint, by handle or name, and the gears on it. -> the names of the joints that went, its own too."""
        with self._turn.alone("remove_joint"):
            return self._remove((), [self._find(joint, JointHandle)])

    # ---- what collides ----------------------------------------------------------------------------------------------

    def ignore_collision(self, a: AnyBody, b: AnyBody, ignored: bool = True) -> None:
        """Let two bodies pass through each other from now on, by handle or name, whatever their groups and masks say; or,
        ignored=False, collide again. Both are awake then. Those that stand in each other by then push each other apart.
        Bodies that a joint with collide=False joins never collide. `world.scene.ignored_pairs` lists the pairs.

            world.ignore_collision("player", "platform")          # to drop through it
            world.ignore_collision("player", "platform", False)
        """
        with self._turn.alone("ignore_collision"):
            numbers = [self._find(body, BodyHandle) for body in (a, b)]
            scene = self._scene.sharing_parts()
            try:
                scene._set_ignored((self.body_names[numbers[0]], self.body_names[numbers[1]]), ignored)
            except FieldError as error:
                raise error.within("World.ignore_collision") from None
            if len(scene.ignored_pairs) == len(self._scene.ignored_pairs):
                return
            self._take(scene)
            for number in numbers:
                self._wake(self.body_names[number])

    def set_pair(
        self,
        a: AnyBody,
        b: AnyBody,
        *,
        friction: float | None = None,
        restitution: float | None = None,
        rolling_friction: float | None = None,
        torsional_friction: float | None = None,
    ) -> None:
        """Say what the surfaces of two bodies, by handle or name, are like against each other from now on, in place of what
        their materials give together; each as of Material. What is not given is as the materials have it, so without any of
        them the pair is as others again. Both are awake then. `world.scene.pair_materials` lists the pairs.

            world.set_pair("ice", "tyre", friction=0.02)
            world.set_pair("ice", "tyre")                         # as their materials say
        """
        with self._turn.alone("set_pair"):
            numbers = [self._find(body, BodyHandle) for body in (a, b)]
            (first, second), scene = (self.body_names[number] for number in numbers), self._scene.sharing_parts()
            try:
                scene._set_pair(PairMaterial(first, second, friction, restitution, rolling_friction, torsional_friction))
            except FieldError as error:
                raise error.within("World.set_pair") from None
            if scene.pair_materials == self._scene.pair_materials:
                return
            self._take(scene)
            for number in numbers:
                self._wake(self.body_names[number])

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
        """Say what the surfaces of two materials, by their names, are like from now on wherever they meet; all else as of
        Scene.set_material_pair. Bodies that have one of them are awake then.

            world.set_material_pair("ice", "rubber", friction=0.05)
        """
        with self._turn.alone("set_material_pair"):
            scene = self._scene.sharing_parts()
            try:
                scene.set_material_pair(
                    a,
                    b,
                    friction=friction,
                    restitution=restitution,
                    rolling_friction=rolling_friction,
                    torsional_friction=torsional_friction,
                )
                names = {material_name(a, "a"), material_name(b, "b")}
            except FieldError as error:
                raise error.within("World.set_material_pair") from None
            if scene.pair_materials == self._scene.pair_materials:
                return
            self._take(scene)
            for body in scene.bodies:
                if not names.isdisjoint((shape.material or body.material).name for shape in body.shapes):
                    self._wake(body.name)

    @property
    def contact_filter(self) -> ContactFilter | None:
        """A function that says which bodies meet: contact_filter(a, b), two Body of `world.scene` with their names, kinds,
        groups and user_data, -> False: they pass through each other from then on. It is called once for every pair of
        bodies that comes near and that masks, ignored pairs and joints let meet, within the step, and may be called again
        at any time: what it says must depend on the two alone, not on where they are. Setting it asks anew; None: all meet.

            world.contact_filter = lambda a, b: not {"ghost", "wall"} <= {a.name, b.name}

        Copies, pickles and `remade` have it too; snapshots, scenes and files do not. It must not call the world. What it
        raises ends the step, with the state before it. SceneError: it is no function, or contact="event".
        """
        return self._contact_filter

    @contact_filter.setter
    def contact_filter(self, function: ContactFilter | None) -> None:
        with self._turn.alone("contact_filter"):
            self._take_contact_filter(function)

    def _take_contact_filter(self, function: ContactFilter | None) -> None:
        if function is not None and not callable(function):
            raise SceneError(f"World.contact_filter: must be a function of two bodies, or None, got {show(function)}")
        if function is not None and self._keywords["contact"] == "event":
            raise SceneError("World.contact_filter: contact='event' knows none; use ignore_collision, or masks")
        if function is None and self._contact_filter is None:
            return
        self._contact_filter = function
        self._collider.set_excluded(excluded_pairs(self._scene, self._body_index))
        self._pipeline.parts.set_contact_filter(filter_calls(function, self._scene))
        self._wake()

    # ---- what a body is like -----------------------------------------------------------------------------------------

    def set_shape(self, body: AnyBody, shape: Shape | Sequence[Shape] | None, **mass: Any) -> None:
        """Give a body another shape (or a list of them, or None). Its own frame stays where it is. Mass, inertia and
        centre of mass follow the shape, as far as they were not given by numbers; mass: new ones, that is any of
        density, mass, inertia, center_of_mass."""
        with self._turn.telling("set_shape"):
            self._set_body(body, {"shape": shape} | mass, "set_shape")

    def set_material(self, body: AnyBody, material: Material, shape: int | None = None) -> None:
        """Give all shapes of a body another Material, or only the one of the number `shape` in its list."""
        if not isinstance(material, Material):
            raise SceneError(f"World.set_material: material must be a Material, got {show(material)}")
        with self._turn.telling("set_material"):
            shapes = list(self._scene.bodies[self._find(body, BodyHandle)].shapes)
            if shape is None:
                shapes = [_with_material(part, None) for part in shapes]
                return self._set_body(body, {"material": material, "shape": shapes}, "set_material")
            if isinstance(shape, bool) or not isinstance(shape, (int, np.integer)) or not 0 <= shape < len(shapes):
                raise SceneError(f"World.set_material: shape must be from 0 to {len(shapes) - 1}, got {show(shape)}")
            shapes[shape] = _with_material(shapes[shape], material)
            return self._set_body(body, {"shape": shapes}, "set_material")

    def set_kind(self, body: AnyBody, kind: str) -> None:
        """Make a body "static", "kinematic" or "dynamic"."""
        with self._turn.telling("set_kind"):
            self._set_body(body, {"kind": kind}, "set_kind")

    def set_body(self, body: AnyBody, **arguments: Any) -> None:
        """Change what a body was made with: any argument of add_body but its pose and velocities, which set_pose and
        set_velocity change."""
        with self._turn.telling("set_body"):
            self._set_body(body, arguments, "set_body")

    def _set_body(self, body: AnyBody, arguments: Mapping[str, Any], doing: str) -> None:
        old = self._scene.bodies[self._find(body, BodyHandle)]
        for name in arguments:
            if name in STATE:
                raise SceneError(f"World.{doing}: body {old.name!r}: {name} is changed by {STATE[name]}")
            if name not in BODY_ARGUMENTS:
                raise SceneError(
                    f"World.{doing}: body {old.name!r} has no {name!r}; it has: "
                    f"{', '.join(sorted(BODY_ARGUMENTS - set(STATE)))}"
                )
        new = _remade(old, arguments, doing)
        self._check_joints(old, new, doing)
        self._take_bodies(Rows.replaced(len(self._scene.bodies), [self._body_index[old.name]]), [new])
        for field in BODY_FIELDS:
            if field.setting and field.name in arguments:
                getattr(self._bodies, field.name)[self._body_index[new.name]] = getattr(new, field.name)

    def _check_joints(self, old: Body, new: Body, doing: str) -> None:
        """Refuse a kind that leaves a joint, or a gear on it, without the body that it moves."""
        if (old.described_kind == "dynamic") == (new.described_kind == "dynamic"):
            return
        number, records = self._body_index[old.name], self._joints
        own = np.flatnonzero((records["body_a"] == number) | (records["body_b"] == number)).tolist()
        joints = [self._scene.joints[i] for i in own]
        names = {joint.name for joint in joints}
        for joint in [self._scene.joints[i] for i in np.flatnonzero(records["type"] == GEAR).tolist()]:
            if isinstance(joint, GearJoint) and {joint.name, joint.joint_a, joint.joint_b} & names:
                raise SceneError(
                    f"World.{doing}: body {old.name!r} stays {old.described_kind} while gear {joint.name!r} is on "
                    "its joints; remove the gear first"
                )
        for joint in joints:
            other = joint.b if joint.a == old.name else joint.a
            if new.described_kind != "dynamic" and (other is None or self._scene.body(other).described_kind != "dynamic"):
                raise SceneError(f"World.{doing}: joint {joint.name!r} would join no dynamic body; remove it first")

    # ---- taking a scene ----------------------------------------------------------------------------------------------

    def _take(self, scene: Scene, body_rows: Rows | None = None, joint_rows: Rows | None = None) -> None:
        """Become the world of another scene. body_rows, joint_rows: where its parts stand now, if that is known."""
        self._settle(self._gathered(scene, False, body_rows, joint_rows))

    def _take_bodies(self, rows: Rows, fresh: Sequence[Body]) -> None:
        """The same, where bodies alone come, go and change, as of Draft."""
        self._settle(
            self._gathered(Draft(self._scene, rows, fresh), False, rows, Rows.appended(len(self._scene.joints), 0))
        )

    def _settle(self, parts: dict[str, Any]) -> None:
        """The one place where a change of what there is takes effect. parts: what `_gathered` or `_machinery` gave."""
        edit, gone, planned = parts.pop("edit", None), parts.pop("gone", ()), parts.pop("planned", False)
        edited, there = parts.pop("edited", None), self._there
        try:
            if edit is not None:
                edit()
            if edited is not None:
                self._pipeline.edit(vars(self), parts, edited[1], *edited[2])
                self._renumber(edited[0])
            else:
                if parts["_pipeline"] is not self._pipeline:
                    parts["_pipeline"].parts.take_room(self._pipeline.parts)
                    if planned:
                        parts["_pipeline"].parts.plan.take(self._pipeline.parts.plan)
                parts["_pipeline"].restored()
                vars(self).update(parts)
        except BaseException:
            if self._there is there and parts.get("_there") is not there:  # Ctrl-C in between: all is made anew
                self._begin_anew()
            raise
        self._removed.update(gone)
        self._broken = None

    def _begin_anew(self) -> None:
        """Collider and pipeline as when the world was made, for the present bodies and joints: contacts are cold."""
        old = self._pipeline
        vars(self).update(self._machinery(self._scene, self._bodies, self._joints, ShapeArrays(self._scene)))
        self._pipeline.take_time(old)
        carry_over(self._pipeline.parts.noted, old.parts.noted, np.arange(self._bodies.count), np.arange(len(self._joints)))
        self._pipeline.restored()

    def _gathered(
        self, scene: Scene | Draft, anew: bool = False, body_rows: Rows | None = None, joint_rows: Rows | None = None
    ) -> dict[str, Any]:
        """What `_machinery` gives for another scene, with "gone", the parts that are here no longer, "planned", whether
        the present pipeline's plan of the joints serves, and "edit": what is to be done to the present collider, which
        else stays untouched; None if there is another one. anew: another collider in any case."""
        old, bodies = self._pipeline, self._bodies
        if old.parts.islands.sleepers == 0:  # none is there to wake
            return self._gathered_awake(scene, anew, body_rows, joint_rows)
        before = [getattr(bodies, name).copy() for name in WOKEN]
        seen = old.parts.islands.get_seen(bodies.kind, bodies.island).copy()
        old.notice()
        try:
            return self._gathered_awake(scene, anew, body_rows, joint_rows)
        except BaseException:  # it is refused: who has woken sleeps on, and wakes when the next step begins
            for name, array in zip(WOKEN, before):
                getattr(bodies, name)[...] = array
            old.follow()
            old.parts.islands.set_seen(seen)
            raise

    def _gathered_awake(
        self, scene: Scene | Draft, anew: bool, body_rows: Rows | None, joint_rows: Rows | None
    ) -> dict[str, Any]:
        """The same, when those have woken whom what was moved by hand concerns."""
        old = self._pipeline
        new = Gathering(self._there, self._joints, self._collider, scene, anew, body_rows, joint_rows)
        edit = new.edit()
        if edit is not None and new.joints is self._joints and self._stays(new):
            return self._edited(new) | {"edit": edit, "gone": new.gone()}
        if isinstance(scene, Draft):
            scene = new.scene = scene.scene()
        bodies = new.bodies()
        planned = new.joints is self._joints and old.parts.plan.serves(bodies.count)
        shapes = ShapeArrays(scene) if edit is None else None
        parts = self._machinery(scene, bodies, new.joints, shapes, edit and self._collider, new.indices(), planned)
        if edit is None:
            parts["_collider"].set_manifolds(new.manifolds(parts["_collider"].get_shapes()["body"]))
        parts["_pipeline"].take_time(old)
        if anew:  # a state that is to be restored: what it was made of is the state before
            parts["_pipeline"].parts.noted.forget()
        carry_over(parts["_pipeline"].parts.noted, old.parts.noted, new.numbers[:-1], new.joint_rows.numbers()[:-1])
        return parts | {"edit": edit, "gone": new.gone(), "planned": planned}

    def _stays(self, new: Gathering) -> bool:
        """Whether the present pipeline makes the steps of the new bodies, between which joints stay."""
        return (
            new.body_rows.close_up
            and self._user is None
            and self._event_run is None
            and self._pipeline.parts.may_edit(new.body_rows.count, new.bounces)
        )

    def _edited(self, new: Gathering) -> dict[str, Any]:
        """What becomes of the attributes that depend on which bodies there are, where the pipeline stays; "edited":
        their new numbers, what becomes of the scene, and what the pipeline is to be told of them (Pipeline.edit)."""
        pipeline, rows, fresh, there = self._pipeline, new.body_rows, new.arrays, self._there
        bodies = there.bodies.edited(rows, fresh)
        sleep, sizes = None, NO_SIZES
        if len(rows.fresh):
            sleep, sizes = sleep_settings(self._keywords, new.scene.gravity, fresh), fresh.lengths()
        deeds = new.scene.deeds(there) if isinstance(new.scene, Draft) else None
        args = bodies, rows, fresh, sizes, sleep, new.woken

        def apart() -> There:
            scene = new.scene if isinstance(new.scene, Scene) else new.scene.scene()
            new.scene = scene
            body_index, joint_index = new.indices()
            return There(scene, body_index, joint_index, bodies, pipeline)

        return {"_bodies": bodies, "edited": (new.numbers[:-1], (deeds, apart), args)}

    def _renumber(self, numbers: np.ndarray) -> None:
        """What the pipeline keeps of bodies by their numbers and is not for its kernels; numbers: the new one of each."""
        parts = self._pipeline.parts
        if parts.efforts.make.keywords["scene"] is not self._scene:
            self._make_forces(self._pipeline, self._scene, self._joints)
        renumber(parts.noted, numbers, max(self._bodies.count, len(self._joints)))
        if self._contact_filter is not None:
            parts.set_contact_filter(filter_calls(self._contact_filter, self._scene))


def _listed(value: Any, what: str, doing: str, field: str) -> list[Any]:
    try:
        return items(value, what, field)
    except FieldError as error:
        raise SceneError(f"World.{doing}: {error}") from None


def _remade(old: Body, arguments: Mapping[str, Any], doing: str) -> Body:
    """Another version of a body, made anew with other arguments."""
    given = {name: value for name, value in old._arguments.items() if name != "name"}
    given["shape"] = given.pop("shapes")
    given |= arguments
    if isinstance(given["kind"], str) and given["kind"] == "static":
        given["velocity"] = given["angular_velocity"] = (0.0, 0.0, 0.0)
    if arguments.get("density") is not None:
        given["mass"] = arguments.get("mass")
    if arguments.get("mass") is not None:
        given["density"] = arguments.get("density")
    try:
        new = Body(old.index, old.name, **given)
    except FieldError as error:
        raise error.within(f"World.{doing}: body {old.name!r}") from None
    new.__dict__["_own"] = old._own
    return old.version(new)


def _with_material(shape: Shape, material: Material | None) -> Shape:
    return shape.changed(material=material, _arguments=shape._arguments | {"material": material})


BODY_ARGUMENTS = set(inspect.signature(Scene.add_body).parameters) - {"self", "name"}
vars(Changes.add_body)["__signature__"] = inspect.signature(Scene.add_body).replace(return_annotation=BodyHandle)
