"""Which thresholds the kernels have: numbers that stand by themselves in mcsim/**/*.pyx, .pxd and .pxi, and what is said
of each.

A threshold is written in one of three ways,

    cdef double NAME = 1e-9                 # [unit] what it is
    cdef enum: NAME = 20                    # ...
    #define MC_NAME 1e-9                    beside const double NAME "MC_NAME"

and told beside it, above it, or above the ones that it follows without a gap. Codes (kinds, bits, places in a record), and
numbers of mathematics, are none: NO_THRESHOLDS names them, for no rule tells the two apart.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (".pyx", ".pxd", ".pxi")

PLAIN = re.compile(r"^(cdef (?:double|int) )?([A-Z][A-Z_0-9]*) *= *([^#]+?) *(?:# *(.*))?$")
ENTRY = re.compile(r"^    ([A-Z][A-Z_0-9]*) *= *([^#]+?) *(?:# *(.*))?$")
MACRO = re.compile(r"^    #define (MC_[A-Z_0-9]+) +(-?[0-9.][-+0-9.e]*) *(?:/\* *(.*?) *\*/)?$")
NUMBER = re.compile(r"^[-+*/<(). 0-9a-fxe_]+$")
UNIT = re.compile(r"\[([^\]]+)\]")

# "all": of enumerations without a name none is a threshold there.
NO_THRESHOLDS = {
    "collide/_broadphase.pxd": "NOWHERE STILL MOVING",
    "collide/_shapes.pxd": "NEW",
    "collide/_surface.pxd": "BORDER CROWDED",
    "collide/_tree.pxd": "NOTHING_THERE",
    "collide/shapes/_parts.pxd": "FACING_POINT FACING_LINE FACING_FACE FACING_OTHER SIDE_ID HALF_STEP_COS HALF_STEP_SIN",
    "constraints/_axis_rows.pxd": "SWING_BIT",
    "constraints/_carriers.pyx": "FAR",
    "constraints/_contact_order.pyx": "FAR",
    "constraints/_contacts.pyx": "MOST_BENT",
    "constraints/_island_forest.pyx": "RESTS RESTLESS DRIVEN BESIDE",
    "constraints/_islands.pyx": "FOLLOWS LIFTED JUDGED",
    "core/_lines.pxd": "LINE",
    "core/_noted.pxd": "all",
    "core/_numbers.pxd": "TWO_PI HUGE",
    "core/_thread_pool.pyx": "THREADED",
    "event/_features.pxd": "all",
    "reduced/_links.pxd": "USER_TURN USER_PLACE USER_BIAS USER_SUBSPACE",
    "reduced/_placing.pxi": "ROUNDING",
    "reduced/_responding.pxi": "BEARS PUSHED",
    "solve/_cone_point.pxd": "COS SIN",
    "solve/_blocks.pxd": "MAX_BLOCK FACTOR_STRIDE",
    "solve/_drivers.pxd": "UNDRIVEN MANY_DRIVERS",
    "solve/_fronts.pyx": "BLOCK",
    "solve/_points.pxd": "KEPT OF_TAMING",
    "solve/_tree_blocks.pxd": "SIDE_A SIDE_B SHARE_AA SHARE_AB SHARE_BA SHARE_BB HUB_AT_A HUB_AT_B",
    "solve/problems/_dantzig.pxd": "ROW_DOUBLES ROW_INTEGERS",
    "solve/problems/_lemke.pyx": "SOLVED RAY LIMIT NO_ROW",
    "state/_joint.pxd": "AXIS_LOWER AXIS_UPPER AXIS_MOTOR AXIS_SPRING AXIS_FRICTION AXIS_ROWS JOINT_AXES",
    "state/_manifold.pxd": "MANIFOLD_POINTS",
    "state/_row.pxd": "BIASED RELAXED",
    "step/_constraint_set.pyx": "ANY_SWEEPS",
    "step/_step.pxd": "UNSEEN NOT_DONE",
    "step/_position_integrator.pyx": "OPEN_JOINT FAST_BODY STRONG_DAMPING",
    "step/_stage_times.pxd": "all",
    "wide/_batches.pxd": "BATCH_SWEPT BATCH_FREE BATCH_LOOSE MOST_LEVELS",
    "wide/_batches.pxi": "all",
    "wide/_batches.pyx": "LANES FIXED RECORD",
    "wide/_contact_frame.pxd": "TURNS TURNS_BETWEEN TURNS_EDGES TURNS_RING",
    "wide/_contact_sweeps.pxi": "all",
    "wide/_contacts.pyx": "CLASSES",
    "wide/_direct_balls.pxi": "all",
    "wide/_direct_balls.pyx": "LANES",
    "wide/_firm.pxd": "NONE SEVERAL",
    "wide/_groups.pxd": "HELD",
    "wide/_joint_bounds.pxd": "all",
    "wide/_joint_bounds.pyx": "MOST_LANES",
    "wide/_joints.pxi": "MOST_JOINT_ROWS",
    "wide/_joints.pyx": "PADDING MOST_LANES",
    "wide/_lane_types.pxd": "WIDTH",
    "wide/_lanes.pxd": "all",
    "integrate/_euler.pyx": "MOST_LANES MOST_LEVELS",
    "world/_water.pyx": "PI",
}


@dataclass
class Threshold:
    """One of them: `line` counts from 0, `form` is "plain", "entry" or "macro", `cython` what declares it."""

    file: str
    name: str
    value: str
    comment: str
    line: int
    form: str
    cython: str = ""
    above: str = ""  # the part of the comment that stands above

    @property
    def room(self):
        return self.file.split("/")[0]

    @property
    def key(self):
        return f"{self.file}:{self.name}"

    @property
    def counts(self):
        """Whether it is a whole number."""
        return self.form == "entry" or self.cython == "cdef int " or (not self.cython and self.value.isdigit())

    @property
    def unit(self):
        found = UNIT.search(self.comment)
        return found[1] if found else "count" if self.counts else "1"

    @property
    def number(self):
        """Its value; integers of C shift and divide as Python's do, but for 1 / n."""
        return (int if self.counts else float)(eval(self.value, {}))


def is_number(text):
    return bool(NUMBER.match(text)) and any(c.isdigit() for c in text)


def clean(comment):
    """The lines of a comment in one."""
    return " ".join(line.strip(" #*/") for line in comment.splitlines()).strip()


def block_above(lines, i, begins, ends):
    """The comment that ends above line i, without a gap."""
    j = i
    while j > 0 and begins(lines[j - 1]):
        j -= 1
        if ends(lines[j]):
            break
    return clean("\n".join(lines[j:i]))


def hash_above(lines, i):
    indent = lines[i][: len(lines[i]) - len(lines[i].lstrip())]
    return block_above(lines, i, lambda line: line.startswith(f"{indent}#") and "#define" not in line, lambda line: False)


def star_above(lines, i):
    if i == 0 or not lines[i - 1].rstrip().endswith("*/") or "#define" in lines[i - 1]:
        return ""
    return block_above(lines, i, lambda line: "#define" not in line, lambda line: line.lstrip().startswith("/*"))


def following(lines, i):
    """What comments beside go on with below, at the same column."""
    found = []
    column = lines[i].find("#") if "#define" not in lines[i] else -1
    while (
        column > 0 and i + 1 < len(lines) and lines[i + 1][:column].strip() == "" and lines[i + 1][column:].startswith("#")
    ):
        i += 1
        found.append(lines[i].strip(" #"))
    return " ".join(found)


def scan(path, package):
    """Every threshold of a file, in its order."""
    file = path.relative_to(package).as_posix()
    lines = path.read_text(encoding="utf-8").splitlines()
    spared = NO_THRESHOLDS.get(file, "").split()
    found, above, inside = [], "", ""
    for i, line in enumerate(lines):
        if inside and not line.startswith("    "):
            inside = ""
        if line.startswith("cdef enum"):
            inside, above = line, hash_above(lines, i)
            continue
        entry = inside and ENTRY.match(line)
        macro = MACRO.match(line)
        plain = PLAIN.match(line)
        if entry and inside.rstrip() == "cdef enum:" and spared != ["all"]:
            name, value, beside = entry.groups()
            own, form, cython = hash_above(lines, i), "entry", ""
        elif macro:
            name, value, beside = macro[1][3:], macro[2], macro[3]
            own, form, cython = star_above(lines, i), "macro", ""
        elif plain and path.suffix != ".pxd":
            cython, name, value, beside = plain.groups()
            own, form = hash_above(lines, i), "plain"
        else:
            continue
        if name in spared or not is_number(value):
            continue
        before = found[-1] if found and found[-1].line == i - 1 else None
        beside = f"{beside or ''} {following(lines, i)}".strip()
        head = own or ("" if beside else before.above if before else above if form == "entry" else "")
        found.append(Threshold(file, name, value.strip(), f"{head} {beside}".strip(), i, form, cython or "", head))
    return found


def thresholds(package=ROOT / "mcsim"):
    """All of them, by file."""
    return [one for path in sorted(package.rglob("*")) if path.suffix in SOURCES for one in scan(path, package)]
