"""The records of contacts: manifolds, their points, and where these act. `fields.py` gives the same records as NumPy
dtypes; a test compares every offset.
"""

from libc.stdint cimport int32_t, uint64_t
from mcsim.core._types cimport Quat, Vec3

cdef enum:
    MANIFOLD_POINTS = 4

ctypedef struct ManifoldPoint:
    Vec3 position                # world, midway between the two surfaces [m]
    double separation            # along the normal, negative = overlap [m]
    double normal_impulse        # of the last substep: the next warm start [N s]. Compliant: the surface's state instead,
                                 # how far it is pressed in [m], negative while it bears (constraints/_compliant.pyx)
    double total_normal_impulse  # summed over the last step [N s]
    Vec3 friction_impulse        # of the last substep, on b, world axes [N s] (friction_points="point"). Compliant: how
                                 # far the surface is dragged along, b's way against a [m]
    Vec3 total_friction_impulse  # summed over the last step, on b, world axes [N s]
    uint64_t feature             # which features of the two shapes made the point: equal from step to step
    double share                 # of b's motion in the point's own as the two move past each other: 1 where b carries it
                                 # (collide/_carrying.pxd)
    double cross[3]              # where two edges cross (unless a vertex made the point, of_vertex), what comes to the
                                 # share: (x, y; z, -x) of b's way along the tangents, perpendicular(normal) and normal
                                 # x that

# What a manifold was made from, so that its points serve again while the two solids hardly move against each other
# (collide/_reuse.pxd).
ctypedef struct ManifoldOrigin:
    double limit                 # the separation up to which points were looked for [m]
    Quat turn                    # b's axes in those of a
    Vec3 offset                  # b's position in a's axes, from a's position [m]
    double spots[3][4]           # x, y, z of the points, likewise [m]
    double gaps[4]               # their separations [m]
    Vec3 line_a                  # in a's axes: the normal, or the edge of a that has it
    Vec3 line_b                  # likewise in b's
    Vec3 line                    # Manifold.line in b's axes, where roundings have the normal
    int32_t owner                # what has the normal, 0: a's face, 1: b's face, 2: the two edges, 3: none of them
    int32_t reserved

# What is read of a manifold of one point fills its first 256 bytes, and what collide/_events.pxd reads of it is together.
ctypedef struct Manifold:
    uint64_t key                 # shape_a << 32 | shape_b; the array is sorted by it, then by part
    int32_t shape_a
    int32_t shape_b
    int32_t body_a
    int32_t body_b
    int32_t row_begin            # its rows in the row array
    int32_t turns                # what its normal goes with as the two move past each other (Turns in
                                 # _contact_reference.pxd)
    double allowance             # square of the relative motion up to which `origin` serves [m2], 0 = not at all
    Vec3 normal                  # from a to b, world
    double friction              # combined coefficient
    double restitution           # combined
    double rounding_a            # radius to which the surface is round at the contact, 0 = flat or a corner [m]
    double rounding_b
    Vec3 friction_impulse        # of the last substep, on b, world axes [N s] (friction_points="central"). Compliant:
                                 # x, what the surfaces hold or have turned into heat [J]; y, at which poses
                                 # (_compliant.pyx)
    double twist_impulse         # about the normal, of the last substep [N m s]
    int32_t part                 # number among the manifolds of one pair
    int32_t sheet                # which connected part of a surface, counted from 1, negative: its back; else 0
    int32_t touching             # after the last step, see collide/_events.pxd
    int32_t point_count
    ManifoldPoint points[4]
    ManifoldOrigin origin
    Vec3 rolling_impulse         # about the tangents, on b, world axes, of the last substep [N m s]. Only where some shape
                                 # of the world resists (Resistance) is it written, and read
    Vec3 line                    # the direction that a turning normal stays at right angles to, 0: none; or a rim's
                                 # axis. It and the next are written, and read, only where `turns` asks for them
    Vec3 line_b                  # where edges cross, that of b; of a rim x alone: how much of its rounding is the radius of
                                 # the ball that sweeps the circle [m]
    double size                  # of the thinner of the two shapes, the unit of the lengths and speeds that follow from
                                 # them [m]
    double near                  # from which separation on the pair has contacts (Nearness) [m]
    double thinning              # what the stiffness of its soft rows is multiplied by: 1, or 4 / n in a patch of n > 4
                                 # points (collide/_patch.pxd)
    double load                  # [m/s] that its normal impulse of a substep gives the two, the mean of some last
                                 # steps; only where contacts are solved several at a time (wide/_blocks.pxd)

# What the friction of a manifold does beyond Coulomb's, made anew in every step. Few scenes have any, so it stands apart,
# beside the manifold of the same number.
ctypedef struct Resistance:
    double rolling               # combined coefficients [m]
    double torsional
    Vec3 surface_velocity        # of b's surface against its body less that of a's, world axes [m/s]
