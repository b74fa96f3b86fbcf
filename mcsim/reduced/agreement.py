"""Velocities of bodies that joints do not allow, as impulses at the joints make them agree.

Of all velocities A qd that a tree allows, those are taken that differ least from the bodies' V in kinetic energy,

    least over qd:  1/2 (V - A qd)' M (V - A qd)        H qd = A' M V

so what is left out is what impulses along the joints' own directions do, and the momentum along every freedom of the
tree is kept (Gauss's principle for impulses; E. Routh, Dynamics of a System of Rigid Bodies, part 1, 1905, article 384).
The joints that close loops do the same in the step that follows, in the same metric, so that the order does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.linear import dot, product
from mcsim.core.rotation import conjugate, rotate
from mcsim.reduced.dynamics import Dynamics

if TYPE_CHECKING:
    from mcsim.reduced.system import System

AGREED = 1e-18  # the part of a tree's kinetic energy that velocities may differ by and count as allowed


def allow(system: System, q: np.ndarray, qd: np.ndarray, state: tuple[np.ndarray, ...]) -> set[int]:
    """Change qd (nv,), which was read off a state of the bodies at q (nq,), to what impulses at the joints make of the
    bodies' velocities. state: positions, orientations, velocities, angular velocities of all bodies, as a World has
    them. -> numbers of the links of the trees whose velocities did not agree"""
    if not system.links:
        return set()
    dynamics = Dynamics(system, gravity=(0.0, 0.0, 0.0))
    _, orientations, velocities, spins = dynamics.state(q, qd)
    momenta = np.zeros((len(velocities), 6))
    root = {-1: -1}
    off: dict[int, Any] = {}
    whole: dict[int, Any] = {}
    for link in system.links:
        i = link.body_number
        tree = root[link.number] = link.number if link.parent < 0 else root[link.parent]
        if link.prescribed:
            continue
        axes = link.frame[1]
        inertia = product(axes.T, product(link.inertia, axes))  # in the body's axes
        back = conjugate(orientations[i])
        left, left_spin = state[2][i] - velocities[i], rotate(back, state[3][i] - spins[i])
        had, had_spin = state[2][i], rotate(back, state[3][i])
        off[tree] = off.get(tree, 0.0) + link.mass * dot(left, left) + dot(left_spin, product(inertia, left_spin))
        whole[tree] = whole.get(tree, 0.0) + link.mass * dot(had, had) + dot(had_spin, product(inertia, had_spin))
        momenta[i, :3] = link.mass * left
        momenta[i, 3:] = rotate(orientations[i], product(inertia, left_spin))
    struck = {
        link.number for link in system.links if off.get(root[link.number], 0.0) > AGREED * whole.get(root[link.number], 0.0)
    }
    if not struck:
        return struck
    for link in system.links:
        if link.number not in struck:
            momenta[link.body_number] = 0.0
    none = np.zeros(system.nv)
    change = dynamics.forward_dynamics(q, none, none, momenta)
    for link in system.links:
        if link.number in struck:
            qd[link.v] += change[link.v]
    return struck
