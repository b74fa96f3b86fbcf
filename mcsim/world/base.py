"""What the parts of a World know of each other: what there is in it, and for type checkers alone the names and types of
all that World holds."""

from typing import TYPE_CHECKING, Any, NamedTuple

from mcsim.scene import Scene
from mcsim.state.arrays import BodyArrays

if TYPE_CHECKING:
    import numpy as np

    from mcsim.collide import Collider
    from mcsim.core._turn import Turn
    from mcsim.state.user_joints import UserJoints
    from mcsim.step.stages import Pipeline
    from mcsim.world.event_world import EventRun
    from mcsim.world.handles import BodyHandle


class There(NamedTuple):
    """What there is in a world now. Parts that go together are taken as one, so that whoever reads them does not need
    the world's turn."""

    scene: Scene
    body_index: dict[str, int]
    joint_index: dict[str, int]
    bodies: BodyArrays
    pipeline: Any  # Pipeline, of a ReducedWorld ReducedPipeline


class WorldBase:
    """What Observers, Actions, Queries, Changes and Snapshots, which make up a World, use of it and of each other."""

    if TYPE_CHECKING:
        _there: There
        _origin: Scene
        _keywords: dict[str, Any]
        _more: type  # the TypedDict of the keywords that are given by name alone
        _turn: Turn
        _collider: Collider
        _user: UserJoints | None
        _event_run: EventRun | None
        _broken: np.ndarray | None
        _breakable: bool
        _forgetful: bool
        _removed: Any  # a WeakSet of Described
        _parts: Any  # of the last snapshot
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
        def dt(self) -> float: ...
        def body(self, body: Any) -> BodyHandle: ...
        def _find(self, key: Any, family: Any, there: There | None = None) -> int: ...
        def _prepare(self, points: bool = False) -> None: ...
        def _meet_shapes(self) -> None: ...
        def _machinery(
            self,
            scene: Any,
            bodies: Any,
            joints: Any,
            shapes: Any,
            collider: Any = None,
            numbers: Any = None,
            planned: bool = False,
        ) -> dict[str, Any]: ...
        def _gathered(self, scene: Any, anew: bool = False) -> Any: ...
        def _settle(self, parts: Any) -> None: ...
        def _awake(self) -> Any: ...
        def _copied(self) -> Any: ...
