"""Geometric stiffness: a joint force f at the lever r turns a body as a spring does whose stiffness is

    K = -sym([f]x [r]x) = (f . r) 1 - sym(r f')                                                   [N m/rad]

A step that takes it explicitly is stable for h^2 K < 4 I only, which light bodies under heavy loads break.
`load_joints` says how near the joints are to that, so that the step may be divided. `stiffen_bodies` takes K
implicitly, by a part c: with K+ = ((|f||r| + f . r) / 2) 1 - sym(r f') >= K, positive semidefinite,

    (I + c h^2 K+) w' = I w + h torque                       stable for every h; it damps what turns under load

Source: M. Tournier, M. Nesme, B. Gilles, F. Faure, "Stable Constrained Dynamics", 2015.
"""

from libc.string cimport memset
from mcsim.core._math cimport add, add_scaled, cross, dot, mat_add, mat_vec, norm, rotate, scale, sub, vec3
from mcsim.core._types cimport Mat3, Vec3
from mcsim.state._inertia cimport about_point, inertia_world, turn_of
from mcsim.state._layout cimport GEAR, USER

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


cdef void clear_stiffness(Loads* loads) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(loads.count):
        memset(&loads.stiffness[loads.chosen[k] + 1], 0, sizeof(Mat3))


cdef inline double load(const Mat3* inv_inertia, const Mat3* k) noexcept nogil:
    """trace(I^-1 K) of symmetric matrices, of K the upper half."""
    return ((inv_inertia.xx * k.xx + inv_inertia.yy * k.yy + inv_inertia.zz * k.zz)
            + 2.0 * (inv_inertia.xy * k.xy + inv_inertia.xz * k.xz + inv_inertia.yz * k.yz))


cdef inline void scale_symmetric(Mat3* s, double x) noexcept nogil:
    """s <- x s; its lower half is filled in."""
    s.xx *= x
    s.yy *= x
    s.zz *= x
    s.xy *= x
    s.xz *= x
    s.yz *= x
    s.yx = s.xy
    s.zx = s.xz
    s.zy = s.yz


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


cdef void add_forces(const Joint* joints, const JointRows* rows, const Bodies* bodies, Loads* loads,
                     double h) noexcept nogil:
    """K+ of the joint forces of the last substep."""
    cdef Py_ssize_t c, j, k
    cdef Vec3 f
    clear_stiffness(loads)
    for c in range(rows.awake_count):
        j = rows.awake[c]
        f = vec3(0.0, 0.0, 0.0)
        for k in range(rows.begin[j], rows.begin[j + 1]):
            f = add_scaled(f, rows.impulse[k] / h, rows.row[k].linear)
        add_joint_stiffness(&joints[j], f, bodies, loads.stiffness)


cdef void stiffen_bodies(Bodies* bodies, Loads* loads, double h, bint damp) noexcept nogil:
    """part h^2 K+ into inv_inertia_world of the chosen bodies, and with `damp` w' = (I + part h^2 K+)^-1 I w.
    loads.stiffness becomes what was added."""
    cdef Py_ssize_t k
    cdef int i
    cdef Mat3 inertia
    cdef Mat3* s
    for k in range(loads.count):
        i = loads.chosen[k]
        s = &loads.stiffness[i + 1]
        if bodies.inv_mass[i] == 0.0 or loads.part[k] == 0.0:
            memset(s, 0, sizeof(Mat3))
            continue
        scale_symmetric(s, loads.part[k] * h * h)
        inertia = inertia_world(bodies, i)
        inertia.xx += s.xx
        inertia.yy += s.yy
        inertia.zz += s.zz
        inertia.xy += s.xy
        inertia.xz += s.xz
        inertia.yz += s.yz
        bodies.inv_inertia_world[i] = inverse_symmetric(inertia)
        if damp:
            bodies.twist[i].w = sub(bodies.twist[i].w,
                                    mat_vec(bodies.inv_inertia_world[i], mat_vec(s[0], bodies.twist[i].w)))


cdef void count_excess(const Bodies* bodies, const Loads* loads, const int32_t* group, double sign,
                       Vec3* excess) noexcept nogil:
    """excess += sign * (what stiffen_bodies added) w, by free articulations: the step keeps their momentum with the
    inertia that it works with, and what that is more than the bodies' own has to be given back to them."""
    cdef Py_ssize_t k
    cdef int i
    for k in range(loads.count):
        i = loads.chosen[k]
        if group[k] >= 0:
            excess[group[k]] = add_scaled(excess[group[k]], sign, mat_vec(loads.stiffness[i + 1], bodies.twist[i].w))


cdef void return_excess(const Bodies* bodies, const int32_t* chosen, const int32_t* group, Py_ssize_t count,
                        Py_ssize_t groups, Vec3* excess, Vec3* center, Mat3* inertia) noexcept nogil:
    """`excess` as a rotation of each free articulation as a whole, which moves no joint: angular momentum is then what
    it was. center, inertia: (groups,), scratch; `excess` is 0 afterwards."""
    cdef Py_ssize_t k
    cdef int i
    cdef double m
    cdef Vec3 r, w
    for k in range(groups):
        center[k] = vec3(0.0, 0.0, 0.0)
        memset(&inertia[k], 0, sizeof(Mat3))
    for k in range(count):                            # inertia.xx: the mass at first
        if group[k] >= 0:
            m = 1.0 / bodies.inv_mass[chosen[k]]
            center[group[k]] = add_scaled(center[group[k]], m, bodies.position[chosen[k]])
            inertia[group[k]].xx += m
    for k in range(groups):
        center[k] = scale(1.0 / inertia[k].xx, center[k])
        inertia[k].xx = 0.0
    for k in range(count):
        if group[k] < 0:
            continue
        i = chosen[k]
        m = 1.0 / bodies.inv_mass[i]
        r = sub(bodies.position[i], center[group[k]])
        inertia[group[k]] = mat_add(inertia[group[k]], about_point(inertia_world(bodies, i), m, r))
    for k in range(groups):
        excess[k] = turn_of(inertia[k], excess[k])
    for k in range(count):
        if group[k] < 0:
            continue
        i = chosen[k]
        w = excess[group[k]]
        bodies.twist[i].v = add(bodies.twist[i].v, cross(w, sub(bodies.position[i], center[group[k]])))
        bodies.twist[i].w = add(bodies.twist[i].w, w)
    for k in range(groups):
        excess[k] = vec3(0.0, 0.0, 0.0)
