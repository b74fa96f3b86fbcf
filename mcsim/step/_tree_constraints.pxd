"""All rows of a world of trees as a constraint set."""

from mcsim.reduced._motion cimport TreeMotion
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._generalized_sweeps cimport GeneralizedSweeps
from mcsim.solve._held_trees cimport HeldTrees
from mcsim.solve._loop_rows cimport LoopRows
from mcsim.step._compliant_surfaces cimport CompliantSurfaces
from mcsim.step._constraint_set cimport ConstraintSet, StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._tree_contacts cimport TreeContacts
from mcsim.step._tree_joints cimport TreeJoints
from mcsim.step._tree_loops cimport TreeLoops
from mcsim.step._tree_rows cimport TreeRows
from mcsim.step._tree_space cimport TreeSpace
from mcsim.step._tree_warm_starts cimport TreeWarmStarts

cdef class TreeSurfaces(CompliantSurfaces):
    cdef TreeMotion motion
    cdef GeneralizedRows generalized

cdef class TreeConstraints(ConstraintSet):
    cdef StepContext context
    cdef PlainRows plain
    cdef TreeSpace space
    cdef GeneralizedRows generalized
    cdef TreeRows tree_rows
    cdef TreeJoints joints
    cdef TreeContacts contacts
    cdef CompliantSurfaces surfaces      # of compliant contacts, or None
    cdef TreeLoops loops
    cdef LoopRows loop_rows              # those that close loops
    cdef GeneralizedSweeps row_sweeps    # over all others
    cdef HeldTrees held_trees            # bounded rows of trees that sweeps would not do for
    cdef TreeWarmStarts warm_starts
