# Types for the compiler; the code is in inside.py.
from ..machine cimport Machine
from .around cimport ProseMachine
from .brackets cimport BracketMachine

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef int LENIENT, BEFORE, PROSE, THOUGHTS, FENCE, IGNORED, LINE_COMMENT, BLOCK_COMMENT, BARE_KEY
cdef int ODD_STRING, ODD_KEY, CLOSING, BLOCK_STRING, BARE_VALUE, CODE, ASIDE

cdef class LenientMachine(BracketMachine):
    pass
