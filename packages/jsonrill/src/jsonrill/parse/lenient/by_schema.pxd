# Types for the compiler; the code is in by_schema.py.
cimport cython
from .core cimport Leniency


cdef class BySchema:
    cdef public object guide
    cpdef asked(self, Leniency m)
    cpdef fits(self, Leniency m, str text, Py_ssize_t pos)
    cpdef emit_value(self, Leniency m, value, Py_ssize_t offset)
    cpdef emit_string(self, Leniency m, str value, Py_ssize_t offset)
