# The table of kernels that fly trees, several states side by side. Included after _piece.pxi by the modules of levels.

from mcsim.reduced._piece cimport FlightKernels


cdef void make_round(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil:
    begin_round(f, first, end, h)
    end_round(f, first, end, h, forces)


cdef void end_piece(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil:
    mirror_all(f, first, end, h, forces)
    go_on_to_end(f, first, end, h)
    come_down(f, first, end, h)


cdef void stand(Flight* f, Py_ssize_t k, bint anew) noexcept nogil:
    choose_trees(f, k, k + 1)
    if anew:
        place(&f.tree, f.q)
        factor(&f.tree)
    move(&f.tree, f.q, f.qd)


cdef inline Wide magnitude(Wide3 a) noexcept nogil:
    return size_of(a.x) + size_of(a.y) + size_of(a.z)


cdef void reach(const Flight* f, Py_ssize_t k, const double* parts, Wide* out) noexcept nogil:
    cdef const LinkState* s
    cdef Wide sum = splat(0.0)
    cdef Wide3 v
    cdef Py_ssize_t i
    for i in range(f.trees[k].first_link, f.trees[k].end_link):
        s = &f.tree.states[i + 1]
        v = w_add(s.velocity.v, w_cross(s.velocity.w, s.com))
        sum = sum + magnitude(w_add(s.position, s.com)) * splat(parts[2 * i])
        sum = sum + magnitude(s.velocity.w) * splat(parts[2 * i + 1])
        sum = sum + splat(0.0) * (v.x + v.y + v.z)       # no number where any of them is not finite
    out[0] = sum


cdef FlightKernels FLIGHTS
FLIGHTS.width = WIDTH
FLIGHTS.wide_size = sizeof(Wide)
FLIGHTS.link_size = sizeof(LinkState)
FLIGHTS.axis_size = sizeof(AxisState)
FLIGHTS.rider_size = sizeof(Rider)
FLIGHTS.piece_size = sizeof(Piece)
FLIGHTS.begin_tree = begin
FLIGHTS.begin_piece = begin_piece
FLIGHTS.make_round = make_round
FLIGHTS.mirror = mirror_all
FLIGHTS.end_piece = end_piece
FLIGHTS.settle = settle
FLIGHTS.stand = stand
FLIGHTS.reach = reach


def flights():
    """The table of kernels of flights of this level."""
    return PyCapsule_New(&FLIGHTS, "mcsim.reduced", NULL)
