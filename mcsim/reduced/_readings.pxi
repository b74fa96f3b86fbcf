# What one state of a tree says of the bodies. Included after _kernels.pxi, by modules of one lane.

from libc.stdint cimport int32_t

from mcsim.core._math cimport quat, quat_normalized, vec3
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3


cdef void give_poses(const Tree* tree, const Mat3* turns, bint prescribed, Vec3* position,
                     Quat* orientation) noexcept nogil:
    """After place: centres of mass and body axes, by the bodies' numbers. turns: the body's axes in the link's.
    prescribed: of kinematic bodies too. Quaternions keep to the side of those that are there."""
    cdef const LinkState* s
    cdef const Link* link
    cdef Py_ssize_t i
    cdef Quat found
    cdef Quat* old
    for i in range(tree.first, tree.end):
        s = &tree.states[i + 1]
        link = &tree.links[i]
        if link.prescribed and not prescribed:
            continue
        position[link.body] = vec3(s.position.x + s.com.x, s.position.y + s.com.y, s.position.z + s.com.z)
        found = quaternion_of(s, &turns[i])
        old = &orientation[link.body]
        if found.w * old.w + found.x * old.x + found.y * old.y + found.z * old.z < 0.0:
            found = quat(-found.w, -found.x, -found.y, -found.z)
        old[0] = found


cdef void give_twists(const Tree* tree, bint prescribed, Twist* twist) noexcept nogil:
    """After move: [v; w] of the centres of mass, by the bodies' numbers."""
    cdef const LinkState* s
    cdef Py_ssize_t i
    cdef Wide3 v
    cdef Twist* out
    for i in range(tree.first, tree.end):
        if tree.links[i].prescribed and not prescribed:
            continue
        s = &tree.states[i + 1]
        out = &twist[tree.links[i].body]
        v = w_add(s.velocity.v, w_cross(s.velocity.w, s.com))
        out.v = vec3(v.x, v.y, v.z)
        out.w = vec3(s.velocity.w.x, s.velocity.w.y, s.velocity.w.z)


cdef inline Force about_link(const Tree* tree, Py_ssize_t i, const double* wrench) noexcept nogil:
    """[f; n] on link i, at its centre of mass, about its origin."""
    cdef Force f
    f.f = wide3(wrench[0], wrench[1], wrench[2])
    f.n = w_add(wide3(wrench[3], wrench[4], wrench[5]), w_cross(tree.states[i + 1].com, f.f))
    return f


cdef inline Py_ssize_t project_on(const Tree* tree, Py_ssize_t i, Force* f, double* out) noexcept nogil:
    """out (nv,) += S' f of link i's joint; f goes to its parent. -> that one"""
    cdef const Link* link = &tree.links[i]
    cdef int k
    for k in range(link.freedoms):
        out[link.v + k] += pairing(&tree.axes[link.v + k].axis, f)
    f.n = w_add(f.n, w_cross(tree.states[i + 1].arm, f.f))
    return link.parent


cdef void project(const Tree* tree, Py_ssize_t i, const double* wrench, double* out) noexcept nogil:
    """out (nv,) += J' wrench: the generalized force of [f; n] on link i, at its centre of mass."""
    cdef Force f = about_link(tree, i, wrench)
    while i >= 0:
        i = project_on(tree, i, &f, out)


cdef Quat quaternion_of(const LinkState* s, const Mat3* turn) noexcept nogil:
    """Of the body's axes: the link's, times turn. The largest of its numbers comes from the diagonal (S. Shepperd,
    1978)."""
    cdef Axes link, body
    cdef double xx, yy, zz, t
    cdef Quat q
    link.x, link.y, link.z = s.x, s.y, s.z
    body.x = along(&link, wide3(turn.xx, turn.yx, turn.zx))
    body.y = along(&link, wide3(turn.xy, turn.yy, turn.zy))
    body.z = along(&link, wide3(turn.xz, turn.yz, turn.zz))
    xx, yy, zz = body.x.x, body.y.y, body.z.z
    if xx + yy + zz > 0.0:
        t = 1.0 + xx + yy + zz
        q = quat(t, body.y.z - body.z.y, body.z.x - body.x.z, body.x.y - body.y.x)
    elif xx >= yy and xx >= zz:
        t = 1.0 + xx - yy - zz
        q = quat(body.y.z - body.z.y, t, body.x.y + body.y.x, body.z.x + body.x.z)
    elif yy >= zz:
        t = 1.0 - xx + yy - zz
        q = quat(body.z.x - body.x.z, body.x.y + body.y.x, t, body.y.z + body.z.y)
    else:
        t = 1.0 - xx - yy + zz
        q = quat(body.x.y - body.y.x, body.z.x + body.x.z, body.y.z + body.z.y, t)
    return quat_normalized(q)
