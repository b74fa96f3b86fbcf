"""The records of shapes and hulls. `fields.py` gives the same records as NumPy dtypes; a test compares every offset."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Quat, Vec3

ctypedef struct Shape:
    int32_t type
    int32_t body
    int32_t group                # collide if each one's group is in the other's mask
    int32_t mask
    int32_t hull                 # -1 unless HULL
    int32_t sensor               # 1: it reports what comes into it, and does not collide
    Vec3 size                    # [m], as its kernel file has it: collide/shapes/_NAME.pxd
    Vec3 position                # shape frame in the body's axes, from the centre of mass [m]
    Quat orientation             # shape axes -> body axes
    double friction
    double restitution
    double rolling_friction      # [m]
    double torsional_friction    # [m]
    Vec3 surface_velocity        # of the surface against the body, shape axes [m/s]
    int32_t surface              # -1 unless MESH or HEIGHT_FIELD
    int32_t material             # number of its material's name, 0 = none (state/arrays.py)
    double stiffness             # under contact="compliant" [N/m], 0 = rigid
    double damping               # [N s/m], or a factor [s/m]: constraints/_compliant.pyx
    double tangential_stiffness
    double tangential_damping
    Vec3 one_way                 # the side from which alone it bears, unit, shape axes; 0: it bears from all
    double rounding              # radius of the ball that sweeps what `size` says, 0: none [m]

# A hull's faces are convex polygons, counter-clockwise seen from outside. Offsets are into shared pools:
# vertices (v, 3), face plane normals (f, 3) and offsets (f,), face_begin (f + 1 absolute offsets into face_index),
# face_index (vertex numbers counted from vertex_begin), edges (e, 2) (vertex numbers counted from vertex_begin).
ctypedef struct Hull:
    int32_t vertex_begin
    int32_t vertex_count
    int32_t face_begin
    int32_t face_count
    int32_t edge_begin
    int32_t edge_count
    double radius                # of the sphere about the shape frame's origin that holds every vertex [m]
