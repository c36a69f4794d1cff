# Types for the compiler; the code is in strings.py.
cimport cython
from ..machine cimport Machine, plain_end, space_end
from .core cimport Leniency

cdef int AFTER, BLOCK_STRING, COLON, FIRST_KEY, GUIDED, KEY, NEXT_KEY, ODD_KEY, ODD_STRING, STRING
cdef int VALUE
cdef bint _COMPILED
cdef str _UNSURE
cdef Py_ssize_t FEW, NOWHERE, _REMEMBERED

@cython.locals(char=Py_UCS4, at=Py_ssize_t, odd=bint)
cdef bint is_usual(str run, bint plain) except -1
@cython.locals(at=Py_ssize_t, char=Py_UCS4)
cdef bint ends_simply(str run) except -1

cdef class Strings:
    cdef public bint after_comma, after_value, closed_in_text, curly, drive, glued, info, inner, low
    cdef public bint inches, mixed, nest_string, quotation, quoted
    cdef public Py_ssize_t backslash_at, comma_at, doubtful_at, inner_at, inner_run, nest
    cdef public Py_ssize_t open_in_text, punctuated_at, rare_at, run_from, string_at, string_line
    cdef public object expected_here
    cdef public str first, literal_text, opened, tail_text, watched
    cpdef start_document(self, Leniency m)
    cpdef take(self, Leniency m, str run)
    cpdef take_text(self, Leniency m, str run)
    cpdef note_text(self, Leniency m, str run)
    cpdef watch(self, Leniency m, str run)
    cpdef settle(self, Leniency m)
    cpdef bint is_simple(self, Leniency m, str run) except -1
    cpdef note_curly(self, Leniency m, str run)
    cpdef begin_text(self, Leniency m)
    cpdef bint is_plain(self, Leniency m, str run) except -1
    @cython.locals(end=Py_ssize_t, at=Py_ssize_t, char=Py_UCS4, simple=bint, comma=bint, begins=bint)
    cpdef Py_ssize_t plain_run(self, Leniency m, str text, Py_ssize_t pos, Py_ssize_t stop, str run) except? -2
    cpdef Py_ssize_t unusual_run(self, Leniency m, str text, Py_ssize_t stop, str run) except? -2
    cpdef Py_ssize_t escaped(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t finish_string(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef end_collected(self, Leniency m, str text, Py_ssize_t quote)
    cpdef Py_ssize_t fix_quote(self, Leniency m, str text, Py_ssize_t pos, str char) except? -2
    cpdef fix_no_comma(self, Leniency m, str text, Py_ssize_t pos)
    cpdef bint collects(self, Leniency m) except -1
    cpdef Py_ssize_t odd_string(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t odd_text(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t one_escape(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t end_odd_string(self, Leniency m, str text, Py_ssize_t quote) except? -2
    cpdef Py_ssize_t open_block(self, Leniency m, str opened, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t block_string(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t odd_escape(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef other_escape(self, Leniency m, str text, Py_ssize_t pos, str char)
    cpdef begin_punctuated(self, Leniency m, str text, Py_ssize_t pos)
    cpdef note_doubtful(self, Leniency m, Py_ssize_t token, str text, Py_ssize_t end)
    cpdef begin_literal(self, Leniency m, str text, Py_ssize_t pos)
    cpdef text_before(self, Leniency m)
    cpdef bint is_drive(self, Leniency m, str before, Py_ssize_t pos) except -1
    cpdef backslashes(self, Leniency m, str text, Py_ssize_t pos)
    cpdef Py_ssize_t literal_run(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t literal_escape(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t control(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef note_line(self, Leniency m)
