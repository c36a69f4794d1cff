# Types for the compiler; the code is in parser.py.
cimport cython
from .fragment cimport Fragment
from ..parse.create cimport create_machine
from ..parse.position cimport Position
from ..parse.sink cimport PlacedSink, Sink, TextBuffer
from ..paths cimport Place

cdef class FragmentSink(PlacedSink):
    cdef public list fragments
    cdef Place _string
    cdef Py_ssize_t _offset
    cdef public Py_ssize_t document
    cdef TextBuffer _text
    cdef str _ended
    cdef list take(self)

@cython.locals(fragment=Fragment)
cpdef emit(fragments, Sink sink)

cdef class Parser:
    cdef Position _machine
    cdef FragmentSink _sink
    cpdef list feed(self, data)
