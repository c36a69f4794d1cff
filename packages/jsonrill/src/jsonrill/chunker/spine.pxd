# Types for the compiler; the code is in spine.py.
cimport cython
from .frames cimport Changes, Rules, WritePlan, _Container
from .leaves cimport Leaf

cdef class OpenedValue:
    cdef public list frames, text
    cdef public Leaf leaf

cdef class SnapshotDiff:
    cdef public Py_ssize_t base, deepest, lost, index
    cdef public object leaf
    cdef public Changes changes
    cdef public WritePlan plan
    cdef public OpenedValue opened_value
    cdef public list values, all_changes, gone, revised

cdef class Spine:
    cdef readonly bint only_leaf_grew
    cdef list _frames
    cdef Leaf _leaf
    cdef Py_ssize_t _lost
    cdef Rules _rules
    cpdef grow(self, tree)
    @cython.locals(leaf=Leaf, frame=_Container, base=Py_ssize_t)
    cdef _follow(self, tree)
    @cython.locals(leaf=Leaf)
    cpdef extend(self, str value)
    cpdef SnapshotDiff diff(self, tree)
    @cython.locals(frame=_Container)
    cpdef plan(self, SnapshotDiff diff)
    @cython.locals(frame=_Container)
    cpdef write(self, SnapshotDiff diff)
    cdef SnapshotDiff _diff(self, Py_ssize_t base, value)
    @cython.locals(frame=_Container, changes=Changes)
    cdef _diff_frame(self, Py_ssize_t level, value, SnapshotDiff diff)
    cdef _diff_leaf(self, Leaf leaf, value, SnapshotDiff diff)
    cdef _hold(self, SnapshotDiff diff, Py_ssize_t end)
    @cython.locals(frame=_Container)
    cdef _close(self, Py_ssize_t start, list values, leaf, list out)
