# Types for the compiler; the code is in strings.py.
cimport cython
from ..machine cimport Machine
from .numbers cimport NumberMachine

cdef int AFTER, BLOCK_STRING, COLON, FIRST_KEY, KEY, NEXT_KEY, ODD_KEY, ODD_STRING, STRING, GUIDED

cdef class StringMachine(NumberMachine):
    cdef bint _inner, _quotation, _quoted, _curly, _mixed, _after_value
    cdef str _opened, _first, _shown, _tail_text, _watched
    cdef Py_ssize_t _string_at, _nest, _inner_at, _inner_run
    cdef object _expected_here, _strings, _parens
    cdef Py_ssize_t _plain_at, _comma_at, _string_line
    cdef _take(self, str run)
    @cython.locals(at=Py_ssize_t, last=Py_UCS4)
    cdef bint _is_plain(self, str run) except -1
    @cython.locals(at=Py_ssize_t, last=Py_UCS4)
    cdef bint _is_simple(self, str run) except -1
    cdef _settle(self)
    cdef _take_text(self, str run)
    cdef _begin_text(self)
    cdef Py_ssize_t _finish_string(self, str text, Py_ssize_t quote) except -2
