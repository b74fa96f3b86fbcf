"""The C records read back as Python values, for the test that compares them with the NumPy dtypes of ``fields.py``.

Cython makes a dict of a struct by the names of its members, so each field is read where C has it, under the name C
gives it.
"""

from libc.string cimport memcpy
from mcsim.state._joint cimport Joint, JointAxis, UserRow
from mcsim.state._manifold cimport Manifold, ManifoldPoint
from mcsim.state._row cimport Row
from mcsim.state._shape cimport Hull, Shape

# All records that Python and C share.
ctypedef fused Record:
    Shape
    Hull
    ManifoldPoint
    Manifold
    JointAxis
    Joint
    Row
    UserRow


cdef read(const char[::1] raw, Record* record):
    if raw.shape[0] != sizeof(Record):
        raise ValueError(f"the C record has {sizeof(Record)} bytes, not {raw.shape[0]}")
    memcpy(record, &raw[0], sizeof(Record))
    return record[0]


def read_record(str name, const char[::1] raw):
    """-> dict of member name -> value (members that are records: dicts; arrays: lists) of the bytes `raw` as C sees
    them."""
    cdef Shape shape
    cdef Hull hull
    cdef ManifoldPoint point
    cdef Manifold manifold
    cdef JointAxis axis
    cdef Joint joint
    cdef Row row
    cdef UserRow user_row
    if name == "shape":
        return read(raw, &shape)
    if name == "hull":
        return read(raw, &hull)
    if name == "manifold_point":
        return read(raw, &point)
    if name == "manifold":
        return read(raw, &manifold)
    if name == "joint_axis":
        return read(raw, &axis)
    if name == "joint":
        return read(raw, &joint)
    if name == "row":
        return read(raw, &row)
    if name == "user_row":
        return read(raw, &user_row)
    raise ValueError(f"there is no record {name!r}")
