"""Functions of the user's that rows need at the present poses: called with the GIL, where rows are written and at trial
poses.

What they raise is kept; they are not called again until it is taken, and the rows stay as they were, so that the step
can run to where it is given up.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport CALL_FAILED, OK


cdef class PoseCallbacks:
    """function(errors_only, joint): writes the records of the joints of the user's own (state/user_joints.py), of all or
    of the one of that number among them; None: there are none."""

    def __init__(self, function=None):
        self.function = function
        self.wanted = function is not None
        self.status = OK

    cdef void call(self, bint errors_only) noexcept nogil:
        if self.wanted and self.status == OK:
            self.ask(errors_only, -1)

    cdef void call_one(self, int32_t joint, bint errors_only) noexcept nogil:
        """joint: its number among those of the user's own."""
        if self.wanted and self.status == OK:
            self.ask(errors_only, joint)

    cdef void ask(self, bint errors_only, int joint) noexcept with gil:
        try:
            self.function(errors_only, None if joint < 0 else joint)
        except BaseException as error:
            self.failure = error
            self.status = CALL_FAILED

    def take_failure(self):
        """What was raised, or None."""
        failure, self.failure, self.status = self.failure, None, OK
        return failure
