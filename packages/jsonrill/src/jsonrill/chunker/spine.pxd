# Types for the compiler; the code is in spine.py.
cimport cython
from .leaves cimport Leaf

cdef class OpenedValue:
    cdef public list frames, text
    cdef public Leaf leaf

cdef class SnapshotDiff:
    cdef public Py_ssize_t base, deepest, lost, index
    cdef public object leaf, changes, plan, opened_value
    cdef public list values, all_changes, gone, revised

cdef class Spine:
    cdef list _frames
    cdef Leaf _leaf
    cdef Py_ssize_t _lost
    cdef object _rules
    @cython.locals(leaf=Leaf, base=Py_ssize_t)
    cpdef grow(self, tree)
    @cython.locals(leaf=Leaf)
    cpdef extend(self, str value)
    cpdef SnapshotDiff diff(self, tree)
    cpdef plan(self, SnapshotDiff diff)
    cpdef write(self, SnapshotDiff diff)
    cdef SnapshotDiff _diff(self, Py_ssize_t base, value)
    cdef _diff_frame(self, Py_ssize_t level, value, SnapshotDiff diff)
    cdef _diff_leaf(self, Leaf leaf, value, SnapshotDiff diff)
    cdef _hold(self, SnapshotDiff diff, Py_ssize_t end)
    cdef _close(self, Py_ssize_t start, list values, leaf, list out)
