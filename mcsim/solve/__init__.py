"""Rows to impulses: the solvers, by name. They see rows and velocities only, no joint and no shape."""

# Name -> the code that Settings.solver holds (enum Solver in _blocks.pxd).
SOLVERS = {"si": 0, "pgs": 1}

SOLVER_DESCRIPTIONS = {
    "si": "sequential impulses: Gauss-Seidel on the velocities, matrix-free; the real-time default",
    "pgs": "projected Gauss-Seidel on the assembled sparse matrix J M^-1 J'; the same fixed point, to compare",
}
