"""Points inside a contact's cone, and the scaling of Nesterov and Todd between two of them."""

cdef struct Inside:
    # (x_0, t) with x_0 = least + length, kept by its smaller eigenvalue, which x_0 - |t| would lose near the boundary.
    double least                        # x_0 - |t|, above 0
    double t[2]
    double length                       # |t|
    double first                        # x_0
    double root                         # sqrt(x_0^2 - |t|^2)

cdef struct Scaling:
    double basis[9]                     # P, orthonormal, row by row
    double factor[3]                    # S: W^-1 = P' S P
    double point[3]                     # lambda = W x = W^-1 v
    double determinant                  # of lambda

cdef void put_inside(Inside* x, double least, double t1, double t2) noexcept nogil
cdef double product(const Inside* x, const Inside* v) noexcept nogil
cdef double way_out(const Inside* x, const double* d) noexcept nogil
cdef void go(Inside* x, const double* d, double length) noexcept nogil
cdef void scale(const Inside* x, const Inside* v, Scaling* to) noexcept nogil
cdef void aim_inside(const Scaling* s, double target, const double* x, const double* v, double* out) noexcept nogil
