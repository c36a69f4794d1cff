# Types for the compiler; the code is in tokens.py.
cimport cython
from .position cimport Position
from .scanner cimport scan
from .sink cimport Frame, Sink

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef Py_ssize_t WORTH_SCANNING
cdef bint COMPILED

@cython.locals(end=Py_ssize_t, last=Py_UCS4)
cpdef Py_ssize_t plain_end(str text, Py_ssize_t pos, str closer=*) except -1
cpdef bint is_plain(str text) except -1

cdef class Tokens(Position):
    cpdef feed(self, data)
    cdef _run(self, str text)
    @cython.locals(limit=Py_ssize_t, room=Py_ssize_t)
    cdef _feed_text(self, str text)
    cdef _feed_other(self, data)
    cdef _check_open(self)
    cdef str _begin_text(self, str text)
    @cython.locals(state=int, after=Py_ssize_t, char=Py_UCS4)
    cdef Py_ssize_t _tokens(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    cdef Py_ssize_t _value(self, str text, Py_ssize_t pos, Py_UCS4 char) except -2
    @cython.locals(left=Py_ssize_t)
    cdef Py_ssize_t _scan(self, str text, Py_ssize_t pos) except -2
    @cython.locals(is_object=bint, frame=Frame)
    cdef Py_ssize_t _open(self, str text, Py_ssize_t pos, Py_UCS4 char) except -2
    cdef bint _closes(self, Py_UCS4 char) except -1
    cdef Py_ssize_t _close(self, Py_ssize_t pos) except -2
    @cython.locals(frame=Frame)
    cdef _add_comma(self)
    cdef _end_value(self, Py_ssize_t pos)
    cdef Py_ssize_t _literal(self, str text, Py_ssize_t pos, Py_UCS4 char) except -2
    @cython.locals(before=Py_ssize_t, stop=Py_ssize_t, number=str)
    cdef Py_ssize_t _number(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    @cython.locals(number=str)
    cdef _end_number(self, str text, Py_ssize_t end)
    cdef _read_number(self, str number, str text, Py_ssize_t end)
    cdef _open_string(self, Py_ssize_t pos)
    @cython.locals(stop=Py_ssize_t)
    cdef Py_ssize_t _text(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    @cython.locals(end=Py_ssize_t, stop=Py_ssize_t, run=str)
    cdef Py_ssize_t _escaped(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _lone_surrogate(self, str text, Py_ssize_t pos) except -2
    @cython.locals(key=str)
    cdef _take(self, str run)
    cdef Py_ssize_t _end_string(self, str text, Py_ssize_t quote) except -2
    @cython.locals(frame=Frame)
    cdef _add_key(self, str text, Py_ssize_t pos)
