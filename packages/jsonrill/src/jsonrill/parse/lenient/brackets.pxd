# Types for the compiler; the code is in brackets.py.
cimport cython
from ..machine cimport Machine
from .core cimport Leniency

cdef int AFTER, CLOSING, FIRST_KEY, GUIDED, NEXT_KEY, STRING, VALUE

cdef class Brackets:
    cdef public bint bracketed
    cdef public Py_ssize_t comma_at, root_end, root_line, trailing
    cpdef start_document(self, Leniency m)
    cpdef brackets(self, Leniency m)
    cpdef Py_ssize_t fix_closer(self, Leniency m, str text, Py_ssize_t pos, str char) except? -2
    cpdef refuse_earlier(self, Leniency m, str text, Py_ssize_t pos, bint missing=*, kind=*)
    cpdef fix_bracket(self, Leniency m, str text, Py_ssize_t pos, Py_ssize_t size=*)
    cpdef repeats(self, Leniency m, str key, str text, Py_ssize_t quote)
    cpdef bint swallows(self, Leniency m, str string) except -1
    cpdef last_string(self, Leniency m)
    @cython.locals(closed=tuple, followed=bint, size=Py_ssize_t, largest=Py_ssize_t)
    cpdef ended_last(self, Leniency m)
    cpdef place(self, Leniency m, Py_ssize_t opened)
    cpdef Py_ssize_t fix_tuple(self, Leniency m, str text, Py_ssize_t pos) except? -2
    @cython.locals(follows=bint)
    cpdef Py_ssize_t string_element(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_unclosed(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef refuse_open(self, Leniency m, str text, Py_ssize_t pos, kind=*)
    cpdef Py_ssize_t close_root(self, Leniency m, Py_ssize_t pos) except? -2
    cpdef bint keeps_root_open(self, Leniency m) except -1
    cpdef bint may_decode(self, Leniency m) except -1
    cpdef emit_decoded(self, Leniency m, value, str text, Py_ssize_t pos, Py_ssize_t end)
    cpdef Py_ssize_t closing(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef bint is_unsure(self, Leniency m) except -1
    cpdef bint goes_on_after(self, Leniency m, seen, str text) except -1
    cpdef bint ends_in_object(self, Leniency m) except -1
    cpdef bint is_quote(self, Leniency m, str char) except -1
    cpdef end_root(self, Leniency m)
