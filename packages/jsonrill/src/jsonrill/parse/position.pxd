# Types for the compiler; the code is in position.py.
from .sink cimport Frame

cdef class Position:
    cdef readonly list frames
    cdef Frame _frame
    cdef readonly Py_ssize_t _offset
    cdef Py_ssize_t _line, _line_start, _lined
    cdef _start(self)
    cdef _push(self, bint is_object)
    cdef _pop(self)
    cdef _count_lines(self, str text, Py_ssize_t end)
    cdef _error(self, kind, str expected, str got, str text, Py_ssize_t pos)
    cdef _over(self, str limit, bound, str text, Py_ssize_t pos)
    cdef dict _place(self, str text, Py_ssize_t pos)
    cdef bint _fail(self) except -1
