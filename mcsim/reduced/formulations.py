"""The equations of motion of a scene written in three ways, as arrays: to study, not to step.

R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 3, and 8 for loops; numbers are those of its equations.
The maximal system stacks the bodies' velocities v = (v_1, ..., v_N), v_i = [w; v] of link i: angular velocity, and
velocity of the centre of mass, in world axes. Accelerations a are their rates, forces [n; f] are about the centres of
mass. All joints are constraints:

    H a + C = F + K' lambda                  H block diagonal; C = [w × I w; 0] - gravity; F applied, and T_a tau
    K v = T' sigma,   K a = k                implicit constraints: tree joints, then those that close loops
    v = G yd + ...,   a = G ydd + g          explicit constraints: K G = 0, K g = k

and three ways lead to the same accelerations:

    projected   G' H G ydd = G' (F - C - H g)                                                   (3.62, of one body)
    kkt         [H K'; K 0] [a; -lambda] = [F - C; k]                                           (3.60, of one body; 3.74)
    apparent    a = Phi (F - C) + b, Phi = N (N' H N)^-1 N', b = (1 - Phi H) K^+ k, N spanning K N = 0      (3.52-3.55)
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.reduced.dynamics import Dynamics, as_state, given_velocities
from mcsim.reduced.rows import Rows, coupling_rows, joint_rows, refuse_couplings, refuse_rotors
from mcsim.reduced.spaces import Frames, JointSpaces, loop_spaces, spaces_at
from mcsim.reduced.system import System
from mcsim.scene import Body
from mcsim.scene.checks import choose, listing

METHODS = ("projected", "kkt", "apparent")
TOLERANCE = 1e-8  # of rank: singular values below it, relative to the largest, are zero


class JointForce(NamedTuple):
    """What a joint passes on to its successor: f_J = T_a tau + T lambda.

    joint: its name. constraint (6 - n,): lambda [N, N m]. force (6,): f_J = [n; f] about the origin of F_s, in F_s
    axes; world (6,): the same in world axes. determined: False where the system is overconstrained in such a way that
    other forces would do as well; these are then those of the least lambda (in N and N m).
    """

    joint: str
    constraint: np.ndarray
    force: np.ndarray
    world: np.ndarray
    determined: bool


class Apparent(NamedTuple):
    """What a body answers to one more force f on it, everything else as it is: a = Phi f + b.

    Phi (6, 6): apparent inverse inertia; b (6,): bias acceleration, [w; v] of the centre of mass, world axes.
    """

    Phi: np.ndarray
    b: np.ndarray


class Formulation:
    """A scene's equations of motion at a state, in maximal coordinates and by their constraints.

    system: a System, or a Dynamics of one. q (nq,), qd (nv,), tau (nv,) of the tree; 0 if None. forces (bodies, 6):
        [f; n] at the centres of mass, world axes, as of Dynamics.forward_dynamics.
    given (nv,) bool: which velocities of the tree are prescribed, with accelerations qdd (nv,); those of kinematic
        bodies always are. active: T_a by joints (see joint_spaces).
    baumgarte: (alpha, beta) [1/s]: k gets -2 alpha r - beta^2 e for each loop's row, e its error, r = K v - what it is to
        be its rate, whose derivative is what K a = k sets. r is e' where the loop is closed, and else but for terms of the
        size of e times the velocities: e'' = -2 alpha e' - beta^2 e to first order in e.
    time [s]: at which the scene's Motions are asked.
    tolerance: singular values below it, relative to the largest of K, or to the largest term of loop_K, count as zero.

    spaces: list of JointSpaces in world axes, of all joints; rows: list of (joint, name of the row) of K;
        loop_rows: which of them are those of loops.
    H (6N, 6N), C, F (6N,); K (m, 6N), k (m,); G (6N, d), g (6N,), with d the freedoms. Without loops the columns of G
        are the velocities of the tree that are not given; with loops they are an orthonormal basis of what the loops
        leave of these.
    tree_G, tree_g: the same of the tree alone; loop_K, loop_k: the loops over its velocities (chapter 8).
    Phi (6N, 6N), b (6N,). rank: of K; redundant_rows = m - rank.

    Couplings count as loops: rods and gears. A scene with others (rack and pinion, rolling, knife edge, a joint of the
    user's) is refused, since constraints would be left out. Springs, ropes, motors, limits and friction are not part of
    it: their forces can be given in tau and forces. A scene with armature is refused.
    """

    dynamics: Dynamics
    system: System
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    given: np.ndarray
    spaces: list[JointSpaces]
    H: np.ndarray
    C: np.ndarray
    F: np.ndarray
    rows: list[tuple[str, str]]
    loop_rows: slice
    K: np.ndarray
    k: np.ndarray
    tree_G: np.ndarray
    tree_g: np.ndarray
    loop_K: np.ndarray
    loop_k: np.ndarray
    G: np.ndarray
    g: np.ndarray
    rank: int
    Phi: np.ndarray
    b: np.ndarray

    def __init__(
        self,
        system: System | Dynamics,
        q: ArrayLike,
        qd: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        forces: ArrayLike | None = None,
        *,
        given: ArrayLike | None = None,
        qdd: ArrayLike | None = None,
        active: Mapping[str, np.ndarray] | None = None,
        baumgarte: tuple[float, float] = (0.0, 0.0),
        time: float = 0.0,
        tolerance: float = TOLERANCE,
    ):
        self.dynamics = system if isinstance(system, Dynamics) else Dynamics(system)
        self.system = system = self.dynamics.system
        refuse_couplings(system)
        refuse_rotors(system, "Formulation")
        self.q = as_state(q, "q", system.nq)
        self.qd, self.tau, qdd = (
            np.zeros(system.nv) if part is None else as_state(part, name, system.nv)
            for name, part in (("qd", qd), ("tau", tau), ("qdd", qdd))
        )
        self.given = given_velocities(system, given)
        self._frames = Frames(self.dynamics, self.q, self.qd)
        self.spaces = [
            joint.in_world() for joint in spaces_at(self._frames, self.q, self.qd, self.given, qdd, active, time)
        ]
        self._qdd = np.where(self.given, qdd, 0.0)
        self._set_bodies(forces)
        self._set_implicit(baumgarte)
        self._set_explicit(tolerance)
        self._set_apparent(tolerance)

    # ---- what it is made of ------------------------------------------------------------------------------------------

    def _set_bodies(self, forces: ArrayLike | None) -> None:
        """H, C, F: Newton's and Euler's equations of each link alone."""
        links = self.system.links
        bodies = [link.body_number for link in links]
        outer = np.zeros((len(self.system.scene.bodies), 6))
        if forces is not None:
            outer += as_state(np.ravel(forces), "forces", outer.size).reshape(outer.shape)
        size = 6 * len(links)
        self.H, self.C, self.F = np.zeros((size, size)), np.zeros(size), np.zeros(size)
        for i, link in enumerate(links):
            turn, w, own = self._frames.turn[i], self._frames.w[i], slice(6 * i, 6 * i + 6)
            inertia = turn @ link.inertia @ turn.T
            self.H[own, own][:3, :3], self.H[own, own][3:, 3:] = inertia, link.mass * np.eye(3)
            self.C[own] = *np.cross(w, inertia @ w), *(-link.mass * self.dynamics.weights[i])
            self.F[own] = *outer[bodies[i], 3:], *outer[bodies[i], :3]
        for joint in self.spaces:
            push = joint.T_a @ self.tau[joint.columns] if joint.link is not None else np.zeros(6)
            for number, x in self._frames.ends(joint):
                self.F[6 * number : 6 * number + 6] += x.T @ push

    def _set_implicit(self, baumgarte: tuple[float, float]) -> None:
        """K and k of tree joints, joints that close loops, and couplings."""
        alpha, beta = baumgarte
        constraints = [joint_rows(joint, self._frames) for joint in self.spaces]
        constraints += coupling_rows(self.dynamics, self._frames, self.q, self.qd)
        self._constraints = constraints
        self.rows = [(part.joint, row) for part in constraints for row in part.names]
        self.loop_rows = slice(sum(len(joint.rows) for joint in self.spaces if joint.link is not None), len(self.rows))
        self.K, self.k = np.zeros((len(self.rows), len(self.F))), np.zeros(len(self.rows))
        for rows, part in zip(_slices(constraints), constraints):
            for link, share in part.shares:
                self.K[rows, 6 * link : 6 * link + 6] += share
            self.k[rows] = part.k
            if rows.start >= self.loop_rows.start:
                self.k[rows] -= 2.0 * alpha * part.rate + beta**2 * part.error

    def _set_explicit(self, tolerance: float) -> None:
        """G from the bodies' Jacobians, g from their accelerations at rest of the joints; then what loops leave."""
        links = self.system.links
        bodies = [link.body_number for link in links]
        jacobians = np.array([self.dynamics.body_jacobian(link.body, self.q) for link in links])
        jacobians = jacobians.reshape(len(links), 6, self.system.nv)[:, [3, 4, 5, 0, 1, 2]]
        linear, angular = (part[bodies] for part in self.dynamics.accelerations(self.q, self.qd, self._qdd))
        self.tree_G = jacobians.reshape(6 * len(links), self.system.nv)[:, ~self.given]
        self.tree_g = np.concatenate([angular, linear], axis=1).ravel()
        self.loop_K = self.K[self.loop_rows] @ self.tree_G
        self.loop_k = self.k[self.loop_rows] - self.K[self.loop_rows] @ self.tree_g
        self.G, self.g = self.tree_G, self.tree_g
        if len(self.loop_K):
            size = np.max(np.abs(self.K[self.loop_rows]) @ np.abs(self.tree_G), initial=0.0)
            split = Split.of(self.loop_K, tolerance, size)
            self.G, self.g = self.tree_G @ split.free, self.tree_g + self.tree_G @ split.solve(self.loop_k)

    def _set_apparent(self, tolerance: float) -> None:
        """Phi and b from K alone."""
        self._split = Split.of(self.K, tolerance)
        self.rank = len(self._split.values)
        free, part = self._split.free, self._split.solve(self.k)
        self.Phi = free @ np.linalg.solve(free.T @ self.H @ free, free.T)
        self.b = part - self.Phi @ (self.H @ part)

    @property
    def redundant_rows(self) -> int:
        """How many rows of K say what the others do."""
        return len(self.rows) - self.rank

    @property
    def mobility(self) -> Mobility:
        """Freedoms, rank and redundant rows of the system: see `mobility`."""
        return mobility(self.dynamics, self.q, given=self.given)

    # ---- what it says ------------------------------------------------------------------------------------------------

    def accelerations(self, method: str = "projected") -> np.ndarray:
        """a (links, 6): [w'; v'] of all links, by one of the three METHODS."""
        method = choose(method, METHODS, "method")
        force = self.F - self.C
        if method == "projected":
            free = np.linalg.solve(self.G.T @ self.H @ self.G, self.G.T @ (force - self.H @ self.g))
            found = self.G @ free + self.g
        elif method == "kkt":
            found = self._kkt()[0]
        else:
            found = self.Phi @ force + self.b
        return found.reshape(-1, 6)

    def _kkt(self) -> tuple[np.ndarray, np.ndarray]:
        """a (6N,) and lambda (m,), the least one where it is not unique.

        Of K = U s V' the rows V' stand for those of K, so that redundant ones are no trouble.
        """
        rank, size, spanned = self.rank, len(self.F), self._split.spanned
        system = np.block([[self.H, spanned.T], [spanned, np.zeros((rank, rank))]])
        right = np.concatenate([self.F - self.C, spanned @ self._split.solve(self.k)])
        solution = np.linalg.solve(system, right)
        return solution[:size], self._split.multipliers(-solution[size:])

    def joint_accelerations(self, method: str = "projected") -> np.ndarray:
        """qdd (nv,) of the tree, read from the bodies' accelerations: T_a' (a_s - a_p - c_J - v_s × v_J)."""
        a, qdd = self.accelerations(method), self._qdd.copy()
        for joint in self.spaces:
            if joint.link is not None:
                moved = sum((x @ a[link] for link, x in self._frames.ends(joint)), np.zeros(6))
                qdd[joint.columns] = joint.T_a.T @ (moved - self._frames.relative_bias(joint))
        return qdd

    def constraint_forces(self) -> dict[str, JointForce]:
        """By name of the joint what each passes on to its successor, loops and couplings too; of a free joint that the
        model added by its body's name. That of a rod is about its point on b, that of a gear about F_s of joint_b."""
        multipliers = self._kkt()[1]
        forces: dict[str, Any] = {}
        for i, (rows, part) in enumerate(zip(_slices(self._constraints), self._constraints)):
            joint = self.spaces[i] if i < len(self.system.links) else None  # of the tree
            world = part.wrench @ multipliers[rows]
            if joint is not None:
                world = world + joint.T_a @ self.tau[joint.columns]
            own = np.concatenate([part.axes.T @ world[:3], part.axes.T @ world[3:]])
            determined = bool(np.all(np.abs(self._split.dependent[rows]) < np.sqrt(TOLERANCE)))
            found = JointForce(part.joint, multipliers[rows], own, world, determined)
            if joint is not None and self.system.links[i].joint is None:
                forces.setdefault(part.joint, found)  # a joint may have the same name as a body
            else:
                forces[part.joint] = found
        return forces

    def apparent(self, body: Body | str) -> Apparent:
        """Apparent inverse inertia and bias acceleration of a body, with all joints and loops (3.52)."""
        name = self.system.scene.body(body).name
        number = self.system.link_of[name]
        if number < 0:
            raise SceneError(f"body {name!r} is static: it is part of the base and does not answer to forces")
        own = slice(6 * number, 6 * number + 6)
        return Apparent(self.Phi[own, own], self.accelerations("apparent")[number])

    def __repr__(self) -> str:
        return (
            f"<Formulation of {self.system.scene.name!r}: {len(self.system.links)} links, K {self.K.shape} of rank "
            f"{self.rank}, G {self.G.shape}>"
        )


# ---- rank ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mobility:
    """How a system's joints leave it to move, at one pose.

    velocities: of the tree, but for those that are given. rows: of the loops' constraints; rank: how many of them are
    independent. freedoms = velocities - rank; counted = velocities - rows, what Grübler and Kutzbach count.
    redundant: (joint, row) that could be left out together, all others kept; often others would do as well.
    overconstrained: the joints of loops whose rows take part in a dependence: no choice among them comes into this.
    closest: the smallest singular value that counts, relative to the largest term in a row; near `tolerance` the rank
        is a matter of rounding, or the pose is near a singular one.
    """

    velocities: int
    rows: int
    rank: int
    redundant: tuple[tuple[str, str], ...]
    overconstrained: tuple[str, ...]
    closest: float
    tolerance: float

    @property
    def freedoms(self) -> int:
        """Degrees of freedom at this pose."""
        return self.velocities - self.rank

    @property
    def counted(self) -> int:
        """What freedoms would be if no row were redundant."""
        return self.velocities - self.rows

    def __str__(self) -> str:
        def plural(count: int, noun: str) -> str:
            return f"{count} {noun}{'' if count == 1 else 's'}"

        lines = [
            f"{plural(self.freedoms, 'degree')} of freedom: "
            f"{plural(self.velocities, 'joint freedom')} of the tree less rank {self.rank} of "
            f"{plural(self.rows, 'loop row')}"
        ]
        if self.redundant:
            lines.append(
                f"overconstrained: {plural(len(self.redundant), 'redundant row')} "
                f"(counting rows would give {self.counted}), in {listing(list(self.overconstrained))}:"
            )
            lines += [f"  {joint}: {row}" for joint, row in self.redundant]
        return "\n".join(lines)


def mobility(
    system: System | Dynamics, q: ArrayLike | None = None, *, given: ArrayLike | None = None, tolerance: float = TOLERANCE
) -> Mobility:
    """How a system can move at q (nq,), by default where the scene has it: see Mobility. print() shows it.

    Rods and gears count as loops; a scene with other couplings is refused. The answer is that of one pose: at a
    singular one (a four-bar stretched out flat) more is free, for an instant, than anywhere near. Loops should be
    closed: where they are off by e, singular values of the size of e mean nothing.
    """
    dynamics = system if isinstance(system, Dynamics) else Dynamics(system)
    system = dynamics.system
    q = system.initial()[0] if q is None else as_state(q, "q", system.nq)
    free = ~given_velocities(system, given)
    loops = loop_matrix(dynamics, q)
    split = Split.of(loops.rows[:, free], tolerance, loops.size)
    taking_part = np.any(np.abs(split.dependent) > np.sqrt(tolerance), axis=1)
    return Mobility(
        int(free.sum()),
        len(loops.rows),
        len(split.values),
        tuple(loops.names[i] for i in _dependent(split.dependent)),
        tuple(dict.fromkeys(name for (name, _), part in zip(loops.names, taking_part) if part)),
        float(split.values[-1] / loops.size) if len(split.values) else 1.0,
        tolerance,
    )


class LoopMatrix(NamedTuple):
    """Loops and couplings of a system as constraints of the tree's velocities, K qd = 0, K qdd = k (section 8.2, Loop
    Constraint Equations).

    rows (m, nv): K. k (m,). names: (joint, row) of each. parts: of each joint that closes a loop or couples others. size:
    of the largest term in a row, against which rounding is to be seen: what a loop's two sides have in common cancels.
    """

    rows: np.ndarray
    k: np.ndarray
    names: list[tuple[str, str]]
    parts: list[Rows]
    size: float


def loop_matrix(dynamics: Dynamics, q: np.ndarray, qd: np.ndarray | None = None) -> LoopMatrix:
    """The loops and couplings of a system at q (nq,), qd (nv,) (0 if None)."""
    still, links = np.zeros(dynamics.nv), dynamics.system.links
    qd = still if qd is None else qd
    frames = Frames(dynamics, q, qd)
    parts = [joint_rows(joint.in_world(), frames) for joint in loop_spaces(frames, 0.0)]
    parts += coupling_rows(dynamics, frames, q, qd)
    rows, size = np.zeros((sum(len(part.names) for part in parts), dynamics.nv)), 0.0
    k = np.concatenate([part.k for part in parts]) if parts else np.zeros(0)
    linear, angular = dynamics.accelerations(q, qd, still)
    for own, part in zip(_slices(parts), parts):
        for number, share in part.shares:
            link = links[number]
            jacobian = dynamics.body_jacobian(link.body, q)[[3, 4, 5, 0, 1, 2]]
            rows[own] += share @ jacobian
            k[own] -= share @ np.concatenate([angular[link.body_number], linear[link.body_number]])
            size = max(size, np.max(np.abs(share @ jacobian), initial=0.0))
    return LoopMatrix(rows, k, [(part.joint, row) for part in parts for row in part.names], parts, size)


def _slices(parts: list[Rows]) -> list[slice]:
    """Where the rows of each part stand."""
    ends = np.cumsum([0] + [len(part.names) for part in parts]).tolist()
    return [slice(*pair) for pair in itertools.pairwise(ends)]


class Split(NamedTuple):
    """Rows K = U s V', by their singular values, of which the small ones count as zero.

    free (n, n - r): columns that span K x = 0. spanned (r, n): rows that span those of K. values (r,).
    combined (m, r): U; dependent (m, m - r): columns z that span z' K = 0, the dependences between the rows.
    """

    free: np.ndarray
    spanned: np.ndarray
    values: np.ndarray
    combined: np.ndarray
    dependent: np.ndarray

    @staticmethod
    def of(rows: np.ndarray, tolerance: float, size: float = 0.0) -> Split:
        """size: of the numbers that rows come from, if larger than rows: what is below tolerance of it is zero."""
        u, s, vt = np.linalg.svd(rows)
        rank = int(np.sum(s > tolerance * max(size, s.max(initial=0.0))))
        return Split(vt[rank:].T, vt[:rank], s[:rank], u[:, :rank], u[:, rank:])

    def solve(self, right: np.ndarray) -> np.ndarray:
        """The least x with K x = right, or where K x is nearest to it."""
        return self.spanned.T @ (self.combined.T @ right / self.values)

    def multipliers(self, force: np.ndarray) -> np.ndarray:
        """The least lambda (m,) with K' lambda = spanned' force."""
        return self.combined @ (force / self.values)


def _dependent(left: np.ndarray) -> list[int]:
    """As many rows as there are dependences (columns of `left`), which the others determine: those where the
    dependences are largest and not alike."""
    from scipy.linalg import qr

    return sorted(qr(left.T, mode="r", pivoting=True)[1][: left.shape[1]].tolist())
