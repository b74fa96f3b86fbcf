"""x"""
from mcsim.solve.problems._admm import Admm
from mcsim.solve.problems._newton import Newton
from mcsim.solve.problems.problem import csr_parts
from mcsim.solve.problems.solution import Progress

def solve(problem, model, tolerance, max_iterations, callback, *, shift=1e-7, first=0, lead=10):
    progress = Progress(problem, model, tolerance, max_iterations, callback)
    system = problem.system
    impulses = problem.warm_start.copy()
    system.project(progress.model_number, impulses)
    velocities, _ = system.rates(impulses)
    progress.record(impulses, velocities)
    if not progress.going:
        return progress.solution("newton")
    mass = csr_parts(problem.inverse_mass) if system.factored else None
    newton = Newton(system, mass, progress.model_number, shift)
    admm = None
    log = []
    if first:
        admm = Admm(system, mass, progress.model_number, impulses, velocities, .1, 1e-6, 1.)
        impulses, velocities = admm.run(progress, first)
    while progress.going:
        b = progress.iterations
        impulses, velocities, stuck = newton.run(progress, impulses, velocities, 1 if callback else 30)
        log.append(f"N{progress.iterations-b}")
        if progress.going and (stuck or not callback):
            if admm is None:
                admm = Admm(system, mass, progress.model_number, impulses, velocities, .1, 1e-6, 1.)
            else:
                admm.restart(impulses, velocities)
            b = progress.iterations
            impulses, velocities = admm.run(progress, lead)
            log.append(f"A{progress.iterations-b}")
            lead*=2
    progress.notes.append(" ".join(log))
    return progress.solution("newton")
