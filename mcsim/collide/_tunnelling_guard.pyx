"""The last resort against passing through.

Contacts that are laid before a step (collide/_sweep.pxd) stop what would meet something at the velocities that it has then.
What hits by a corner turns at a thousand radians a second, what glances off flies on in another direction, and neither is
in those contacts. So a small ball in the middle of each shape, and in its corners where it goes or turns far, is
followed through each substep: where it would come into something that never moves, or into anything for a bullet, the
body is set back along the wall's normal, to where the ball touches; its way along the wall stays, and so does its
velocity, which the contact that the next step finds there stops. A ball that is inside at the start is let go, and so
is what joints hold that are solved directly: set back alone it would come off them.

What slides over a floor, or lies on it, has balls that nearly touch from the start, or do: a thin plate, a hull whose
corner's ball just fits. They would be held at once, though nothing is passed through, or at the side of the next tile of
the floor. So a ball is taken only as large as leaves it well clear of everything where it starts: it is held where its
middle has lost most of its distance from the wall, which is what comes before passing through.

    t += (s - target) / (-n . d)      s, n: distance and normal now, d: direction; exact for a plane, safe for what is
                                      convex

This is conservative advancement (collide/_sweep.pxd) of a ball without turning, in the frame of what it meets; on a mesh or
height field, triangle by triangle (collide/_surface_cast.pxd).
"""

import numpy as np

from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy, memset
from mcsim.core._arrays cimport doubles, records
from mcsim.core._noted cimport NOTE_HELD
from mcsim.core._math cimport (add, add_scaled, dot, neg, norm, quat_matrix, quat_mul, rotate, rotate_back, scale, sub,
                               vec3)
from mcsim.state._inertia cimport refresh_inertia
from mcsim.state._bodies cimport DYNAMIC, KINEMATIC, STATIC
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape cimport Shape
from mcsim.state._shape_types cimport SPHERE
from mcsim.collide._broadphase cimport ALONE, MOVING, STILL
from mcsim.collide._narrow cimport narrow
from mcsim.collide._one_way cimport faces_side
from mcsim.collide._shape_table cimport inner_ball, inner_ball_count, inner_radius
from mcsim.collide._solid cimport Aabb, is_surface
from mcsim.collide._surface_cast cimport cast_on_surface, distance_to_surface
from mcsim.collide._sweep cimport ADVANCES
from mcsim.collide._tree cimport BoxWalk, next_leaf, walk_box

cdef enum:
    ROUNDS = 4                   # over all shapes: what is set back at one wall may so come into another

cdef double WATCHED = 0.5        # a step's travel by the inscribed radius from which the world is watched
cdef double FOLLOWED = 0.1       # a substep's, from which a ball is followed then
cdef double TOUCH = 0.1          # distance by the ball's radius at which it touches
cdef double CLEAR = 0.5          # the most that a ball's radius is of its middle's distance at the start


cdef inline Vec3 place(const Shape* shape, Vec3 local, Vec3 position, Quat orientation) noexcept nogil:
    """A point of the shape's frame where the body is at the pose."""
    return add(position, rotate(orientation, add(shape.position, rotate(shape.orientation, local))))


cdef inline double turned(Quat p, Quat q) noexcept nogil:
    """The angle between two orientations, or a little less [rad]."""
    cdef double c = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z
    return 2.0 * sqrt(max(1.0 - c * c, 0.0))


cdef bint stop_at_solid(Solid* core, Vec3 start, Vec3 way, const Solid* wall, Stop* stop) noexcept nogil:
    """Whether the ball comes into a convex wall on its way, and how."""
    cdef Manifold m
    cdef double reach = norm(way) + core.size.x / CLEAR
    cdef double s, approach
    cdef double t = 0.0
    cdef int k
    for k in range(ADVANCES):
        core.position = add_scaled(start, t, way)
        if narrow(core, wall, reach, &m, NULL) == 0:
            return False
        s = m.points[0].separation
        if k == 0:
            s += core.size.x                     # from its middle on
            if s <= 0.0:
                return False
            core.size.x = core.reach = min(core.size.x, CLEAR * s)
            s -= core.size.x
        approach = dot(m.normal, way)
        if s >= (1.0 - t) * approach:            # it does not come through the plane across the closest points
            return False
        if s <= TOUCH * core.size.x:
            break
        t += (s - 0.5 * TOUCH * core.size.x) / approach
    stop.part = t
    stop.normal = neg(m.normal)
    stop.too_far = (1.0 - t) * approach - s + 0.5 * TOUCH * core.size.x
    return True


cdef bint stop_at_surface(Solid* core, Vec3 start, Vec3 way, Vec3 middle, const Solid* surface,
                          Stop* stop) noexcept nogil:
    """The same of a mesh or height field. It has no inside: a ball on its way to the side where the shape's `middle` was
    comes out."""
    cdef double length = norm(way)
    cdef double distance = distance_to_surface(start, surface, max(core.size.x / CLEAR, core.size.x + length))
    cdef Vec3 point
    core.position = start
    core.size.x = min(core.size.x, CLEAR * distance)
    core.reach = core.size.x
    if not length > 0.0 or distance >= core.size.x + length:
        return False
    if not cast_on_surface(core, scale(1.0 / length, way), surface, length, &distance, &stop.normal, &point):
        return False
    if not distance > 0.0:
        return False
    if dot(stop.normal, sub(middle, point)) < 0.0:
        return False
    stop.part = distance / length
    stop.too_far = (stop.part - 1.0) * dot(stop.normal, way) + 0.5 * TOUCH * core.size.x
    return True


cdef class TunnellingGuard:
    """collider, noted: of the world; bodies: how many."""

    def __init__(self, Collider collider not None, Noted noted not None, Py_ssize_t bodies):
        self.collider, self.noted = collider, noted
        positions, orientations = np.zeros((bodies + 1, 3)), np.zeros((bodies + 1, 4))
        set_back = np.zeros(bodies + 1, np.int8)
        self.kept = positions, orientations, set_back
        self.set_back = <int8_t*>records(set_back)
        self.position, self.orientation = <Vec3*>doubles(positions), <Quat*>doubles(orientations)

    cdef void watch(self, const Bodies* bodies, double dt) noexcept nogil:
        """Look at the velocities at the start of a step; after the collider's call. None is held yet."""
        cdef const Shape* shape
        cdef double inner, travel
        cdef int32_t i, k
        self.watching = False
        self.held = 0
        for k in range(self.collider.placed_count):      # all that does not rest is among them
            i = self.collider.placed[k]
            if not self.may_pass(i):
                continue
            shape = &self.collider.shapes[i]
            inner = inner_radius(&self.collider.solids[i])
            travel = norm(self.collider.solids[i].motion.travel)
            if shape.position.x != 0.0 or shape.position.y != 0.0 or shape.position.z != 0.0:
                travel += dt * norm(bodies.twist[shape.body].w) * norm(shape.position)
            if travel > WATCHED * inner:
                self.watching = True
                self.among_moving = self.moving_walls(bodies)
                return

    cdef bint moving_walls(self, const Bodies* bodies) noexcept nogil:
        """Is there a bullet, or a shape that is neither of a static body nor of a dynamic one?"""
        cdef int32_t i
        for i in range(self.collider.shape_count):
            if self.collider.kind[i] == KINEMATIC or bodies.bullet[self.collider.solids[i].body]:
                return True
        return False

    cdef bint may_pass(self, int32_t i) noexcept nogil:
        """Is it a shape that stops at others, of a dynamic body that does not sleep?"""
        return (self.collider.kind[i] == DYNAMIC and self.collider.company[i] == ALONE
                and not self.collider.shapes[i].sensor)

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        if self.watching:
            memcpy(self.position, bodies.position, bodies.count * sizeof(Vec3))
            memcpy(self.orientation, bodies.orientation, bodies.count * sizeof(Quat))

    cdef void end(self, Bodies* bodies, const int8_t* joined) noexcept nogil:
        """Set back what passed through something since begin(). joined: of each body whether its joints are closed
        exactly, or NULL: to set it back alone would tear them open."""
        cdef int32_t i, n, body
        cdef int k
        cdef bint again = self.watching
        if again:
            memset(self.set_back, 0, bodies.count)
        for k in range(ROUNDS):
            if not again:
                return
            again = False
            for n in range(self.collider.placed_count):
                i = self.collider.placed[n]
                if not (self.may_pass(i) and self.collider.solids[i].finite):
                    continue
                if joined != NULL and joined[self.collider.shapes[i].body]:
                    continue
                if not self.follow(i, bodies):
                    continue
                again = True
                self.set_back[self.collider.shapes[i].body] = 1
                if k == 0:
                    self.held += 1
                if k == ROUNDS - 1:                      # between two walls, say: back to where it began
                    body = self.collider.shapes[i].body
                    bodies.position[body] = self.position[body]
                    bodies.orientation[body] = self.orientation[body]
                    refresh_inertia(bodies, body)

    cdef bint follow(self, int32_t i, Bodies* bodies) noexcept nogil:
        """All balls of a shape that went or turned far, else the one in its middle. -> whether its body is set back"""
        cdef const Shape* shape = &self.collider.shapes[i]
        cdef const Solid* solid = &self.collider.solids[i]
        cdef Vec3 x = self.position[shape.body]
        cdef Quat q = self.orientation[shape.body]
        cdef double inner = inner_radius(solid)
        cdef int count = 1
        cdef Ball ball
        cdef Stop stop
        cdef Vec3 local, way
        cdef bint held = False
        cdef int k
        way = sub(bodies.position[shape.body], x)
        if turned(q, bodies.orientation[shape.body]) * solid.reach + norm(way) > inner:
            count = inner_ball_count(solid)
        inner_ball(solid, 0, &local)
        ball.middle = place(shape, local, x, q)
        for k in range(count - 1, -1, -1):
            ball.radius = inner_ball(solid, k, &local)
            ball.start = place(shape, local, x, q)
            ball.end = place(shape, local, bodies.position[shape.body], bodies.orientation[shape.body])
            way = sub(ball.end, ball.start)
            if FOLLOWED * inner < norm(way) < INFINITY:
                stop = self.first_stop(i, &ball, bodies)
                if stop.part < 1.0:
                    bodies.position[shape.body] = add_scaled(bodies.position[shape.body], stop.too_far, stop.normal)
                    self.noted.most(NOTE_HELD, shape.body, stop.too_far)
                    held = True
        return held

    cdef Stop first_stop(self, int32_t i, Ball* ball, const Bodies* bodies) noexcept nogil:
        """What the ball, no larger than leaves it clear of all that is about, meets first on its way."""
        cdef double radius = ball.radius
        cdef Stop first = self.first_stop_as_it_is(i, ball, bodies)
        if first.part < 1.0 and ball.radius < radius:
            first = self.first_stop_as_it_is(i, ball, bodies)
        return first

    cdef Stop first_stop_as_it_is(self, int32_t i, Ball* ball, const Bodies* bodies) noexcept nogil:
        cdef BoxWalk walk
        cdef int32_t j, k
        cdef Stop first
        cdef Aabb box
        first.part = 1.0
        box.lower = vec3(min(ball.start.x, ball.end.x) - ball.radius, min(ball.start.y, ball.end.y) - ball.radius,
                         min(ball.start.z, ball.end.z) - ball.radius)
        box.upper = vec3(max(ball.start.x, ball.end.x) + ball.radius, max(ball.start.y, ball.end.y) + ball.radius,
                         max(ball.start.z, ball.end.z) + ball.radius)
        for k in range(self.collider.plane_count):
            self.stop_at(i, self.collider.planes[k], ball, bodies, &first)
        for k in range(STILL, MOVING + 1 if self.among_moving else MOVING):
            walk_box(&walk, &self.collider.trees[k], &box)
            j = next_leaf(&walk)
            while j >= 0:
                self.stop_at(i, j, ball, bodies, &first)
                j = next_leaf(&walk)
        return first

    cdef Vec3 seen_from(self, int32_t body, Vec3 p, const Bodies* bodies) noexcept nogil:
        """Where the point, of the substep's start, was, as the body sees it that has moved since."""
        return add(bodies.position[body], rotate(bodies.orientation[body], rotate_back(
            self.orientation[body], sub(p, self.position[body]))))

    cdef void stop_at(self, int32_t i, int32_t j, Ball* ball, const Bodies* bodies, Stop* first) noexcept nogil:
        """The same of shape j alone, if it comes before `first`; the ball shrinks to what is clear of it."""
        cdef const Shape* shape = &self.collider.shapes[j]
        cdef int32_t own = self.collider.shapes[i].body
        cdef int32_t body = shape.body
        cdef const Solid* wall = &self.collider.solids[j]
        cdef Solid moved, core
        cdef Vec3 start = ball.start
        cdef Vec3 middle = ball.middle
        cdef Stop stop
        cdef bint stops
        if self.collider.kind[j] == DYNAMIC and not (bodies.bullet[own] or bodies.bullet[body]):
            return
        if not (wall.finite and self.collider.wanted(i, j)):
            return
        if bodies.kind[body] != STATIC:
            moved = wall[0]
            moved.position = add(bodies.position[body], rotate(bodies.orientation[body], shape.position))
            moved.axes = quat_matrix(quat_mul(bodies.orientation[body], shape.orientation))
            wall = &moved
            start = self.seen_from(body, start, bodies)
            middle = self.seen_from(body, middle, bodies)
        memset(&core, 0, sizeof(core))
        core.type = SPHERE
        core.size.x = core.reach = ball.radius
        core.axes.xx = core.axes.yy = core.axes.zz = 1.0
        core.finite = 1
        if is_surface(wall.type):
            stops = stop_at_surface(&core, start, sub(ball.end, start), middle, wall, &stop)
        else:
            stops = stop_at_solid(&core, start, sub(ball.end, start), wall, &stop)
        ball.radius = min(ball.radius, core.size.x)
        if stops and stop.part < first.part and faces_side(shape, wall, stop.normal):
            first[0] = stop
