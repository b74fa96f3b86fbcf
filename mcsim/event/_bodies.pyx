"""Free rigid bodies, compiled: their accelerations, inertia in world axes, and M^-1 of rows."""

import numpy as np

from mcsim.core._math cimport add, cross, mat_t_vec, mat_vec, quat_matrix, rotate_symmetric, scale, sub, vec3
from mcsim.core._types cimport Mat3, Quat, Vec3


def light(const double[:, ::1] rows, const double[::1] inv_mass, const double[:, :, ::1] inv_inertia):
    """rows M^-1 of rows (m, 6 n) on the bodies' twists, inv_inertia (n, 3, 3) in world axes."""
    cdef Py_ssize_t i, k, m = rows.shape[0], n = inv_mass.shape[0]
    out = np.zeros((m, 6 * n))
    cdef double[:, ::1] to = out
    cdef const Vec3* row
    cdef Vec3* found
    for i in range(m):
        for k in range(n):
            row, found = <const Vec3*> &rows[i, 6 * k], <Vec3*> &to[i, 6 * k]
            if inv_mass[k] == 0.0:
                continue
            if row[0].x == 0.0 and row[0].y == 0.0 and row[0].z == 0.0 and row[1].x == 0.0 and row[1].y == 0.0 \
                    and row[1].z == 0.0:
                continue
            found[0] = scale(inv_mass[k], row[0])
            found[1] = mat_vec((<Mat3*> &inv_inertia[k, 0, 0])[0], row[1])
    return out


def accelerations(const double[:, ::1] q, const double[:, ::1] v, const double[:, ::1] w, const double[:, ::1] pull,
                  const double[:, ::1] load, const double[::1] inv_mass, const double[:, :, ::1] inertia,
                  const double[:, :, ::1] inv_inertia, const double[::1] linear_damping, const double[::1] angular_damping):
    """(n, 6) of unit quaternions q (n, 4), v, w (n, 3): Newton's and Euler's equations; pull (n, 3): gravity; load (n, 6):
    forces and torques in world axes; inertia, inv_inertia (n, 3, 3) in the bodies' axes."""
    cdef Py_ssize_t i, n = q.shape[0]
    out = np.empty((n, 6))
    cdef double[:, ::1] to = out
    cdef Mat3 R
    cdef Vec3 own, spin, torque
    cdef const Vec3* force
    cdef Vec3* found
    for i in range(n):
        force, found = <const Vec3*> &load[i, 0], <Vec3*> &to[i, 0]
        found[0] = add((<const Vec3*> &pull[i, 0])[0], sub(scale(inv_mass[i], force[0]),
                                                           scale(linear_damping[i], (<const Vec3*> &v[i, 0])[0])))
        if inv_mass[i] == 0.0:
            found[1] = vec3(0.0, 0.0, 0.0)
            continue
        R = quat_matrix((<Quat*> &q[i, 0])[0])
        own = mat_t_vec(R, (<const Vec3*> &w[i, 0])[0])
        spin = mat_vec((<Mat3*> &inertia[i, 0, 0])[0], own)
        torque = sub(sub(mat_t_vec(R, force[1]), cross(own, spin)), scale(angular_damping[i], spin))
        found[1] = mat_vec(R, mat_vec((<Mat3*> &inv_inertia[i, 0, 0])[0], torque))
    return out


def in_world(const double[:, :, ::1] turn, const double[:, :, ::1] matrices):
    """R m R' of each (n, 3, 3)."""
    cdef Py_ssize_t i
    out = np.empty((turn.shape[0], 3, 3))
    cdef double[:, :, ::1] to = out
    for i in range(turn.shape[0]):
        (<Mat3*> &to[i, 0, 0])[0] = rotate_symmetric((<Mat3*> &turn[i, 0, 0])[0], (<Mat3*> &matrices[i, 0, 0])[0])
    return out
