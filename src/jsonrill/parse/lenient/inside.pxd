# Types for the compiler; the code is in inside.py.
cimport cython
from ..machine cimport Machine
from ..sink cimport Sink
from .around cimport ProseMachine

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef int LENIENT, BEFORE, PROSE, THOUGHTS, FENCE, IGNORED, LINE_COMMENT, BLOCK_COMMENT, BARE_KEY
cdef int ODD_STRING, ODD_KEY, CLOSING, BLOCK_STRING, BARE_VALUE, CODE, ASIDE, WARY, GUIDED
cdef int MINUS, POINT, ZERO, INTEGER, FRACTION

cdef class LenientMachine(ProseMachine):
    cdef bint _inner, _quotation, _quoted, _deeper, _shallower, _misled, _lists_in_lists
    cdef str _opened, _first, _shown, _tail_text, _last_closer
    cdef Py_ssize_t _string_at, _nest, _root_end, _last_closed, _trailing, _last_size, _run_size
    cdef object _guide, _expected_here, _last_decoded, _parens, _strings, _nested
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, plain=cython.bint)
    cdef Py_ssize_t _end_string(self, str text, Py_ssize_t quote) except -2
