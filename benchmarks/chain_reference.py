"""Where the links of the two benchmark chains truly are: a reduced planar model, converged; saved for joints.py.

    python benchmarks/chain_reference.py        makes benchmarks/references/*.npz and says how far they are converged

The chains start in the xz plane and stay there, so the n angles of the links are all there is: no
constraint, no joint error.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

GRAVITY = 9.81
DENSITY = 1000.0
RADIUS, HALF_LENGTH, PITCH = 0.1, 0.15, 0.5
FOLDER = Path(__file__).parent / "references"

# Name -> links, times [s]; the tolerance of the solution kept and of the one it is checked against.
REFERENCES = {"chain100": (1.0, 2.0, 3.0), "chain20_heavy": (1.0, 1.5, 2.0)}
TOLERANCE, COARSER = 1e-13, 1e-11


def capsule_weight(radius, half_length, density):
    """Mass [kg] and moment about an axis across it through its centre [kg m^2] of a solid capsule.

    A cylinder and two half balls, whose centres of mass lie 3/8 r beyond the cylinder's ends and whose moment about
    an axis across, through the ball's centre, is that of the ball: 2/5 m r^2.
    """
    rod = density * np.pi * radius**2 * 2 * half_length
    ball = density * np.pi * 4 / 3 * radius**3
    offset = 3 / 8 * radius
    across = rod * (radius**2 / 4 + half_length**2 / 3)
    across += ball * (0.4 * radius**2 - offset**2 + (half_length + offset) ** 2)
    return rod + ball, across


@dataclass
class PlanarChain:
    """Rigid links in a row, hung at the origin, in the xz plane.

    mass, inertia (n,): of each link [kg], about its centre [kg m^2]. length (n,): from a link's joint to the next
    link's; center (n,): from a link's joint to its centre [m].
    """

    mass: np.ndarray
    inertia: np.ndarray
    length: np.ndarray
    center: np.ndarray

    def __post_init__(self):
        """Centre k lies at sum_j reach[k, j] u(angle_j) with u = (cos, sin), the angle from x towards z."""
        n = len(self.mass)
        self.reach = np.tril(np.ones((n, n)), -1) * self.length + np.diag(self.center)
        self.coupling = self.reach.T @ (self.mass[:, None] * self.reach)
        self.weight = GRAVITY * self.mass @ self.reach

    def acceleration(self, angle, rate):
        """Lagrange's equations of angles a, K the coupling, w the weight:

        sum_j K_ij cos(a_i - a_j) a_j'' + I_i a_i'' = -sum_j K_ij sin(a_i - a_j) a_j'^2 - w_i cos a_i.
        """
        c, s = np.cos(angle), np.sin(angle)
        cosine = np.outer(c, c) + np.outer(s, s)
        sine = np.outer(s, c) - np.outer(c, s)
        force = -(self.coupling * sine) @ rate**2 - self.weight * c
        return np.linalg.solve(self.coupling * cosine + np.diag(self.inertia), force)

    def rates(self, _, y):
        """y = (angles, rates)."""
        angle, rate = y.reshape(2, -1)
        return np.concatenate([rate, self.acceleration(angle, rate)])

    def positions(self, angle):
        """(n, 3) centres of mass [m]."""
        return np.stack([self.reach @ np.cos(angle), np.zeros(len(angle)), self.reach @ np.sin(angle)], axis=1)

    def energy(self, angle, rate):
        """Kinetic and potential together [J]; 0 at the start."""
        v = np.stack([self.reach @ (-np.sin(angle) * rate), self.reach @ (np.cos(angle) * rate)])
        return 0.5 * self.mass @ (v * v).sum(axis=0) + 0.5 * self.inertia @ rate**2 + self.weight @ np.sin(angle)

    def solve(self, times, tolerance):
        """Angles and rates (t, n) from the horizontal at rest; DOP853 of E. Hairer, S. Norsett and G. Wanner."""
        found = solve_ivp(
            self.rates,
            (0.0, times[-1]),
            np.zeros(2 * len(self.mass)),
            method="DOP853",
            t_eval=times,
            rtol=tolerance,
            atol=tolerance,
        )
        if not found.success:
            raise RuntimeError(found.message)
        return found.y.T.reshape(len(times), 2, -1)


def chain(n):
    """The scene `chain(n)`."""
    mass, inertia = capsule_weight(RADIUS, HALF_LENGTH, DENSITY)
    return PlanarChain(np.full(n, mass), np.full(n, inertia), np.full(n, PITCH), np.full(n, PITCH / 2))


def heavy_chain(n, ball_mass, ball_radius=0.5):
    """n links of 1 kg and a ball, whose joint is at the end of the last link and whose centre 0.5 m further."""
    mass, inertia = capsule_weight(RADIUS, HALF_LENGTH, DENSITY)
    return PlanarChain(
        np.append(np.ones(n), ball_mass),
        np.append(np.full(n, inertia / mass), 0.4 * ball_mass * ball_radius**2),
        np.full(n + 1, PITCH),
        np.append(np.full(n, PITCH / 2), 0.5),
    )


def model(name):
    """The chain of a reference."""
    return chain(100) if name == "chain100" else heavy_chain(20, 1000.0)


def load(name):
    """-> times (t,) [s], positions (t, n, 3) [m] of a saved reference."""
    with np.load(FOLDER / f"{name}.npz") as file:
        return file["times"], file["positions"]


def rms_distance(a, b):
    """Root mean square over the bodies of the distances of two sets of positions (n, 3) [m]."""
    return float(np.sqrt(np.mean(np.sum((a - b) ** 2, axis=1))))


def main():
    """Solve both at two tolerances, save the tighter."""
    FOLDER.mkdir(exist_ok=True)
    for name, times in REFERENCES.items():
        begin = time.perf_counter()
        planar = model(name)
        coarse, fine = (planar.solve(times, tolerance) for tolerance in (COARSER, TOLERANCE))
        positions = np.array([planar.positions(angle) for angle, _ in fine])
        converged = np.array([rms_distance(planar.positions(state[0]), p) for state, p in zip(coarse, positions)])
        scale = planar.weight.sum()
        drift = np.array([abs(planar.energy(*state)) / scale for state in fine])
        np.savez(FOLDER / f"{name}.npz", times=times, positions=positions, converged=converged)
        print(
            f"{name}: at {times} s the tolerances {COARSER:g} and {TOLERANCE:g} differ by rms {converged} m; "
            f"energy off by {drift} of the fall's; {time.perf_counter() - begin:.1f} s"
        )


if __name__ == "__main__":
    main()
