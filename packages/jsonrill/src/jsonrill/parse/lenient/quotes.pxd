# Types for the compiler; the code is in quotes.py.
cimport cython
from .core cimport Leniency

cdef int AFTER, STRING, VALUE
cdef Py_ssize_t REMEMBERED, _LONGEST

cdef class Quotes:
    cdef public bint glued, inches, mixed, nest_string, quotation, quoted
    cdef public Py_ssize_t nest
    cpdef begin_text(self)
    cpdef note_text(self, Leniency m, str run)
    cpdef refuse_text(self, Leniency m, str text, Py_ssize_t quote)
    @cython.locals(end=Py_ssize_t)
    cpdef Py_ssize_t end_string(self, Leniency m, str text, Py_ssize_t quote) except? -2
    @cython.locals(pos=Py_ssize_t, comma=bint)
    cpdef ends_string(self, Leniency m, str text, Py_ssize_t quote)
    cpdef bint opens_curly(self, Leniency m) except -1
    cpdef lone_quote(self, Leniency m, str text, Py_ssize_t quote)
    cpdef Py_ssize_t forgotten_quote(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef Py_ssize_t unclosed_key(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef replay(self, Leniency m, str tail, str text, Py_ssize_t pos)
    cpdef Py_ssize_t inner_quote(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef Py_ssize_t after_quotes(self, Leniency m, str text, Py_ssize_t quote) except? -2
