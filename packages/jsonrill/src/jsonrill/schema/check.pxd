# Types for the compiler; the code is in check.py.
cimport cython
from ..parse.sink cimport TextBuffer
from ..paths cimport Place
from .nodes cimport Node
from .walk cimport Frame, Walk, validated

cdef int OBJECT
cdef object ABSENT
cdef Py_ssize_t DEEPEST

cdef class Check(Walk):
    cdef Node _node
    cdef public object model, root

cdef class DocumentCheck(Check):
    cdef bint _keeps
    @cython.locals(frame=Frame)
    cpdef end_container(self, Py_ssize_t offset)
    cdef _finish(self, value)
