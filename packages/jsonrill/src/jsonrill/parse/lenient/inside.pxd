# Types for the compiler; the code is in inside.py.
from ..machine cimport Machine
from .brackets cimport Brackets
from .core cimport Leniency
from .quotes cimport Quotes
from .strings cimport Strings

cdef int AFTER, END, KEY, STRING, DIGITS, LENIENT, BEFORE, PROSE, THOUGHTS, IGNORED, LINE_COMMENT
cdef int BLOCK_COMMENT, BARE_KEY, ODD_STRING, ODD_KEY, CLOSING, BLOCK_STRING, BARE_VALUE, CODE, ASIDE
cdef int GUIDED

cdef class LenientMachine(Leniency):
    cdef Strings _text
    cdef Quotes _quotes
    cdef Brackets _brackets
