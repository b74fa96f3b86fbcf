"""Sizes and offsets of the C records, for the test that compares them with the NumPy dtypes of ``fields.py``."""

from mcsim.state._layout cimport Shape, Hull, Manifold, ManifoldPoint, Joint, JointAxis, Row


def record_sizes():
    """-> dict of record name -> sizeof [bytes]."""
    return {"shape": sizeof(Shape), "hull": sizeof(Hull), "manifold": sizeof(Manifold),
            "manifold_point": sizeof(ManifoldPoint), "joint": sizeof(Joint), "joint_axis": sizeof(JointAxis),
            "row": sizeof(Row)}


def record_offsets():
    """-> dict of record name -> dict of a few telling fields -> offset [bytes] (the last field of each among them)."""
    cdef Shape shape
    cdef Hull hull
    cdef ManifoldPoint point
    cdef Manifold manifold
    cdef JointAxis axis
    cdef Joint joint
    cdef Row row
    return {
        "shape": {"size": <char*>&shape.size - <char*>&shape, "restitution": <char*>&shape.restitution - <char*>&shape},
        "hull": {"edge_count": <char*>&hull.edge_count - <char*>&hull, "radius": <char*>&hull.radius - <char*>&hull},
        "manifold_point": {"separation": <char*>&point.separation - <char*>&point,
                           "feature": <char*>&point.feature - <char*>&point},
        "manifold": {"normal": <char*>&manifold.normal - <char*>&manifold,
                     "points": <char*>&manifold.points[0] - <char*>&manifold},
        "joint_axis": {"friction": <char*>&axis.friction - <char*>&axis,
                       "impulse": <char*>&axis.impulse[0] - <char*>&axis,
                       "has_spring": <char*>&axis.has_spring - <char*>&axis},
        "joint": {"anchor_b": <char*>&joint.anchor_b - <char*>&joint, "axes": <char*>&joint.axes[0] - <char*>&joint,
                  "wrench_impulse": <char*>&joint.wrench_impulse - <char*>&joint},
        "row": {"bias": <char*>&row.bias[0] - <char*>&row, "impulse": <char*>&row.impulse - <char*>&row,
                "normal_begin": <char*>&row.normal_begin - <char*>&row, "error": <char*>&row.error - <char*>&row,
                "curvature": <char*>&row.curvature - <char*>&row},
    }
