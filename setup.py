"""Builds the compiled kernels: whatever .pyx there is below mcsim.

Switches, by environment variable:
  MCSIM_DEBUG=1                     bounds checks, C asserts alive, -O1 -g
  MCSIM_SANITIZE=address,undefined  the named sanitizers, or thread (run with their runtimes preloaded, see
                                    docs/building.md)
  MCSIM_COVERAGE=1                  line tracing for coverage.py's Cython plugin; one level of one lane, for what is
                                    traced is made a Python object, which no register of several lanes can be
  MCSIM_ANNOTATE=1                  Cython's annotated HTML beside each source
  MCSIM_LEVELS=v3,v4                the levels of x86-64 that are built besides the baseline, for wheels; without it those
                                    that this machine's processor has
"""

import ast
import contextlib
import gc
import os
import platform
import re
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from Cython.Build import Dependencies, cythonize
from Cython.Compiler import Errors, Main
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent

# Every .pyx below mcsim is a kernel.
KERNELS = sorted(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in (ROOT / "mcsim").rglob("*.pyx"))

# Kernels of the levels of x86-64 processors -> the flags of gcc and clang for them; all levels give the same bits. Beyond
# the baseline they are built on such processors only, and those alone that the processor of this machine has: what is
# built to be given away names them all by MCSIM_LEVELS. Functions that pass registers of several lanes must be inlined.
INLINE = "-DCYTHON_INLINE=inline __attribute__((always_inline))"
LEVELS = {
    f"mcsim.{package}._{level}": [INLINE, *flags]
    for package in ("wide", "reduced")
    for level, flags in {
        "base": [],
        "v3": ["-march=x86-64-v3"],
        "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"],
    }.items()
}

# What a processor must have for a level beyond the baseline, in the words of /proc/cpuinfo: as in wide/_base.pyx.
FEATURES = {"v3": "avx2 fma bmi1 bmi2", "v4": "avx2 fma bmi1 bmi2 avx512f avx512bw avx512cd avx512dq avx512vl"}

# What looks into lanes and is no level works on one lane, whatever the processor.
INTO_LANES = re.compile(
    r'^from mcsim\.wide\._(lanes|lane_types|contact_frame|limit_surface) cimport|^include "_kernels\.pxi"', re.MULTILINE
)

# The kernel with loops for several threads, where the compiler has OpenMP. It tells the sanitizer of threads itself who
# waits for whom, and is not watched.
THREADED = "mcsim.core._thread_pool"

# What calls kernels, or lays out what they work on: little but calls and Python, of which -O1 makes code as fast as -O3
# does, in half the time.
CALLERS = (
    "mcsim.step.",
    "mcsim.state.",
    "mcsim.direct._state",
    "mcsim.wide._batches",
    "mcsim.wide._direct_balls",
    "mcsim._cyutility",
)

# Cython's own helper code, compiled once for all kernels.
UTILITY = "mcsim._cyutility"


# Translating builds large trees that live until its end: looking for rubbish among them as often as Python does by itself
# takes a third of its time. Here, for every process that translates.
gc.set_threshold(100_000, 50, 50)

# What constraints/_NAME.pxd may define as VERB_NAME, and what is done for a type whose file does not.
JOINT_VERBS = {
    "constrain": """
cdef inline int constrain(Row* rows, const Joint* joint, const JointFrames* f) noexcept nogil:
    \"\"\"Jacobians, errors and curvatures of what the joint forbids. -> how many rows.\"\"\"
{        return constrain_NAME(rows, f, joint)}    return 0
""",
    "holds": """
cdef inline bint holds_position(const Joint* joint, int i) noexcept nogil:
    \"\"\"Whether row i of the joint has a position error, or binds velocities alone.\"\"\"
{        return holds_NAME(joint, i)}    return True
""",
    "axes": """
cdef inline void list_coordinates(AxisGeometry* axes, const JointFrames* f, const Joint* joint) noexcept nogil:
    \"\"\"The free coordinates at the present poses, angles within one turn.\"\"\"
{        axes_NAME(axes, f, joint)}""",
    "curvature": """
cdef inline bint curvature_by_type(const Joint* joint, const JointFrames* f, const AxisGeometry* axes, int i,
                                   double* out) noexcept nogil:
    \"\"\"J' v of coordinate i, where the type has its own. -> whether it has\"\"\"
{        out[0] = curvature_NAME(f, axes, i)
        return True}    return False
""",
    "error": """
cdef inline void measure_error(const Joint* joint, const JointFrames* f, double* position, double* angle) noexcept nogil:
    \"\"\"By how much what the joint forbids is off [m, rad]; nothing is written of what cannot be.\"\"\"
{        error_NAME(f, joint, position, angle)}""",
}

# The same of collide/shapes/_NAME.pxd. Points and directions are in the shape's frame, results in the world's axes where
# they are of a place on the solid (support, line, edge), else in the shape's.
SHAPE_VERBS = {
    "core_radius": """
cdef inline double core_radius(const Solid* s) noexcept nogil:
    \"\"\"Radius of the ball that sweeps the core [m].\"\"\"
{        return core_radius_NAME(s)}    return s.rounding
""",
    "rounding": """
cdef inline double rounding(const Solid* s, Vec3 d, Vec3 turn) noexcept nogil:
    \"\"\"Radius to which the surface is round where it faces d, world [m]: as the solid turns, that much of the contact
    point stays below its centre instead of going round. turn: what it turns by in the time ahead, world [rad].\"\"\"
{        return rounding_NAME(s, d, turn)}    return core_radius(s)
""",
    "inner_radius": """
cdef inline double inner_radius(const Solid* s) noexcept nogil:
    \"\"\"Of the ball about the solid's middle that fits into it [m]; of a hull's near its middle; else infinite.\"\"\"
{        return inner_radius_NAME(s) + s.rounding}    return INFINITY


cdef inline double thickness(const Solid* s) noexcept nogil:
    \"\"\"Diameter of that ball [m].\"\"\"
    return 2.0 * inner_radius(s)
""",
    "ball_count": """
cdef inline int inner_ball_count(const Solid* s) noexcept nogil:
    \"\"\"How many balls tell where the solid is: the one in its middle, and one in each corner or end.\"\"\"
{        return ball_count_NAME(s)}    return 1
""",
    "ball": """
cdef inline double inner_ball(const Solid* s, int k, Vec3* centre) noexcept nogil:
    \"\"\"Centre, in the shape's frame [m], and radius [m] of the balls; number 0 is the one in the middle. All have half
    the radius that would fit.\"\"\"
{        return ball_NAME(s, k, centre) + 0.5 * s.rounding}    centre[0] = vec3(0.0, 0.0, 0.0)
    return 0.5 * inner_radius(s)
""",
    "middle": """
cdef inline Vec3 middle_of(const Solid* s) noexcept nogil:
    \"\"\"A point well inside, from its position, world axes.\"\"\"
{        return middle_NAME(s)}    return vec3(0.0, 0.0, 0.0)
""",
    "reach": """
cdef inline double reach_of(const Solid* s) noexcept nogil:
    \"\"\"What its reach must be.\"\"\"
{        return reach_NAME(s) + s.rounding}    return INFINITY
""",
    "support": """
cdef inline Vec3 support(const Solid* s, Vec3 d) noexcept nogil:
    \"\"\"The point of the core farthest along d, from the solid's position, world axes. d need not be a unit vector.\"\"\"
    cdef Vec3 local = mat_t_vec(s.axes, d)
{        return support_NAME(s, local)}    return vec3(0.0, 0.0, 0.0)
""",
    "curved": """
cdef inline bint is_curved(const Solid* s) noexcept nogil:
    \"\"\"Whether its core has an inside and a curved surface.\"\"\"
{        return curved_NAME(s)}    return False
""",
    "bend": """
cdef inline Vec3 bend(const Solid* s, Vec3 d, Vec3 e) noexcept nogil:
    \"\"\"How the core's farthest point along the unit vector d moves as d turns towards e, at right angles to it, world
    [m/rad]: 0 at a corner and across an edge.\"\"\"
{        return mat_vec(s.axes, bend_NAME(s, mat_t_vec(s.axes, d), mat_t_vec(s.axes, e)))}    return vec3(0.0, 0.0, 0.0)
""",
    "beside": """
cdef inline Vec3 side_normal(const Solid* s, Vec3 d) noexcept nogil:
    \"\"\"Of a round side about z, the normal on the half plane of d, both world.\"\"\"
    cdef Vec3 axis = mat_column(s.axes, 2)
{        return mat_vec(s.axes, beside_NAME(s, mat_t_vec(s.axes, d)))}    axis = add_scaled(d, -dot(d, axis), axis)
    return normalized(axis)
""",
    "bounds": """
cdef inline Aabb bounds(const Solid* s) noexcept nogil:
    \"\"\"The smallest axis-aligned box about the solid, world. A plane has none: everything.\"\"\"
{        return swollen(bounds_NAME(s), s.rounding)}    return about(s.position, vec3(INFINITY, INFINITY, INFINITY))
""",
    "chord": """
cdef inline int chord(const Solid* s, Vec3 o, Vec3 d, Chord* c) noexcept nogil:
    \"\"\"c: the whole line. -> 1, and the piece of it that is inside; 0: they do not meet. Of a solid that is rounded the
    piece in its core.\"\"\"
{        return chord_NAME(s, o, d, c)}    return 0
""",
    "outward": """
cdef inline Vec3 outward(const Solid* s, Vec3 p, int32_t face) noexcept nogil:
    \"\"\"The unit normal at a point of the surface, or of the face, in the shape's frame. Of the core, as of `chord`.\"\"\"
{        return outward_NAME(s, p, face)}    return vec3(0.0, 0.0, 1.0)
""",
    "feature": """
cdef inline void supporting_feature(const Solid* s, Vec3 d, Vec3 origin, Polygon* out) noexcept nogil:
    \"\"\"The feature of s that faces the unit vector d; `origin` is the solid's position in the coordinates to use. Of a
    solid that is rounded the core's, moved out along d: each point is the one of its ball that faces d.\"\"\"
    cdef Vec3 local = mat_t_vec(s.axes, d)
    if s.rounding > 0.0:
        origin = add_scaled(origin, s.rounding, d)
    out.count = 0
    out.disc = out.height = out.radius[0] = out.radius[1] = 0.0
{        feature_NAME(s, local, origin, out)}    out.radius[0] += s.rounding
    out.radius[1] += s.rounding
""",
    "ways": """
cdef inline int ways_for(const Solid* s) noexcept nogil:
    \"\"\"How many directions are enough to find the corners of a face that it has: 16, or 32.\"\"\"
{        return ways_NAME(s)}    return 16
""",
    "facing": """
cdef inline int facing(const Solid* s, Vec3 d, Vec3* line) noexcept nogil:
    \"\"\"What of a solid faces the unit vector d; of a line its direction, world.\"\"\"
    cdef Vec3 local = mat_t_vec(s.axes, d)
{        return facing_NAME(s, local, line)}    return FACING_OTHER
""",
    "rim": """
cdef inline double rim_radius(const Solid* s, Vec3 d) noexcept nogil:
    \"\"\"Radius of the rim about z whose lowest point faces the unit vector d [m]; 0: none does.\"\"\"
{        return rim_NAME(s, mat_t_vec(s.axes, d))}    return 0.0
""",
    "edge": """
cdef inline Vec3 edge_between(const Solid* s, int32_t i, int32_t j, Vec3 at) noexcept nogil:
    \"\"\"Along the edge between two vertices, as supporting_feature numbers them, or along a rim at the place `at`,
    world; 0: none that is known.\"\"\"
{        return edge_NAME(s, i, j, at)}    return vec3(0.0, 0.0, 0.0)
""",
    "face_count": """
cdef inline int face_count(const Solid* s) noexcept nogil:
    \"\"\"A round side counts as one face: the plane that touches it nearest to the point in question. All of a solid that
    is rounded does.\"\"\"
    if s.rounding > 0.0:
        return 1
{        return face_count_NAME(s)}    return 1
""",
    "depth": """
cdef inline double face_of(const Solid* s, int k, Vec3 p, Vec3* normal) noexcept nogil:
    \"\"\"How deep p is below the face k [m], and the face's outward normal, world.\"\"\"
    cdef Vec3 x = mat_t_vec(s.axes, sub(p, s.position))
    cdef Vec3 n = vec3(0.0, 0.0, 1.0)
    cdef double depth = -INFINITY
    if s.rounding > 0.0:
        point_distance(s, x, &depth, &n)
        normal[0] = mat_vec(s.axes, n)
        return -depth
{        depth = depth_NAME(s, k, x, &n)}    normal[0] = mat_vec(s.axes, n)
    return depth
""",
    "farthest": """
cdef inline Vec3 farthest_point(const Solid* s, Vec3 g, Vec3 p) noexcept nogil:
    \"\"\"Of the points of a shape that reach farthest along the unit vector g the nearest to p. Contacts of faces along an
    edge's normal spread over the faces; that normal is the edge's alone.\"\"\"
    cdef Vec3 local = mat_t_vec(s.axes, g)
    cdef Vec3 x = mat_t_vec(s.axes, sub(p, s.position))
{        return add_scaled(add(s.position, mat_vec(s.axes, farthest_NAME(s, local, x))), s.rounding, g)}    return p
""",
    "point": """
cdef inline bint point_off_core(const Solid* s, Vec3 local, double* distance, Vec3* normal) noexcept nogil:
    \"\"\"As point_distance, without the rounding.\"\"\"
{        return point_NAME(s, local, distance, normal)}    distance[0] = -INFINITY
    return False


cdef inline bint point_distance(const Solid* s, Vec3 local, double* distance, Vec3* normal) noexcept nogil:
    \"\"\"Signed distance of a point in the shape's frame [m], and the outward gradient. -> whether it is exact,
    or less.\"\"\"
    cdef bint exact = point_off_core(s, local, distance, normal)
    distance[0] -= s.rounding
    return exact
""",
}


class Registry(NamedTuple):
    """A registry of types, a file of descriptions each and one of kernels, and what kernels have of it, two files."""

    folder: str  # of mcsim/: descriptions; __init__.py imports them in the order of their numbers
    kernels: str  # the folder of the kernel files
    enum: str
    numbers: str  # the file of the types' numbers
    table: str  # the file of what chooses a type's kernel file
    chosen: str  # by what
    verbs: dict[str, str]


def stated(text):
    """Name -> value of what the classes of a module state in plain words, with a type in front of it or without."""
    found = {}
    for part in ast.parse(text).body:
        for line in part.body if isinstance(part, ast.ClassDef) else ():
            target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
            if isinstance(target, ast.Name) and getattr(line, "value", None) is not None:
                with contextlib.suppress(ValueError):
                    found[target.id] = ast.literal_eval(line.value)
    return found


def described_types(registry):
    """Name -> what the description states, of those modules that state a type."""
    folder = ROOT / "mcsim" / registry.folder
    module = "mcsim." + registry.folder.replace("/", ".")
    names = re.findall(rf"^from {re.escape(module)}\._(\w+) import", (folder / "__init__.py").read_text(), re.M)
    described = {name: stated((folder / f"_{name}.py").read_text()) for name in names}
    return {name: told for name, told in described.items() if told.get("type") == name}


def rotations(types):
    """Of each type of joint the number of the first coordinate of a rotation vector, 6: of none."""
    coordinates = [told.get("coordinates", ()) for told in types.values()]
    return [parts.index("turn") if "turn" in parts else 6 for parts in coordinates]


def write_table(registry):
    """What kernels take from a registry; written only where something differs."""
    types, kernels = described_types(registry), ROOT / "mcsim" / registry.kernels
    head = f'"""{{}} setup.py writes this file from mcsim/{registry.folder}."""\n\n'
    numbers = head.format("The numbers of types.")
    if registry is JOINTS:
        numbers += 'cdef extern from *:\n    """\n    static const int MCSIM_ROTATION[] = {%s};\n    """\n' % ", ".join(
            map(str, rotations(types))
        )
        numbers += "    # Of a type: the number of the first of three coordinates that are a rotation vector; 6: of none.\n"
        numbers += '    const int ROTATION "MCSIM_ROTATION"[]\n\n'
    numbers += f"cdef enum {registry.enum}:\n"
    numbers += "".join(f"    {name.upper()} = {number}\n" for number, name in enumerate(types))
    table = head.format("What depends on a type: the one place where it chooses its file.")
    module = "mcsim." + registry.kernels.replace("/", ".")
    texts = {name: (kernels / f"_{name}.pxd").read_text() for name in types}
    has = {name: [verb for verb in registry.verbs if f" {verb}_{name}(" in text] for name, text in texts.items()}
    table += f"from {module}._parts cimport *\n"
    table += f"from {Path(registry.numbers).with_suffix('').as_posix().replace('/', '.')} cimport *\n"
    table += "".join(
        f"from {module}._{name} cimport {', '.join(f'{verb}_{name}' for verb in found)}\n"
        for name, found in has.items()
        if found
    )
    for verb, text in registry.verbs.items():
        begin, one, end = re.split("[{}]", text)
        branches = "".join(
            f"    {'el' if k else ''}if {registry.chosen} == {name.upper()}:\n{one.replace('NAME', name)}\n"
            for k, name in enumerate(name for name in types if verb in has[name])
        )
        table += f"\n{begin}{branches}{end}"
    for path, text in ((ROOT / registry.numbers, numbers), (ROOT / registry.table, table)):
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


JOINTS = Registry(
    "scene/joints",
    "constraints",
    "JointType",
    "mcsim/state/_joint_types.pxd",
    "mcsim/constraints/_joint_table.pxd",
    "joint.type",
    JOINT_VERBS,
)
SHAPES = Registry(
    "scene/shapes",
    "collide/shapes",
    "ShapeType",
    "mcsim/state/_shape_types.pxd",
    "mcsim/collide/_shape_table.pxd",
    "s.type",
    SHAPE_VERBS,
)


SWITCHES = ("MCSIM_DEBUG", "MCSIM_SANITIZE", "MCSIM_COVERAGE", "MCSIM_ANNOTATE", "MCSIM_LEVELS", "MCSIM_ONLY")


def switch(name):
    return os.environ.get(name, "") not in ("", "0")


X86 = os.name == "posix" and platform.machine() in ("x86_64", "AMD64")
DEBUG = switch("MCSIM_DEBUG")
COVERAGE = switch("MCSIM_COVERAGE")
SANITIZE = os.environ.get("MCSIM_SANITIZE", "")

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
    "wraparound": False,
    "cdivision": True,
    "freethreading_compatible": True,
    "binding": True,
    "embedsignature": True,
    "emit_code_comments": False,
    "auto_pickle": False,  # none can be pickled by its fields alone: 60 kB of C a class
    "linetrace": COVERAGE,
}


def gcc_flags():
    """Compile and link flags for gcc and clang; never fast-math or contraction: bits must not depend on the CPU."""
    common = [
        "-ffp-contract=off",
        "-fno-math-errno",
        "-Wno-unused-function",
        "-Wno-unused-but-set-variable",
        "-Wno-unused-const-variable",
        "-Wno-psabi",
    ]
    if SANITIZE:
        sanitize = [f"-fsanitize={SANITIZE}", "-fno-omit-frame-pointer", "-g"]
        return ["-O1", *common, *sanitize], sanitize
    if DEBUG:
        return ["-O1", "-g", *common], []
    return ["-O3", "-g0", *common], []  # Python's own flags ask for -g, a third of the compiler's time


def on_one_lane(module):
    return module not in LEVELS and INTO_LANES.search((ROOT / module.replace(".", "/")).with_suffix(".pyx").read_text())


def extension(module):
    return Extension(
        module,
        [module.replace(".", "/") + ".pyx"],
        libraries=["m"] if os.name == "posix" else [],
        define_macros=([("CYTHON_TRACE_NOGIL", "1")] if COVERAGE else [])
        + ([("MCSIM_NO_LANES", "1")] if COVERAGE or on_one_lane(module) else []),
        undef_macros=["NDEBUG"] if DEBUG or SANITIZE else [],
        optional=module in LEVELS and not module.endswith("_base"),  # an old compiler may not know the level
    )


def processors():
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class BuildKernels(build_ext):
    """Flags depend on the compiler, which is known only here. All processors compile, unless -j says otherwise."""

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None:
            self.parallel = processors()

    def run(self):
        """Translate, then compile: here, since pip runs this file twice more only to ask what it is about. `pip install -e`
        begins anew each time, in a folder of its own, with headers of Cython that it has just unpacked; where all that it
        would make stands beside the sources already, it has nothing to do."""
        if self.editable_mode and not self.force and not any(map(switch, SWITCHES)) and self.all_built():
            self.extensions = []
            return
        for ext, translated in zip(self.extensions, translations(self.extensions), strict=True):
            ext.sources, ext.depends = translated.sources, translated.depends
        super().run()

    def all_built(self):
        """Whether every kernel stands beside its source, for this Python, and is younger than all sources."""
        made_of = [
            "setup.py",
            "mcsim/**/*.pyx",
            "mcsim/**/*.pxd",
            "mcsim/**/*.pxi",
            *(f"mcsim/{registry.folder}/*.py" for registry in (JOINTS, SHAPES)),
        ]
        youngest = max(path.stat().st_mtime for pattern in made_of for path in ROOT.glob(pattern))
        binaries = [ROOT / self.get_ext_filename(ext.name) for ext in self.extensions]
        return all(path.exists() and path.stat().st_mtime > youngest for path in binaries)

    def openmp(self):
        """The flags for OpenMP, if a program can be built with it."""
        if os.name != "posix":
            return ["/openmp"]
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "openmp.c"
            source.write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
            try:
                objects = self.compiler.compile([str(source)], output_dir=folder, extra_postargs=["-fopenmp"])
                self.compiler.link_executable(objects, "openmp", output_dir=folder, extra_postargs=["-fopenmp"])
            except Exception:  # whatever the compiler's class raises
                return []
        return ["-fopenmp"]

    def build_extensions(self):
        unix = self.compiler.compiler_type == "unix"
        if unix:
            compile_flags, link_flags = gcc_flags()
        else:
            compile_flags, link_flags = ["/O2", "/fp:precise"], []
        for ext in self.extensions:
            threads = self.openmp() if ext.name == THREADED else []
            if ext.name == THREADED and "thread" in SANITIZE.split(","):
                threads = [*threads, "-fno-sanitize=thread", "-DMCSIM_WATCH_THREADS"]
            one_lane = not COVERAGE and ("MCSIM_NO_LANES", "1") in ext.define_macros
            inlined = [INLINE] if one_lane else []
            level = LEVELS.get(ext.name, inlined) if unix and not COVERAGE else []
            ext.extra_compile_args = compile_flags + threads + level
            if unix and ext.name.startswith(CALLERS) and not one_lane:
                ext.extra_compile_args.append("-O1")
            ext.extra_link_args = link_flags + (threads if unix else [])
        # The largest first: none of them is left to one processor at the end.
        self.extensions.sort(key=lambda ext: -os.path.getsize(ext.sources[0]))
        super().build_extensions()


def levels_built():
    """Of LEVELS those to build here: what MCSIM_LEVELS names, else what this machine's processor has, as far as it can be
    told."""
    named = os.environ.get("MCSIM_LEVELS")
    if COVERAGE or not X86:  # coverage has one lane at every level
        levels = []
    elif named is not None:
        levels = [level for level in re.split(r"[\s,]+", named) if level and level != "base"]
        if not {*levels} <= {*FEATURES}:
            raise SystemExit(f"MCSIM_LEVELS is {named!r}; the levels are {', '.join(FEATURES)}")
    else:
        told = Path("/proc/cpuinfo")
        flags = re.search(r"^flags\s*:(.*)", told.read_text(), re.M) if told.exists() else None
        levels = [level for level, needed in FEATURES.items() if not flags or {*needed.split()} <= {*flags[1].split()}]
    return {module for module in LEVELS if module.rpartition("_")[2] in ("base", *levels)}


def extensions():
    levels = levels_built()
    only = os.environ.get("MCSIM_ONLY")  # a developer's shortcut: build the modules whose name contains it
    chosen = [
        extension(m)
        for m in KERNELS
        if (m not in LEVELS or m in levels) and (not only or any(o in m for o in only.split(",")))
    ]
    return [*chosen, Extension(UTILITY, [UTILITY.replace(".", "/") + ".c"])]


def translations(chosen):
    """The same modules with their C sources."""
    for registry in (JOINTS, SHAPES):
        write_table(registry)
    options = dict(
        compiler_directives=DIRECTIVES,
        emit_linenums=DEBUG or bool(SANITIZE),
        annotate=switch("MCSIM_ANNOTATE"),
        shared_utility_qualified_name=UTILITY,
    )
    if not hasattr(os, "fork"):
        return cythonize(chosen, nthreads=processors(), **options)
    tasks = []
    translate_one, Dependencies.cythonize_one = Dependencies.cythonize_one, lambda *task: tasks.append(task)
    try:
        modules = cythonize(chosen, **options)
    finally:
        Dependencies.cythonize_one = translate_one
    if tasks:
        translate_after_headers(tasks)
    return modules


def translate_after_headers(tasks):
    """cythonize_one for each task, in processes that begin with all headers already read. By itself Cython reads every
    header again for each module that reaches it, which is more than half of its work here."""
    files = Dependencies.create_dependency_tree()
    headers = {
        task[0]: {
            path.removesuffix(".pxd").replace(os.sep, ".")
            for path in files.all_dependencies(task[0])
            if re.match(r"mcsim\W.*\.pxd$", path)
        }
        for task in tasks
    }
    context = Main.Context.from_options(tasks[0][4])
    for name in sorted(set().union(*headers.values())):
        context.find_module(name)
    if Errors.get_errors_count():
        raise SystemExit("Cython found errors in headers, see above.")
    if context.utility_pxds:  # its helpers would go into every module
        raise SystemExit("A header declares a memoryview: take a pointer there (core/_arrays.pxd), or an object.")
    read, running, failed = context.pxds, {}, []

    def wait_for_one():
        process, status = os.wait()
        path = running.pop(process)
        if status:
            failed.append(path)

    gc.freeze()  # the processes share what has been read as long as none of them touches it
    for task in tasks:
        while len(running) >= processors():
            wait_for_one()
        process = os.fork()
        if not process:
            # The functions of the headers that the module reaches, and of no others, go into its source.
            context.pxds = {
                name: header for name, header in read.items() if name in headers[task[0]] or not name.startswith("mcsim.")
            }
            Main.Context.from_options = lambda options: setattr(context, "options", options) or context
            try:
                Dependencies.cythonize_one(*task)
            except BaseException as error:
                print(error, file=sys.stderr, flush=True)
                os._exit(1)
            sys.stdout.flush()
            os._exit(0)
        running[process] = task[0]
    while running:
        wait_for_one()
    gc.unfreeze()
    if failed:
        raise SystemExit("Cython could not translate " + ", ".join(sorted(failed)))


if __name__ == "__main__":  # what translates several files at once may import this file
    os.chdir(ROOT)
    setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels})
