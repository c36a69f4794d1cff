# Types for the compiler; the code is in repair.py.
cimport cython
from .position cimport Position
from .scanner cimport plain_end, scan
from .sink cimport Frame, Sink

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY
cdef int BEFORE, LINE_COMMENT, BLOCK_COMMENT, ELLIPSIS
cdef int WAIT, NO, YES, UNCLEAR
cdef Py_ssize_t REACH, _WORTH_SCANNING

cdef class RepairMachine(Position):
    cdef bint _cut, _gap, _has_backslash, _has_escape, _has_newline, _last, _noted, _root_scalar
    cdef int _resume
    cdef Py_ssize_t _brackets, _budget, _quotes
    cdef str _closer, _previous, _text_tail, _thoughts
    cdef list _repairs
    cdef object _on_repair, _rules
    cpdef feed(self, data)
    cdef _feed_text(self, str text)
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, after=Py_ssize_t, state=int, char=Py_UCS4)
    cdef _run(self, str text)
    cdef Py_ssize_t _outside_value(self, str text, Py_ssize_t pos, int state) except -2
    cdef Py_ssize_t _between_tokens(self, str text, Py_ssize_t pos, int state) except -2
    cdef Py_ssize_t _odd_token(self, str text, Py_ssize_t pos, str char, int state) except -2
    @cython.locals(frame=Frame)
    cdef _add_comma(self)
    cdef Py_ssize_t _value(self, str text, Py_ssize_t pos, str char) except -2
    @cython.locals(left=Py_ssize_t)
    cdef Py_ssize_t _scan(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _close(self, Py_ssize_t pos) except -2
    cdef _ended(self, Py_ssize_t pos, bint is_container=*)
    @cython.locals(end=Py_ssize_t, after=Py_ssize_t, limit=Py_ssize_t)
    cdef Py_ssize_t _number(self, str text, Py_ssize_t pos) except -2
    cdef _emit_number(self, str text, Py_ssize_t pos, Py_ssize_t end)
    cdef Py_ssize_t _word(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _open_string(self, str text, Py_ssize_t pos, str char, int state) except -2
    @cython.locals(end=Py_ssize_t, stop=Py_ssize_t, first=Py_ssize_t, after=Py_ssize_t)
    cdef Py_ssize_t _string(self, str text, Py_ssize_t pos) except -2
    cdef _take(self, str run)
    cdef Py_ssize_t _quote(self, str text, Py_ssize_t pos) except -2
    cdef bint _in_object(self) except -1
    cdef str _bracket(self)
