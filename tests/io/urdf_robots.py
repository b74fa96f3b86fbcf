"""URDF files written by tests, and what Pinocchio says of them."""

import numpy as np
import pinocchio as pin

from mcsim.core.rotation import IDENTITY, compose, matrix, relative

INERTIAL = (
    '<inertial><origin xyz="{com}" rpy="{rpy}"/><mass value="{mass}"/>'
    '<inertia ixx="{i[0]}" ixy="{i[1]}" ixz="{i[2]}" iyy="{i[3]}" iyz="{i[4]}" izz="{i[5]}"/></inertial>'
)


def inertial(mass=1.0, com="0 0 0", rpy="0 0 0", i=(0.1, 0, 0, 0.1, 0, 0.1)):
    return INERTIAL.format(mass=mass, com=com, rpy=rpy, i=i)


def link(name, *parts, mass=1.0, **arguments):
    """A link with a mass, unless that is None."""
    parts = parts if mass is None else (inertial(mass, **arguments), *parts)
    return f'<link name="{name}">{"".join(parts)}</link>\n'


def joint(name, kind, parent, child, xyz="0 0 0", rpy="0 0 0", axis=None, limit='lower="-1" upper="2"', extra=""):
    axis = f'<axis xyz="{axis}"/>' if axis else ""
    if limit and "effort" not in limit:  # without it urdfdom, and so Pinocchio, refuses the file
        limit += ' effort="10" velocity="1"'
    limit = f"<limit {limit}/>" if limit and kind in ("revolute", "prismatic", "continuous") else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/>{axis}{limit}{extra}</joint>\n'
    )


def collision(solid, xyz="0 0 0", rpy="0 0 0"):
    return f'<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>{solid}</geometry></collision>'


def robot(*parts, name="robot"):
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n{"".join(parts)}</robot>\n'


# ---- a scene's own kinematics, from the frames of its joints ---------------------------------------------------------


def body_frames(scene, positions):
    """body -> its frame in the world, with joints at `positions` (by name; 0 if left out), from the root's place."""
    joints = [joint for joint in scene.joints if joint.type != "gear"]
    children = {joint.b for joint in joints}
    frames = {body.name: (body.position, body.orientation) for body in scene.bodies if body.name not in children}
    assert len(frames) == 1
    while joints:
        at_hand = [joint for joint in joints if joint.a in frames]
        for joint in at_hand:
            moved = compose(compose(frames[joint.a], joint.frame_a), _motion(joint, positions.get(joint.name, 0.0)))
            frames[joint.b] = compose(moved, relative(joint.frame_b, IDENTITY))
        joints = [joint for joint in joints if joint not in at_hand]
    return frames


def _motion(joint, position):
    """The joint's b frame in its a frame; z is the axis."""
    if joint.type == "hinge":
        return np.zeros(3), np.array([np.cos(position / 2), 0, 0, np.sin(position / 2)])
    if joint.type == "slider":
        return np.array([0, 0, position]), IDENTITY[1]
    assert position == 0.0, joint
    return IDENTITY


# ---- Pinocchio -------------------------------------------------------------------------------------------------------


def pinocchio_model(path, floating):
    root = [pin.JointModelFreeFlyer()] if floating else []
    return pin.buildModelFromUrdf(str(path), *root)


def pinocchio_state(model, positions):
    """q of the model with its one-coordinate joints at `positions`."""
    q = pin.neutral(model)
    for name, value in positions.items():
        joint = model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
    return q


def agree(scene, path, floating, seed=0, tolerance=1e-12):
    """Total mass, inertias in link frames, and the frames of all bodies at random positions are Pinocchio's."""
    model = pinocchio_model(path, floating)
    data = model.createData()
    moving = [body for body in scene.bodies if body.kind == "dynamic"]
    assert abs(sum(body.mass for body in moving) / pin.computeTotalMass(model) - 1.0) < tolerance
    for body in moving:
        frame = model.frames[model.getFrameId(body.name, pin.FrameType.BODY)]
        theirs = frame.placement.actInv(model.inertias[frame.parentJoint])
        assert abs(theirs.mass / body.mass - 1.0) < tolerance
        assert np.abs(theirs.lever - body.center_of_mass).max() < tolerance
        assert np.abs(theirs.inertia - body.inertia).max() < tolerance * np.abs(body.inertia).max()
    rng = np.random.default_rng(seed)
    positions = {joint.name: float(rng.uniform(-2, 2)) for joint in scene.joints if joint.type in ("hinge", "slider")}
    pin.framesForwardKinematics(model, data, pinocchio_state(model, positions))
    for name, (position, orientation) in body_frames(scene, positions).items():
        theirs = data.oMf[model.getFrameId(name, pin.FrameType.BODY)]
        assert np.abs(theirs.translation - position).max() < tolerance, name
        assert np.abs(theirs.rotation - matrix(orientation)).max() < tolerance, name
    return model


ARM = robot(
    link("base", mass=3.0, com="0.1 0 0"),
    link(
        "upper",
        collision('<box size="0.2 0.4 0.6"/>', "0 0 0.1", "0.3 0 0"),
        mass=2.0,
        com="0 0.1 0.2",
        rpy="0.4 0.5 0.6",
        i=(0.3, 0.01, 0.02, 0.4, 0.03, 0.5),
    ),
    link("tip", collision('<sphere radius="0.1"/>'), mass=0.5, com="0.05 0 0", i=(0.01, 0, 0, 0.02, 0, 0.02)),
    link("slide", mass=1.0, com="0 0 0.3"),
    joint("shoulder", "revolute", "base", "upper", "0.1 0.2 0.3", "0.1 0.2 0.3", axis="0 2 0"),
    joint("weld", "fixed", "upper", "tip", "0 0 0.5", "0 1 0"),
    joint("rail", "prismatic", "tip", "slide", "0.1 0 0.2", "0.7 0 0.2", axis="1 1 0"),
    name="arm",
)

GRIPPER = robot(
    link("palm"),
    link("left"),
    link("right"),
    link("tip"),
    joint("open", "prismatic", "palm", "left", "0 0.1 0", axis="0 1 0"),
    joint(
        "follow",
        "prismatic",
        "palm",
        "right",
        "0 -0.1 0",
        axis="0 -1 0",
        extra='<mimic joint="open" multiplier="2" offset="0.05"/>',
    ),
    joint("bend", "revolute", "right", "tip", "0 0 0.2", extra='<mimic joint="follow" multiplier="-3"/>'),
)
