# Types for the compiler; the code is in brackets.py.
cimport cython
from ..machine cimport Machine
from .core cimport Leniency

cdef int AFTER, CLOSING, FIRST_ELEMENT, FIRST_KEY, GUIDED, NEXT_KEY, STRING, VALUE
cdef int UNKNOWN, IN_LIST

cdef class Brackets:
    cdef public bint bracketed, deeper, lists_in_lists, shallower
    cdef public Py_ssize_t root_end, root_line, root_size, trailing
    cdef public tuple closed, misled_by, root_decoded
    cdef public int misled
    cdef public dict nested
    cpdef start_document(self, Leniency m)
    cpdef brackets(self, Leniency m)
    cpdef Py_ssize_t fix_closer(self, Leniency m, str text, Py_ssize_t pos, str char) except? -2
    cpdef fix_bracket(self, Leniency m, str text, Py_ssize_t pos, Py_ssize_t size=*)
    cpdef repeats(self, Leniency m, str key, str text, Py_ssize_t quote)
    cpdef bint has_repeats(self, Leniency m) except -1
    cpdef key_twice(self, Leniency m, str text, Py_ssize_t pos, kind=*)
    cpdef bracket_in_string(self, Leniency m, str text, Py_ssize_t pos)
    cpdef last_string(self, Leniency m)
    @cython.locals(closed=tuple)
    cpdef ended_last(self, Leniency m)
    cpdef bint closes_again(self, str closer) except -1
    cpdef Py_ssize_t close_tuple(self, Leniency m, str text, Py_ssize_t pos, bint comma) except? -2
    cpdef Py_ssize_t fix_brackets(self, Leniency m, str text, Py_ssize_t pos, str char, seen, bint doubled) except? -2
    cpdef place(self, Leniency m, Py_ssize_t opened)
    cpdef Py_ssize_t fix_tuple(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_missing_brace(self, Leniency m, str text, Py_ssize_t pos) except? -2
    @cython.locals(follows=bint, in_object=bint)
    cpdef Py_ssize_t string_element(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_open_list(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef refuse_doubled(self, Leniency m, str text, Py_ssize_t pos, kind=*)
    cpdef refuse_shifted(self, Leniency m, str text, Py_ssize_t pos, kind=*)
    cpdef refuse_open(self, Leniency m, str text, Py_ssize_t pos, kind=*)
    cpdef Py_ssize_t close_root(self, Leniency m, Py_ssize_t pos) except? -2
    cpdef bint keeps_root_open(self, Leniency m) except -1
    cpdef hold_root(self, Leniency m, Py_ssize_t offset, Py_ssize_t size)
    @cython.locals(at=Py_ssize_t, depth=Py_ssize_t, size=Py_ssize_t, is_object=bint, end=Py_ssize_t, before=tuple)
    cpdef Py_ssize_t leave(self, Leniency m, Py_ssize_t pos) except? -2
    @cython.locals(least=Py_ssize_t)
    cpdef Py_ssize_t chain(self, Leniency m, Py_ssize_t depth) except? -2
    cpdef bint may_decode(self, Leniency m) except -1
    cpdef emit_decoded(self, Leniency m, value, str text, Py_ssize_t pos, Py_ssize_t end)
    cpdef bint may_be_earlier(self, Leniency m) except -1
    cpdef bint is_misled(self, Leniency m) except -1
    cpdef Py_ssize_t closing(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef bint goes_on_after(self, Leniency m, seen, str text) except -1
    cpdef bint follows_key(self, Leniency m) except -1
    cpdef bint is_quote(self, Leniency m, str char) except -1
    cpdef reopen_root(self, Leniency m)
    cpdef bint closers_mislead(self, Leniency m, str closers) except -1
    cpdef end_root(self, Leniency m)
