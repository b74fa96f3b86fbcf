"""Position errors to biases: the verb that the pipeline calls."""

from mcsim.state._layout cimport Row, Settings, Bodies

cdef void stabilize_rows(Row* rows, Py_ssize_t count, const Bodies* bodies, const Settings* settings,
                         double borne) noexcept nogil
