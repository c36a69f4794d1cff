# Types for the compiler; the code is in prose.py.
cimport cython
from .core cimport Leniency

cdef int ASIDE, BEFORE, BLOCK_COMMENT, CODE, END, IGNORED, LINE_COMMENT, PROSE, THOUGHTS, VALUE

cdef class Prose:
    cdef public bint aside_is_broken, aside_is_object, between, in_prose, is_doubtful, is_scalar
    cdef public bint json_fence, scalar_list, trailing_code, trailing_thoughts, trailing_words
    cdef public str before_text, introduction, trailing_text
    cdef public Py_ssize_t depth_aside
    cpdef Py_ssize_t before(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef sees_value(self, Leniency m, shape, str text, Py_ssize_t pos)
    cpdef Py_ssize_t begin_value(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef prose_rule(self, Leniency m)
    cpdef Py_ssize_t begin_prose(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t prose(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef bint is_value(self, Leniency m, str text, Py_ssize_t pos) except -1
    cpdef bint is_code(self, str bracket) except -1
    cpdef Py_ssize_t begin_aside(self, Leniency m, Py_ssize_t pos, str short) except? -2
    cpdef Py_ssize_t aside(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t thoughts(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_around(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t fix_fence(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t code(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t ignored(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef Py_ssize_t trailing_fence(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef bint is_later(self) except -1
    cpdef is_second(self, Leniency m, str text, Py_ssize_t pos)
    cpdef two_values(self, Leniency m, str text, Py_ssize_t pos)
    cpdef note_trailing(self, str text, Py_ssize_t start, Py_ssize_t end)
    cpdef Py_ssize_t after(self, Leniency m, str text, Py_ssize_t pos) except? -2
