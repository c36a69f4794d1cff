# Types for the compiler; the code is in quotes.py.
cimport cython
from ..machine cimport space_end
from .strings cimport StringMachine

cdef int AFTER, STRING, VALUE
cdef Py_ssize_t NOWHERE

cdef class QuoteMachine(StringMachine):
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, plain=cython.bint)
    cdef Py_ssize_t _end_string(self, str text, Py_ssize_t quote) except -2
