"""What water does to many shapes that stand in it, each cut by its surface: the law is in `water.py`."""

from libc.stdint cimport int64_t

from mcsim.core._math cimport add, add_scaled, cross, dot, mat_vec, norm, scale, sub, vec3
from mcsim.core._types cimport Mat3, Vec3
from mcsim.world._drag cimport on_face

# As a number, since a library's differs in no bit.
cdef double PI = 3.141592653589793

# What is under water of a shape: its volume and that times its centre; and the drag of its faces.
ctypedef struct Wet:
    double volume
    Vec3 moment
    Vec3 force
    Vec3 torque

# Where a shape is and what flows past it; all from its body's centre of mass, world axes.
ctypedef struct Flow:
    Vec3 up
    Vec3 apex                    # a point of the water's surface
    Vec3 current                 # less the body's velocity
    Vec3 spin
    double drag                  # half the density times the coefficient


cdef inline void add_triangle(const Flow* flow, Vec3 a, Vec3 b, Vec3 c, Wet* wet) noexcept nogil:
    """A triangle under water: the tetrahedron from the apex, and its drag."""
    cdef Vec3 across = cross(sub(b, a), sub(c, a))
    cdef double twice = norm(across)
    cdef double volume = dot(sub(a, flow.apex), across) / 6.0
    cdef Vec3 middle, push
    wet.volume += volume
    wet.moment = add_scaled(wet.moment, 0.25 * volume, add(add(a, b), add(c, flow.apex)))
    if flow.drag > 0.0 and twice > 0.0:
        middle = scale(1.0 / 3.0, add(add(a, b), c))
        push = on_face(sub(flow.current, cross(flow.spin, middle)), scale(1.0 / twice, across), 0.5 * twice, flow.drag, 0.0)
        wet.force = add(wet.force, push)
        wet.torque = add(wet.torque, cross(middle, push))


cdef inline Vec3 on_surface(Vec3 below, double low, Vec3 above, double high) noexcept nogil:
    """Where an edge comes out of the water, from a corner at the height low < 0 to one at high >= 0."""
    return add_scaled(below, low / (low - high), sub(above, below))


cdef inline void cut_triangle(const Flow* flow, Vec3 a, Vec3 b, Vec3 c, Wet* wet) noexcept nogil:
    """The part of it that is under water."""
    cdef Vec3 corner[3]
    cdef double height[3]
    cdef Vec3 p, q
    cdef int i, j, k
    cdef int below = 0
    corner[0], corner[1], corner[2] = a, b, c
    for i in range(3):
        height[i] = dot(flow.up, sub(corner[i], flow.apex))
        below += height[i] < 0.0
    if below == 3:
        add_triangle(flow, a, b, c, wet)
    elif below > 0:
        i = 0                                    # the corner that is alone on its side
        while (height[i] < 0.0) != (below == 1):
            i += 1
        j, k = (i + 1) % 3, (i + 2) % 3
        if below == 1:
            p = on_surface(corner[i], height[i], corner[j], height[j])
            q = on_surface(corner[i], height[i], corner[k], height[k])
            add_triangle(flow, corner[i], p, q, wet)
        else:
            p = on_surface(corner[j], height[j], corner[i], height[i])
            q = on_surface(corner[k], height[k], corner[i], height[i])
            add_triangle(flow, p, corner[j], corner[k], wet)
            add_triangle(flow, p, corner[k], q, wet)


cdef inline void add_ball(const Flow* flow, Vec3 centre, double radius, Wet* wet) noexcept nogil:
    """The segment of a ball that is under water: of the depth d, pi d^2 (r - d / 3), its centre 3/4 (2 r - d)^2 / (3 r - d)
    below the ball's."""
    cdef double deep = min(max(radius - dot(flow.up, sub(centre, flow.apex)), 0.0), 2.0 * radius)
    cdef double volume = PI * deep * deep * (radius - deep / 3.0)
    cdef double below = 0.75 * (2.0 * radius - deep) * (2.0 * radius - deep) / (3.0 * radius - deep)
    cdef Vec3 middle = add_scaled(centre, -below, flow.up)
    cdef double part = volume / (4.0 / 3.0 * PI * radius * radius * radius)
    cdef Vec3 push
    wet.volume += volume
    wet.moment = add_scaled(wet.moment, volume, middle)
    push = on_face(sub(flow.current, cross(flow.spin, middle)), vec3(0.0, 0.0, 0.0), part * PI * radius * radius, flow.drag,
                   0.0)
    wet.force = add(wet.force, push)
    wet.torque = add(wet.torque, cross(middle, push))


def wrenches(const int64_t[::1] slot, const int64_t[::1] begin, const double[:, :, ::1] triangles, const double[::1] share,
             const double[:, ::1] balls, const double[:, ::1] centers, const double[:, ::1] positions,
             const double[:, :, ::1] rotations, const double[:, ::1] twists, const double[::1] up, double level,
             const double[::1] current, double lift, double drag, double[:, ::1] out):
    """out (k, 6) <- force and torque about the centre of mass, world axes, of k shapes. slot (k,): which shape each is,
    with the triangles (t, 3, 3) from begin[slot] to begin[slot + 1] in its body's frame, whose volume times share[slot] is
    the shape's own; or, where it has none, a ball (x, y, z, radius). centers (k, 3) of mass there, positions (k, 3),
    rotations (k, 3, 3), twists (k, 6) of the bodies. lift: density times gravity; drag: half the density times the
    coefficient."""
    cdef Py_ssize_t k, t, s
    cdef Mat3 turn
    cdef Vec3 center, place, push
    cdef Flow flow
    cdef Wet wet
    flow.up = vec3(up[0], up[1], up[2])
    flow.drag = drag
    with nogil:
        for k in range(slot.shape[0]):
            s = slot[k]
            turn = Mat3(rotations[k, 0, 0], rotations[k, 0, 1], rotations[k, 0, 2], rotations[k, 1, 0], rotations[k, 1, 1],
                        rotations[k, 1, 2], rotations[k, 2, 0], rotations[k, 2, 1], rotations[k, 2, 2])
            center = vec3(centers[k, 0], centers[k, 1], centers[k, 2])
            place = vec3(positions[k, 0], positions[k, 1], positions[k, 2])
            flow.apex = scale(level - dot(flow.up, place), flow.up)
            flow.current = vec3(current[0] - twists[k, 0], current[1] - twists[k, 1], current[2] - twists[k, 2])
            flow.spin = vec3(twists[k, 3], twists[k, 4], twists[k, 5])
            wet.volume = 0.0
            wet.moment = wet.force = wet.torque = vec3(0.0, 0.0, 0.0)
            if begin[s] == begin[s + 1]:
                add_ball(&flow, mat_vec(turn, sub(vec3(balls[s, 0], balls[s, 1], balls[s, 2]), center)), balls[s, 3], &wet)
            for t in range(begin[s], begin[s + 1]):
                cut_triangle(&flow,
                             mat_vec(turn, sub(vec3(triangles[t, 0, 0], triangles[t, 0, 1], triangles[t, 0, 2]), center)),
                             mat_vec(turn, sub(vec3(triangles[t, 1, 0], triangles[t, 1, 1], triangles[t, 1, 2]), center)),
                             mat_vec(turn, sub(vec3(triangles[t, 2, 0], triangles[t, 2, 1], triangles[t, 2, 2]), center)),
                             &wet)
            push = scale(lift * share[s], flow.up)
            wet.force = add_scaled(wet.force, wet.volume, push)
            wet.torque = add(wet.torque, cross(wet.moment, push))
            out[k, 0], out[k, 1], out[k, 2] = wet.force.x, wet.force.y, wet.force.z
            out[k, 3], out[k, 4], out[k, 5] = wet.torque.x, wet.torque.y, wet.torque.z
