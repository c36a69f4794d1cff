# Types for the compiler; the code is in words.py.
cimport cython
from ..machine cimport Machine
from .core cimport Leniency

cdef int AFTER, BARE_KEY, BARE_VALUE, DIGITS, KEY

cdef class Words:
    cdef public Py_ssize_t point_at
    cpdef start_document(self, Leniency m)
    cpdef Py_ssize_t fix_word(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t odd_literal(self, Leniency m, str text, Py_ssize_t pos, str word) except? -2
    cpdef Py_ssize_t fix_bare_key(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t bare_key(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef bare_rule(self, Leniency m)
    cpdef Py_ssize_t fix_bare_value(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t bare_value(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef bint ends_number(self, Leniency m, str text, Py_ssize_t pos) except -1
    cpdef Py_ssize_t fix_number(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_infinity(self, Leniency m, str text, Py_ssize_t pos) except? -2
