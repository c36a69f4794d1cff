# Types for the compiler; the code is in document.py.
cimport cython
from .parse.machine cimport Frame, Sink, Tokens, path_of

cdef Py_ssize_t NOTHING_HIDDEN, SHORT

cdef class ValueBuilder(Sink):
    cdef public bint changed, done, in_string, started
    cdef public object root
    cdef bint _is_stale
    cdef Py_ssize_t _hidden_from
    cdef readonly Py_ssize_t base
    cdef object _copy
    cdef Frame _frame
    cdef str _text
    cdef tuple _string_path
    @cython.locals(value=dict, frame=Frame)
    cpdef start_object(self, Py_ssize_t offset)
    @cython.locals(value=list, frame=Frame)
    cpdef start_array(self, Py_ssize_t offset)
    @cython.locals(outer=Py_ssize_t)
    cpdef end_container(self, Py_ssize_t offset)
    @cython.locals(text=str)
    cpdef text(self, str run)
    @cython.locals(frame=Frame)
    cpdef _put(self, value)
    @cython.final
    @cython.locals(frame=Frame)
    cdef _replace(self, value)
    @cython.locals(at=Py_ssize_t, frame=Frame, members=dict, elements=list)
    cdef _copied(self, Py_ssize_t start)
    cpdef path_of_open(self)

cdef class GrowingValue:
    cdef ValueBuilder _builder

cdef class Document(GrowingValue):
    cdef Tokens _machine
    cpdef bint feed(self, data) except -1
