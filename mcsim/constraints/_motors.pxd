"""What velocity a position motor asks for."""

from mcsim.core._types cimport Twist
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings

# A damped oscillator of angular frequency w and damping ratio z over a time h, with x = w h:
#     e(h) = a e + h b v,     h v(h) = c e + h d v,     decay = a d - b c = exp(-2 z x)
ctypedef struct Oscillation:
    double a
    double b
    double c
    double d
    double decay

cdef Oscillation oscillate(double x, double damping_ratio) noexcept nogil

# The biases of the position motors and rotors among rows[:count], at the start of a substep. -> how many motors there are
# that hold a position, PD motors with them, and rotors
cdef Py_ssize_t aim_motors(const Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                           const Settings* settings) noexcept nogil
