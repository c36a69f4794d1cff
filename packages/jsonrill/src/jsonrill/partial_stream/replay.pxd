# Types for the compiler; the code is in replay.py.
cimport cython
from ..build.builder cimport ValueBuilder
from ..paths cimport Place

cdef int END, END_STRING, OBJECT, SCALAR, SHOWN, STRING
cdef tuple DEEPER

cdef class ReplayedValue(ValueBuilder):
    cdef bint _shown
    cdef object _under
    @cython.final
    @cython.locals(at=Py_ssize_t)
    cdef read(self, list entries, Py_ssize_t start, Py_ssize_t end)
    @cython.final
    cdef _apply(self, int code, Place place, value)
    @cython.final
    cdef _put_in(self, int code, value)

@cython.locals(changes=list, start=Py_ssize_t, code=int, place=Place)
cpdef list changes_of(list entries, Py_ssize_t at, Py_ssize_t end, Place string, shown)
cdef Py_ssize_t _end_of_text(list entries, Py_ssize_t at, Py_ssize_t end) except -1
cdef str _joined(list entries, Py_ssize_t start, Py_ssize_t end)
@cython.locals(depth=int)
cdef Py_ssize_t _end_of_value(list entries, Py_ssize_t at, Py_ssize_t end) except -1
@cython.locals(code=int, tree=ReplayedValue)
cdef _grown(list entries, Py_ssize_t start, Py_ssize_t end)
cdef bint _goes_on(shown, value) except -1
cpdef dict change(str op, Place place, value)
cpdef str pointer_of(Place place)
cpdef bint same(old, new) except -1
