"""JointModel: a tree joint of the user's own, by Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import determinant, length, product
from mcsim.scene.checks import FieldError, count

STEP = 1e-5  # of central differences; their error is some 1e-10 for motions of the size of 1
AGREE = 1e-6  # how far S may be from what the differences say
SAMPLES = 5  # poses at which that is looked at

Placement = tuple[np.ndarray, np.ndarray]


class JointModel:
    """A joint whose successor's frame F_s stands in its predecessor's F_p as a function of its coordinates says.

    JointModel(size, placement, subspace=None, bias=None)
      size: number of its coordinates q, 1 to 6; its velocities are their rates, qd = dq/dt.
      placement(q) -> (R (3, 3), r (3,)): x_p = r + R x_s [m].
      subspace(q) -> S (6, size): F_s moves by [w; v] = S qd relative to F_p, in its own axes about its own origin. Left
        out, central differences of the placement serve (to some 1e-10).
      bias(q, qd) -> (6,): the rate of S along qd, times qd, in the same axes. Left out, differences of S serve.

    System(scene, models={"joint": JointModel(...)}) puts it in the place of a joint of the scene, whose two bodies and
    frames it takes over. Where S does not go with the placement, that is refused, with what it should be.
    """

    size: int

    def __init__(
        self,
        size: int,
        placement: Callable[[np.ndarray], Placement],
        subspace: Callable[[np.ndarray], np.ndarray] | None = None,
        bias: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ):
        try:
            self.size = count(size, "size", 1, 6)
        except FieldError as error:
            raise SceneError(f"JointModel: {error}") from None
        for name, function in (("placement", placement), ("subspace", subspace), ("bias", bias)):
            if not callable(function) and (function is not None or name == "placement"):
                raise SceneError(f"JointModel: {name} must be a function, got {function!r:.60}")
        self._placement, self._subspace, self._bias = placement, subspace, bias

    def placement(self, q: np.ndarray) -> Placement:
        """R (3, 3) and r (3,) at q, checked."""
        try:
            turn, place = self._placement(q)
            turn, place = np.array(turn, float), np.array(place, float)
        except (OverflowError, TypeError, ValueError) as error:
            raise SceneError(f"placement(q) must give (R (3, 3), r (3,)): {error}") from error
        if turn.shape != (3, 3) or place.shape != (3,) or not np.isfinite(turn).all() or not np.isfinite(place).all():
            raise SceneError(f"placement(q) must give finite (R (3, 3), r (3,)), got shapes {turn.shape}, {place.shape}")
        if np.abs(product(turn.T, turn) - np.eye(3)).max() > AGREE or determinant(turn) < 0.0:
            raise SceneError("placement(q) gives an R that is no rotation: R' R must be 1 and det R positive")
        return turn, place

    def subspace(self, q: np.ndarray) -> np.ndarray:
        """S (6, size) at q."""
        return (
            self._differences(q)
            if self._subspace is None
            else self._array(self._subspace(q), "subspace(q)", (6, self.size))
        )

    def bias(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """(6,) at q, qd."""
        if self._bias is not None:
            return self._array(self._bias(q, qd), "bias(q, qd)", (6,))
        speed = length(qd)
        if speed == 0.0:
            return np.zeros(6)
        step = STEP / speed
        return product(self.subspace(q + step * qd) - self.subspace(q - step * qd), qd) / (2.0 * step)

    def check(self, joint: str) -> None:
        """Refuse an S that does not go with the placement. joint: its name, for the message."""
        rng = np.random.default_rng(0)
        try:
            for _ in range(SAMPLES):
                q, qd = rng.uniform(-1.0, 1.0, (2, self.size))
                found, expected = self.subspace(q), self._differences(q)
                off = np.abs(found - expected).max()
                if off > AGREE * (1.0 + np.abs(expected).max()):
                    raise SceneError(
                        f"subspace(q) is not the rate of placement(q): at q = {q.round(4).tolist()} it is off "
                        f"by {off:.3g}; there it should be {expected.round(6).tolist()}"
                    )
                along = JointModel(self.size, self._placement, self._subspace).bias(q, qd)
                off = np.abs(self.bias(q, qd) - along).max()
                if off > 1e-4 * (1.0 + np.abs(along).max()):
                    raise SceneError(
                        f"bias(q, qd) is not the rate of subspace(q): at q = {q.round(4).tolist()} it is off by {off:.3g}"
                    )
        except SceneError as error:
            raise SceneError(f"joint {joint!r}: its JointModel: {error}") from error

    def fill(self, q: np.ndarray, qd: np.ndarray, out: np.ndarray) -> None:
        """The record of _links.pxd: R (columns), r, bias, columns of S."""
        turn, place = self.placement(q)
        out[:9], out[9:12], out[12:18] = turn.T.ravel(), place, self.bias(q, qd)
        out[18 : 18 + 6 * self.size] = self.subspace(q).T.ravel()

    def _differences(self, q: np.ndarray) -> np.ndarray:
        """S by central differences of the placement."""
        turn, _ = self.placement(q)
        columns = []
        for k in range(self.size):
            step = np.zeros(self.size)
            step[k] = STEP
            (turn_2, place_2), (turn_1, place_1) = self.placement(q + step), self.placement(q - step)
            spin = product(turn.T, turn_2 - turn_1) / (2.0 * STEP)
            columns.append(
                [
                    *(0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])),
                    *(product(turn.T, place_2 - place_1) / (2.0 * STEP)),
                ]
            )
        return np.array(columns).T

    @staticmethod
    def _array(value: Any, what: str, shape: tuple[int, ...]) -> np.ndarray:
        try:
            array = np.array(value, float)
        except (OverflowError, TypeError, ValueError):
            raise SceneError(f"{what} must give numbers, got {value!r:.60}") from None
        if array.shape != shape or not np.isfinite(array).all():
            raise SceneError(f"{what} must give {shape} finite numbers, got the shape {array.shape}")
        return array
