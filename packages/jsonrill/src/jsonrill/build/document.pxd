# Types for the compiler; the code is in document.py.
cimport cython
from ..parse.create cimport create_machine
from ..parse.characters cimport plain_end
from ..parse.position cimport Position
from .builder cimport GrowingValue, ValueBuilder

cdef bint _COMPILED
cdef int PLAIN, READY
cdef Py_ssize_t BRIEF

cdef object _CHANGES

cdef class GrowingDocument(GrowingValue):
    cdef Position _machine
    cdef object _root
    cdef readonly object many
    @cython.locals(machine=Position, builder=ValueBuilder, members=dict, key=str, piece=str, text=str, end=Py_ssize_t, size=Py_ssize_t)
    cpdef bint feed(self, data)
    @cython.final
    cdef _show(self)
