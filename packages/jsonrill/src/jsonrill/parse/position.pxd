# Types for the compiler; the code is in position.py.
cimport cython
from .sink cimport Sink

cdef int VALUE, FIRST_ELEMENT, COLON, AFTER, STRING, DIGITS, KEY, START, ZERO, READY, HELD, CLOSED

cdef class Position:
    cdef bint _object
    cdef int _entry, _number_state, _state
    cdef readonly Py_ssize_t _count
    cdef Py_ssize_t _line, _line_start, _lined, _offset, _stop, _token
    cdef list _frames, _line_starts
    cdef Sink _sink
    cdef str _begun, _held, _key
    cdef _start(self)
    cpdef feed(self, data)
    cpdef flush(self, cut=*)
    cpdef limit_text(self, Py_ssize_t offset, Py_ssize_t size)
    @cython.locals(state=int)
    cpdef bint is_pending(self)
    cdef _close_stream(self)
    cdef _count_lines(self, str text, Py_ssize_t end)
    cdef str _expected(self)
    cdef _path(self, bint value)
    cdef _error(self, kind, str expected, str got, str text, Py_ssize_t pos)
    cdef _error_here(self, kind, str expected, str got)
    cdef _over(self, str limit, bound, str text, Py_ssize_t pos)
    cdef dict _fail_at(self, str text, Py_ssize_t pos)
    cdef tuple _position(self, str text, Py_ssize_t pos)
