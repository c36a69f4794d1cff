# Types for the compiler; the code is in tokens.py.
cimport cython
from .core cimport Leniency

cdef int AFTER, COLON, FIRST_ELEMENT, FIRST_KEY, LINE_COMMENT, NEXT_KEY, VALUE
cdef Py_ssize_t REMEMBERED

cdef class Tokens:
    cpdef Py_ssize_t fix(self, Leniency m, str text, Py_ssize_t pos, str char) except? -2
    cpdef Py_ssize_t fix_odd_value(self, Leniency m, str text, Py_ssize_t pos, str char) except? -2
    cpdef Py_ssize_t fix_ticks(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_closing_fence(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_after(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_comma(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_missing_comma(self, Leniency m, str text, Py_ssize_t pos, str char) except? -2
    cpdef Py_ssize_t fix_ellipsis(self, Leniency m, str text, Py_ssize_t pos) except? -2
