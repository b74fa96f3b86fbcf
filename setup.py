"""Builds the compiled kernels. The table KERNELS is all there is to edit when a kernel is added.

Switches, by environment variable:
  MCSIM_DEBUG=1                     bounds checks, C asserts alive, -O1 -g
  MCSIM_SANITIZE=address,undefined  the named sanitizers (run with their runtimes preloaded, see docs/building.md)
  MCSIM_COVERAGE=1                  line tracing for coverage.py's Cython plugin; one level of one lane, for what is
                                    traced is made a Python object, which no register of several lanes can be
  MCSIM_ANNOTATE=1                  Cython's annotated HTML beside each source
"""

import ast
import os
import platform
import re
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Module -> libraries it links. One line a kernel.
KERNELS = {
    "mcsim.core._trig": ["m"],
    "mcsim.core._linear": ["m"],
    "mcsim.core._crew": [],
    "mcsim.core._turn": [],
    "mcsim.core._noted": [],
    "mcsim.state._layout_check": [],
    "mcsim.collide._shapes": ["m"],
    "mcsim.collide._broadphase": ["m"],
    "mcsim.collide._collider": ["m"],
    "mcsim.collide._surfaces": ["m"],
    "mcsim.collide._queries": ["m"],
    "mcsim.collide._sensors": ["m"],
    "mcsim.constraints._islands": ["m"],
    "mcsim.collide._backstop": ["m"],
    "mcsim.collide._foresight": [],
    "mcsim.constraints._carried": ["m"],
    "mcsim.constraints._joints": ["m"],
    "mcsim.constraints._limits": ["m"],
    "mcsim.constraints._motors": ["m"],
    "mcsim.constraints._direct": ["m"],
    "mcsim.constraints._contacts": ["m"],
    "mcsim.constraints._contact_order": [],
    "mcsim.constraints._compliant": ["m"],
    "mcsim.constraints._stiffness": ["m"],
    "mcsim.stabilize._stabilize": ["m"],
    "mcsim.stabilize._displace": ["m"],
    "mcsim.solve._si": ["m"],
    "mcsim.solve._pgs": ["m"],
    "mcsim.solve._held": [],
    "mcsim.solve._held_trees": [],
    "mcsim.solve._held_spans": [],
    "mcsim.solve._impact": ["m"],
    "mcsim.solve._laws": ["m"],
    "mcsim.solve._articulated_bodies": [],
    "mcsim.solve._tree": ["m"],
    "mcsim.solve._fronts": ["m"],
    "mcsim.solve._border": ["m"],
    "mcsim.solve._assemble": ["m"],
    "mcsim.solve.problems._system": ["m"],
    "mcsim.solve.problems._sweeps": ["m"],
    "mcsim.solve.problems._lemke": ["m"],
    "mcsim.solve.problems._dantzig": ["m"],
    "mcsim.solve.problems._gradients": ["m"],
    "mcsim.solve.problems._cholesky": ["m"],
    "mcsim.solve.problems._proximal": ["m"],
    "mcsim.solve.problems._admm": ["m"],
    "mcsim.solve.problems._lu": ["m"],
    "mcsim.solve.problems._cone": ["m"],
    "mcsim.event._features": ["m"],
    "mcsim.event._polyhedra": ["m"],
    "mcsim.event._bounds": ["m"],
    "mcsim.event._bodies": ["m"],
    "mcsim.solve.problems._newton": ["m"],
    "mcsim.solve.problems._recorder": ["m"],
    "mcsim.solve.problems._nesterov_todd": ["m"],
    "mcsim.solve.problems._ipm": ["m"],
    "mcsim.integrate._euler": ["m"],
    "mcsim.integrate._rk4": ["m"],
    "mcsim.integrate._variational": ["m"],
    "mcsim.constraints._forces": [],
    "mcsim.solve._smooth": ["m"],
    "mcsim.step._state_arrays": ["m"],
    "mcsim.wide._contacts": ["m"],
    "mcsim.wide._joints": ["m"],
    "mcsim.wide._balls": [],
    "mcsim.wide._herds": [],
    "mcsim.wide._angles": [],
    "mcsim.wide._base": ["m"],
    "mcsim.wide._v3": ["m"],
    "mcsim.wide._v4": ["m"],
    "mcsim.reduced._base": ["m"],
    "mcsim.reduced._v3": ["m"],
    "mcsim.reduced._v4": ["m"],
    "mcsim.reduced._dynamics": ["m"],
    "mcsim.reduced._motion": ["m"],
    "mcsim.reduced._flight": ["m"],
    "mcsim.reduced._responses": [],
    "mcsim.solve._generalized": [],
    "mcsim.solve._laden": ["m"],
    "mcsim.solve._guesses": [],
    "mcsim.state._pose_calls": [],
    "mcsim.direct._jointed": ["m"],
    "mcsim.direct._flights": ["m"],
    "mcsim.step._drives": [],
    "mcsim.step._further_sweeps": [],
    "mcsim.step._impacts": ["m"],
    "mcsim.direct._accounts": ["m"],
    "mcsim.direct._articulated": ["m"],
    "mcsim.direct._articulations": ["m"],
    "mcsim.step._machine": ["m"],
    "mcsim.step._warm_starts": [],
    "mcsim.step._pipeline": ["m"],
    "mcsim.step._smooth_pipeline": ["m"],
    "mcsim.step._position_pipeline": ["m"],
    "mcsim.step._tree_pipeline": ["m"],
    "mcsim.step._loop_account": ["m"],
    "mcsim.step._loop_pipeline": [],
    "mcsim.step._reduced_pipeline": ["m"],
}

# Kernels of the levels of x86-64 processors -> the flags of gcc and clang for them; all levels give the same bits. Beyond
# the baseline they are built on such processors only. Functions that pass registers of several lanes must be inlined.
INLINE = "-DCYTHON_INLINE=inline __attribute__((always_inline))"
LEVELS = {
    f"mcsim.{package}._{level}": [INLINE, *flags] for package in ("wide", "reduced") for level, flags in {
        "base": [], "v3": ["-march=x86-64-v3"], "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"]}.items()
}

# Those that work on one lane, whatever the processor.
ONE_LANE = ("mcsim.reduced._dynamics", "mcsim.reduced._motion", "mcsim.reduced._flight")

# Kernels with loops for several threads, where the compiler has OpenMP.
THREADED = ("mcsim.core._crew", "mcsim.collide._collider")

# Cython's own helper code, compiled once for all kernels.
UTILITY = "mcsim._cyutility"

ROOT = Path(__file__).resolve().parent


# The registry of joints, from which kernels have the numbers of types and what chooses a type's file.
JOINTS = ROOT / "mcsim" / "scene" / "joints"

# What constraints/_NAME.pxd may define as VERB_NAME, and what is done for a type whose file does not.
VERBS = {
    "constrain": """
cdef inline int constrain(Row* rows, const Joint* joint, const JointFrames* f) noexcept nogil:
    \"\"\"Jacobians, errors and curvatures of what the joint forbids. -> how many rows.\"\"\"
{        return constrain_NAME(rows, f, joint)}    return 0
""",
    "holds": """
cdef inline bint holds_position(const Joint* joint, int i) noexcept nogil:
    \"\"\"Whether row i of the joint has a position error, or binds velocities alone.\"\"\"
{        return holds_NAME(i)}    return True
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


def joint_types():
    """Names of the types, in the order of their numbers -> the number of the first coordinate of a rotation vector."""
    names = re.findall(r"^from mcsim\.scene\.joints\._(?!joint\b)(\w+) import", (JOINTS / "__init__.py").read_text(), re.M)
    stated = (re.search(r"^    coordinates = (\(.*\))", (JOINTS / f"_{name}.py").read_text(), re.M) for name in names)
    coordinates = [ast.literal_eval(found[1]) if found else () for found in stated]
    return {name: parts.index("turn") if "turn" in parts else 6 for name, parts in zip(names, coordinates)}


def write_joint_tables():
    """What kernels take from the registry of joints, two files; written only where something differs."""
    types, kernels = joint_types(), ROOT / "mcsim" / "constraints"
    head = '"""{} setup.py writes this file from mcsim/scene/joints."""\n\n'
    numbers = head.format("The numbers of joints' types.") + "cdef extern from *:\n"
    numbers += '    """\n    static const int MCSIM_ROTATION[] = {%s};\n    """\n' % ", ".join(map(str, types.values()))
    numbers += "    # Of a type: the number of the first of three coordinates that are a rotation vector; 6: of none.\n"
    numbers += '    const int ROTATION "MCSIM_ROTATION"[]\n\ncdef enum JointType:\n'
    numbers += "".join(f"    {name.upper()} = {number}\n" for number, name in enumerate(types))
    table = head.format("What a joint's type does: the one place where it chooses its file.")
    has = {name: [verb for verb in VERBS if f" {verb}_{name}(" in (kernels / f"_{name}.pxd").read_text()] for name in types}
    table += "from mcsim.constraints._parts cimport *\n"
    table += "from mcsim.state._joint_types cimport *\n"
    table += "".join(f"from mcsim.constraints._{name} cimport {', '.join(f'{verb}_{name}' for verb in found)}\n"
                     for name, found in has.items() if found)
    for verb, text in VERBS.items():
        begin, one, end = re.split("[{}]", text)
        branches = "".join(f"    {'el' if k else ''}if joint.type == {name.upper()}:\n{one.replace('NAME', name)}\n"
                           for k, name in enumerate(name for name in types if verb in has[name]))
        table += f"\n{begin}{branches}{end}"
    for path, text in ((ROOT / "mcsim" / "state" / "_joint_types.pxd", numbers), (kernels / "_joint_table.pxd", table)):
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


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
    "linetrace": COVERAGE,
}


def gcc_flags():
    """Compile and link flags for gcc and clang; never fast-math or contraction: bits must not depend on the CPU."""
    common = ["-ffp-contract=off", "-fno-math-errno", "-Wno-unused-function", "-Wno-unused-but-set-variable",
              "-Wno-psabi"]
    if SANITIZE:
        sanitize = [f"-fsanitize={SANITIZE}", "-fno-omit-frame-pointer", "-g"]
        return ["-O1", *common, *sanitize], sanitize
    if DEBUG:
        return ["-O1", "-g", *common], []
    return ["-O3", "-g0", *common], []              # Python's own flags ask for -g, a third of the compiler's time


def extension(module, libraries):
    return Extension(
        module,
        [module.replace(".", "/") + ".pyx"],
        libraries=libraries if os.name == "posix" else [],
        define_macros=([("CYTHON_TRACE_NOGIL", "1")] if COVERAGE else [])
                      + ([("MCSIM_NO_LANES", "1")] if COVERAGE or module in ONE_LANE else []),
        undef_macros=["NDEBUG"] if DEBUG or SANITIZE else [],
        optional=module in LEVELS and not module.endswith("_base"),     # an old compiler may not know the level
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
        """Translate, then compile: here, since pip runs this file twice more only to ask what it is about."""
        for ext, translated in zip(self.extensions, translations(self.extensions), strict=True):
            ext.sources, ext.depends = translated.sources, translated.depends
        super().run()

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
            except Exception:                    # whatever the compiler's class raises
                return []
        return ["-fopenmp"]

    def build_extensions(self):
        unix = self.compiler.compiler_type == "unix"
        if unix:
            compile_flags, link_flags = gcc_flags()
        else:
            compile_flags, link_flags = ["/O2", "/fp:precise"], []
        for ext in self.extensions:
            threads = self.openmp() if ext.name in THREADED else []
            inlined = [INLINE] if ext.name in ONE_LANE else []
            level = LEVELS.get(ext.name, inlined) if unix and not COVERAGE else []
            ext.extra_compile_args = compile_flags + threads + level
            ext.extra_link_args = link_flags + (threads if unix else [])
        # The largest first: none of them is left to one processor at the end.
        self.extensions.sort(key=lambda ext: -os.path.getsize(ext.sources[0]))
        super().build_extensions()


def extensions():
    several = X86 and not COVERAGE               # which has one lane at every level
    only = os.environ.get("MCSIM_ONLY")          # a developer's shortcut: build the modules whose name contains it
    chosen = [extension(m, libs) for m, libs in KERNELS.items()
              if (several or m not in LEVELS or m.endswith("_base")) and (not only or any(o in m for o in only.split(",")))]
    return [*chosen, Extension(UTILITY, [UTILITY.replace(".", "/") + ".c"])]


def translations(chosen):
    """The same modules with their C sources."""
    write_joint_tables()
    return cythonize(
        chosen,
        nthreads=processors(),
        compiler_directives=DIRECTIVES,
        emit_linenums=DEBUG or bool(SANITIZE),
        annotate=switch("MCSIM_ANNOTATE"),
        shared_utility_qualified_name=UTILITY,
    )


if __name__ == "__main__":               # what translates several files at once may import this file
    os.chdir(ROOT)
    setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels})
