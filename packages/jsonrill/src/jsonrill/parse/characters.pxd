# Types for the compiler; the code is in characters.py.
cimport cython

cdef bint _COMPILED
cdef Py_ssize_t WHOLE_ESCAPE

@cython.locals(end=Py_ssize_t, char=Py_UCS4)
cpdef Py_ssize_t plain_end(str text, Py_ssize_t pos) noexcept
@cython.locals(end=Py_ssize_t, char=Py_UCS4)
cpdef Py_ssize_t text_end(str text, Py_ssize_t pos, Py_UCS4 closer) except -1

@cython.locals(at=Py_ssize_t, char=Py_UCS4, digit=int, code=int)
cpdef int code_at(str text, Py_ssize_t pos, Py_ssize_t end) noexcept
@cython.locals(at=Py_ssize_t)
cpdef bint is_cut(str text, Py_ssize_t pos, Py_ssize_t end) noexcept
cpdef int digit_of(int char) noexcept
