"""Many variants of one world, each for n steps: on all processors, arrays in and arrays out."""

from __future__ import annotations  # signatures read as they are written here

import copy
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SimulationError
from mcsim.core.notes import Note
from mcsim.core.processors import processors
from mcsim.scene.checks import FieldError, choose, count, items, reals, show
from mcsim.step._tape import Tape
from mcsim.world.reduced_world import ReducedWorld
from mcsim.world.side_by_side import Abreast
from mcsim.world.snapshots import Snapshot
from mcsim.world.world import World

# What may be kept, and the array of the world's that has it: of bodies, whose twists are both velocities, and of trees.
OF_BODIES = {"positions": "position", "orientations": "orientation", "velocities": "twist", "angular_velocities": "twist"}
OF_TREES = {"q": "q", "qd": "qd"}
KEPT_IN = OF_BODIES | OF_TREES
PARTS = {"velocities": slice(0, 3), "angular_velocities": slice(3, 6)}

# What may be steered of a joint that has a motor.
OF_MOTORS = ("motor_velocity", "motor_position", "motor_max_force")

MOST_NUMBERS = 1 << 34  # of the arrays that are kept


@dataclass
class Rollout:
    """What `mc.rollout` found. w worlds, k rows of every so many steps, n bodies; None for what was not recorded.

    time (w, k) [s]; positions (w, k, n, 3) [m]; orientations (w, k, n, 4); velocities, angular_velocities (w, k, n, 3)
    [m/s, rad/s]; q (w, k, nq), qd (w, k, nv). Rows that a world did not come to are NaN.
    failures: number of a world -> the SimulationError that ended it. notes: number of a world -> what of its steps was not
    done (World.stats.notes), of those that have any.
    """

    time: np.ndarray
    positions: np.ndarray | None = None
    orientations: np.ndarray | None = None
    velocities: np.ndarray | None = None
    angular_velocities: np.ndarray | None = None
    q: np.ndarray | None = None
    qd: np.ndarray | None = None
    failures: dict[int, SimulationError] = field(default_factory=dict)
    notes: dict[int, list[Note]] = field(default_factory=dict)

    def __repr__(self) -> str:
        w, k = self.time.shape
        return f"<Rollout of {w} worlds, {k} rows; {len(self.failures)} failed, {len(self.notes)} with notes>"


def rollout(
    world: World,
    steps: int,
    *,
    controls: Mapping[Any, ArrayLike] | None = None,
    states: Mapping[str, ArrayLike] | Sequence[Snapshot] | None = None,
    prepare: Callable[[World, int], Any] | None = None,
    worlds: int | None = None,
    record: Sequence[str] | None = None,
    every: int = 1,
    threads: int | None = None,
) -> Rollout:
    """Run w variants of a world for n steps each, from its present state, which stays as it is. -> Rollout

        runs = mc.rollout(world, 500, controls={("hinge", "motor_velocity"): np.linspace(-2, 2, 100)[:, None]})
        runs.positions[:, -1]          # (100, n, 3): where the bodies end

    controls: what is written before each step. "tau" (w, steps, nv) of `world.tau`; or (joint, what): (w, steps), joint a
        name or handle, what "motor_velocity", "motor_position" or "motor_max_force" of a joint that has a motor. What
        broadcasts to that is enough: (steps, nv) for all worlds alike, (w, 1) for one number a world.
    states: where each begins: a snapshot for each; or arrays by name, "positions", "orientations", "velocities",
        "angular_velocities" (w, n, 3 or 4) of a World, "q" (w, nq), "qd" (w, nv) of a ReducedWorld.
    prepare: called as prepare(world, i) before the i-th begins, to change anything else: masses, materials, forces. Bodies
        and joints that are kept or steered stay there, in their order.
    worlds: how many, where nothing of these says it. record: of "positions", "orientations", "velocities",
        "angular_velocities", and "q", "qd" of a ReducedWorld; by default ("q", "qd") there, else ("positions",
        "orientations"). every: steps a row. threads: as many as there are processors.

    Each is a copy of the world that goes on alone, so the same bits come out for any number of threads, and as by
    `world.step()` one by one. Worlds run in threads at once while they step; `prepare` and Python functions of joints and
    motions run one at a time. One that fails ends there (`failures`); the others go on.

    SceneError where an argument is wrong, by its name; contact="event" has no steps to write controls before.
    """
    try:
        return _Plan(world, steps, controls, states, prepare, worlds, record, every, threads).run()
    except FieldError as error:
        raise error.within("rollout") from None


class _Plan:
    """The arguments of a rollout, checked."""

    def __init__(
        self,
        world: World,
        steps: int,
        controls: Any,
        states: Any,
        prepare: Any,
        worlds: int | None,
        record: Any,
        every: int,
        threads: int | None,
    ) -> None:
        if not isinstance(world, World):
            raise FieldError("world", f"must be a World or a ReducedWorld, got {show(world)}")
        if world._keywords["contact"] == "event":
            raise FieldError("world", "goes from event to event: there are no steps to write controls before")
        if prepare is not None and not callable(prepare):
            raise FieldError("prepare", f"must be a function of a world and its number, got {show(prepare)}")
        self.world, self.prepare, self.trees = world, prepare, isinstance(world, ReducedWorld)
        self.steps, self.every = count(steps, "steps", 1, 1 << 40), count(every, "every", 1, 1 << 40)
        self.threads = processors() if threads is None else count(threads, "threads", 1, 1 << 16)
        self.record = self._recorded(record)
        self.controls = self._controls({} if controls is None else controls)
        self.states = self._states({} if states is None else states)
        self.count = self._count(worlds)
        self.rows, self.stopped = self.steps // self.every, np.zeros(1, np.int8)
        self.shapes = {name: self._source(world, name).shape for name in sorted({KEPT_IN[name] for name in self.record})}
        if self.count * max(self.rows, 1) * (1 + sum(int(np.prod(shape)) for shape in self.shapes.values())) > MOST_NUMBERS:
            raise FieldError("every", "leaves more to keep than memory has room for; record less, or fewer rows")

    def _recorded(self, record: Any) -> list[str]:
        known = [*OF_BODIES, *(OF_TREES if self.trees else ())]
        if record is None:
            return [*OF_TREES] if self.trees else ["positions", "orientations"]
        return [choose(name, known, "record") for name in items(record, "a list of names", "record")]

    def _controls(self, controls: Any) -> list[tuple[str, str, int, np.ndarray]]:
        """-> [(what, name of a joint or "", how many numbers a step, the array)]"""
        if not isinstance(controls, Mapping):
            raise FieldError("controls", f'must be a dict such as {{"tau": array}}, got {show(controls)}')
        found = []
        for key, value in controls.items():
            where = f"controls[{show(key)}]"
            if isinstance(key, tuple) and len(key) == 2:
                joint, what = self.world.joint(key[0]), choose(key[1], OF_MOTORS, where)
                if not self._motor(self.world, joint.name):
                    raise FieldError(where, f"joint {joint.name!r} has no motor of one coordinate")
                numbers = self._numbers(value, where)
                if what == "motor_max_force" and np.any(numbers < 0.0):
                    raise FieldError(where, "must not be negative")
                found.append((what, joint.name, 1, numbers[..., None]))
            elif key == "tau":
                found.append(("tau", "", len(self.world.tau), self._numbers(value, where)))
            else:
                raise FieldError(where, 'is no control; "tau", or a joint and ' + ", ".join(map(repr, OF_MOTORS)))
        for what, _, size, array in found:
            if array.ndim == 3 and not len(array):
                raise FieldError("controls", f"{what}: is for no world")
            if array.ndim > 3 or array.shape[-1] not in (1, size) or array.shape[-2:-1] not in ((), (1,), (self.steps,)):
                raise FieldError("controls", f"{what}: {array.shape} does not fit {self.steps} steps of {size} numbers")
        return found

    def _states(self, states: Any) -> dict[str, np.ndarray] | list[Snapshot]:
        if isinstance(states, (list, tuple)):
            if not all(isinstance(state, Snapshot) for state in states):
                raise FieldError("states", "must be snapshots, or a dict of arrays")
            if not states:
                raise FieldError("states", "are none; leave them out, and each begins as the world is")
            return list(states)
        if not isinstance(states, Mapping):
            raise FieldError("states", f"must be a list of snapshots or a dict of arrays, got {show(states)}")
        known = tuple(OF_TREES if self.trees else OF_BODIES)
        found = {}
        for name, value in states.items():
            choose(name, known, "states")
            found[name] = array = self._numbers(value, f"states[{name!r}]")
            shape = np.shape(self._array(self.world, name))
            if array.ndim > len(shape) and not len(array):
                raise FieldError(f"states[{name!r}]", "is for no world")
            if array.ndim > len(shape) + 1 or array.shape[-len(shape) :] != shape:
                raise FieldError(f"states[{name!r}]", f"must be (worlds, {', '.join(map(str, shape))}), got {array.shape}")
        return found

    @staticmethod
    def _numbers(value: Any, where: str) -> np.ndarray:
        array = np.atleast_1d(reals(value, where))
        if not np.isfinite(array).all():
            raise FieldError(where, "must be finite")
        return array

    def _count(self, worlds: int | None) -> int:
        """How many worlds the arguments speak of."""
        told = {} if worlds is None else {"worlds": count(worlds, "worlds", 1, 1 << 32)}
        told |= {what: len(array) for what, _, _, array in self.controls if array.ndim == 3 and len(array) > 1}
        if isinstance(self.states, list):
            told["states"] = len(self.states)
        else:
            for name, array in self.states.items():
                if array.ndim > np.ndim(self._array(self.world, name)) and len(array) > 1:
                    told[name] = len(array)
        if len(set(told.values())) > 1:
            raise FieldError(
                "",
                "the arguments are for different numbers of worlds: "
                + ", ".join(f"{name} for {number}" for name, number in told.items()),
            )
        return next(iter(told.values()), 1)

    @staticmethod
    def _array(world: World, name: str) -> np.ndarray:
        return np.asarray(getattr(world, name))

    # ---- running -----------------------------------------------------------------------------------------------------

    @staticmethod
    def _source(world: World, name: str) -> np.ndarray:
        """An array of the world's, itself."""
        found: np.ndarray = getattr(world if name in OF_TREES else world._bodies, name)
        return found

    def run(self) -> Rollout:
        kept = {name: np.full((self.count, self.rows, *shape), np.nan) for name, shape in self.shapes.items()}
        found = Rollout(np.full((self.count, self.rows), np.nan))
        for name in self.record:
            setattr(found, name, kept[KEPT_IN[name]][..., PARTS.get(name, slice(None))])
        threads = min(self.threads, self.count)
        copies = [copy.deepcopy(self.world) for _ in range(threads)]
        workers = [_Worker(self, world, found, kept) for world in copies]
        size = min(workers[0].block, -(-self.count // threads))
        left: Iterator[int] = iter(range(0, self.count, size))
        turn = threading.Lock()

        def stop() -> None:
            nonlocal left
            with turn:
                left = iter(())
            self.stopped[:] = 1

        def work(worker: _Worker) -> None:
            while True:
                with turn:
                    i = next(left, None)  # of now: none, once there is to be no more
                if i is None:
                    return
                try:
                    worker.run(range(i, min(i + size, self.count)))
                except BaseException:  # ends the call: the others begin no more
                    stop()
                    raise

        if threads == 1:
            work(workers[0])
        else:
            with ThreadPoolExecutor(threads) as pool:
                try:
                    for future in [pool.submit(work, worker) for worker in workers]:
                        future.result()
                except BaseException:  # Ctrl-C: the pool waits for the variants that run, and begins no others
                    stop()
                    raise
        return found

    def suits(self, world: World) -> bool:
        """Whether its variants may go side by side: nothing but q, qd and tau is their own."""
        return (
            self.count > 1
            and self.prepare is None
            and isinstance(self.states, dict)
            and all(what == "tau" for what, *_ in self.controls)
            and Abreast.suits(world)
        )

    def run_one(
        self, world: World, go_back: Callable[[], None], i: int, found: Rollout, kept: Mapping[str, np.ndarray]
    ) -> None:
        """The i-th, by a copy of the world."""
        if isinstance(self.states, list):
            world.restore(self.states[i])
        else:
            go_back()
        if isinstance(self.states, dict):
            self._place(world, i)
        if self.prepare is not None:
            self.prepare(world, i)
            self._check_prepared(world)
        start, dt = world.time, world.dt
        tape = self._tape(world, i, kept)
        world._pipeline.tape = tape
        try:
            world.step(self.steps)
        except SimulationError as error:
            found.failures[i] = error
        finally:
            world._pipeline.tape = None
        rows = tape.done // self.every
        found.time[i, :rows] = start + dt * self.every * np.arange(1, rows + 1)
        if np.any(world._pipeline.parts.noted.steps[0]):
            found.notes[i] = list(world.stats.notes)

    def _check_prepared(self, world: World) -> None:
        """Rows and columns mean the same in all worlds, and what is steered is there."""
        bodies, joints = self.world.body_names, self.world.joint_names
        of_joints = {name: self.shapes[name] for name in OF_TREES if name in self.shapes}
        if any(what == "tau" for what, *_ in self.controls):
            of_joints["tau"] = self.world.tau.shape
        if self.shapes.keys() - OF_TREES.keys() and world.body_names != bodies:
            raise FieldError(
                "prepare", "has given a world other bodies, or in another order: its rows are not as the others'"
            )
        if of_joints and (
            world.joint_names[: len(joints)] != joints
            or any(np.shape(getattr(world, name)) != shape for name, shape in of_joints.items())
        ):
            raise FieldError(
                "prepare", "has given a world other joints, or in another order: q, qd, tau are not as the others'"
            )
        for what, joint, *_ in self.controls:
            if what != "tau" and (joint not in world.joint_names or not self._motor(world, joint)):
                raise FieldError("prepare", f"has left joint {joint!r} without the motor that `controls` steers")

    @staticmethod
    def _motor(world: World, joint: str) -> bool:
        """Whether a joint has a motor, and one coordinate."""
        axes = world._joints["axes"][world.joint(joint).index][: len(world.scene.joint(joint).axes)]
        return len(axes) == 1 and bool(axes["motor_mode"][0])

    def _place(self, world: World, i: int) -> None:
        """The state that the i-th begins with."""
        states: Any = self.states
        of = {
            name: array[i if len(array) > 1 else 0] if array.ndim > np.ndim(self._array(world, name)) else array
            for name, array in states.items()
        }
        if self.trees:
            for name, value in of.items():
                setattr(world, name, value)
            return
        for k, name in enumerate(world.body_names):
            pose = [of[what][k] if what in of else None for what in ("positions", "orientations")]
            speed = [of[what][k] if what in of else None for what in ("velocities", "angular_velocities")]
            if any(part is not None for part in pose):
                world.set_pose(name, *pose)
            if any(part is not None for part in speed) and world.body(name).kind != "static":
                world.set_velocity(name, *speed)

    def _tape(self, world: World, i: int, kept: Mapping[str, np.ndarray]) -> Tape:
        """What the i-th is steered by, and where it is kept."""
        targets, moved, columns = [], [], []
        for what, joint, size, array in self.controls:
            whole = np.broadcast_to(
                array if array.ndim < 3 or len(array) == 1 else array[i : i + 1], (1, self.steps, size)
            )[0]
            columns.append(whole)
            if what == "tau":
                tau = world.tau
                targets += [tau[k : k + 1] for k in range(size)]
                moved += [(-1, -1)] * size  # tau is looked at in every step
            else:
                number = world.joint(joint).index
                record = world._joints[number]
                targets.append(world._joints["axes"][what][number, :1])
                moved.append((int(record["body_a"]), int(record["body_b"])))
        values = np.concatenate(columns, axis=1) if columns else np.zeros((0, 0))
        sources = [self._source(world, name) for name in kept]
        return Tape(targets, moved, values, sources, [array[i] for array in kept.values()], self.every)


class _Worker:
    """One of the threads of a rollout, with a copy of the world."""

    def __init__(self, plan: _Plan, world: World, found: Rollout, kept: Mapping[str, np.ndarray]) -> None:
        self.plan, self.world, self.found, self.kept = plan, world, found, kept
        self.go_back = world._way_back(world.snapshot())
        self.abreast = Abreast(world) if isinstance(world, ReducedWorld) and plan.suits(world) else None
        self.lost = np.zeros(plan.count, np.int8)

    @property
    def block(self) -> int:
        """How many variants it is best given at a time."""
        return 1 if self.abreast is None else self.abreast.block

    def run(self, some: range) -> None:
        """These variants."""
        plan, left = self.plan, list(some)
        if self.abreast is not None:
            tau = plan.controls[0][-1] if plan.controls else None
            states: Any = plan.states
            self.abreast.fly(some, plan.steps, plan.every, states, tau, self.kept, self.lost, plan.stopped)
            times = self.abreast.start + self.abreast.dt * plan.every * np.arange(1, plan.rows + 1)
            self.found.time[some.start : some.stop] = times
            left = [i for i in some if self.lost[i]]
            for array in (self.found.time, *self.kept.values()):
                array[left] = np.nan
        for i in left:
            plan.run_one(self.world, self.go_back, i, self.found, self.kept)
