# Types for the compiler; the code is in repair.py.
cimport cython
from .characters cimport text_end
from .position cimport Position
from .sink cimport Sink

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY
cdef int BEFORE, LINE_COMMENT, BLOCK_COMMENT, ELLIPSIS, HELD, CLOSED
cdef int WAIT, NO, YES, UNCLEAR
cdef Py_ssize_t REACH, _WORTH_DECODING

cdef class RepairMachine(Position):
    cdef bint _at_start, _cut, _gap, _has_backslash, _has_escape, _has_newline, _last, _noted
    cdef bint _root_scalar
    cdef int _resume
    cdef Py_ssize_t _brackets, _budget, _number_limit, _quotes, _string_limit, _text_bound
    cdef str _closer, _previous, _tail, _thoughts
    cdef bytes _undecoded
    cdef list _repairs
    cdef object _decoder, _limits, _on_repair, _parse_float, _rules
    cpdef bint is_pending(self)
    @cython.locals(piece=str)
    cpdef feed(self, data)
    @cython.locals(text=str, room=Py_ssize_t)
    cdef _read_text(self, str data)
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, after=Py_ssize_t, state=int, char=Py_UCS4)
    cdef _run(self, str text)
    cdef Py_ssize_t _outside_value(self, str text, Py_ssize_t pos, int state) except -2
    cdef Py_ssize_t _between_tokens(self, str text, Py_ssize_t pos, int state) except -2
    cdef Py_ssize_t _odd_token(self, str text, Py_ssize_t pos, str char, int state) except -2
    cdef _add_comma(self)
    cdef Py_ssize_t _value(self, str text, Py_ssize_t pos, str char) except -2
    cdef Py_ssize_t _open(self, str text, Py_ssize_t pos, str char) except -2
    @cython.locals(left=Py_ssize_t)
    cdef Py_ssize_t _decode_whole(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _close(self, Py_ssize_t pos) except -2
    cdef _ended(self, Py_ssize_t pos, bint is_container=*)
    @cython.locals(end=Py_ssize_t, after=Py_ssize_t, limit=Py_ssize_t)
    cdef Py_ssize_t _number(self, str text, Py_ssize_t pos) except -2
    cdef _emit_number(self, str text, Py_ssize_t pos, Py_ssize_t end, bint is_integer)
    cdef Py_ssize_t _word(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _open_string(self, str text, Py_ssize_t pos, str char, int state) except -2
    @cython.locals(end=Py_ssize_t, stop=Py_ssize_t, first=Py_ssize_t, after=Py_ssize_t)
    cdef Py_ssize_t _string(self, str text, Py_ssize_t pos) except -2
    cdef _take(self, str run)
    cdef Py_ssize_t _quote(self, str text, Py_ssize_t pos) except -2
    cdef _end_key(self, str text, Py_ssize_t pos)
