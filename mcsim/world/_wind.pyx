"""What wind does to the faces of many shapes, summed over each: the law is in `wind.py`."""

from libc.stdint cimport int64_t

from mcsim.core._math cimport add, cross, mat_vec, sub, vec3
from mcsim.core._types cimport Mat3, Vec3
from mcsim.world._drag cimport on_face


def wrenches(const int64_t[::1] slot, const int64_t[::1] begin, const double[:, ::1] centroids,
             const double[:, ::1] normals, const double[::1] areas, const double[:, ::1] centers,
             const double[:, :, ::1] rotations, const double[:, ::1] twists, const double[::1] wind, double drag,
             double lift, double[:, ::1] out):
    """out (k, 6) <- force and torque about the centre of mass, world axes, of k shapes. slot (k,): whose faces each has,
    begin[slot] to begin[slot + 1] of centroids, normals (f, 3) and areas (f,), in its body's frame; centers (k, 3) of mass
    there, rotations (k, 3, 3), twists (k, 6) of the bodies. drag, lift: half the density times the coefficients."""
    cdef Py_ssize_t k, f
    cdef Mat3 turn
    cdef Vec3 v, w, center, arm, push, force, torque
    cdef Vec3 air = vec3(wind[0], wind[1], wind[2])
    with nogil:
        for k in range(slot.shape[0]):
            turn = Mat3(rotations[k, 0, 0], rotations[k, 0, 1], rotations[k, 0, 2], rotations[k, 1, 0], rotations[k, 1, 1],
                        rotations[k, 1, 2], rotations[k, 2, 0], rotations[k, 2, 1], rotations[k, 2, 2])
            v = vec3(twists[k, 0], twists[k, 1], twists[k, 2])
            w = vec3(twists[k, 3], twists[k, 4], twists[k, 5])
            center = vec3(centers[k, 0], centers[k, 1], centers[k, 2])
            force = torque = vec3(0.0, 0.0, 0.0)
            for f in range(begin[slot[k]], begin[slot[k] + 1]):
                arm = mat_vec(turn, sub(vec3(centroids[f, 0], centroids[f, 1], centroids[f, 2]), center))
                push = on_face(sub(sub(air, v), cross(w, arm)),
                               mat_vec(turn, vec3(normals[f, 0], normals[f, 1], normals[f, 2])), areas[f], drag, lift)
                force = add(force, push)
                torque = add(torque, cross(arm, push))
            out[k, 0], out[k, 1], out[k, 2] = force.x, force.y, force.z
            out[k, 3], out[k, 4], out[k, 5] = torque.x, torque.y, torque.z
