# Types for the compiler; the code is in document.py.
from .builder cimport GrowingValue
from ..parse.position cimport Position

cdef class Document(GrowingValue):
    cdef Position _machine
    cpdef bint feed(self, data) except -1
