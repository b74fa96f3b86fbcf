"""A contact problem as a thing: what a step asks of its impulses, apart from the world that asks."""

from __future__ import annotations  # signatures read as they are written here

import os
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.files import path_name, read_arrays, written_whole
from mcsim.core.linear import sparse_product
from mcsim.scene.checks import choose, show
from mcsim.solve.problems import checks
from mcsim.solve.problems._system import MODELS, System, blocks
from mcsim.solve.problems.residuals import residuals
from mcsim.solve.problems.spectrum import Spectrum, spectrum

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FORMAT = 1


class Problem:
    """Find impulses lambda and velocities u = A lambda + compliance * lambda + b that suit each other.

    A: (n, n) symmetric, positive semidefinite, dense or scipy.sparse: J M^-1 J' of the rows [1/kg for rows in m].
    b: (n,) what the rows' velocities are without impulses, bias and all [m/s, rad/s].
    friction: (c,) coefficients of c contacts; 0 and inf may stand there. The first 3 c rows are the contacts',
        [n, t1, t2] each: lambda_n >= 0, u_n > 0 opening. inf: the tangents are held whatever the normal impulse.
    bounds: (n - 3 c, 2) lower and upper of the impulses of the rows that follow; -inf, inf (the default): bilateral.
        Or (n, 2), of which the contacts' are not read.
    compliance: (n,) at least 0, added to A's diagonal; default 0.
    warm_start: (n,) impulses to begin with; default 0.

    Problem.factored(jacobian, inverse_mass, b, friction, ...) keeps J (n, m) and M^-1 (m, m), sparse, in place of A, which
    is cheaper where many contacts share few bodies. `free_velocity` (m,): the velocities without impulses, if known;
    `velocity(impulses)` are then those with them. `source`: a structured array that says of every row where it comes
    from, or None.

    What follows from it: `mc.solve(problem)`, `velocities(impulses)`, `residuals(impulses, model)`, `spectrum()`,
    `save(path)`, `draw(path)`. A problem does not change; its arrays are read only.
    """

    b: np.ndarray
    friction: np.ndarray
    bounds: np.ndarray
    compliance: np.ndarray
    warm_start: np.ndarray
    free_velocity: np.ndarray | None
    source: np.ndarray | None
    jacobian: csr_array | None
    response: Any  # (n, m) J M^-1, scipy.sparse; None where A was given whole
    system: System

    def __init__(
        self,
        A: Any,
        b: ArrayLike,
        friction: ArrayLike = (),
        bounds: ArrayLike | None = None,
        *,
        compliance: ArrayLike | None = None,
        warm_start: ArrayLike | None = None,
    ) -> None:
        matrix = checks.sparse("A", A)
        checks.symmetric("A", matrix)
        self._take(matrix.shape[0], b, friction, bounds, compliance, warm_start)
        self._matrix = matrix
        self.jacobian = self._inverse_mass = self.source = None
        self.free_velocity = None
        self._set_up(matrix, None)

    @classmethod
    def factored(
        cls,
        jacobian: Any,
        inverse_mass: Any,
        b: ArrayLike,
        friction: ArrayLike = (),
        bounds: ArrayLike | None = None,
        *,
        compliance: ArrayLike | None = None,
        warm_start: ArrayLike | None = None,
        free_velocity: ArrayLike | None = None,
        source: ArrayLike | None = None,
    ) -> Problem:
        """A = J M^-1 J'. jacobian: (n, m); inverse_mass: (m, m) symmetric; both dense or scipy.sparse. Other arguments:
        help(Problem)."""
        jacobian = checks.sparse("jacobian", jacobian)
        inverse_mass = checks.sparse("inverse_mass", inverse_mass)
        checks.symmetric("inverse_mass", inverse_mass)
        if jacobian.shape[1] != inverse_mass.shape[0]:
            raise SceneError(
                f"jacobian has {jacobian.shape[1]} columns and inverse_mass {inverse_mass.shape[0]} "
                "rows; they must be as many"
            )
        self = cls.__new__(cls)
        self._take(jacobian.shape[0], b, friction, bounds, compliance, warm_start)
        self._matrix = None
        self.jacobian, self._inverse_mass = jacobian, inverse_mass
        if free_velocity is None:
            self.free_velocity = None
        else:
            self.free_velocity = _fixed(checks.vector("free_velocity", free_velocity, jacobian.shape[1], "the jacobian"))
        self.source = checks.sources(source, jacobian.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):
            self._set_up(jacobian, sparse_product(jacobian, inverse_mass))
        if not np.isfinite(self.system.local_blocks).all():
            raise SceneError("jacobian and inverse_mass: J M^-1 J' leaves the range of numbers; choose other units")
        return self

    @classmethod
    def _of_step(
        cls,
        jacobian: csr_array,
        response: csr_array,
        inverse_mass: Any,
        b: np.ndarray,
        friction: np.ndarray,
        bounds: np.ndarray,
        compliance: np.ndarray,
        warm_start: np.ndarray,
        free_velocity: np.ndarray,
        source: np.ndarray,
    ) -> Problem:
        """factored() of what a step knows to be right; response: (n, m) J M^-1; inverse_mass: it, or what gives it."""
        self = cls.__new__(cls)
        self._matrix = None
        self.jacobian, self._inverse_mass = jacobian, inverse_mass
        self.b, self.friction, self.bounds, self.compliance, self.warm_start, self.free_velocity = (
            np.ascontiguousarray(array) for array in (b, friction, bounds, compliance, warm_start, free_velocity)
        )
        self.source = source
        self._set_up(jacobian, response)
        return self

    def _take(
        self,
        n: int,
        b: ArrayLike,
        friction: ArrayLike,
        bounds: ArrayLike | None,
        compliance: ArrayLike | None,
        warm_start: ArrayLike | None,
    ) -> None:
        none = np.zeros(n)
        self.b = _fixed(checks.vector("b", b, n))
        self.friction = _fixed(checks.frictions(friction, n))
        self.bounds = _fixed(checks.bound_pairs(bounds, n, 3 * len(self.friction)))
        self.compliance = _fixed(checks.vector("compliance", none if compliance is None else compliance, n, least=0.0))
        self.warm_start = _fixed(checks.vector("warm_start", none if warm_start is None else warm_start, n))

    def _set_up(self, rows: csr_array, response: csr_array | None) -> None:
        """The rows in blocks, for the kernels."""
        self.response = response
        begin, column, value = csr_parts(rows)
        arrays = blocks(
            len(self.friction),
            rows.shape[1],
            begin,
            column,
            value,
            None if response is None else csr_parts(response.tocsr()),
        )
        lower, upper = np.ascontiguousarray(self.bounds.T)
        self.system = System(*arrays, self.b, self.compliance, self.friction, lower, upper, rows.shape[1])

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    def row_count(self) -> int:
        """n, of all rows."""
        return len(self.b)

    @property
    def contact_count(self) -> int:
        """c: the first 3 c rows are those of contacts."""
        return len(self.friction)

    @property
    def A(self) -> csr_array:
        """(n, n) scipy.sparse CSR, without compliance."""
        if self._matrix is None:
            matrix = sparse_product(self.jacobian, self.response.T).tocsr()
            self._matrix = (0.5 * (matrix + matrix.T)).tocsr()
        return self._matrix

    @property
    def inverse_mass(self) -> csr_array | None:
        """(m, m) M^-1, scipy.sparse CSR, symmetric; None where A was given whole."""
        found = self._inverse_mass
        if callable(found):
            found = self._inverse_mass = found()
        return found

    @property
    def A_with_compliance(self) -> csr_array:
        """(n, n) likewise, the compliance on its diagonal: u = A_with_compliance lambda + b."""
        from scipy.sparse import dia_array  # here, since importing mcsim should stay light

        return (self.A + dia_array((self.compliance[None], [0]), shape=self.A.shape)).tocsr()

    def __repr__(self) -> str:
        singles = self.row_count - 3 * self.contact_count
        return f"<Problem: {self.contact_count} contacts, {singles} other rows>"

    def __getstate__(self) -> dict[str, Any]:
        return self._arrays()

    def __setstate__(self, arrays: dict[str, Any]) -> None:
        vars(self).update(vars(_restored(arrays)))

    # ---- what follows from impulses ----------------------------------------------------------------------------------

    def _impulses(self, impulses: ArrayLike) -> np.ndarray:
        return checks.vector("impulses", impulses, self.row_count, "the problem")

    def velocities(self, impulses: ArrayLike) -> np.ndarray:
        """(n,) u = A lambda + compliance * lambda + b [m/s, rad/s]."""
        return self.system.rates(self._impulses(impulses))[0]

    def residuals(self, impulses: ArrayLike, model: str = "ncp") -> np.void:
        """A record: primal, dual, complementarity, natural_map, objective, gap; help(mcsim.solve.problems.residuals)."""
        return residuals(self, self._impulses(impulses), choose(model, MODELS, "model"))

    def velocity(self, impulses: ArrayLike) -> np.ndarray:
        """(m,) the velocities of the bodies, or of the coordinates, with these impulses: free_velocity + M^-1 J' lambda.
        A problem that was given as A does not know them."""
        if self.free_velocity is None:
            raise SceneError(
                "Problem.velocity: this problem has no free_velocity; Problem.factored(..., free_velocity=...) has it"
            )
        return self.free_velocity + sparse_product(self.response.T, self._impulses(impulses))

    def from_rest(self) -> Problem:
        """The same problem, to begin without impulses."""
        other = copy(self)
        other.warm_start = np.zeros(self.row_count)
        return other

    # ---- keeping it --------------------------------------------------------------------------------------------------

    def _arrays(self) -> dict[str, Any]:
        arrays = {
            "format": FORMAT,
            "b": self.b,
            "friction": self.friction,
            "bounds": self.bounds,
            "compliance": self.compliance,
            "warm_start": self.warm_start,
        }
        matrices = (
            {"jacobian": self.jacobian, "inverse_mass": self.inverse_mass} if self.system.factored else {"A": self._matrix}
        )
        for name, matrix in matrices.items():
            for part in ("data", "indices", "indptr", "shape"):
                arrays[f"{name}_{part}"] = np.asarray(getattr(matrix, part))
        for name in ("free_velocity", "source"):
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        return arrays

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, NumPy's .npz: matrices as the parts of a scipy.sparse CSR (A_data, A_indices, ...)."""
        name = path_name(path, "problem")
        with written_whole(name if name.endswith(".npz") else name + ".npz", "problem") as file:
            np.savez_compressed(file, **self._arrays())

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Problem:
        """A problem that save() wrote."""
        name, arrays = path_name(path, "problem"), read_arrays(path, "problem")
        try:
            return _restored(arrays)
        except SceneError as error:
            raise SceneError(f"{name}: no problem that Problem.save wrote ({error})") from None

    def draw(self, path: str | os.PathLike[str] | None = None, *, theme: str = "light") -> Any:
        """One picture: the pattern of A, its eigenvalues with rank and condition number, the rows' velocities without
        impulses. -> the Matplotlib figure; with a path it is also saved. theme: "light" or "dark"."""
        from mcsim.solve.problems.drawing import draw

        return draw(self, path, theme)

    def spectrum(self) -> Spectrum:
        """Eigenvalues of A + compliance, its rank and condition number; dense, so for some thousands of rows at most."""
        return spectrum(self)


def _fixed(array: np.ndarray) -> np.ndarray:
    """The array, read only."""
    array.flags.writeable = False
    return array


def csr_parts(matrix: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.ascontiguousarray(matrix.indptr, np.int64),
        np.ascontiguousarray(matrix.indices, np.int32),
        np.ascontiguousarray(matrix.data, float),
    )


def inverse_mass_parts(problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """What the sparse factors take: M^-1 of a factored problem, None of an A that is given whole."""
    return csr_parts(problem.inverse_mass) if problem.system.factored else None


def _restored(arrays: Any) -> Problem:
    """The problem of these arrays."""

    def array(name: str) -> Any:
        if not isinstance(arrays.get(name), np.ndarray if name != "format" else (int, np.ndarray)):
            raise SceneError(f"there is no array {name!r}")
        return arrays[name]

    def matrix(name: str) -> csr_array:
        return checks.csr_of(name, *(array(f"{name}_{part}") for part in ("data", "indices", "indptr", "shape")))

    if not isinstance(arrays, dict):
        raise SceneError(f"a problem is told by a dict of arrays, got {show(arrays)}")
    if not np.array_equal(array("format"), FORMAT):
        raise SceneError(f"its format is {show(arrays['format'])}, not {FORMAT}")
    common = {name: array(name) for name in ("b", "friction", "bounds", "compliance", "warm_start")}
    if "A_data" in arrays:
        return Problem(matrix("A"), **common)
    return Problem.factored(
        matrix("jacobian"),
        matrix("inverse_mass"),
        **common,
        free_velocity=arrays.get("free_velocity"),
        source=arrays.get("source"),
    )
