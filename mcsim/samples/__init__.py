"""The samples of other engines, built here: each one function of at most 25 lines that says in numbers what should happen.

    import mcsim as mc
    for name in mc.samples.names("box3d/stacking"):
        print(mc.samples.run(name).line())

A folder is an engine, a file in it a group of its samples, and a name is engine/group/sample. They are written with what
every user has, `import mcsim as mc`, from the originals' descriptions, sizes and parameters. Samples are imported when
they are first asked for. `mcsim samples` on the command line lists, checks and shows them.
"""

from mcsim.samples.outcome import Expectation, Outcome
from mcsim.samples.play import Play
from mcsim.samples.registry import Sample, engines, find, names, run, sample

__all__ = ["Expectation", "Outcome", "Play", "Sample", "engines", "find", "names", "run", "sample"]
