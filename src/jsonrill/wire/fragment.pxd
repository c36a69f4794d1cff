# Types for the compiler; the code is in fragment.py.
cimport cython
from ..parse.sink cimport PlacedSink
from ..paths cimport Place

cdef class Fragment:
    cdef public object _at
    cdef public object kind
    cdef public object text
    cdef public object value
    cdef public Py_ssize_t offset
    cdef public Py_ssize_t document

cdef class TextBuffer:
    cdef list _new
    cdef str _text
    cpdef add(self, str run)
    @cython.locals(text=str)
    cpdef str text(self)
    @cython.locals(text=str)
    cpdef str take(self)

cdef class Cursor(PlacedSink):
    cdef public object wants
    cdef Place _string
