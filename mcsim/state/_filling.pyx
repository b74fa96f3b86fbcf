"""What arrays and records have of each body and each shape, as the parts of a scene say: one after the other, so that one
costs no more than its part of many."""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers, records
from mcsim.core._linear cimport inverse3
from mcsim.core._math cimport add, mat_vec, norm, quat_conj, quat_matrix, sub, vec3
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.state._bodies cimport DYNAMIC, KINEMATIC, STATIC
from mcsim.state._shape cimport Shape


ARRAY = np.ndarray


cdef int read(value, int rows, int columns, double* out) except -1:
    """An array of so many rows and columns, or of so many rows."""
    cdef Py_buffer view
    cdef int i, j
    cdef const char* row
    cdef Py_ssize_t across
    if type(value) is not ARRAY:
        value = np.array(value, float)
    PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_STRIDES)
    try:
        if (view.format[0] != b"d" or view.itemsize != sizeof(double) or view.ndim != 1 + (columns > 1)
                or view.shape[0] != rows or columns > 1 and view.shape[1] != columns):
            raise ValueError(f"a part has {value!r} in place of {rows} x {columns} numbers")
        across = view.strides[1] if columns > 1 else 0
        for i in range(rows):
            row = <const char*>view.buf + i * view.strides[0]
            for j in range(columns):
                out[i * columns + j] = (<const double*>(row + j * across))[0]
    finally:
        PyBuffer_Release(&view)
    return 0


cdef Vec3 vector_of(value) except *:
    cdef Vec3 v
    read(value, 3, 1, &v.x)
    return v


cdef int32_t kind_of(kind) except -1:
    return STATIC if kind == "static" else KINEMATIC if kind == "kinematic" else DYNAMIC


def fill_bodies(dict whole, bodies):
    """Rows 1, 2 ... of BodyArrays.whole, which are as of new arrays, at the bodies' initial state."""
    cdef int32_t* kind = integers(whole["kind"])
    cdef Vec3* position = <Vec3*>doubles(whole["position"])
    cdef Quat* orientation = <Quat*>doubles(whole["orientation"])
    cdef Twist* twist = <Twist*>doubles(whole["twist"])
    cdef double* inv_mass = doubles(whole["inv_mass"])
    cdef Mat3* inertia = <Mat3*>doubles(whole["inertia"])
    cdef Mat3* inv_inertia = <Mat3*>doubles(whole["inv_inertia"])
    cdef double* gravity_scale = doubles(whole["gravity_scale"])
    cdef double* linear_damping = doubles(whole["linear_damping"])
    cdef double* angular_damping = doubles(whole["angular_damping"])
    cdef int64_t* bullet = long_integers(whole["bullet"])
    cdef double* mass = doubles(whole["mass"])
    cdef Vec3* center = <Vec3*>doubles(whole["center_of_mass"])
    cdef double* reach = doubles(whole["reach"])
    cdef int8_t* bounces = <int8_t*>records(whole["bounces"])
    cdef Py_ssize_t i = 0
    for body in bodies:
        i += 1
        kind[i] = kind_of(body.kind)
        read(body.orientation, 4, 1, &orientation[i].w)
        center[i] = vector_of(body.center_of_mass)
        position[i] = add(vector_of(body.position), mat_vec(quat_matrix(orientation[i]), center[i]))
        gravity_scale[i], mass[i], bullet[i] = body.gravity_scale, body.mass, body.bullet
        linear_damping[i], angular_damping[i] = body.linear_damping, body.angular_damping
        if kind[i] != STATIC:
            twist[i].v, twist[i].w = vector_of(body.velocity), vector_of(body.angular_velocity)
        if kind[i] == DYNAMIC:
            inv_mass[i] = 1.0 / mass[i]
            read(body.inertia, 3, 3, &inertia[i].xx)
            inv_inertia[i] = symmetric_inverse(&inertia[i])
        for shape in body.shapes:
            if not shape.sensor:
                reach[i] = max(reach[i], norm(sub(vector_of(shape.position), center[i])) + <double>shape.reach)
            bounces[i] |= <int8_t>((body.material if shape.material is None else shape.material).restitution > 0.0)


cdef Mat3 symmetric_inverse(const Mat3* m) except *:
    """The inverse of a symmetric matrix, symmetric to the bit."""
    cdef Mat3 x
    if not inverse3(m, &x):
        raise ArithmeticError("a singular matrix has no inverse")
    x.xx, x.yy, x.zz = 0.5 * (x.xx + x.xx), 0.5 * (x.yy + x.yy), 0.5 * (x.zz + x.zz)
    x.xy = x.yx = 0.5 * (x.xy + x.yx)
    x.xz = x.zx = 0.5 * (x.xz + x.zx)
    x.yz = x.zy = 0.5 * (x.yz + x.zy)
    return x


def body_sizes(dict whole):
    """(rows,) [m] how far each body of BodyArrays.whole reaches from its centre of mass; of what has no shape or no end its
    radius of gyration."""
    cdef const double* mass = doubles(whole["mass"])
    cdef const double* reach = doubles(whole["reach"])
    cdef const Mat3* inertia = <Mat3*>doubles(whole["inertia"])
    cdef Py_ssize_t count = len(whole["mass"])
    cdef Py_ssize_t i
    out = np.empty(count)
    cdef double* size = doubles(out)
    for i in range(count):
        size[i] = reach[i] if 0.0 < reach[i] < INFINITY else (
            sqrt((inertia[i].xx + inertia[i].yy + inertia[i].zz) / (mass[i] if mass[i] > 0.0 else 1.0)))
    return out


def fill_shapes(of, bodies, dict types, material_number):
    """of: (shapes,) SHAPE_DTYPE, zeros, for the shapes of all bodies, one after the other. types: a type's name -> its
    number; material_number: of a material's name. Which hull or surface each has, is left to the caller."""
    cdef Shape* s = <Shape*>records(of)
    cdef Py_ssize_t k = 0
    cdef int32_t i = 0
    cdef Vec3 center
    for body in bodies:
        center = vector_of(body.center_of_mass)
        for shape in body.shapes:
            s[k].type, s[k].body = types[shape.type], i
            s[k].group, s[k].mask = <int32_t><int64_t>body.collision_group, <int32_t><int64_t>body.collision_mask
            s[k].hull = s[k].surface = -1
            s[k].sensor, s[k].rounding = shape.sensor, shape.rounding
            s[k].size, s[k].position = vector_of(shape.size), sub(vector_of(shape.position), center)
            read(shape.orientation, 4, 1, &s[k].orientation.w)
            fill_material(&s[k], body.material if shape.material is None else shape.material, material_number)
            k += 1
        i += 1


cdef int fill_material(Shape* s, material, material_number) except -1:
    """What a shape has of its material."""
    cdef Mat3 back = quat_matrix(quat_conj(s.orientation))
    s.friction, s.restitution = material.friction, material.restitution
    s.rolling_friction, s.torsional_friction = material.rolling_friction, material.torsional_friction
    s.material = 0 if material.name is None else material_number(material.name)
    s.surface_velocity = mat_vec(back, vector_of(material.surface_velocity))
    s.one_way = vec3(0.0, 0.0, 0.0)
    if material.one_way is not None:
        s.one_way = mat_vec(back, vector_of(material.one_way))
    if material.stiffness is not None:
        s.stiffness, s.damping = material.stiffness, material.damping
        s.tangential_stiffness, s.tangential_damping = (
            s.stiffness if material.tangential_stiffness is None else <double>material.tangential_stiffness,
            s.damping if material.tangential_damping is None else <double>material.tangential_damping)
    return 0
