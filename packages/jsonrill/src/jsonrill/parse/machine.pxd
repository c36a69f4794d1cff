# Types for the compiler; the code is in machine.py.
cimport cython
from .position cimport Position
from .scanner cimport is_plain, plain_end, scan
from .sink cimport Frame, Sink

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef Py_ssize_t WORTH_SCANNING

cdef class Machine(Position):
    cdef Py_ssize_t _budget
    cpdef feed(self, data)
    cdef _feed_text(self, str text)
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, state=int, frame=Frame)
    cdef _run(self, str text)
    cdef Py_ssize_t _value(self, str text, Py_ssize_t pos, str char) except -2
    @cython.locals(left=Py_ssize_t)
    cdef Py_ssize_t _scan(self, str text, Py_ssize_t pos) except -2
    cdef bint _closes(self, str char) except -1
    cdef Py_ssize_t _close(self, Py_ssize_t pos) except -2
    cdef _end_value(self, Py_ssize_t pos)
    cdef Py_ssize_t _literal(self, str text, Py_ssize_t pos, str char) except -2
    @cython.locals(before=Py_ssize_t, size=Py_ssize_t, stop=Py_ssize_t, number=str)
    cdef Py_ssize_t _number(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    @cython.locals(number=str)
    cdef _end_number(self, str text, Py_ssize_t end)
    @cython.locals(stop=Py_ssize_t)
    cdef Py_ssize_t _string(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    @cython.locals(end=Py_ssize_t, stop=Py_ssize_t, run=str)
    cdef Py_ssize_t _escaped(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _bad_escape(self, str text, Py_ssize_t pos) except -2
    @cython.locals(key=str)
    cdef _take(self, str run)
    cdef Py_ssize_t _end_string(self, str text, Py_ssize_t quote) except -2
    cdef _unexpected(self, str text, Py_ssize_t pos, str expected=*)
    cdef str _expected(self)
