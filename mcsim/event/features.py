"""Where bodies may touch: pairs of features whose distance and its first two derivatives are known in closed form.

A feature is a point with a radius (a sphere, an end of a capsule, with radius 0 a vertex), a segment with a radius, a
plane, a polyhedron's face, an edge, or a box as a whole for a ball. Of every pair that may touch, at any poses:

    gap      phi [m], negative = overlap
    n        unit normal from a to b;  p: the point of contact
    n', p'   how both move as the features do (p goes along the surfaces, it is not a point of a body)

By them phi' = n . s, s = v_b + w_b x r_b - v_a - w_a x r_a with arms r = p - x, and along any direction e

    d/dt (e . s) = e . (v_b' + w_b' x r_b - v_a' - w_a' x r_a) + e . (w_b x r_b' - w_a x r_a') + e' . s,    r' = p' - v

which for e = n is phi''. The classes are compiled (_features.pyx, _polyhedra.pyx, _bounds.pyx), a class a kind of pair:

    PointPlane         a point on a plane                                gaps(poses, piece) -> (k,) [m]
    PointPoint         two points                                        pieces(poses) -> (k,)
    PointSegment       a point on a segment, with its ends or without    leaving(poses, piece) -> (k,) [m]
    SegmentSegment     two segments, by their insides                    gap_of, leaving_of: of one pair
    BallBox            a ball on a box
    VertexPolyhedron   a vertex on the faces of a convex polyhedron
    EdgeEdge           an edge on an edge of two of those; separations(poses): how far any plane keeps the two apart
    TurnLimit          the angle of a joint against a bound
    Drive              a velocity motor, or a joint's friction: no gap, but a tangent under a load
"""

from mcsim.event._bounds import Drive, TurnLimit
from mcsim.event._features import BallBox, Pairs, PointPlane, PointPoint, PointSegment, Poses, SegmentSegment, rows_of
from mcsim.event._polyhedra import EdgeEdge, VertexPolyhedron

TOUCHING = 1e-9  # [m] closer than this, features touch; these two as in _features.pyx
FAR = 1e300  # the gap of what cannot touch by this pair of features

__all__ = [
    "FAR",
    "TOUCHING",
    "BallBox",
    "Drive",
    "EdgeEdge",
    "Pairs",
    "PointPlane",
    "PointPoint",
    "PointSegment",
    "Poses",
    "SegmentSegment",
    "TurnLimit",
    "VertexPolyhedron",
    "rows_of",
]
