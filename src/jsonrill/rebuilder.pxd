# Types for the compiler; the code is in rebuilder.py.
cimport cython
from .machine cimport Sink

cdef class Tree(Sink):
    cdef public bint changed, done, stale, started
    cdef public object root
    cdef public list finished
    cdef object _copy
    cdef bint _string
    cdef dict _members, _names
    cdef list _elements, _spine, _steps
    cdef str _key
    @cython.locals(members=dict, elements=list, key=str, text=str)
    cpdef text(self, str run)
    cdef _last(self)
    cdef _open(self, container)
    cdef _enter(self, container)
    cdef _put(self, value)
    cdef _copied(self)
    cpdef replace_string(self, str value)

cdef class Growing:
    cdef Tree _tree

cdef class Rebuilder(Growing):
    cdef object _reader
    cdef _apply(self, fragment)
