# Types for the compiler; the code is in repair.py.
cimport cython
from .machine cimport Frame, Sink, Tokens, plain_end

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, AFTER, END, STRING, KEY, DIGITS
cdef int BEFORE, LINE_COMMENT, BLOCK_COMMENT, ELLIPSIS
cdef int WAIT, NO, YES, UNCLEAR
cdef Py_ssize_t REACH

cdef class RepairMachine(Tokens):
    cdef bint _has_backslash, _has_escape, _has_inner_quotes, _may_lack_end
    cdef bint _has_ended, _is_line_start, _is_reported, _is_scalar
    cdef int _resume
    cdef Py_ssize_t _brackets, _quotes
    cdef str _last_char, _closer, _text_tail, _thoughts
    cdef list _repairs
    cdef object _on_repair, _rules
    cdef _reset_string(self)
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, after=Py_ssize_t)
    cdef _run(self, str text)
    @cython.locals(state=int, after=Py_ssize_t)
    cdef Py_ssize_t _read(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    @cython.locals(stop=Py_ssize_t, after=Py_ssize_t, taken=Py_ssize_t)
    cdef Py_ssize_t _string(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    cdef _finish(self, bint is_cut)
    cdef str _expected(self)
    cdef _take(self, str run)
    @cython.locals(verdict=int)
    cdef Py_ssize_t _quote(self, str text, Py_ssize_t pos) except -2
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t)
    cdef int _json_follows(self, str text, Py_ssize_t pos) except -2
    cdef bint _in_object(self) except -1
