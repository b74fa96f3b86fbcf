"""A function of the user's that says which bodies meet: asked once of every pair, when it first comes near.

Pairs that do not meet are from then on as those that a scene ignores, for all that looks at contacts. So the function must
not depend on where the bodies are: it is not known when it is asked, and copies of a world ask anew.
"""

import numpy as np

from mcsim.collide._memory cimport address
from mcsim.collide._pairs cimport has_key, pair_key
from mcsim.state._manifold cimport Manifold


cdef class ContactFilter:
    """collider, calls: of the world; what `function` raises ends the step."""

    def __init__(self, Collider collider not None, Calls calls not None, function):
        self.collider, self.calls, self.function = collider, calls, function
        self.verdicts = {}
        self.kept, self.met, self.met_count = np.zeros(0, np.uint64), NULL, 0

    cdef bint is_known(self) noexcept nogil:
        """Whether all that the collider has found are pairs that meet."""
        cdef Py_ssize_t n
        cdef const Manifold* m
        for n in range(self.collider.store.manifold_count):
            m = &self.collider.store.manifolds[n]
            if not has_key(self.met, self.met_count, pair_key(m.body_a, m.body_b)):
                return False
        return True

    cdef int ask(self) noexcept with gil:
        """Of pairs that are not known; those that do not meet are taken out of the collider. -> status"""
        cdef Py_ssize_t n
        try:
            keys = {pair_key(self.collider.store.manifolds[n].body_a, self.collider.store.manifolds[n].body_b)
                    for n in range(self.collider.store.manifold_count)}
            fresh = sorted(keys - self.verdicts.keys())
            for key in fresh:
                self.verdicts[key] = self.function(key >> 32, key & 0xffffffff)
            apart = [(key >> 32, key & 0xffffffff) for key in sorted(keys) if not self.verdicts[key]]
            met = np.union1d(self.kept, np.array([key for key in fresh if self.verdicts[key]], np.uint64))
            self.kept, self.met_count = met, len(met)
            self.met = <const uint64_t*>address(met) if len(met) else NULL
            if apart:
                self.collider.set_excluded(np.concatenate([self.collider.get_excluded(), np.array(apart, np.int64)]))
        except BaseException as error:
            self.calls.fail(error)
        return self.calls.status
