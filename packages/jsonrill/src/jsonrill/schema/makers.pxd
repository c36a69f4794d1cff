# Types for the compiler; the code is in makers.py.
cimport cython

cdef object ABSENT

cdef class Maker:
    cpdef make(self, dict inner)

cdef class ModelMaker(Maker):
    cdef dict _base, _extra
    cdef list _open
    cdef set _names
    cdef bint _keeps_extra
    cdef object _make, _step
    @cython.locals(fields=dict, names=set, extra=dict)
    cpdef make(self, dict inner)

cdef class DataclassMaker(Maker):
    cdef dict _base
    cdef list _open
    cdef object _cls

cdef class DictMaker(Maker):
    cdef dict _base
    cdef list _open
    @cython.locals(members=dict)
    cpdef make(self, dict inner)

cdef class ItemsMaker(Maker):
    cdef list _items, _nodes
    cdef object _collect
    @cython.locals(items=list)
    cpdef make(self, dict inner)

cdef class RootMaker(Maker):
    cdef Maker _around
    cdef object _cls
