"""Sorted sets of 64-bit keys: radix sort, merge, search. Pairs of shapes are kept as shape_a << 32 | shape_b."""

from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset
from mcsim.state._manifold cimport Manifold


cdef inline uint64_t pair_key(int32_t i, int32_t j) noexcept nogil:
    """The key of an unordered pair."""
    if i < j:
        return (<uint64_t>i << 32) | <uint64_t>j
    return (<uint64_t>j << 32) | <uint64_t>i


cdef inline void sort_keys(uint64_t* keys, uint64_t* scratch, Py_ssize_t count) noexcept nogil:
    """Ascending, in place: least significant byte first; bytes that all keys share are skipped."""
    cdef Py_ssize_t bucket[256]
    cdef Py_ssize_t i, total, here
    cdef uint64_t* source = keys
    cdef uint64_t* target = scratch
    cdef uint64_t* swap
    cdef uint64_t differing = 0
    cdef int shift
    for i in range(1, count):
        differing |= keys[i] ^ keys[0]
    for shift in range(0, 64, 8):
        if (differing >> shift) & 0xff == 0:
            continue
        memset(bucket, 0, sizeof(bucket))
        for i in range(count):
            bucket[(source[i] >> shift) & 0xff] += 1
        total = 0
        for i in range(256):
            here = bucket[i]
            bucket[i] = total
            total += here
        for i in range(count):
            here = (source[i] >> shift) & 0xff
            target[bucket[here]] = source[i]
            bucket[here] += 1
        swap = source
        source = target
        target = swap
    if source != keys:
        for i in range(count):
            keys[i] = source[i]


cdef inline void merge_keys(uint64_t* keys, Py_ssize_t count, const uint64_t* fresh, Py_ssize_t added) noexcept nogil:
    """Merge a second sorted set, without common members, into the first, which has room for both."""
    cdef Py_ssize_t i = count - 1
    cdef Py_ssize_t j = added - 1
    cdef Py_ssize_t k = count + added - 1
    while j >= 0:
        if i >= 0 and keys[i] > fresh[j]:
            keys[k] = keys[i]
            i -= 1
        else:
            keys[k] = fresh[j]
            j -= 1
        k -= 1


cdef inline Py_ssize_t first_not_before(const void* records, size_t size, Py_ssize_t count, uint64_t key) noexcept nogil:
    """The first of sorted records, of `size` bytes each and with their key in front, that does not come before the key."""
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t high = count
    cdef Py_ssize_t middle
    while low < high:
        middle = low + (high - low) // 2
        if (<const uint64_t*>(<const char*>records + middle * size))[0] < key:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline int has_key(const uint64_t* keys, Py_ssize_t count, uint64_t key) noexcept nogil:
    """Is the key in the sorted set?"""
    cdef Py_ssize_t at = first_not_before(keys, sizeof(uint64_t), count, key)
    return at < count and keys[at] == key


# What the surfaces of two bodies, or of two materials, are like against each other, whatever the materials say each for
# itself; below 0: what those say.
ctypedef struct PairGrip:
    uint64_t key                 # pair_key of the two bodies, or of the numbers of the materials' names
    double friction
    double restitution
    double rolling               # [m]
    double torsional


cdef inline const PairGrip* grip_of(const PairGrip* grips, Py_ssize_t count, int32_t a, int32_t b) noexcept nogil:
    """Of two bodies, or materials, in a list sorted by keys; NULL: it has none of them."""
    cdef uint64_t key = pair_key(a, b)
    cdef Py_ssize_t at = first_not_before(grips, sizeof(PairGrip), count, key)
    return &grips[at] if at < count and grips[at].key == key else NULL


cdef inline Py_ssize_t first_of(const Manifold* manifolds, Py_ssize_t count, uint64_t key) noexcept nogil:
    """The first of sorted manifolds that does not come before the pair."""
    return first_not_before(manifolds, sizeof(Manifold), count, key)
