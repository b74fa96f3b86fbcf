"""Robots from URDF files (yourdfpy reads them): links become bodies, joints become joints, both under their names.

A body's own frame is its link's. See docs/urdf.md for what of a file counts.
"""

from __future__ import annotations  # signatures read as they are written here

import logging
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from mcsim.core.files import path_name
from mcsim.core.rotation import IDENTITY, Frame, compose, normalized
from mcsim.io.arguments import in_file, mapping, named_folders, vertices, warn
from mcsim.io.frames import BodyFrame
from mcsim.io.robot import Robot
from mcsim.io.starts import told_outside
from mcsim.io.urdf_meshes import MeshError, Meshes, MissingMesh
from mcsim.io.urdf_tree import ONE_COORDINATE, Tree, frame_of
from mcsim.io.urdf_xml import CAPSULE, read_robot
from mcsim.scene import (
    Box,
    Capsule,
    Cylinder,
    FreeJoint,
    GearJoint,
    Joint,
    MassProperties,
    Motor,
    Scene,
    Shape,
    Sphere,
    Spring,
)
from mcsim.scene.checks import FieldError, Vector, choose, flag, listing, show, unit_quaternion, vector
from mcsim.scene.joints import TYPES
from mcsim.scene.mass import combined, inertia_problem
from mcsim.scene.shapes import ORIGIN, UPRIGHT
from mcsim.world import World

WORLD = "world"  # a root link of this name is the base
ROBOT = 2  # the collision group of links that do not collide with each other
OVERLAP = 1e-6  # from which on links stand in each other, and do not just touch [m]
FLAGS = {"true": True, "false": False}
JOINTS = {name: joint for joint in TYPES.values() for name in joint.urdf}


class UrdfWarning(UserWarning):
    """What a URDF file says cannot be quite right, but can be simulated."""


def load_urdf(
    path: str | PathLike[str],
    *,
    base: str = "floating",
    inertia: str = "warn",
    merge_fixed: bool = True,
    position: Vector = ORIGIN,
    orientation: Vector = UPRIGHT,
    joint_positions: Mapping[str, float] | None = None,
    motors: str = "none",
    self_collision: bool = True,
    ignore_overlaps: bool = True,
    packages: Mapping[str, str | PathLike[str]] | None = None,
    meshes: str = "required",
    hull_vertices: int = 64,
) -> Scene:
    """The scene of a URDF file: one robot, without a floor.

    base: "floating"; or "free_joint": the same, and a FreeJoint holds the root link to the world, so that in a
        ReducedWorld q begins with the link's own frame, as Pinocchio and MuJoCo have it; or "fixed": the root link is a
        static body. It always is if it is called "world".
    inertia: what is done about links whose inertia breaks the triangle inequality, which that of no solid does:
        "warn" tells of them (UrdfWarning) and takes them as they are, "strict" refuses them. "shapes" is "warn", but where
        a link's inertia is not even positive definite, as where the file has zeros, it takes that of its shapes, with the
        file's mass and centre of mass.
    merge_fixed: whether links on fixed joints are one body with their parents, which has the parent's name; if not,
        only those without mass are.
    position [m], orientation (w, x, y, z): of the root link in the world.
    joint_positions: joint -> start position [rad or m]; 0 for those left out.
    motors: "position" gives every hinge and slider that mimics no other a motor that holds its start position,
        "velocity" one that holds it at rest, either with the file's effort as max_force; "none" none. A position motor
        goes to a new position at the file's velocity limit at most (max_velocity), where that is above 0.
    self_collision: whether links collide with each other, if no joint joins them. Without it none of two robots do.
    ignore_overlaps: whether links that stand in each other where all joints are at zero, as hulls of hollow meshes do,
        never collide (Scene.ignore_collision); the log "mcsim" says which.
    packages: name -> folder, for package://name/… in the names of meshes. See docs/urdf.md for where else they are
        looked for.
    meshes: "required", or "found" to leave out those that are not there (UrdfWarning), or "none" to leave out all.
    hull_vertices: the most that the convex hull of a mesh may have.

    `read_urdf` gives the frames of merged links beside the scene.
    """
    robot = read_urdf(
        path,
        base=base,
        inertia=inertia,
        merge_fixed=merge_fixed,
        position=position,
        orientation=orientation,
        joint_positions=joint_positions,
        motors=motors,
        self_collision=self_collision,
        ignore_overlaps=ignore_overlaps,
        packages=packages,
        meshes=meshes,
        hull_vertices=hull_vertices,
    )
    outside = told_outside(robot.scene)
    for problem in [*robot.left_out, *([outside] if outside else [])]:
        warn(f"{fspath(path)}: {problem}", UrdfWarning)
    return robot.scene


def read_urdf(
    path: str | PathLike[str],
    *,
    base: str = "floating",
    inertia: str = "warn",
    merge_fixed: bool = True,
    position: Vector = ORIGIN,
    orientation: Vector = UPRIGHT,
    joint_positions: Mapping[str, float] | None = None,
    motors: str = "none",
    self_collision: bool = True,
    ignore_overlaps: bool = True,
    packages: Mapping[str, str | PathLike[str]] | None = None,
    meshes: str = "required",
    hull_vertices: int = 64,
) -> Robot:
    """A Robot: the scene of a URDF file as `load_urdf` makes it, and a BodyFrame for each link that is one body with
    others. `left_out` says what `load_urdf` warns of. The arguments are those of `load_urdf`.

        robot = mcsim.io.read_urdf("panda.urdf", base="fixed")
        world = mc.ReducedWorld(robot.scene)
        robot.frame("panda_hand").pose(world), robot.frame("panda_hand").jacobian(world)
    """
    name = path_name(path, "URDF file")
    with in_file(name):
        choose(base, ("floating", "free_joint", "fixed"), "base")
        choose(inertia, ("warn", "strict", "shapes"), "inertia")
        choose(motors, ("none", "position", "velocity"), "motors")
        choose(meshes, ("required", "found", "none"), "meshes")
        merge_fixed = flag(_from_text(merge_fixed), "merge_fixed")
        self_collision = flag(_from_text(self_collision), "self_collision")
        ignore_overlaps = flag(_from_text(ignore_overlaps), "ignore_overlaps")
        root = (
            np.array(vector(_numbers(position), "position")),
            normalized(unit_quaternion(_numbers(orientation), "orientation")),
        )
        hulls = Meshes(Path(name).parent.resolve(), named_folders(packages), vertices(hull_vertices))
        joint_positions = mapping(joint_positions, "joint -> position", "joint_positions")
        tree = Tree(name, *read_robot(name))
        maker = _Maker(tree, base == "fixed" or tree.root == WORLD, merge_fixed, meshes, hulls, inertia)
        positions = tree.positions(joint_positions)
        scene = Scene(name=maker.name)
        groups = {} if self_collision else {"collision_group": ROBOT, "collision_mask": ~ROBOT}
        maker.add_bodies(scene, tree.poses(positions, root), groups)
        if base == "free_joint" and maker.base is None:
            scene.add_joint(maker.free_joint())
        maker.add_joints(scene, positions, motors)
        if self_collision and ignore_overlaps:
            _ignore_overlaps(scene, tree.poses(tree.positions({}), root), name)
    tree_joints = [joint.name for joint in scene.joints if joint.type != "gear"]
    return Robot(scene, tree_joints, maker.frames(), left_out={problem: [] for problem in maker.problems})


def _ignore_overlaps(scene: Scene, poses: Mapping[str, Frame], name: str) -> None:
    """Let links pass through each other that overlap at these poses, and note which in the log."""
    bodies = [body.changed(position=poses[body.name][0], orientation=poses[body.name][1]) for body in scene.bodies]
    rows = World(scene.of_parts(bodies, scene.joints)).rows
    deep = rows[(rows["kind"] == "normal") & (rows["error"] < -OVERLAP)]
    pairs = [(scene.bodies[a].name, scene.bodies[b].name) for a, b in np.unique(deep["bodies"], axis=0)]
    for pair in pairs:
        scene.ignore_collision(*pair)
    if pairs:
        logging.getLogger("mcsim").info(
            "%s: these links overlap at zero and do not collide: %s", name, ", ".join(f"{a} and {b}" for a, b in pairs)
        )


# ---- arguments -------------------------------------------------------------------------------------------------------


def _from_text(value: Any) -> Any:
    """A flag as the command line has it."""
    return FLAGS.get(value.lower(), value) if isinstance(value, str) else value


def _numbers(value: Any) -> Any:
    """Numbers as the command line has them: 0,0,1."""
    if not isinstance(value, str):
        return value
    try:
        return [float(word) for word in value.replace(",", " ").split()]
    except ValueError:
        return value


# ---- the scene -------------------------------------------------------------------------------------------------------


class _Maker:
    """Makes bodies and joints of a tree. problems: what to warn of, one line each."""

    def __init__(self, tree: Tree, fixed_base: bool, merge_fixed: bool, meshes: str, hulls: Meshes, inertia: str):
        self.tree, self.meshes, self.hulls, self.inertia = tree, meshes, hulls, inertia
        self.name = tree.name
        self.base = tree.root if fixed_base else None
        self.bodies = tree.bodies(merge_fixed, fixed_base)
        self.problems: list[str] = []
        self.by_shapes: dict[str, MassProperties] = {}  # of links whose inertia is that of their shapes

    # ---- bodies ------------------------------------------------------------------------------------------------------

    def add_bodies(self, scene: Scene, poses: Mapping[str, Frame], groups: Mapping[str, int]) -> None:
        """Add every body, in the order of the file's links. groups: what it collides with, as arguments of add_body."""
        missing: list[str] = []
        links: dict[str, list[str]] = {}  # body -> links that make it up
        for link in self.tree.links:
            links.setdefault(self.bodies[link][0], []).append(link)
        for name in self.tree.links:
            if self.bodies[name][0] != name:
                continue
            shapes = [shape for link in links[name] for shape in self._shapes(link, missing)]
            place: dict[str, Any] = {"shape": shapes, "position": poses[name][0], "orientation": poses[name][1], **groups}
            if name == self.base:
                scene.add_body(name, kind="static", **place)
            else:
                scene.add_body(name, **place, **self._mass(name, links[name]))
        moving = [link for link in self.tree.links if self.bodies[link][0] != self.base]
        odd = {link: problem for link in moving if (problem := self._inertia_problem(link)) is not None}
        if odd and self.inertia == "strict":
            link, problem = next(iter(odd.items()))
            raise self.tree.wrong("link", link, f"inertia {problem}; inertia='warn' takes it as it is")
        if odd:
            self.problems.append(
                f"the inertia of {'link' if len(odd) == 1 else 'links'} {listing(odd)} is that of no "
                "solid (its moments break the triangle inequality) and taken as it is"
            )
        if self.by_shapes:
            self.problems.append(f"the inertia of links {listing(self.by_shapes)} is none, and taken from their shapes")
        if missing:
            self.problems.append(f"left out meshes that are not there, of links {listing(dict.fromkeys(missing))}")

    def _inertia_problem(self, link: str, unphysical: bool = False) -> str | None:
        """What keeps a link's inertia from being that of a solid; nothing does if it has no mass, or is a point."""
        properties = self._properties(link)
        if properties is None or not properties.inertia.any():
            return None
        return inertia_problem(properties.inertia, unphysical)

    def _properties(self, name: str) -> MassProperties | None:
        """A link's mass and inertia, in the frame of its body; None if it has neither. Without mass it may have some
        inertia, which counts for its body."""
        inertial = self.tree.links[name].inertial
        if inertial is None or inertial.mass == 0.0 and (inertial.inertia is None or not inertial.inertia.any()):
            return None
        in_link = MassProperties(inertial.mass, np.zeros(3), inertial.inertia).placed(*frame_of(inertial.origin))
        own = in_link.placed(*self.bodies[name][1])
        if self.inertia == "shapes" and own.mass and inertia_problem(own.inertia, unphysical=True):
            return self._from_shapes(name, own)
        return own

    def _from_shapes(self, link: str, own: MassProperties) -> MassProperties:
        """A link's mass and centre of mass, with the inertia of its shapes, of one density; as it is if it has none."""
        if link not in self.by_shapes:
            shapes = list(self._shapes(link, []))
            if not shapes:
                return own
            solid = combined([shape.mass_properties(1.0) for shape in shapes])
            self.by_shapes[link] = MassProperties(own.mass, own.center, solid.inertia * (own.mass / solid.mass))
        return self.by_shapes[link]

    def _mass(self, name: str, links: list[str]) -> dict[str, Any]:
        """The arguments that give the mass of a body made of these links."""
        parts = [part for part in map(self._properties, links) if part is not None]
        if not any(part.mass for part in parts):
            joint = self.tree.joint_to.get(name)
            moves = "it is the floating root" if joint is None else f"joint {show(joint.name)} moves it"
            remedy = "give it <inertial>" + (", or base='fixed'" if joint is None else ", or make the joint fixed")
            raise self.tree.wrong("link", name, f"has no mass, but {moves}; {remedy}")
        whole = combined(parts)
        problem = inertia_problem(whole.inertia, unphysical=True)
        if problem:
            blamed = next((link for link in links if self._inertia_problem(link, unphysical=True)), name)
            together = f", together with {listing(link for link in links if link != blamed)}," if len(links) > 1 else ""
            raise self.tree.wrong("link", blamed, f"inertia{together} {problem}; inertia='shapes' takes that of its shapes")
        return {
            "mass": whole.mass,
            "inertia": whole.inertia,
            "center_of_mass": whole.center,
            "unphysical_inertia": inertia_problem(whole.inertia) is not None,
        }

    def frames(self) -> dict[str, BodyFrame]:
        """The frames of links that are one body with others, on that body."""
        return {link: BodyFrame(link, body, *frame) for link, (body, frame) in self.bodies.items() if body != link}

    # ---- shapes ------------------------------------------------------------------------------------------------------

    def _shapes(self, link: str, missing: list[str]) -> Iterator[Shape]:
        """A link's collision shapes, in the frame of its body. missing: takes the names of links whose mesh is."""
        for collision in self.tree.links[link].collisions:
            frame = compose(self.bodies[link][1], frame_of(collision.origin))
            try:
                if collision.geometry.mesh is None:
                    yield _solid(collision, frame)
                elif self.meshes != "none":
                    yield self.hulls.hull(collision.geometry.mesh.filename, collision.geometry.mesh.scale, frame)
            except MissingMesh as error:
                if self.meshes == "required":
                    raise self.tree.wrong(
                        "link",
                        link,
                        f"{error}; give packages={{'name': 'folder'}}, or meshes='found' to leave out what is missing",
                    ) from None
                missing.append(link)
            except (FieldError, MeshError) as error:
                raise self.tree.wrong("link", link, str(error)) from None

    # ---- joints ------------------------------------------------------------------------------------------------------

    def free_joint(self) -> FreeJoint:
        """What holds the root link to the world, and forbids nothing: its frames are the world's and the link's."""
        name = self._unused(f"{self.tree.root}_free")
        return FreeJoint(None, self.bodies[self.tree.root][0], name=name, frame_a=IDENTITY, frame_b=IDENTITY)

    def add_joints(self, scene: Scene, positions: Mapping[str, float], motors: str) -> None:
        """Add the joints between bodies, in the order of the file, and a gear for each one that mimics another."""
        for joint in self.tree.joints.values():
            if self.bodies[joint.child][0] == joint.child:
                scene.add_joint(self._joint(joint, positions.get(joint.name), motors))
        for joint in self.tree.joints.values():
            if joint.mimic is not None and joint.name in positions:
                scene.add_joint(
                    GearJoint(
                        joint.name,
                        joint.mimic.joint,
                        -joint.mimic.multiplier,
                        constant=joint.mimic.offset,
                        collide=True,
                        name=self._unused(f"{joint.name}_mimic"),
                    )
                )

    def _joint(self, joint: Any, position: float | None, motors: str) -> Joint:
        frame_a, frame_b = self.tree.joint_frames(joint, self.bodies)
        drives = self._drives(joint, position, motors) if joint.type in ONE_COORDINATE else {}
        try:
            make: Any = JOINTS[joint.type]
            return make(
                self.bodies[joint.parent][0], joint.child, name=joint.name, frame_a=frame_a, frame_b=frame_b, **drives
            )
        except FieldError as error:
            raise self.tree.wrong("joint", joint.name, f"{error.field} {error.problem}") from None

    def _drives(self, joint: Any, position: float | None, motors: str) -> dict[str, Any]:
        """Limits, damping, friction and motor of a hinge or slider."""
        drives: dict[str, Any] = {}
        if joint.type != "continuous":
            drives["limits"] = joint.limit.lower or 0.0, joint.limit.upper or 0.0
        if joint.dynamics is not None:
            if float(joint.dynamics.damping or 0.0) > 0.0:
                drives["spring"] = Spring(0.0, damping=float(joint.dynamics.damping))
            drives["friction"] = float(joint.dynamics.friction or 0.0)
        if motors != "none" and joint.mimic is None:
            effort = None if joint.limit is None else joint.limit.effort
            target: dict[str, Any] = {motors: position if motors == "position" else 0.0}
            if motors == "position" and joint.limit is not None and joint.limit.velocity:  # 0: the file does not know
                target["max_velocity"] = joint.limit.velocity
            drives["motor"] = Motor(**target, max_force=effort)
        return drives

    def _unused(self, name: str) -> str:
        """A name like this one, which no joint has."""
        while name in self.tree.joints:
            name += "_"
        return name


def _solid(collision: Any, frame: Frame) -> Shape:
    """A box, ball, cylinder or capsule. The file gives whole sizes, shapes take half of them."""
    place: dict[str, Any] = {"position": frame[0], "orientation": frame[1]}
    geometry = collision.geometry
    if geometry.box is not None:
        return Box(geometry.box.size / 2, **place)
    if geometry.sphere is not None:
        return Sphere(geometry.sphere.radius, **place)
    kind = Capsule if collision.name == CAPSULE else Cylinder
    return kind(geometry.cylinder.radius, geometry.cylinder.length / 2, **place)
