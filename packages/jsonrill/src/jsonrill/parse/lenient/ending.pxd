# Types for the compiler; the code is in ending.py.
cimport cython
from ..machine cimport Machine
from .core cimport Leniency

cdef int ASIDE, BARE_KEY, BARE_VALUE, BEFORE, BLOCK_COMMENT, BLOCK_STRING, CLOSING, CODE, END
cdef int FIRST_ELEMENT, IGNORED, KEY, LENIENT, LINE_COMMENT, ODD_KEY, ODD_STRING, PROSE
cdef int STRING, THOUGHTS, VALUE

cdef class TextEnd:
    cpdef finish(self, Leniency m)
    cpdef refuse_second(self, Leniency m)
    cpdef end_curly(self, Leniency m)
    cpdef refuse_swallowed(self, Leniency m)
    cpdef bint may_swallow(self, Leniency m) except -1
    cpdef cut_off(self, Leniency m)
    cpdef strictly(self, Leniency m)
    cpdef read_again(self, Leniency m, str string, asked)
