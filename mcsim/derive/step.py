"""The derivatives of one step of a world: those of its substeps, multiplied.

    s_k+1 = F(s_k, s_0; p)        ds_k+1 = F_s ds_k + F_s0 ds_0 + F_p dp

s = (poses, twists); a substep depends on the poses s_0 of the step's begin too, where its contacts were found.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.rotation import conjugates, products
from mcsim.derive.admission import admit, admit_step
from mcsim.derive.differences import Differences
from mcsim.derive.one_sided import ONE_SIDED, OneSidedLaw
from mcsim.derive.partials import partials
from mcsim.derive.result import ROW_STATE_DTYPE, StepDerivatives
from mcsim.derive.rows import NORMAL, RowReader, State
from mcsim.derive.substep import Bodies, Substep
from mcsim.rotation import normalize, to_rotation_vector
from mcsim.state.fields import ROW_KINDS
from mcsim.world import World
from mcsim.world.failures import complete

STILL = 1e-9  # of the largest speed there is: what slips more slowly sticks
UNSOLVED = 1e-6  # of the speeds: a larger defect is noted

BY = ("by_pose", "by_velocity", "by_force", "by_effort", "by_mass", "by_mass_alone", "by_friction")  # side by side
SHARED = "slides under a load that points share in several ways that no body feels"
AT_AN_EDGE = "is at an edge of its law (a gap that just closes, an overlap of just the slop, the largest push)"


def step_derivatives(world: World) -> StepDerivatives:
    """The derivatives of the next step of a world by the state before it and by what acts. -> StepDerivatives

        found = mc.step_derivatives(world)
        found.by_state @ change         # (12 n,) how the state after the step changes with the one before it

    world: a World with contact="rigid", integrator="semi_implicit", solver "si" or "pgs", and stabilization="baumgarte" or
    "none", of which nothing sleeps. It stays as it is.

    The step is  v+ = v + M^-1 (h f + J' lambda)  with its rows solved, and the derivative is that of this solution by the
    implicit function theorem: which rows hold, slide or are open is held (`rows`), and so are the features by which shapes
    touch. J and the errors of rows are differentiated by central differences of the engine's own rows, all else as
    formulas: to some 1e-9 of the largest derivative. The rows are solved to rounding here; where the world's own
    iterations leave more than 1e-6 of the speeds, a note says how much: more `iterations` bring the step to what is
    differentiated. Impulses that no body feels, such as how four corners share a load, are those of the world's step.

    Not smooth, and refused (SimulationError): impacts with restitution, bodies held at what they would pass through, that
    fall asleep, joints that break, and contacts that press and come or go within a step's way of the differences. At an
    edge of a law (a gap that just closes) a note says so. SceneError: the world is of another kind, or a body sleeps.

    Sources: F. de Avila Belbute-Peres et al., End-to-end differentiable physics for learning and control, 2018; K.
    Werling et al., Fast and feature-complete differentiable physics for articulated rigid bodies with contact, 2021;
    docs/howto/differentiate.md."""
    admit(world)
    return differentiated(world)[0]


def differentiated(world: World) -> tuple[StepDerivatives, World]:
    """The derivatives of the next step of a world that is admitted, and a copy that has made it."""
    here, made = deepcopy(world), deepcopy(world)
    try:
        made.step()
        admit_step(made)
        return _Step(here, made).derivatives(), made
    except SimulationError as error:
        complete(error, world)
        raise


class _Step:
    """A step of a copy of a world. made: another copy that has made it."""

    def __init__(self, copy: World, made: World) -> None:
        self.made, self.notes = made, list[str]()
        now = copy._bodies
        self.bodies = Bodies(
            now.inv_mass > 0.0,
            now.mass.copy(),
            now.inertia.copy(),
            now.inv_inertia.copy(),
            now.gravity_scale[:, None] * np.asarray(copy.gravity, float),
            np.repeat(np.stack([now.linear_damping, now.angular_damping], axis=1), 3, axis=1),
        )
        self.reader, self.n = RowReader(copy), len(self.bodies.mass)
        self.substeps: int = copy._keywords["substeps"]
        pairs = np.stack([copy._joints["body_a"], copy._joints["body_b"]], axis=1)
        self.differences = Differences(
            self.bodies.dynamic, now.reach.copy(), pairs.tolist(), _law(copy), self.notes, _told_frictions(copy)
        )
        self.speed = self._speed()

    def _speed(self) -> float:
        """The largest there is, or that gravity and forces give in a step [m/s, rad/s]."""
        gained = np.abs(self.made._bodies.twist - self.reader.begun.twist)
        fall = self.reader.h * float(np.abs(self.bodies.fall).max(initial=0.0))
        return float(np.abs(self.reader.begun.twist).max(initial=0.0)) + float(gained.max(initial=0.0)) + fall

    def derivatives(self) -> StepDerivatives:
        n, at, rows = self.n, self.reader.begun, []
        total = self._beginning()
        for k in range(self.substeps):
            substep = Substep(
                self.reader, self.bodies, self.reader.begun, at, k * self.reader.h, self.made, STILL * self.speed
            )
            end = substep.end()
            self._note_touches(substep)
            self._note_shares(substep)
            total = partials(substep, self.differences).after(total, n)
            rows.append(_told(substep, k))
            at = end
        widths = np.cumsum([6 * n, 6 * n, 6 * n, self.reader.efforts, n, n])
        parts = dict(zip(BY, np.split(total, widths, axis=1)))
        defect = self._defect(at)  # which may be noted
        return StepDerivatives(
            positions=at.position,
            orientations=at.orientation,
            twists=at.twist,
            defect=defect,
            rows=np.concatenate(rows),
            notes=tuple(self.notes),
            body_names=self.made.body_names,
            **parts,
        )

    def _note_touches(self, substep: Substep) -> None:
        """What touches without load, or presses with next to none: it might as well be open, or pressed."""
        solution, layout = substep.solution, substep.layout
        edges = self.differences.law.at_an_edge(layout, substep.rows)
        slow = STILL * self.speed
        owners = list(
            zip((layout.kind >= NORMAL).tolist(), layout.source.tolist())
        )  # a contact, or a joint, and its number
        pressing = {owners[b.rows[0]] for b, m in zip(solution.blocks, solution.modes) if m.state == "closed"}
        for block, mode in zip(solution.blocks, solution.modes):
            i = int(block.rows[0])
            if edges[i] and mode.state == "closed":
                self.differences.note(substep, i, AT_AN_EDGE)
            if layout.kind[i] not in ONE_SIDED or mode.state not in ("open", "closed"):
                continue
            rate = abs(solution.w[i]) if mode.state == "open" else solution.impulse[i] / max(solution.mass[i], 1e-300)
            if not edges[i] and rate <= slow and (mode.state == "closed" or owners[i] not in pressing):
                self.differences.note(substep, i, "touches without pressing")

    def _note_shares(self, substep: Substep) -> None:
        """What slides under a load that it shares with others in several ways."""
        among = set(substep.solution.solver.undetermined().tolist())
        for block, mode in zip(substep.solution.blocks, substep.solution.modes):
            if mode.state in ("slide", "pivot", "no spin") and int(block.rows[0]) in among:
                self.differences.note(
                    substep, int(block.rows[0]), SHARED, "of what it might be, it is that of the least change"
                )

    def _beginning(self) -> np.ndarray:
        """(12 n, columns) the state before by itself, and by all else 0."""
        moving = np.tile(np.repeat(self.bodies.dynamic, 6), 2).astype(float)
        return np.concatenate([np.diag(moving), np.zeros((12 * self.n, 9 * self.n + self.reader.efforts))], axis=1)

    def _defect(self, at: State) -> float:
        """How far the world's own step ends from this one, as speeds, in parts of them. A note where it is much."""
        own, dt = self.made._bodies, self.substeps * self.reader.h
        turns = to_rotation_vector(normalize(products(own.orientation, conjugates(at.orientation))))
        ways = np.concatenate([own.position - at.position, turns], axis=1)[self.bodies.dynamic] / dt
        rates = (own.twist - at.twist)[self.bodies.dynamic]
        off = max(float(np.abs(ways).max(initial=0.0)), float(np.abs(rates).max(initial=0.0)))
        defect = off / self.speed if self.speed > 0.0 else 0.0
        if defect > UNSOLVED:
            self.notes.append(
                f"the world's own step differs by {defect:.2g} of its speeds from the solution of its rows, where the "
                "derivatives are: more iterations bring it there, or, where corners share a load anew, further steps"
            )
        return defect


def _told_frictions(world: World) -> Callable[[np.void], bool]:
    """-> of a contact, by its record: whether its friction is told of the two bodies or materials together."""
    scene, shapes = world.scene, zip(world._shape_bodies.tolist(), world._shape_ranks.tolist())
    told = {pair.place for pair in scene.pair_materials if pair.friction is not None}
    bodies = [body.name for body in scene.bodies]
    materials = [(scene.bodies[b].shapes[k].material or scene.bodies[b].material).name for b, k in shapes]

    def of(contact: np.void) -> bool:
        ends = [bodies[contact[body]] for body in ("body_a", "body_b")]
        surfaces = [materials[contact[shape]] for shape in ("shape_a", "shape_b")]
        return ("bodies", frozenset(ends)) in told or ("materials", frozenset(surfaces)) in told

    return of


def _law(world: World) -> OneSidedLaw:
    settings = world._kernel_settings(world._scene)
    mends = world._keywords["stabilization"] == "baumgarte"
    return OneSidedLaw(
        world.substep, float(settings["baumgarte"]) if mends else 0.0, float(settings["slop"]), float(settings["slop_part"])
    )


def _told(substep: Substep, number: int) -> np.ndarray:
    """The active set of a substep, as records."""
    layout, solution = substep.layout, substep.solution
    out = np.zeros(len(layout), ROW_STATE_DTYPE)
    out["substep"], out["kind"] = number, np.array(ROW_KINDS)[layout.kind]
    out["source"], out["index"], out["bodies"] = layout.source, layout.index, layout.ends[:, 0]
    out["impulse"] = solution.impulse
    for block, mode in zip(solution.blocks, solution.modes):
        out["state"][block.rows] = mode.state
        if mode.state in ("open", "idle"):
            out["impulse"][block.rows] = 0.0
    return out
