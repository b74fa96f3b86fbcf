"""Study: the outcome of a comparison."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import written_whole
from mcsim.lab.record import ARRAYS, TOLD, Run
from mcsim.lab.reference import Reference

VERSION = 1
REFERENCE_ARRAYS = tuple(f.name for f in fields(Reference) if f.name != "label")


@dataclass(eq=False)
class Study:
    """Methods on one scene, side by side.

    scene: its name; bodies, joints: how many. seconds, dts (coarse to fine) [s].
    series: name -> list of Run, one for each of dts. runs: name -> Run at the smallest step.
    reference: Reference, or None; reference_failure: why there is none, if it was wanted.
    energy_scale [J]: the largest kinetic energy, by which energy errors are divided in tables and pictures.
    energy_error of a run is the energy less that of the beginning where the scene conserves it (`conserves`), else less
    the reference's. momentum_error and spin_error, of linear and angular momentum, are the lengths of what they are off
    from what gravity makes of those at the beginning in a scene that nothing holds (`free`), else from the reference's.
    touching: whether bodies may collide.
    """

    scene: str
    bodies: int
    joints: int
    seconds: float
    dts: list[float]
    series: dict[str, list[Run]]
    reference: Reference | None = None
    reference_failure: str = ""
    energy_scale: float = 1.0
    conserves: bool = False
    free: bool = False
    touching: bool = False

    @property
    def runs(self) -> dict[str, Run]:
        """name -> Run at the smallest step."""
        return {name: runs[-1] for name, runs in self.series.items()}

    def all_runs(self) -> list[Run]:
        """Method by method, from the largest step to the smallest."""
        return [run for runs in self.series.values() for run in runs]

    def __repr__(self) -> str:
        steps = ", ".join(f"{dt:.4g}" for dt in self.dts)
        failed = sum(bool(run.failure) for run in self.all_runs())
        return (f"<Study of {self.scene!r}: {', '.join(self.series)}; {self.seconds:g} s in steps of {steps} s"
                + (f"; {failed} failed" if failed else "") + ">")

    # ---- what comes out ----------------------------------------------------------------------------------------------

    def table(self) -> str:
        """The summary as plain text: a row for each run, the reference, and of several steps the orders fitted."""
        from mcsim.lab.report import table

        return table(self)

    def orders(self) -> dict[str, dict[str, float]]:
        """name -> {"distance", "turn", "energy", "drift": order}: slopes of log error over log dt, by least squares;
        NaN where there is nothing to fit."""
        from mcsim.lab.report import orders

        return orders(self)

    def csv(self, path) -> None:
        """Writes the summary, a line for each run."""
        from mcsim.lab.report import write_csv

        write_csv(self, path)

    def plot(self, path, kind=None) -> None:
        """Draws one picture (.png, .pdf or .svg): kind "time", panels over time at the smallest step, or "convergence",
        errors over dt; by default the second if there are several steps."""
        from mcsim.lab.picture import plot

        plot(self, path, kind)

    # ---- files -------------------------------------------------------------------------------------------------------

    def save(self, path) -> None:
        """Writes everything to a .npz file, whole or not at all: arrays "runs.0.energy", ..., "reference.time", ...,
        and "study", JSON text that says what they are."""
        if Path(path).suffix != ".npz":
            raise SceneError(f"{os.fspath(path)}: a study is a .npz file")
        about = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("series", "reference")}
        runs = self.all_runs()
        about |= {"version": VERSION, "runs": [{name: getattr(run, name) for name in TOLD} for run in runs],
                  "reference": None if self.reference is None else self.reference.label}
        arrays = {f"runs.{i}.{name}": getattr(run, name) for i, run in enumerate(runs) for name in ARRAYS}
        if self.reference is not None:
            arrays |= {f"reference.{name}": getattr(self.reference, name) for name in REFERENCE_ARRAYS}
        with written_whole(path) as file:
            np.savez_compressed(file, study=np.array(json.dumps(about)), **arrays)

    @classmethod
    def load(cls, path) -> Study:
        """Reads what `save` wrote. SceneError names the file if it is not a study."""
        name = os.fspath(path)
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as data:
                about = json.loads(str(data["study"]))
                if about.pop("version") != VERSION:
                    raise SceneError(f"{name}: a study of another version of mcsim")
                series = {}
                for i, said in enumerate(about.pop("runs")):
                    run = Run(**said, **{key: data[f"runs.{i}.{key}"] for key in ARRAYS})
                    series.setdefault(run.name, []).append(run)
                label = about.pop("reference")
                reference = None if label is None else Reference(
                    label, **{key: data[f"reference.{key}"] for key in REFERENCE_ARRAYS})
                return cls(series=series, reference=reference, **about)
        except FileNotFoundError:
            raise FileNotFoundError(f"no such study: {name}") from None
        except SceneError:
            raise
        except (ValueError, TypeError, KeyError, EOFError, AttributeError, zipfile.BadZipFile) as error:
            raise SceneError(f"{name}: not a study: {str(error).splitlines()[0]}") from None
