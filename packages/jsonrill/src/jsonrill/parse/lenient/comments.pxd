# Types for the compiler; the code is in comments.py.
cimport cython
from .core cimport Leniency

cdef int BEFORE, BLOCK_COMMENT, LINE_COMMENT

cdef class Comments:
    cdef public bint comment_closes, comment_quoted
    cdef public Py_ssize_t comment_quotes
    cdef public int resume
    cpdef Py_ssize_t begin_mark(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef begin(self, Leniency m, Py_ssize_t state)
    cpdef Py_ssize_t line(self, Leniency m, str text, Py_ssize_t pos) except? -2
    cpdef refuse(self, Leniency m, str text, Py_ssize_t pos, kind=*, bint last=*)
    cpdef Py_ssize_t block(self, Leniency m, str text, Py_ssize_t pos) except? -2
