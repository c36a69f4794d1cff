# Types for the compiler; the code is in strings.py.
cimport cython
from ..machine cimport Machine, plain_end, space_end
from .numbers cimport NumberMachine

cdef bint _COMPILED
cdef str _UNSURE
cdef Py_ssize_t FEW, NOWHERE, _REMEMBERED

@cython.locals(char=Py_UCS4, at=Py_ssize_t, odd=bint)
cdef bint is_usual(str run, bint plain) except -1
@cython.locals(at=Py_ssize_t, char=Py_UCS4)
cdef bint ends_simply(str run) except -1

cdef int AFTER, BLOCK_STRING, COLON, FIRST_KEY, KEY, NEXT_KEY, ODD_KEY, ODD_STRING, STRING, VALUE, GUIDED

cdef class StringMachine(NumberMachine):
    cdef bint _info, _inner, _quotation, _quoted, _curly, _mixed, _after_value, _after_comma, _nest_string
    cdef bint _closed_in_text, _drive, _glued, _low
    cdef str _opened, _first, _tail_text, _watched, _literal_text
    cdef Py_ssize_t _backslash_at, _doubtful_at, _open_in_text, _run_from
    cdef Py_ssize_t _string_at, _nest, _inner_at, _inner_run
    cdef object _expected_here, _parens
    cdef Py_ssize_t _string_depth, _string_index
    cdef Py_ssize_t _comma_at, _string_line
    cdef _take(self, str run)
    cdef bint _is_plain(self, str run) except -1
    @cython.final
    cdef bint _is_simple(self, str run) except -1
    @cython.locals(end=Py_ssize_t, at=Py_ssize_t, char=Py_UCS4, simple=bint, comma=bint, begins=bint)
    cdef Py_ssize_t _plain_run(self, str text, Py_ssize_t pos, Py_ssize_t stop, str run) except -2
    cdef Py_ssize_t _unusual_run(self, str text, Py_ssize_t stop, str run) except -2
    cdef _settle(self)
    cdef _note_text(self, str run)
    cdef _take_text(self, str run)
    cdef _begin_text(self)
    cdef Py_ssize_t _finish_string(self, str text, Py_ssize_t quote) except -2
