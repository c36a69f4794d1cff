# Types for the compiler; the code is in quotes.py.
cimport cython
from ..machine cimport space_end
from .core cimport Leniency

cdef int AFTER, STRING, VALUE
cdef Py_ssize_t NOWHERE

cdef class Quotes:
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, plain=bint)
    cpdef Py_ssize_t end_string(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef bint blocks(self, Leniency m) except -1
    cpdef Py_ssize_t doubtful_quote(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef lone_quote(self, Leniency m, str text, Py_ssize_t quote)
    cpdef Py_ssize_t forgotten_quote(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef Py_ssize_t unclosed_key(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef replay(self, Leniency m, str tail, str text, Py_ssize_t pos)
    cpdef Py_ssize_t inner_quote(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef bint ends_in_number(self, Leniency m) except -1
    cpdef sees_three(self, Leniency m, str text, Py_ssize_t quote)
