# Types for the compiler; the code is in repair.py.
cimport cython
from ..machine cimport Machine
from ..sink cimport Sink
from .around cimport ProseMachine

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef int LENIENT, BEFORE, PROSE, THOUGHTS, FENCE, IGNORED, LINE_COMMENT, BLOCK_COMMENT, BARE_KEY
cdef int ODD_STRING, ODD_KEY

cdef class LenientMachine(ProseMachine):
    cdef bint _inner
    cdef str _opened
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, plain=cython.bint)
    cdef Py_ssize_t _end_string(self, str text, Py_ssize_t quote) except -2
