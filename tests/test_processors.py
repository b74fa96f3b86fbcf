"""Bits do not depend on the processor: what makes a state goes through nothing that has variants by processor."""

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__ as NUMPY_LEVELS

import mcsim
import processor_worlds
from amounts import amount

PACKAGE = Path(mcsim.__file__).parent

# Code that only gives numbers to whoever asks: a file, a folder, or a function or class of a file. It may take NumPy's
# BLAS and the C library's sines.
OBSERVERS = {
    "contacts",
    "derive",
    "lab",
    "view",
    "live",  # what it does to a world comes from a hand, a camera and a clock, never the same twice
    "cli",
    "samples",  # programs as users write them: what they expect leaves room for the last bits
    "io/recording.py",
    "solve/kkt.py",
    "solve/problems/spectrum.py",
    "solve/problems/drawing.py",
    "reduced/drawing.py",
    "reduced/report.py",
    "reduced/spaces.py",
    "reduced/formulations.py",
    "reduced/explicit.py",
    "reduced/rows.py",
    "reduced/independent.py",
    "reduced/transformation.py",
    "world/observers.py:Observers.energy",
    "world/observers.py:Observers.kkt",
    "world/reduced_world.py:ReducedWorld.jacobian",
    "world/reduced_world.py:ReducedWorld.kkt",
    "world/reduced_world.py:ReducedWorld.delassus",
    *(
        f"reduced/dynamics.py:Dynamics.{name}"
        for name in (
            "_by_mass_matrix",
            "_arm",
            "center_of_mass",
            "center_of_mass_velocity",
            "momentum",
            "centroidal_momentum_matrix",
            "energy",
            "_links",
        )
    ),
    "solve/problems/contact_dynamics.py:Inertia",
    "solve/problems/contact_dynamics.py:contact_equations",
    "solve/problems/contact_dynamics.py:by_acceleration_qp",
    "solve/problems/impacts.py:frictionless",
    "solve/problems/impacts.py:sticking",
    "solve/problems/impacts.py:impact",
    "solve/problems/impacts.py:two_bodies",
    "solve/problems/impacts.py:contact_axes",
    "core/linear.py:sparse_product",
    *(f"spatial.py:{name}" for name in ("complement", "is_direct_sum", "_scaled", "decompose")),
}

# Names of NumPy, of math and of SciPy's packages whose results depend on the processor: by BLAS and LAPACK, by NumPy's
# kernels for registers of several lanes, by the C library's variants with fused multiply-add.
NUMPY = set(
    "linalg dot vdot inner matmul einsum tensordot sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh "
    "arccosh arctanh exp exp2 expm1 log log2 log10 log1p power float_power cbrt hypot geomspace logspace convolve "
    "correlate polyfit polyval roots corrcoef cov vecdot matvec vecmat".split()
)
MATH = set(
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p pow cbrt "
    "gamma lgamma erf erfc".split()
)
SCIPY = "linalg", "optimize", "integrate", "interpolate", "signal", "stats", "special", "sparse.linalg", "spatial.transform"


# Settings that stand for other processors: the kernels of NumPy's BLAS; NumPy's own without any of wide registers; the C
# library's without fused multiply-add, under its names of before and after 2.33. Together in pairs, for each is rare.
NUMPY_PLAIN = {"NPY_DISABLE_CPU_FEATURES": " ".join(NUMPY_LEVELS)}
LIBM_PLAIN = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps="
    + ",".join(f"-{name}{end}" for end in ("", "_Usable") for name in ("AVX", "AVX2", "AVX512F", "FMA", "FMA4"))
}
PROCESSORS = {"this one": {}, "Haswell": LIBM_PLAIN, "SkylakeX": {}, "Nehalem": {}, "Prescott": NUMPY_PLAIN | LIBM_PLAIN}


# ---- what is read in the source --------------------------------------------------------------------------------------


def found_in(text, observers=()):
    """[(line, what)] in Python source, but in the functions and classes (Class.method) of these names."""
    found = []

    def visit(node, inside):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inside = f"{inside}.{node.name}" if inside else node.name
            if inside in observers:
                return
        what = complaint(node)
        if what:
            found.append((node.lineno, what))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(text), "")
    return found


def complaint(node):
    """What in one node depends on the processor; None if nothing does."""
    operator = getattr(node, "op", None)
    if isinstance(operator, ast.MatMult):
        return "@"
    if isinstance(operator, ast.Pow) and not (
        isinstance(node, ast.BinOp)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.right, (ast.Constant, ast.UnaryOp))
    ):
        return "**"
    if isinstance(node, ast.Attribute):
        base = node.value.id if isinstance(node.value, ast.Name) else ""
        if (base == "np" and node.attr in NUMPY) or (base == "math" and node.attr in MATH):
            return f"{base}.{node.attr}"
        if node.attr == "dot":
            return ".dot"
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        if node.module == "math":
            return ", ".join(f"math.{name}" for name in sorted(names & MATH)) or None
        if node.module.split(".")[0] in ("numpy", "scipy"):
            paths = {node.module} | {f"{node.module}.{name}" for name in names}
            return next((path for path in sorted(paths) if refused(path)), None)
    if isinstance(node, ast.Import):
        return next((alias.name for alias in node.names if refused(alias.name)), None)
    return None


def refused(path):
    package, _, rest = path.partition(".")
    return (
        package == "scipy"
        and any(rest == name or rest.startswith(f"{name}.") for name in SCIPY)
        or package == "numpy"
        and rest.split(".")[0] in NUMPY
    )


def cython_found_in(text):
    """The same of Cython source: what is neither a comment nor a docstring."""
    text = re.sub(r'""".*?"""', lambda match: "\n" * match.group().count("\n"), text, flags=re.S)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r"#.*", "", line)
        found += [(number, f"np.{name}") for name in re.findall(r"\bnp\.(\w+)", line) if name in NUMPY]
        found += [(number, what) for what in re.findall(r" @=? | \*\* |[\w)\]]\*\*\w|\.dot\(", line)]
        match = re.search(r"from libc\.math cimport (.*)", line)
        if match:
            found += [(number, name) for name in re.findall(r"\w+", match.group(1)) if name in MATH]
    return found


LIBM = re.compile(rb"\0(" + "|".join(sorted(MATH | {"hypot", "fma"})).encode() + rb")\0")


def sources():
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if path.suffix in (".py", ".pyx", ".pxd", ".pxi") and not any(
            name == observer or name.startswith(f"{observer}/") for observer in OBSERVERS
        ):
            yield name, path


def test_what_makes_state_takes_nothing_that_varies_by_processor():
    found = []
    for name, path in sources():
        text = path.read_text(encoding="utf-8")
        inside = {observer.partition(":")[2] for observer in OBSERVERS if observer.startswith(f"{name}:")}
        found += [
            f"{name}, line {line}: {what}"
            for line, what in (found_in(text, inside) if path.suffix == ".py" else cython_found_in(text))
        ]
    assert not found, "what makes state uses mcsim.core.linear and mcsim.core.trig, or products:\n" + "\n".join(found)


@pytest.mark.skipif(sys.platform != "linux", reason="names are read as ELF files have them")
def test_no_kernel_calls_what_the_c_library_has_variants_of():
    """Nor does what is compiled from an operator, as ** is."""
    kernels = sorted(PACKAGE.rglob("*.so"))
    calls = {kernel.name: sorted(set(LIBM.findall(kernel.read_bytes()))) for kernel in kernels}
    assert len(kernels) > 40 and not {name: found for name, found in calls.items() if found}


FUSED = re.compile(r"\tv?fn?m(?:add|sub|la|ls)\w*")  # of x86-64 and of arm64


@pytest.mark.skipif(sys.platform != "linux" or shutil.which("objdump") is None, reason="takes binutils to look")
def test_no_product_is_contracted():
    """Whatever the compiler is told: gcc 12 makes one instruction of two products that are added and subtracted in turn
    where the level of the processor has it (vfmaddsub), and a level would have bits of its own."""
    kernels = [path for name in ("wide", "reduced") for path in sorted((PACKAGE / name).glob("_*.so"))]
    found, products = {}, 0
    for kernel in kernels:
        told = subprocess.run(["objdump", "-d", "--no-show-raw-insn", kernel], capture_output=True, text=True, check=True)
        found[kernel.name] = sorted(set(FUSED.findall(told.stdout)))
        products += told.stdout.count("mul")
    assert products > 1000 and not {name: what for name, what in found.items() if what}


def test_the_rule_can_fail():
    """In Python and in Cython; not in comments, not in what observes, and numbers may have powers."""
    for text in (
        "a @ b",
        "a @= b",
        "x ** 2",
        "np.linalg.norm(a)",
        "np.dot(a, b)",
        "a.dot(b)",
        "np.einsum('ij,j', a, b)",
        "np.sin(x)",
        "math.cos(x)",
        "from math import pi, sin",
        "from scipy.linalg import solve",
        "from scipy import linalg",
        "import scipy.sparse.linalg",
        "from numpy.linalg import inv",
        "from scipy.spatial.transform import Rotation",
    ):
        assert found_in(text), text
    for text in (
        "  1b309:\tvfmaddsub132pd %ymm15,%ymm16,%ymm13",
        "  20:\tfmadd d0, d1, d2, d3",
        "  24:\tfmla v0.2d",
    ):
        assert FUSED.search(text), text
    for text in (
        "a * b",
        "10 ** -3",
        "np.sqrt(a)",
        "from math import pi, sqrt",
        "from scipy.sparse import csr_array",
        "# a @ b",
        "from scipy.spatial import ConvexHull",
    ):
        assert not found_in(text), text
    assert not found_in("class A:\n    def seen(self):\n        return a @ b\n", {"A.seen"})
    assert found_in("class A:\n    def made(self):\n        return a @ b\n", {"A.seen"})
    for text in ("x = a @ b", "x = y ** 2", "np.linalg.norm(a)", "from libc.math cimport fabs, sin", "a.dot(b)"):
        assert cython_found_in(text), text
    for text in ("# a @ b", '"""a @ b"""', "from libc.math cimport fabs, sqrt", "void f(double* a, double** b)"):
        assert not cython_found_in(text), text


def test_observers_are_there():
    """Names of what no longer exists would excuse what comes after it."""
    for observer in OBSERVERS:
        name, _, inside = observer.partition(":")
        assert (PACKAGE / name).exists(), observer
        if inside:
            scope = ast.parse((PACKAGE / name).read_text(encoding="utf-8"))
            for part in inside.split("."):
                scope = next((node for node in scope.body if getattr(node, "name", None) == part), None)
                assert scope is not None, observer


# ---- what is run -----------------------------------------------------------------------------------------------------

# By default one in five, of all kinds in turn, on the processors that differ in most.
PLAIN = "Haswell", "Prescott"
WORLDS = list(processor_worlds.worlds())[:: amount(5, 1)]


@pytest.fixture(scope="module")
def hashes():
    """Name of the processor -> {world: hashes}, or None where this one lacks what it would take."""
    script, running = Path(__file__).with_name("processor_worlds.py"), {}
    for name, settings in PROCESSORS.items():
        if name not in amount(("this one", *PLAIN), PROCESSORS):
            continue
        chosen = {} if name == "this one" else {"OPENBLAS_CORETYPE": name}
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | chosen | settings
        running[name] = subprocess.Popen(
            [sys.executable, str(script), *WORLDS],
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    found = {}
    for name, process in running.items():
        out, errors = process.communicate(timeout=300)
        assert process.returncode in (0, -signal.SIGILL), f"{name}: {errors}"
        found[name] = json.loads(out) if process.returncode == 0 else None
    return found


@pytest.mark.parametrize(
    "name", [name if name in PLAIN else pytest.param(name, marks=pytest.mark.slow) for name in list(PROCESSORS)[1:]]
)
def test_worlds_have_the_same_bits_on_other_processors(hashes, name):
    """Made, stepped and changed, of every kind. Up to four different states came out of one scene."""
    if hashes[name] is None:
        pytest.skip(f"this processor cannot run the kernels of {name}")
    here = hashes["this one"]
    assert list(here) == WORLDS and [world for world in here if hashes[name][world] != here[world]] == []


def test_worlds_of_every_kind_are_among_them():
    assert len(processor_worlds.worlds()) > 80
