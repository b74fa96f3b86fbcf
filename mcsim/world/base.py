"""What the parts of a World know of each other: for type checkers, the names and types of all that World holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcsim.scene import Scene
from mcsim.scene.calls import explain_methods
from mcsim.state.arrays import BodyArrays

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self
    from weakref import WeakKeyDictionary, WeakSet

    import numpy as np
    from scipy.sparse import csr_array

    from mcsim.collide import Collider
    from mcsim.core._turn import Turn
    from mcsim.reduced.dynamics import Dynamics
    from mcsim.scene.described import Described
    from mcsim.state._closing_up import Rows
    from mcsim.state.arrays import ShapeArrays
    from mcsim.state.user_joints import UserJoints
    from mcsim.step.stages import Pipeline
    from mcsim.world.contact_filter import ContactFilter
    from mcsim.world.event_world import EventRun
    from mcsim.world.handles import AnyBody, AnyJoint, BodyHandle, JointHandle
    from mcsim.world.protocols import There


class WorldBase:
    """What Observers, Actions, Queries, Changes and Snapshots, which make up a World, use of it and of each other."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.startswith("mcsim."):
            explain_methods(cls)

    if TYPE_CHECKING:
        _there: There
        _origin: Scene
        _keywords: dict[str, Any]
        _said: dict[str, Any]  # those that it was made with
        _more: type  # the TypedDict of the keywords that are given by name alone
        _turn: Turn
        _collider: Collider
        _user: UserJoints | None
        _event_run: EventRun | None
        _broken: np.ndarray | None
        _breakable: bool
        _forgetful: bool
        _before_step: Callable[[], object] | None  # done before each step of a call, None: nothing
        _dynamics: tuple[Any, Dynamics] | None  # of JointForces, and what it was made for
        _removed: WeakSet[Described]
        _user_data: WeakKeyDictionary[Described, Any]
        _contact_filter: ContactFilter | None
        _parts: Any  # Parts of the last snapshot
        _shape_ranks: np.ndarray

        # A ReducedWorld brings them up to date whenever they are asked for.
        @property
        def _bodies(self) -> BodyArrays: ...
        @property
        def _joints(self) -> np.ndarray: ...
        @property
        def _pipeline(self) -> Pipeline: ...

        @property
        def _scene(self) -> Scene: ...
        @property
        def _body_index(self) -> dict[str, int]: ...
        @property
        def _joint_index(self) -> dict[str, int]: ...
        @property
        def body_names(self) -> tuple[str, ...]: ...
        @property
        def joint_names(self) -> tuple[str, ...]: ...
        @property
        def scene(self) -> Scene: ...

        dt: Any  # a Setting of LiveSettings

        def change_settings(self, **keywords: Any) -> None: ...
        @property
        def substep(self) -> float: ...
        @property
        def time(self) -> float: ...
        def body(self, body: AnyBody) -> BodyHandle: ...
        def joint(self, joint: AnyJoint) -> JointHandle: ...
        def wake(self, body: AnyBody | None = None) -> None: ...
        def _wake(self, body: AnyBody | None = None) -> None: ...
        def _find(
            self,
            key: AnyBody | AnyJoint,
            family: type[BodyHandle] | type[JointHandle],
            there: There | None = None,
        ) -> int: ...
        def _prepare(self, points: bool = False) -> None: ...
        def _meet_shapes(self) -> None: ...
        def _machinery(
            self,
            scene: Scene,
            bodies: BodyArrays,
            joints: np.ndarray,
            shapes: ShapeArrays | None,
            collider: Collider | None = None,
            numbers: tuple[dict[str, int], dict[str, int]] | None = None,
            planned: bool = False,
        ) -> dict[str, Any]: ...
        def _checked_keywords(self, said: Mapping[str, Any], scene: Scene) -> dict[str, Any]: ...
        def _begin(self, origin: Scene, keywords: dict[str, Any]) -> None: ...
        def _follow_events(self) -> None: ...
        def _begin_anew(self) -> None: ...
        def _gathered(
            self, scene: Scene, anew: bool = False, body_rows: Rows | None = None, joint_rows: Rows | None = None
        ) -> dict[str, Any]: ...
        def _settle(self, parts: dict[str, Any]) -> None: ...
        def _make_forces(self, pipeline: Pipeline, scene: Scene, joints: np.ndarray) -> None: ...
        def _awake(self) -> Self: ...
        def _copied(self) -> Self: ...
        def _told_user_data(self) -> dict[str, Any]: ...
        def _take_user_data(self, told: dict[str, Any]) -> None: ...
        def _take_contact_filter(self, function: ContactFilter | None) -> None: ...
        def _inverse_mass(self) -> csr_array: ...
