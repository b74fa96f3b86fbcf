"""The joints between bodies. The lines of imports are the registry: one a type of joint, in the order of its numbers.

A joint has a frame on each of its bodies. It is placed by an anchor and axes in world coordinates at the initial pose,
where both frames then coincide, or by `frame_a` and `frame_b`, each (position [m], unit quaternion) in its body's own
frame (not from the centre of mass). With only one of the two given, the other one is laid on it at the initial pose.
The frame of the world (body None) is the world's. Positions, angles and velocities are those of b relative to a.

All else follows from these lines and the files that they name: the schema of scene files, the public names, what handles
read, the joints of trees, and what setup.py writes of them for the kernels (constraints/_NAME.pxd, of the same name).
"""

from typing import TYPE_CHECKING

from mcsim.scene.joints._joint import Joint as Joint

from mcsim.scene.joints._ball import BallJoint as BallJoint
from mcsim.scene.joints._universal import UniversalJoint as UniversalJoint
from mcsim.scene.joints._hinge import HingeJoint as HingeJoint
from mcsim.scene.joints._slider import SliderJoint as SliderJoint
from mcsim.scene.joints._fixed import FixedJoint as FixedJoint
from mcsim.scene.joints._rolling import RollingJoint as RollingJoint
from mcsim.scene.joints._knife_edge import KnifeEdgeJoint as KnifeEdgeJoint
from mcsim.scene.joints._cylindrical import CylindricalJoint as CylindricalJoint
from mcsim.scene.joints._planar import PlanarJoint as PlanarJoint
from mcsim.scene.joints._screw import ScrewJoint as ScrewJoint
from mcsim.scene.joints._distance import DistanceJoint as DistanceJoint
from mcsim.scene.joints._rack_pinion import RackPinionJoint as RackPinionJoint
from mcsim.scene.joints._free import FreeJoint as FreeJoint
from mcsim.scene.joints._gear import GearJoint as GearJoint
from mcsim.scene.joints._user import Pose as Pose, UserJoint as UserJoint
from mcsim.scene.joints._slot import SlotJoint as SlotJoint
from mcsim.scene.joints._point_on_plane import PointOnPlaneJoint as PointOnPlaneJoint
from mcsim.scene.joints._constant_velocity import ConstantVelocityJoint as ConstantVelocityJoint
from mcsim.scene.joints._lock import LockJoint as LockJoint

# Name of a type -> its class; of those that a scene file may hold.
TYPES: dict[str, type[Joint]] = {
    joint.type: joint
    for joint in list(globals().values())
    if isinstance(joint, type) and issubclass(joint, Joint) and joint is not Joint
}
JOINTS: dict[str, type[Joint]] = {name: joint for name, joint in TYPES.items() if joint.in_files}

_NAMES = [joint.__name__ for joint in TYPES.values()]

if not TYPE_CHECKING:  # which sees what the lines above import, but not a list made here
    __all__ = _NAMES
