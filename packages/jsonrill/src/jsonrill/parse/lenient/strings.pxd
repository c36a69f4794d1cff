# Types for the compiler; the code is in strings.py.
cimport cython
from ..machine cimport Machine
from .core cimport Leniency

cdef int AFTER, BLOCK_STRING, COLON, FIRST_KEY, GUIDED, KEY, NEXT_KEY, ODD_KEY, ODD_STRING, STRING
cdef Py_ssize_t NOWHERE, REMEMBERED, _LONGEST_TAIL

cpdef Py_ssize_t _tail(str run) except -1

cdef class Strings:
    cdef public bint inner
    cdef public Py_ssize_t backslash_at, code_at, collected_at, lines_at
    cdef public Py_ssize_t punctuated_at, string_line
    cdef public object expected_here
    cdef public str collected, opened, tail_text
    cpdef start_document(self, Leniency m)
    cpdef str shown(self, Leniency m)
    cpdef str ends_with(self, Leniency m)
    cpdef str whole(self, Leniency m)
    cpdef str last(self, Leniency m)
    cpdef take(self, Leniency m, str run)
    cpdef take_text(self, Leniency m, str run)
    cpdef begin_text(self, Leniency m)
    cpdef bint is_plain(self, str run) except -1
    cpdef Py_ssize_t odd_run(self, Leniency m, str text, Py_ssize_t stop, str run) except? -2
    @cython.locals(start=Py_ssize_t)
    cpdef Py_ssize_t hold_tail(self, Leniency m, str run, Py_ssize_t stop) except? -2
    @cython.locals(token=Py_ssize_t)
    cpdef Py_ssize_t escaped(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t finish_string(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef end_collected(self, Leniency m, str text, Py_ssize_t quote)
    cpdef Py_ssize_t fix_quote(self, Leniency m, str text, Py_ssize_t pos, str char) except? -2
    cpdef bint collects(self, Leniency m, Py_ssize_t pos) except -1
    cpdef Py_ssize_t odd_string(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t run(self, Leniency m, str text, Py_ssize_t pos, str closer) except? -2
    cpdef Py_ssize_t one_escape(self, Leniency m, str text, Py_ssize_t pos, str closer) except? -2
    cpdef Py_ssize_t end_odd_string(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef Py_ssize_t open_block(self, Leniency m, str opened, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t block_string(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t odd_escape(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef bint has_code(self, Leniency m, str text, Py_ssize_t pos) except -1
    cpdef bint has_backslash(self, Leniency m) except -1
    cpdef backslashes(self, Leniency m, str text, Py_ssize_t pos)
    cpdef Py_ssize_t control(self, Leniency m, str text, Py_ssize_t pos) except? -2
