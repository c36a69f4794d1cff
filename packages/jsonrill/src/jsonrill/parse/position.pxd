# Types for the compiler; the code is in position.py.
cimport cython

cdef int VALUE, FIRST_ELEMENT, COLON, AFTER, STRING, DIGITS, KEY, START, ZERO, READY, CLOSED

cdef class Position:
    cdef bint _object
    cdef int _entry, _number_state, _state
    cdef readonly Py_ssize_t _count
    cdef Py_ssize_t _line, _line_start, _lined, _offset, _passed_line, _token
    cdef list _frames, _line_starts
    cdef str _begun, _held, _key, _passed
    cdef _start(self)
    @cython.locals(state=int)
    cpdef bint is_pending(self)
    cdef _close_stream(self)
    cdef _count_lines(self, str text, Py_ssize_t end)
    cdef _uncount_lines(self, Py_ssize_t count, Py_ssize_t line_start)
    cdef str _expected(self)
    cdef _path(self, bint value)
    cdef _error(self, kind, str expected, str got, str text, Py_ssize_t pos)
    cdef _error_here(self, kind, str expected, str got)
    cdef _over(self, str limit, bound, str text, Py_ssize_t pos)
    cdef dict _fail_at(self, str text, Py_ssize_t pos)
    cdef tuple _position(self, str text, Py_ssize_t pos)
