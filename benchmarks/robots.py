"""Algorithms in generalized coordinates beside Pinocchio's on the URDF files of real robots: do they agree?

    python benchmarks/robots.py FOLDER                 all .urdf files below it (pip install pin 'mcsim-physics[urdf]')
    python benchmarks/robots.py FOLDER --csv robots.csv

Both read each file by themselves, on a fixed and on a floating base, without shapes. At one random state: the largest
difference of inverse dynamics, mass matrix, forward dynamics and of the Jacobians of all bodies, each relative to
Pinocchio's largest number. example-robot-data (pip install cmeel-example-robot-data) has some 69 files.
"""

import argparse
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import mcsim as mc
from common import machine, write_csv
from mcsim.core.rotation import matrix
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.system import System

ONE_COORDINATE = ("revolute", "prismatic")


@dataclass
class Result:
    """Largest relative differences."""

    robot: str
    base: str
    velocities: int
    rnea: float
    crba: float
    aba: float
    jacobians: float


class Skipped(Exception):
    """Why a file cannot be compared."""


class Pair:
    """One robot in both. map (nv, nv): our velocities into Pinocchio's, at the state set by `place`."""

    def __init__(self, path, base):
        import pinocchio as pin

        self.pin = pin
        try:
            self.scene = mc.load(path, base=base, meshes="none")
        except mc.SceneError as error:
            raise Skipped(str(error).removeprefix(f"{path}: ").removeprefix(f"{path}:")) from None
        stands = any(body.kind == "static" for body in self.scene.bodies)
        if stands and base == "floating":
            raise Skipped("its root is the world")
        root = [] if stands else [pin.JointModelFreeFlyer()]
        try:
            self.model = pin.buildModelFromUrdf(str(path), *root)
        except (ValueError, RuntimeError) as error:
            raise Skipped(f"Pinocchio: {' '.join(str(error).split())}") from None
        children = {joint.b for joint in self.scene.joints if joint.type != "gear"}
        roots = [body.name for body in self.scene.bodies if body.kind != "static" and body.name not in children]
        self.data, self.system = self.model.createData(), System(self.scene, roots=roots)  # as in the file
        self.dynamics = Dynamics(self.system)
        nv, other = self.system.nv, self.model.nv
        kinds = {link.kind for link in self.system.links if link.joint is not None}
        if nv != other or not kinds <= set(ONE_COORDINATE):
            raise Skipped(f"{nv} velocities, Pinocchio has {other}; joints: {', '.join(sorted(kinds))}")
        if nv == 0:
            raise Skipped("nothing moves")

    def joint(self, link):
        """Pinocchio's number of a link's joint."""
        return 1 if link.joint is None else self.model.getJointId(link.joint.name)

    def place(self, rng):
        """A random state: q, qd, tau of ours; theirs in self.q, self.v, self.tau."""
        q, self.q = self.system.neutral(), self.pin.neutral(self.model)
        qd, tau = rng.normal(size=(2, self.system.nv))
        self.map, self.bias = np.zeros((self.model.nv,) * 2), np.zeros(self.model.nv)
        for link in self.system.links:
            j = self.joint(link)
            at, v = self.model.idx_qs[j], self.model.idx_vs[j]
            if link.joint is None:
                self.float(link, q, qd, rng)
                continue
            x = q[link.q] = rng.normal(size=1)
            self.q[at : at + self.model.nqs[j]] = x if self.model.nqs[j] == 1 else (np.cos(x[0]), np.sin(x[0]))
            self.map[v, link.v.start] = 1.0
        self.v = self.map @ qd
        self.tau = np.linalg.solve(self.map.T, tau)
        return q, qd, tau

    def float(self, link, q, qd, rng):
        """The floating base: ours is the centre of mass, v in world axes and w in the body's; theirs the link's frame, both
        in its axes: v' = R' v - w x c. Its derivative has the bias -w x R' v beside."""
        turn = rng.normal(size=4)
        q[link.q] = *rng.normal(size=3), *(turn / np.linalg.norm(turn))
        rotation, center = matrix(q[link.q][3:]), self.scene.body(link.body).center_of_mass
        self.q[:3] = q[link.q][:3] - rotation @ center
        self.q[3:7] = np.roll(q[link.q][3:], -1)  # x, y, z, w
        ours = np.arange(link.v.start, link.v.stop)
        self.map[np.ix_(range(3), ours[:3])] = rotation.T
        self.map[np.ix_(range(3), ours[3:])] = -np.cross(np.eye(3), center).T
        self.map[np.ix_(range(3, 6), ours[3:])] = np.eye(3)
        self.bias[:3] = -np.cross(qd[ours[3:]], rotation.T @ qd[ours[:3]])

    def differences(self, rng):
        """-> rnea, crba, aba, jacobians"""
        pin, model, data = self.pin, self.model, self.data
        q, qd, tau = self.place(rng)
        qdd = rng.normal(size=len(qd))
        theirs = pin.rnea(model, data, self.q, self.v, self.map @ qdd + self.bias)
        rnea = relative(self.dynamics.inverse_dynamics(q, qd, qdd), self.map.T @ theirs)
        half = np.triu(pin.crba(model, data, self.q))
        crba = relative(self.dynamics.mass_matrix(q), self.map.T @ (half + np.triu(half, 1).T) @ self.map)
        theirs = np.linalg.solve(self.map, pin.aba(model, data, self.q, self.v, self.tau) - self.bias)
        aba = relative(self.dynamics.forward_dynamics(q, qd, tau), theirs)
        pin.computeJointJacobians(model, data, self.q)
        jacobians = max(
            relative(self.dynamics.body_jacobian(link.body, q), self.jacobian(link)) for link in self.system.links
        )
        return rnea, crba, aba, jacobians

    def jacobian(self, link):
        """(6, nv) theirs for a body's centre of mass, world axes, over our velocities."""
        j = self.joint(link)
        theirs = self.pin.getJointJacobian(self.model, self.data, j, self.pin.ReferenceFrame.LOCAL_WORLD_ALIGNED).copy()
        arm = self.data.oMi[j].rotation @ self.scene.body(link.body).center_of_mass
        theirs[:3] += np.cross(theirs[3:].T, arm).T
        return theirs @ self.map


def relative(ours, theirs):
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def main(arguments=None):
    """Compares, prints, writes; answers with the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the .urdf files are")
    parser.add_argument("--csv", type=Path, help="write the results")
    given = parser.parse_args(arguments)
    if not given.folder.is_dir():
        parser.error(f"{given.folder}: there is no such folder")
    for module, package in (("pinocchio", "pin"), ("yourdfpy", "'mcsim-physics[urdf]'")):
        if find_spec(module) is None:
            print(f"{module} is not installed (pip install {package}): nothing to compare")
            return []
    print(machine())
    results, skipped, robots = [], [], set()
    for path in sorted(given.folder.rglob("*.urdf")):
        for base in ("fixed", "floating"):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of inertias
                    pair = Pair(path, base)
                row = Result(path.stem, base, pair.system.nv, *pair.differences(np.random.default_rng(0)))
            except Skipped as reason:
                skipped.append(f"{path.stem}, {base}: {reason}")
                continue
            results.append(row)
            robots.add(path)
            print(
                f"{row.robot:34} {row.base:9} {row.velocities:4}  rnea {row.rnea:7.1e}  crba {row.crba:7.1e}  "
                f"aba {row.aba:7.1e}  jacobians {row.jacobians:7.1e}",
                flush=True,
            )
    for line in skipped:
        print(f"left out: {line}")
    if results:
        worst = {name: max(getattr(row, name) for row in results) for name in ("rnea", "crba", "aba", "jacobians")}
        print(f"the worst of {len(robots)} files: " + ", ".join(f"{name} {value:.1e}" for name, value in worst.items()))
    if given.csv and results:
        write_csv(given.csv, results, {}, 1)
    return results


if __name__ == "__main__":
    main()
