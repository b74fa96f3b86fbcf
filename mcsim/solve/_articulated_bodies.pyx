"""The joints' system J M^-1 J' x = r of an articulation without loops, eliminated body by body instead of joint by joint.

Both factors are orders of elimination of one system,

    [ M   J' ] [ v  ]   [ 0 ]
    [ J   0  ] [ -x ] = [ r ]

J M^-1 J' has all bodies eliminated first. Where a body is far lighter than what it carries, its diagonal is 1/m, r^2/I or
1/I of the light body, and what is left of it in the end is one over the mass of all that hangs there: with a part of 1e-12
left nothing of sixteen digits is. Here each body is eliminated after what hangs on it, and what that leaves is added to
its inertia, positive to positive (articulated bodies: A. Vereshchagin, 1974; R. Featherstone, "Rigid Body Dynamics
Algorithms", 2008, section 7.3; as a factor of the system with constraint forces: D. Baraff, 1996). Inwards, with c the
body, p what it hangs on, J_c and J_p the halves of the joint's rows on them:

    S_c = J_c A_c^-1 J_c',    A_p = M_p + sum J_p' S_c^-1 J_p           over what hangs on p
    s_c = r_c - J_c A_c^-1 f_c,    f_p = sum J_p' S_c^-1 s_c

and outwards x_c = S_c^-1 (s_c - J_p v_p), v_c = A_c^-1 (f_c + J_c' x_c). Both A_c and S_c are kept as L D L'.
A_c >= M_c, so no pivot of A_c is below the least inertia of the body alone, 1 / trace(I^-1) at least: what rounding takes
beyond that is given back. A pivot of S_c below SMALLEST_PIVOT of its diagonal is skipped, as in _tree_blocks.pxd.

Errors of a solve are those of one body, and do not grow along a chain. Two solves against the true residual reach rounding.
"""

from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._types cimport Mat3
from mcsim.solve._link_blocks cimport (add_link, backward, between, decompose_inertia, decompose_rows, forward, half_row,
                                       own_inertia)
from mcsim.state._inertia cimport inertia_world

LINK_DTYPE = np.dtype([(name, "i4") for name in ("body", "parent", "child_is_b", "size", "row", "node")])


# ---- the factor --------------------------------------------------------------------------------------------------------

cdef class ArticulatedBodies:
    """branches: as components.branches has them, of the joints `numbers`; sizes, begin: (joints,) of all joints, how many
    rows and the first of them; node: (joints,) in the order of elimination, -1 of those that have no rows."""

    def __init__(self, branches, numbers, sizes, begin, node):
        branch, first, pins, _, body = branches
        joint = np.where(branch[:, 0] >= 0, np.append(numbers, -1)[branch[:, 0]], -1)
        links = np.zeros(len(branch) + 1, LINK_DTYPE)
        around = np.repeat(first, np.append(first[1:], len(branch)) - first)
        own = links[:-1]
        own["body"], own["child_is_b"] = body, branch[:, 3]
        own["parent"] = np.where(branch[:, 1] >= 0, branch[:, 1] + around, -1)
        for name, of, none in (("size", sizes, 0), ("row", begin, 0), ("node", node, -1)):
            own[name] = np.where(joint >= 0, np.append(of, none)[joint], none)
        ends = [np.append(of, 0).astype(np.int32) for of in (first, pins)]
        factors, of_joint = np.zeros(len(links) * sizeof(LinkFactor) // 8), np.full(len(sizes) + 1, -1, np.int32)
        tree = np.concatenate([np.arange(begin, end) for begin, end in zip(first, pins)] or [[]]).astype(int)
        of_joint[joint[tree][joint[tree] >= 0]] = tree[joint[tree] >= 0]
        self.kept, self.link_count = (links, ends, factors, of_joint), len(branch)
        self.of_joint = integers(of_joint)
        self.links, self.begin, self.end = <const Link*>records(links), integers(ends[0]), integers(ends[1])
        self.factors = <LinkFactor*>doubles(factors)

    cdef void factor(self, Py_ssize_t g, const JointRow* rows, const Bodies* bodies, const Mat3* inertia) noexcept nogil:
        """Of articulation g, which has no loops, at the rows' present Jacobians. inertia: of each body, world axes;
        NULL: as the bodies have it."""
        cdef const Link* link
        cdef LinkFactor* own
        cdef Py_ssize_t k
        cdef int i
        cdef double far[36]
        cdef double least[6]
        cdef Mat3 whole
        for k in range(self.begin[g], self.end[g]):
            i = self.links[k].body
            whole = inertia_world(bodies, i) if inertia == NULL else inertia[i]
            own_inertia(bodies, i, &whole, self.factors[k].inertia)
        for k in range(self.end[g] - 1, self.begin[g] - 1, -1):
            link, own = &self.links[k], &self.factors[k]
            decompose_inertia(bodies, link.body, own.inertia)
            if link.size == 0:
                continue
            for i in range(link.size):
                half_row(rows + link.row + i, link.child_is_b, &own.rows[6 * i])
                half_row(rows + link.row + i, not link.child_is_b, &far[6 * i])
            decompose_rows(own.inertia, own.rows, NULL, link.size, link.size, 6, own.joint, least)
            if link.parent >= 0:
                add_link(self.factors[link.parent].inertia, own.joint, far, link.size, 6)

    cdef void solve(self, Py_ssize_t g, const JointRow* rows, const int64_t* offset, const double* vector, Twist* twist,
                    double* impulse) noexcept nogil:
        """J M^-1 J' x = vector, twist += M^-1 J' x, impulse += x"""
        cdef const Link* link
        cdef LinkFactor* own
        cdef Py_ssize_t k
        cdef int i, p
        cdef double half[6]
        cdef double x[6]
        for k in range(self.begin[g], self.end[g]):
            memset(self.factors[k].velocity, 0, sizeof(x))
        for k in range(self.end[g] - 1, self.begin[g] - 1, -1):
            link, own = &self.links[k], &self.factors[k]
            forward(own.inertia, own.velocity, 6, 6)
            for i in range(link.size):
                own.rate[i] = vector[offset[link.node] + i] - between(&own.rows[6 * i], own.inertia, own.velocity)
                x[i] = own.rate[i]
            if link.parent < 0:
                continue
            forward(own.joint, x, link.size, 6)
            backward(own.joint, x, link.size, 6)
            for i in range(link.size):
                half_row(rows + link.row + i, not link.child_is_b, half)
                for p in range(6):
                    self.factors[link.parent].velocity[p] += x[i] * half[p]
        for k in range(self.begin[g], self.end[g]):
            link, own = &self.links[k], &self.factors[k]
            for i in range(link.size):
                x[i] = own.rate[i]
                if link.parent >= 0:
                    half_row(rows + link.row + i, not link.child_is_b, half)
                    for p in range(6):
                        x[i] -= half[p] * self.factors[link.parent].velocity[p]
            forward(own.joint, x, link.size, 6)
            backward(own.joint, x, link.size, 6)
            for i in range(link.size):
                impulse[link.row + i] += x[i]
                for p in range(6):
                    own.velocity[p] += x[i] * own.rows[6 * i + p]
            backward(own.inertia, own.velocity, 6, 6)
            for p in range(3):
                (&twist[link.body].v.x)[p] += own.velocity[p]
                (&twist[link.body].w.x)[p] += own.velocity[3 + p]
