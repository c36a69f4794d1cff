# Types for the compiler; the code is in machine.py.
cimport cython
from .scanner cimport scan

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef Py_ssize_t WORTH_SCANNING
cdef bint COMPILED

cdef class Frame:
    cdef public bint is_object
    cdef public str key
    cdef public Py_ssize_t count
    cdef public dict members
    cdef public list elements

cpdef tuple path_of(list frames, Py_ssize_t start, Py_ssize_t end)

cdef class Sink:
    cdef public list frames
    cpdef start_object(self, Py_ssize_t offset)
    cpdef start_array(self, Py_ssize_t offset)
    cpdef end_container(self, Py_ssize_t offset)
    cpdef key(self, str key, Py_ssize_t offset)
    cpdef start_string(self, Py_ssize_t offset)
    cpdef text(self, str run)
    cpdef end_string(self)
    cpdef scalar(self, object value, object text, Py_ssize_t offset)
    cpdef complete(self, Py_ssize_t offset)
    cpdef bint takes_values(self)

@cython.locals(end=Py_ssize_t, last=Py_UCS4)
cpdef Py_ssize_t plain_end(str text, Py_ssize_t pos, str closer=*) except -1
@cython.locals(char=Py_UCS4)
cpdef bint is_plain(str text) except -1
cpdef str unescape(str run)

cdef class Tokens:
    cdef readonly list frames
    cdef Frame _frame
    cdef Sink _sink
    cdef bint _closed, _has_begun
    cdef int _state
    cdef dict _number_state
    cdef str _held, _token_text
    cdef bytes _tail
    cdef Py_ssize_t _budget, _line, _line_start, _lined, _offset, _stop, _token
    cdef Py_ssize_t _number_limit, _string_limit, _text_limit
    cdef object _limits, _parse_float
    cdef _start(self, Sink sink, int state, limits, parse_float, str prefix)
    cpdef redirect(self, Sink sink)
    cdef _count_lines(self, str text, Py_ssize_t end)
    cdef tuple _position(self, str text, Py_ssize_t pos)
    cdef _error(self, kind, str expected, str got, str text, Py_ssize_t pos)
    cdef _refuse(self, str text, Py_ssize_t pos, str expected=*)
    cdef _error_here(self, kind, str expected, str got)
    cdef _too_short(self, str expected, kind=*)
    cdef _over(self, str limit, bound, str text, Py_ssize_t pos)
    cdef dict _fail_at(self, str text, Py_ssize_t pos)
    cdef str _expected(self)
    cdef str _expected_after(self)
    @cython.locals(text=str)
    cpdef feed(self, data)
    cdef _run(self, str text)
    @cython.locals(limit=Py_ssize_t, room=Py_ssize_t)
    cdef _feed_text(self, str text)
    cdef _feed_other(self, data)
    cdef _finish(self, bint is_cut)
    cdef _check_open(self)
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
    @cython.locals(excess=Py_ssize_t, start=Py_ssize_t, number=str, state=dict, after=dict)
    cdef Py_ssize_t _number(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    @cython.locals(number=str)
    cdef _end_number(self, str text, Py_ssize_t end)
    cdef _read_number(self, str number, str text, Py_ssize_t end)
    cdef _open_string(self, Py_ssize_t pos)
    @cython.locals(plain=Py_ssize_t, stop=Py_ssize_t, run=str)
    cdef Py_ssize_t _text(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    @cython.locals(end=Py_ssize_t, stop=Py_ssize_t, run=str)
    cdef Py_ssize_t _escaped(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _lone_surrogate(self, str text, Py_ssize_t pos) except -2
    @cython.locals(key=str)
    cdef _take(self, str run)
    cdef Py_ssize_t _end_string(self, str text, Py_ssize_t quote) except -2
    @cython.locals(frame=Frame)
    cdef _add_key(self, str text, Py_ssize_t pos)

cdef class Machine(Tokens):
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, start=Py_ssize_t)
    cdef _run(self, str text)
    cdef _finish(self, bint is_cut)
    cdef _unexpected(self, str text, Py_ssize_t pos)
    cdef str _expected(self)
