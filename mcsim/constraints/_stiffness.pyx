"""Geometric stiffness: a joint force f at the lever r turns a body as a spring does whose stiffness is

    K = -sym([f]x [r]x) = (f . r) 1 - sym(r f')                                                   [N m/rad]

A step that takes it explicitly is stable for h^2 K < 4 I only, which light bodies under heavy loads break.
`load_joints` says how near the joints are to that; what is too near flies (_flights.pyx), by a method whose matrix has

    K+ = ((|f||r| + f . r) / 2) 1 - sym(r f') >= K,          positive semidefinite

Source: M. Tournier, M. Nesme, B. Gilles, F. Faure, "Stable Constrained Dynamics", 2015.
"""

from libc.string cimport memset
from mcsim.core._math cimport add, add_scaled, dot, norm, rotate, scale, sub
from mcsim.core._types cimport Mat3, Vec3
from mcsim.state._joint_types cimport GEAR, USER

cdef void add_stiffness(Mat3* k, Vec3 f, Vec3 r) noexcept nogil:
    """K+ of a force at a lever; the lower half is not written."""
    cdef double s = 0.5 * (norm(f) * norm(r) + dot(f, r))
    k.xx += s - r.x * f.x
    k.yy += s - r.y * f.y
    k.zz += s - r.z * f.z
    k.xy -= 0.5 * (r.x * f.y + r.y * f.x)
    k.xz -= 0.5 * (r.x * f.z + r.z * f.x)
    k.yz -= 0.5 * (r.y * f.z + r.z * f.y)


cdef void add_joint_stiffness(const Joint* joint, Vec3 f, const Bodies* bodies, Mat3* stiffness) noexcept nogil:
    """K+ of a joint's force f on b, added for both bodies."""
    cdef Vec3 arm_b = rotate(bodies.orientation[joint.body_b], joint.anchor_b)
    cdef Vec3 point = add(bodies.position[joint.body_b], arm_b)
    add_stiffness(&stiffness[joint.body_b + 1], f, arm_b)
    add_stiffness(&stiffness[joint.body_a + 1], scale(-1.0, f), sub(point, bodies.position[joint.body_a]))


cdef void clear_stiffness(Loads* loads) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(loads.count):
        memset(&loads.stiffness[loads.chosen[k] + 1], 0, sizeof(Mat3))


cdef double load(const Mat3* inv_inertia, const Mat3* k) noexcept nogil:
    """trace(I^-1 K) of symmetric matrices, of K the upper half."""
    return ((inv_inertia.xx * k.xx + inv_inertia.yy * k.yy + inv_inertia.zz * k.zz)
            + 2.0 * (inv_inertia.xy * k.xy + inv_inertia.xz * k.xz + inv_inertia.yz * k.yz))


cdef void load_joints(const Joint* joints, const JointRows* rows, const Bodies* bodies, Loads* loads,
                      double h) noexcept nogil:
    """trace(I^-1 K+) of the chosen bodies [1/s^2], with the impulses that the joints held over the first half of the
    last substep, which took the time h: the second half knows impacts, which do not last."""
    cdef Py_ssize_t c, j, k
    cdef Vec3 f
    clear_stiffness(loads)
    for c in range(rows.awake_count):
        j = rows.awake[c]
        if joints[j].type == GEAR:
            continue
        f = joints[j].wrench_impulse.v
        for k in range(rows.begin[j], rows.begin[j + 1]):
            f = add_scaled(f, -rows.second[k], rows.row[k].linear)
        # Of a user's joint both halves are in the wrench.
        add_joint_stiffness(&joints[j], scale((1.0 if joints[j].type == USER else 2.0) / h, f), bodies, loads.stiffness)
    for k in range(loads.count):
        loads.load[k] = load(&bodies.inv_inertia_world[loads.chosen[k]], &loads.stiffness[loads.chosen[k] + 1])
