# Types for the compiler; the code is in strings.py.
from ..machine cimport Machine
from .numbers cimport NumberMachine

cdef int AFTER, BLOCK_STRING, COLON, FIRST_KEY, KEY, NEXT_KEY, ODD_KEY, ODD_STRING, STRING

cdef class StringMachine(NumberMachine):
    cdef bint _inner, _quotation, _quoted, _curly, _mixed
    cdef str _opened, _first, _shown, _tail_text
    cdef Py_ssize_t _string_at, _nest, _inner_at, _inner_run
    cdef object _expected_here, _strings
