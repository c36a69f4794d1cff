# Types for the compiler; the code is in repair.py.
cimport cython
from .machine cimport Machine, Sink

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef int LENIENT, BEFORE, PROSE, THOUGHTS, FENCE, IGNORED, LINE_COMMENT, BLOCK_COMMENT, BARE_KEY
cdef int ODD_STRING, ODD_KEY

cdef class LenientMachine(Machine):
    cdef bint _between, _inner, _last
    cdef int _resume
    cdef Py_ssize_t _mended
    cdef str _opened
    cdef object _rules
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, plain=cython.bint)
    cdef Py_ssize_t _end_string(self, str text, Py_ssize_t quote) except -2
