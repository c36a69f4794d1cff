# Types for the compiler; the code is in position.py.
from .sink cimport Frame, Sink, path_of

cdef int VALUE, FIRST_ELEMENT, COLON, AFTER, END, STRING, KEY, DIGITS

cdef class Position:
    cdef readonly list frames
    cdef Frame _frame
    cdef Sink _sink
    cdef bint _closed, _has_begun
    cdef int _state
    cdef str _held, _token_text
    cdef bytes _tail
    cdef Py_ssize_t _budget, _line, _line_start, _lined, _offset, _stop, _token
    cdef Py_ssize_t _number_limit, _string_limit, _text_limit
    cdef object _limits, _parse_float
    cdef _start(self, Sink sink, int state, limits, parse_float, str prefix)
    cpdef redirect(self, Sink sink)
    cpdef feed(self, data)
    cdef _count_lines(self, str text, Py_ssize_t end)
    cdef tuple _position(self, str text, Py_ssize_t pos)
    cdef _error(self, kind, str expected, str got, str text, Py_ssize_t pos)
    cdef _refuse(self, str text, Py_ssize_t pos, str expected=*)
    cdef _error_here(self, kind, str expected, str got)
    cdef _cut_error(self, kind, str expected, cut)
    cdef _over(self, str limit, bound, str text, Py_ssize_t pos)
    cdef dict _fail_at(self, str text, Py_ssize_t pos)
    cdef str _expected(self)
    cdef str _expected_after(self)
