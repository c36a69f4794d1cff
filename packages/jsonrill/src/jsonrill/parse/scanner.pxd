# Types for the compiler; the code is in scanner.py.
cimport cython

cdef bint COMPILED

@cython.locals(end=Py_ssize_t, last=Py_UCS4)
cpdef Py_ssize_t plain_end(str text, Py_ssize_t pos, str closer=*) except -1
cpdef bint is_plain(str text) except -1
@cython.locals(size=Py_ssize_t, end=Py_ssize_t)
cpdef scan(str text, Py_ssize_t pos, read, limits, Py_ssize_t depth)
