# Types for the compiler; the code is in sink.py.
cimport cython
from ..paths cimport Place

cdef class Sink:
    cpdef start_object(self, Py_ssize_t offset)
    cpdef start_array(self, Py_ssize_t offset)
    cpdef end_container(self, Py_ssize_t offset)
    cpdef key(self, str key, Py_ssize_t offset)
    cpdef start_string(self, Py_ssize_t offset)
    cpdef text(self, str run)
    cpdef end_string(self)
    cpdef scalar(self, object value, object text, Py_ssize_t offset)
    cpdef complete(self, Py_ssize_t offset)
    cpdef next_document(self)
    cpdef bint takes_values(self)
    cpdef bint takes_runs(self)
    cpdef bint run(self, list values, str text, Py_ssize_t start, Py_ssize_t end, Py_ssize_t offset)
    cpdef bint takes_open(self)
    cpdef start_with(self, object value, Py_ssize_t offset)

cdef class PlacedSink(Sink):
    cdef public Place _container, _root
    cdef public object _inside, _step
    cdef public list _frames
    cpdef Place _here(self)
    cpdef Place _next(self)
    cpdef _pass(self)
    cpdef _enter(self, Place place, step, inside=*)
    cpdef _leave(self)
    cpdef _reset(self, inside=*)

@cython.final
cdef class Noted:
    cdef Py_ssize_t _room
    cdef public object pieces
    cdef readonly list kept
    cpdef add(self, piece)

cdef class TextBuffer:
    cdef list _new
    cdef str _text
    cpdef add(self, str run)
    @cython.locals(text=str)
    cpdef str text(self)
    @cython.locals(text=str)
    cpdef str take(self)
