"""The records of state/*.pxd in C are those of state/fields.py in NumPy: every name, offset, size and type."""

import re
from pathlib import Path

import numpy as np
import pytest
from mcsim.state._layout_check import read_record

import mcsim
from mcsim.state import fields

RECORDS = {
    "shape": fields.SHAPE_DTYPE,
    "hull": fields.HULL_DTYPE,
    "manifold_point": fields.MANIFOLD_POINT_DTYPE,
    "manifold": fields.MANIFOLD_DTYPE,
    "joint_axis": fields.JOINT_AXIS_DTYPE,
    "joint": fields.JOINT_DTYPE,
    "row": fields.ROW_DTYPE,
    "user_row": fields.USER_ROW_DTYPE,
}


def leaves(value):
    """The numbers in a dict, list or scalar, in order."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, (list, tuple, np.ndarray)):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, np.void):
        return [leaf for name in value.dtype.names for leaf in leaves(value[name])]
    return [value]


def filled(dtype):
    """(1,) record whose leaves are 1, 2, 3, …, all different."""
    record = np.zeros(1, dtype)
    counter = iter(range(1, 100_000))

    def fill(array):
        for name in array.dtype.names:
            part = array[name]
            if part.dtype.names is None:
                part[...] = np.fromiter(counter, part.dtype, part.size).reshape(part.shape)
            else:
                for index in np.ndindex(part.shape[1:]):
                    fill(part[(slice(None), *index)])

    fill(record)
    return record


@pytest.mark.parametrize("name", RECORDS)
def test_c_reads_every_field_where_numpy_wrote_it(name):
    """The C record, read member by member, gives back the numbers that NumPy wrote, under the same names."""
    record = filled(RECORDS[name])
    read = read_record(name, record.view(np.int8))
    assert list(read) == list(record.dtype.names)
    for field in record.dtype.names:
        assert leaves(read[field]) == leaves(record[field][0]), field


@pytest.mark.parametrize("name", RECORDS)
def test_a_field_that_moved_is_noticed(name):
    """The comparison can fail: with two fields of one type exchanged in NumPy it does."""
    dtype = RECORDS[name]
    by_type = {}
    for field in dtype.names:
        by_type.setdefault(dtype[field], []).append(field)
    first, second = next(twins for twins in by_type.values() if len(twins) > 1)[:2]
    exchange = {first: second, second: first}
    other = np.dtype([(exchange.get(field, field), dtype[field]) for field in dtype.names], align=True)
    record = filled(other)
    read = read_record(name, record.view(np.int8))
    assert leaves(read[first]) != leaves(record[first][0])


def test_wrong_size_is_refused():
    with pytest.raises(ValueError, match="C record"):
        read_record("row", np.zeros(8, np.int8))


def test_names_of_codes_follow_the_enums():
    """SHAPE_TYPES[code], BODY_KINDS[code], … are in the order of the enums in state/*.pxd."""
    text = "".join(path.read_text() for path in (Path(mcsim.__file__).parent / "state").glob("_*.pxd"))

    def members(enum):
        body = re.search(rf"cdef enum {enum}:\n((?:    .*\n)+)", text).group(1)
        return {name: int(number) for name, number in re.findall(r"^ +([A-Z_]+) = (\d+)", body, re.M)}

    for names, enum, prefix in (
        (fields.SHAPE_TYPES, "ShapeType", ""),
        (fields.BODY_KINDS, "BodyKind", ""),
        (fields.JOINT_TYPES, "JointType", ""),
        (fields.ROW_KINDS, "RowKind", "ROW_"),
    ):
        assert {prefix + name.upper(): code for code, name in enumerate(names)} == members(enum)


def test_body_fields_are_the_pointers_of_the_struct():
    """BODY_FIELDS and the struct Bodies name the same arrays in the same order, with items of the same size."""
    text = (Path(mcsim.__file__).parent / "state" / "_bodies.pxd").read_text()
    body = re.search(r"ctypedef struct Bodies:\n((?:    .*\n)+)", text).group(1)
    pointers = re.findall(r"^    (\w+)\* (\w+)", body, re.M)
    sizes = {"int32_t": 4, "int64_t": 8, "double": 8, "Vec3": 24, "Quat": 32, "Twist": 48, "Mat3": 72}
    assert [name for _, name in pointers] == [field.name for field in fields.BODY_FIELDS]
    for (kind, name), field in zip(pointers, fields.BODY_FIELDS):
        assert np.dtype(field.dtype).itemsize * int(np.prod(field.shape, dtype=int)) == sizes[kind], name


def test_body_arrays_match_their_fields():
    """Arrays made from a scene have the declared shape and dtype, are contiguous, and follow the world's row."""
    from mcsim.state.arrays import BodyArrays

    arrays = BodyArrays.from_scene(mcsim.load("dominoes", count=3))
    for field in fields.BODY_FIELDS:
        array = getattr(arrays, field.name)
        assert array.shape == (arrays.count, *field.shape) and array.dtype == np.dtype(field.dtype), field.name
        assert arrays.padded[field.name].flags.c_contiguous
        assert array.base is arrays.padded[field.name]
    world_row = {name: array[0] for name, array in arrays.padded.items()}
    assert world_row["inv_mass"] == 0 and np.array_equal(world_row["orientation"], [1, 0, 0, 0])


def test_stages_have_names():
    """stages.STAGES lists the timers of _stage_times.pxd in their order."""
    from mcsim.step.stages import STAGES

    text = (Path(mcsim.__file__).parent / "step" / "_stage_times.pxd").read_text()
    stages = {name.lower(): int(code) for name, code in re.findall(r"^    STAGE_([A-Z_]+) = (\d+)", text, re.M)}
    assert stages == {name: code for code, name in enumerate(STAGES)}


def test_solver_codes_are_those_of_the_kernels():
    """solve.SOLVERS gives the codes of the enum Solver, settings those of Stabilization."""
    from mcsim.solve import SOLVERS
    from mcsim.world.capabilities import STABILIZATIONS

    package = Path(mcsim.__file__).parent
    blocks = (package / "solve" / "_blocks.pxd").read_text()
    solvers = {name.lower(): int(code) for name, code in re.findall(r"^    SOLVER_([A-Z]+) = (\d+)", blocks, re.M)}
    layout = (package / "state" / "_settings.pxd").read_text()
    modes = {name.lower(): int(code) for name, code in re.findall(r"^    STABILIZE_([A-Z_]+) = (\d+)", layout, re.M)}
    assert solvers == SOLVERS and modes == STABILIZATIONS
