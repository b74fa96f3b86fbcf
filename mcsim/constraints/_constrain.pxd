"""What a joint forbids: the one place where its type chooses its file."""

from mcsim.state._layout cimport (BALL, UNIVERSAL, HINGE, SLIDER, FIXED, ROLLING, KNIFE_EDGE, CYLINDRICAL, PLANAR,
                                  SCREW, DISTANCE, RACK_PINION)
from mcsim.constraints._parts cimport *
from mcsim.constraints._ball cimport constrain_ball
from mcsim.constraints._universal cimport constrain_universal
from mcsim.constraints._hinge cimport constrain_hinge
from mcsim.constraints._slider cimport constrain_slider
from mcsim.constraints._fixed cimport constrain_fixed
from mcsim.constraints._rolling cimport constrain_rolling
from mcsim.constraints._knife_edge cimport constrain_knife_edge
from mcsim.constraints._cylindrical cimport constrain_cylindrical
from mcsim.constraints._planar cimport constrain_planar
from mcsim.constraints._screw cimport constrain_screw
from mcsim.constraints._distance cimport constrain_distance
from mcsim.constraints._rack_pinion cimport constrain_rack_pinion


cdef inline int constrain(Row* rows, const Joint* joint, const JointFrames* f) noexcept nogil:
    """Jacobians, errors and curvatures of what the joint forbids. -> how many rows."""
    if joint.type == BALL:
        return constrain_ball(rows, f)
    elif joint.type == UNIVERSAL:
        return constrain_universal(rows, f)
    elif joint.type == HINGE:
        return constrain_hinge(rows, f)
    elif joint.type == SLIDER:
        return constrain_slider(rows, f)
    elif joint.type == FIXED:
        return constrain_fixed(rows, f)
    elif joint.type == ROLLING:
        return constrain_rolling(rows, f, joint)
    elif joint.type == KNIFE_EDGE:
        return constrain_knife_edge(rows, f)
    elif joint.type == CYLINDRICAL:
        return constrain_cylindrical(rows, f)
    elif joint.type == PLANAR:
        return constrain_planar(rows, f)
    elif joint.type == SCREW:
        return constrain_screw(rows, f, joint)
    elif joint.type == DISTANCE:
        return constrain_distance(rows, f, joint)
    elif joint.type == RACK_PINION:
        return constrain_rack_pinion(rows, f, joint)
    return 0


cdef inline bint holds_position(const Joint* joint, int i) noexcept nogil:
    """Whether row i of the joint has a position error, or binds velocities alone."""
    return not (joint.type == KNIFE_EDGE or joint.type == ROLLING and i > 0)
