# Types for the compiler; the code is in document.py.
from .builder cimport GrowingValue
from ..parse.machine cimport Machine

cdef class Document(GrowingValue):
    cdef Machine _machine
    cpdef bint feed(self, data) except -1
