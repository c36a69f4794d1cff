# Types for the compiler; the code is in builder.py.
cimport cython
from ..parse.sink cimport Sink

cdef dict _NO_NAMES
cdef bint _COMPILED
cdef Py_ssize_t BRIEF

cdef class ValueBuilder(Sink):
    cdef public bint changed, done, stale, started
    cdef public object root
    cdef public list finished
    cdef object _copy
    cdef readonly bint in_string
    cdef dict _members, _names
    cdef readonly list _spine
    cdef list _elements, _steps
    cdef str _key, _text
    @cython.locals(text=str)
    cpdef text(self, str run)
    @cython.locals(names=dict)
    cpdef key(self, str key, Py_ssize_t offset)
    @cython.final
    cdef _last(self)
    @cython.final
    cdef _open(self, container)
    @cython.final
    cdef _put(self, value)
    @cython.final
    @cython.locals(spine=list, steps=list, at=Py_ssize_t, members=dict, elements=list)
    cdef _copied(self)
    cpdef replace_string(self, str value)

cdef class GrowingValue:
    cdef ValueBuilder _builder
