# Types for the compiler; the code is in rebuilder.py.
from ..wire.parser cimport emit
from .builder cimport GrowingValue

cdef class Rebuilder(GrowingValue):
    cdef object _reader
    cdef readonly object live
