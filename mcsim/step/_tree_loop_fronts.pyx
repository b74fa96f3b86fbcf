"""The sparse system of loops, with the joints of the trees: what these do not let happen is told from the axes along which
they do, whatever kind of joint it is.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add, add_scaled, cross, dot, mat_vec, scale, vec3
from mcsim.core._types cimport Vec3
from mcsim.reduced._links cimport Link
from mcsim.solve._loop_fronts cimport dot6
from mcsim.step._constraint_set cimport StepContext


cdef inline Vec3 vec_at(const double* x) noexcept nogil:
    return vec3(x[0], x[1], x[2])


cdef inline void put_vec(double* x, Vec3 v) noexcept nogil:
    x[0], x[1], x[2] = v.x, v.y, v.z


cdef inline Vec3 lever(Vec3 turning, Vec3 arm, Vec3 force) noexcept nogil:
    """turning + arm x force"""
    return vec3(turning.x + (arm.y * force.z - arm.z * force.y), turning.y + (arm.z * force.x - arm.x * force.z),
                turning.z + (arm.x * force.y - arm.y * force.x))


cdef int across(const AxisFactor* axes, int freedoms, double (*rows)[6], double (*along)[6]) noexcept nogil:
    """rows: those with rows . S = 0 for all axes S, which are a joint's; along: one for each axis, with along_k . S_l = 1
    for k = l, else 0. By elimination with the largest pivots there are, so no number is much larger than 1 (G. Golub
    and C. Van Loan, Matrix Computations, 2013, section 3.4). -> how many rows there are"""
    cdef double a[6][12]
    cdef int pivot[6]
    cdef bint used[6]
    cdef double largest, f
    cdef int r, c, s, best_row, best, k, n = 0
    memset(&used[0], 0, 6 * sizeof(bint))
    for r in range(freedoms):
        for c in range(6):
            a[r][c], a[r][6 + c] = axes[r].axis[c], 1.0 if c == r else 0.0
    for s in range(freedoms):
        largest = 0.0
        best_row = s
        best = -1
        for r in range(s, freedoms):
            for c in range(6):
                if not used[c] and fabs(a[r][c]) > largest:
                    largest, best_row, best = fabs(a[r][c]), r, c
        if best < 0:                                     # axes that are one, as no pose of a step has them
            freedoms = s
            break
        pivot[s], used[best] = best, True
        f = 1.0 / a[best_row][best]
        for c in range(12):
            largest = a[best_row][c] * f
            a[best_row][c] = a[s][c]
            a[s][c] = largest
        for r in range(freedoms):
            f = a[r][best]
            for c in range(12 if r != s else 0):
                a[r][c] -= f * a[s][c]
    for c in range(6):
        if used[c]:
            continue
        for k in range(6):
            rows[n][k] = 1.0 if k == c else 0.0
        for s in range(freedoms):
            rows[n][pivot[s]] = -a[s][c]
        n += 1
    for k in range(freedoms):
        for c in range(6):
            along[k][c] = 0.0
        for s in range(freedoms):
            along[k][pivot[s]] = a[s][6 + k]
    return n


cdef class TreeLoopFronts(LoopFronts):
    """motion: whose trees; plan: as of LoopFronts."""

    def __init__(self, StepContext context not None, TreeMotion motion not None, plan):
        LoopFronts.__init__(self, plan)
        cdef Py_ssize_t count = motion.tree.count
        self.motion, self.bodies = motion, context.bodies
        links, first_link = plan.members
        of_bodies = np.append(plan.of_bodies, -1)[plan.pairs].astype(np.int32)
        axes = np.zeros((motion.tree.nv + 1) * (sizeof(AxisFactor) // sizeof(double)))
        places, twists, motions = np.zeros((2, count + 1, 3)), np.zeros((count + 1, 6)), np.zeros((2, count + 1, 6))
        rests = np.zeros(motion.tree.nv + 1)
        self.kept_trees = links, first_link, of_bodies, axes, places, twists, motions, rests
        self.links, self.first_link, self.sides_of = integers(links), integers(first_link), integers(of_bodies)
        self.axes, self.rests = <AxisFactor*>doubles(axes), doubles(rests)
        self.arms, self.coms = doubles(places[0]), doubles(places[1])
        self.twist, self.motions, self.forces = <Twist*>doubles(twists), doubles(motions[0]), doubles(motions[1])

    # ---- once per pose -----------------------------------------------------------------------------------------------

    cdef void keep_trees(self, const Factored* tree) noexcept nogil:
        """The trees' factor, which other poses take the place of."""
        cdef Py_ssize_t i
        memcpy(self.axes, tree.axes, self.motion.tree.nv * sizeof(AxisFactor))
        for i in range(self.motion.tree.count):
            memcpy(self.arms + 3 * i, tree.arms + i * tree.stride, 3 * sizeof(double))
            memcpy(self.coms + 3 * i, tree.coms + i * tree.stride, 3 * sizeof(double))

    cdef void write_joints(self) noexcept nogil:
        cdef Factored tree = self.motion.factored(&self.motion.trees[0])
        cdef Py_ssize_t j
        self.keep_trees(&tree)
        for j in range(self.joint_count):
            if self.link[j] >= 0:
                self.write_joint(j, &tree)

    cdef void write_joint(self, Py_ssize_t joint, const Factored* tree) noexcept nogil:
        cdef const Link* link = &tree.links[self.link[joint]]
        cdef double rows[6][6]
        cdef double along[6][6]
        cdef Py_ssize_t own = self.begin[joint]
        cdef int free = 0 if link.given else link.freedoms
        cdef int k, n = across(tree.axes + link.v, free, rows, along)
        for k in range(n):
            self.write_row(joint, own + k, &rows[k][0], tree)
        own += n
        for k in range(free):
            if link.armature[k] > 0.0 and own < self.begin[joint + 1]:
                self.write_row(joint, own, &along[k][0], tree)
                self.soften(own, 0, 1.0 / link.armature[k])
                self.soften(own, 1, 1.0 / link.armature[k])
                own += 1

    cdef void write_row(self, Py_ssize_t joint, Py_ssize_t own, const double* row, const Factored* tree) noexcept nogil:
        """row: [w; v] about the link's origin, of the link against its parent."""
        cdef Py_ssize_t i = self.link[joint], parent = tree.links[i].parent
        cdef Vec3 turning = vec_at(row), force = vec_at(row + 3), arm
        cdef const double* com = tree.coms + i * tree.stride
        cdef double* j = self.jacobian + 12 * own
        cdef double* y = self.response + 12 * own
        cdef int32_t body
        cdef int side
        put_vec(j, force)
        put_vec(j + 3, lever(turning, vec3(-com[0], -com[1], -com[2]), force))
        if parent >= 0:
            com = tree.coms + parent * tree.stride
            arm = vec_at(tree.arms + i * tree.stride)
            arm = vec3(arm.x - com[0], arm.y - com[1], arm.z - com[2])
            put_vec(j + 6, scale(-1.0, force))
            put_vec(j + 9, scale(-1.0, lever(turning, arm, force)))
        for side in range(2):
            body = self.ends[2 * joint + side]
            put_vec(y + 6 * side, scale(self.bodies.inv_mass[body], vec_at(j + 6 * side)))
            put_vec(y + 6 * side + 3, mat_vec(self.bodies.inv_inertia_world[body], vec_at(j + 6 * side + 3)))

    # ---- velocities --------------------------------------------------------------------------------------------------

    cdef void look_from_parent(self, const Link* link, Py_ssize_t i, Vec3* w, Vec3* v) noexcept nogil:
        """The motion of link i with its parent, its own joint at rest."""
        w[0] = v[0] = vec3(0.0, 0.0, 0.0)
        if link.parent >= 0:
            w[0] = vec_at(self.motions + 6 * link.parent)
            v[0] = add(vec_at(self.motions + 6 * link.parent + 3), cross(w[0], vec_at(self.arms + 3 * i)))

    cdef void look(self, Py_ssize_t piece, const double* x) noexcept nogil:
        cdef const Link* link
        cdef const double* axis
        cdef double* own
        cdef Vec3 w, v
        cdef Py_ssize_t i, j, k
        for j in range(self.first_link[piece], self.first_link[piece + 1]):
            i = self.links[j]
            link = &self.motion.tree.links[i]
            self.look_from_parent(link, i, &w, &v)
            for k in range(link.v, link.v + link.freedoms):
                axis = &self.axes[k].axis[0]
                w, v = add_scaled(w, x[k], vec_at(axis)), add_scaled(v, x[k], vec_at(axis + 3))
            own = self.motions + 6 * i
            put_vec(own, w)
            put_vec(own + 3, v)
            self.twist[i].v, self.twist[i].w = add(v, cross(w, vec_at(self.coms + 3 * i))), w

    cdef double rate(self, Py_ssize_t own) noexcept nogil:
        cdef const int32_t* links = self.sides_of + 2 * self.joint_at[own]
        cdef const double* j = self.jacobian + 12 * own
        cdef double s = 0.0
        if links[0] >= 0:
            s = dot6(j, <const double*>&self.twist[links[0]])
        return s + dot6(j + 6, <const double*>&self.twist[links[1]]) if links[1] >= 0 else s

    cdef void push(self, Py_ssize_t own, double impulse) noexcept nogil:
        cdef const int32_t* links = self.sides_of + 2 * self.joint_at[own]
        cdef const double* j
        cdef double* to
        cdef Vec3 force
        cdef int side
        for side in range(2):
            if links[side] < 0:
                continue
            j = self.jacobian + 12 * own + 6 * side
            to = self.forces + 6 * links[side]
            force = scale(impulse, vec_at(j))
            put_vec(to, add(vec_at(to), lever(scale(impulse, vec_at(j + 3)), vec_at(self.coms + 3 * links[side]), force)))
            put_vec(to + 3, add(vec_at(to + 3), force))

    cdef void pass_on(self, Py_ssize_t piece, double* x) noexcept nogil:
        """In towards the roots and out again, by the articulated inertias (R. Featherstone, Rigid Body Dynamics Algorithms,
        2008, table 7.1, without velocity products)."""
        cdef const Link* link
        cdef const AxisFactor* axis
        cdef double* own
        cdef double* parent
        cdef Vec3 n, f, w, v
        cdef double change
        cdef Py_ssize_t i, j, k
        for j in range(self.first_link[piece + 1] - 1, self.first_link[piece] - 1, -1):
            i = self.links[j]
            link = &self.motion.tree.links[i]
            own = self.forces + 6 * i
            n, f = vec_at(own), vec_at(own + 3)
            for k in range(link.v, link.v + link.freedoms if not link.given else link.v):
                axis = &self.axes[k]
                self.rests[k] = dot(vec_at(&axis.axis[0]), n) + dot(vec_at(&axis.axis[3]), f)
                change = -self.rests[k] * axis.inverse
                n = add_scaled(n, change, vec_at(&axis.pull[0]))
                f = add_scaled(f, change, vec_at(&axis.pull[3]))
            if link.parent >= 0:
                parent = self.forces + 6 * link.parent
                put_vec(parent, add(vec_at(parent), lever(n, vec_at(self.arms + 3 * i), f)))
                put_vec(parent + 3, add(vec_at(parent + 3), f))
            memset(own, 0, 6 * sizeof(double))
        for j in range(self.first_link[piece], self.first_link[piece + 1]):
            i = self.links[j]
            link = &self.motion.tree.links[i]
            self.look_from_parent(link, i, &w, &v)
            for k in range(link.v + link.freedoms - 1 if not link.given else link.v - 1, link.v - 1, -1):
                axis = &self.axes[k]
                change = (self.rests[k] - dot(vec_at(&axis.pull[0]), w) - dot(vec_at(&axis.pull[3]), v)) * axis.inverse
                x[k] += change
                w, v = add_scaled(w, change, vec_at(&axis.axis[0])), add_scaled(v, change, vec_at(&axis.axis[3]))
            put_vec(self.motions + 6 * i, w)
            put_vec(self.motions + 6 * i + 3, v)
