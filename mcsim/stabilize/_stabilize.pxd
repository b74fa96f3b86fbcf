"""Position errors to biases: the verb that the pipeline calls."""

from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings
from mcsim.wide._blocks cimport Effort

cdef void stabilize_rows(Row* rows, Py_ssize_t count, const Bodies* bodies,
                         const double* neighbours, double part, const Settings* settings) noexcept nogil
cdef void stiffen_contacts(Row* rows, Py_ssize_t begin, Py_ssize_t count, const Effort* efforts, const Bodies* bodies,
                           const double* neighbours, double part, const Settings* settings) noexcept nogil
cdef void leave_open(Row* rows, Py_ssize_t begin, Py_ssize_t count) noexcept nogil
