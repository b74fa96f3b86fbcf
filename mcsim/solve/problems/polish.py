"""Newton steps as the end of other methods."""


def newton_steps(newton, progress, impulses, velocities, most):
    """Up to `most` steps of `_newton.pyx` from these impulses. -> impulses, velocities, how many"""
    before = progress.iterations
    newton.begin(impulses, velocities)
    stuck = False
    while progress.going and not stuck and progress.iterations - before < most:
        impulses, velocities, stuck = newton.run(progress, 1 if progress.callback else most)
    return impulses, velocities, progress.iterations - before
