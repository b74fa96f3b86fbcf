"""Friction of a manifold of several points on one limit surface (wide/_limit_surface.pxd), as a block of three rows."""

from mcsim.state._row cimport Row

# x: (3,) the block's impulses at the residuals w, (3,), and its normals' present loads. share: (9,) what its points have of
# them, and the moment about the normal alone. Rows are only read.
cdef void surface_step(const Row* rows, const Row* row, int relaxed, const double* w, double* x,
                       double* share) noexcept nogil
