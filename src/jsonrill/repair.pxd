# Types for the compiler; the code is in repair.py.
cimport cython
from .machine cimport Machine, Sink

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef int PROSE, IGNORED, LINE_COMMENT, BLOCK_COMMENT, BARE_KEY

cdef class LenientMachine(Machine):
    cdef int _resume
    cdef object _rules
