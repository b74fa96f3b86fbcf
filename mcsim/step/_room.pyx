"""Room for the rows and contacts of a world: nothing else in a step allocates."""

from mcsim.state._joint cimport AXIS_ROWS, Joint

cdef enum:
    MANIFOLD_ROWS = 15           # 4 normals, 8 frictions, a twist, 2 against rolling
    BESIDE_AXES = 10             # of a joint: 6 of its own, 4 of a swing's limit
    USUAL_JOINT = 24             # room for a joint with fewer rows, which another setting may give it
    MORE = 64                    # layouts ask for the most that one more joint may need before they write it


cdef Py_ssize_t joint_rows(const Joint* joints, Py_ssize_t count) noexcept nogil:
    """As many rows as joints can have: a free one, with rotors, friction, springs, motors and limits, has 36."""
    cdef Py_ssize_t j, n = 0
    for j in range(count):
        n += max(AXIS_ROWS * joints[j].axis_count + BESIDE_AXES, USUAL_JOINT)
    return n


cdef class Room:
    """Of all that keep something about each row or manifold. matrix: that of the rows, or None."""

    def __init__(self, StepContext context not None, Collider collider not None, PlainRows plain not None,
                 ConstraintSets sets not None, WideContacts wide not None, Displacement displacement not None,
                 Delassus matrix, Restitution restitution not None, Integrator integrator not None):
        self.context, self.collider, self.plain, self.sets, self.wide = context, collider, plain, sets, wide
        self.displacement, self.matrix, self.restitution, self.integrator = displacement, matrix, restitution, integrator

    def reserve(self, rows, manifolds):
        """For at least so many. Where memory runs out on the way there is as much room as before, though some of it may
        be larger."""
        before = self.plain.row_capacity, self.plain.anchor_capacity
        try:
            self.plain.reserve(rows, manifolds)
            if self.plain.row_capacity > before[0]:
                self.follow()
            self.sets.make_room()
        except BaseException:
            self.plain.row_capacity, self.plain.anchor_capacity = before
            raise

    def follow(self):
        """As many rows as the plain rows have room for, in what keeps something about each."""
        if self.context.settings.displaces:
            self.displacement.reserve(self.plain.row_capacity)
        self.restitution.reserve()
        self.integrator.reserve()

    def take_rows(self, PlainRows other not None):
        """The buffers of other rows, whose place these take."""
        self.plain.take_room(other)
        self.follow()
        self.sets.make_room()

    def grow(self):
        """For what the last search for contacts and the last layout of rows asked for."""
        self.collider.grow()
        manifolds = self.context.store.manifold_count
        rows = joint_rows(self.context.joints, self.context.joint_count) + MANIFOLD_ROWS * manifolds + MORE
        self.reserve(self.plain.row_capacity if rows <= self.plain.row_capacity else rows + rows // 2,
                     max(manifolds + manifolds // 2, self.plain.anchor_capacity))
        if self.matrix is not None:
            self.matrix.grow()
        self.wide.grow(manifolds)

    cdef bint grow_in_step(self) noexcept with gil:
        """In the middle of a step. -> whether there is room now"""
        try:
            self.grow()
        except MemoryError:
            return False
        return True
