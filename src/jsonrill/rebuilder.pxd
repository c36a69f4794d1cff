# Types for the compiler; the code is in rebuilder.py.
cimport cython
from .machine cimport Sink

cdef class Tree(Sink):
    cdef public bint changed, done, stale, started
    cdef public object root
    cdef public list finished, parts
    cdef object _copy, _key, _top
    cdef bint _string
    cdef dict _names
    cdef list _spine, _steps
    cdef _last(self)
    cdef _open(self, container)
    cdef _put(self, value)
    @cython.locals(parts=list, run=str, text=str)
    cdef fold(self)
    cdef _copied(self)
    cpdef replace_string(self, str value)

cdef class Growing:
    cdef Tree _tree

cdef class Rebuilder(Growing):
    cdef object _reader
    cdef _apply(self, fragment)
