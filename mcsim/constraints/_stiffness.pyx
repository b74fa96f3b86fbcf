"""Geometric stiffness: a joint force f at the lever r turns a body as a spring does whose stiffness is

    K = -sym([f]x [r]x) = (f . r) 1 - sym(r f')                                                   [N m/rad]

A step that takes it explicitly is stable for h^2 K < 4 I only, which light bodies under heavy loads break. `joint_strain` says
how near the joints are to that, so that the step may be divided. `stiffen_joints` takes K implicitly, on request: with
K+ = ((|f||r| + f . r) / 2) 1 - sym(r f') >= K, positive semidefinite,

    (I + c h^2 K+) w' = I w + h torque                                      stable for every h; it damps what turns under load

Source: M. Tournier, M. Nesme, B. Gilles, F. Faure, "Stable Constrained Dynamics", 2015.
"""

from libc.stdint cimport int32_t
from libc.string cimport memset
from mcsim.core._math cimport (add, add_scaled, dot, mat_vec, norm, quat_matrix, rotate, rotate_symmetric, scale, sub, vec3)
from mcsim.core._types cimport Mat3, Vec3
from mcsim.state._layout cimport GEAR

cdef inline void add_stiffness(Mat3* k, Vec3 f, Vec3 r) noexcept nogil:
    cdef double s = 0.5 * (norm(f) * norm(r) + dot(f, r))
    k.xx += s - r.x * f.x
    k.yy += s - r.y * f.y
    k.zz += s - r.z * f.z
    k.xy -= 0.5 * (r.x * f.y + r.y * f.x)
    k.xz -= 0.5 * (r.x * f.z + r.z * f.x)
    k.yz -= 0.5 * (r.y * f.z + r.z * f.y)


cdef inline Mat3 inverse_symmetric(Mat3 m) noexcept nogil:
    cdef double a = m.yy * m.zz - m.yz * m.yz
    cdef double b = m.xz * m.yz - m.xy * m.zz
    cdef double c = m.xy * m.yz - m.xz * m.yy
    cdef double d = 1.0 / (m.xx * a + m.xy * b + m.xz * c)
    cdef Mat3 out
    out.xx = a * d
    out.xy = b * d
    out.xz = c * d
    out.yx = out.xy
    out.yy = (m.xx * m.zz - m.xz * m.xz) * d
    out.yz = (m.xy * m.xz - m.xx * m.yz) * d
    out.zx = out.xz
    out.zy = out.yz
    out.zz = (m.xx * m.yy - m.xy * m.xy) * d
    return out


cdef void add_joint_stiffness(const Joint* joint, Vec3 f, const Bodies* bodies, Mat3* stiffness) noexcept nogil:
    """K+ of a joint's force f on b, added for both bodies."""
    cdef Vec3 arm_b = rotate(bodies.orientation[joint.body_b], joint.anchor_b)
    cdef Vec3 point = add(bodies.position[joint.body_b], arm_b)
    add_stiffness(&stiffness[joint.body_b + 1], f, arm_b)
    add_stiffness(&stiffness[joint.body_a + 1], scale(-1.0, f), sub(point, bodies.position[joint.body_a]))


cdef void clear_stiffness(const int32_t* chosen, Py_ssize_t count, Mat3* stiffness) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(count):
        memset(&stiffness[chosen[k] + 1], 0, sizeof(Mat3))


cdef double joint_strain(const Joint* joints, Py_ssize_t joint_count, const Bodies* bodies, const int32_t* chosen,
                         Py_ssize_t count, Mat3* stiffness, double h) noexcept nogil:
    """The largest trace(I^-1 K+) of the chosen bodies [1/s^2], with the impulses that the joints hold over the time h.
    stiffness: (bodies + 1,), scratch, its first row the world's."""
    cdef Py_ssize_t j, k
    cdef int i
    cdef Mat3* s
    cdef Mat3 inv
    cdef double strain
    cdef double largest = 0.0
    clear_stiffness(chosen, count, stiffness)
    for j in range(joint_count):
        if joints[j].type == GEAR:
            continue
        add_joint_stiffness(&joints[j], scale(1.0 / h, joints[j].wrench_impulse.v), bodies, stiffness)
    for k in range(count):
        i = chosen[k]
        s = &stiffness[i + 1]
        inv = bodies.inv_inertia_world[i]
        strain = ((inv.xx * s.xx + inv.yy * s.yy + inv.zz * s.zz)
                  + 2.0 * (inv.xy * s.xy + inv.xz * s.xz + inv.yz * s.yz))
        if strain > largest:
            largest = strain
    return largest


cdef void stiffen_joints(const Joint* joints, Py_ssize_t joint_count, const JointRows* rows, Bodies* bodies,
                         const int32_t* chosen, Py_ssize_t count, Mat3* stiffness, const Settings* settings) noexcept nogil:
    """inv_inertia_world and angular velocity of the chosen bodies under the joint forces of the last substep, c the setting
    geometric_stiffness."""
    cdef Py_ssize_t j, k
    cdef int i
    cdef Vec3 f
    cdef Mat3 inertia
    cdef Mat3* s
    cdef double h = settings.h
    cdef double c = settings.geometric_stiffness * h * h
    clear_stiffness(chosen, count, stiffness)
    for j in range(joint_count):
        f = vec3(0.0, 0.0, 0.0)
        for k in range(rows.begin[j], rows.begin[j + 1]):
            f = add_scaled(f, rows.impulse[k] / h, rows.row[k].linear)
        add_joint_stiffness(&joints[j], f, bodies, stiffness)
    for k in range(count):
        i = chosen[k]
        if bodies.inv_mass[i] == 0.0:
            continue
        s = &stiffness[i + 1]
        s.yx = s.xy
        s.zx = s.xz
        s.zy = s.yz
        inertia = rotate_symmetric(quat_matrix(bodies.orientation[i]), bodies.inertia[i])
        inertia.xx += c * s.xx
        inertia.yy += c * s.yy
        inertia.zz += c * s.zz
        inertia.xy += c * s.xy
        inertia.xz += c * s.xz
        inertia.yz += c * s.yz
        bodies.inv_inertia_world[i] = inverse_symmetric(inertia)
        bodies.twist[i].w = sub(bodies.twist[i].w, mat_vec(bodies.inv_inertia_world[i],
                                                           scale(c, mat_vec(s[0], bodies.twist[i].w))))
