# Types for the compiler; the code is in entities.py.
cimport cython
from ..parse.sink cimport PlacedSink, Sink
from ..paths cimport Place

cdef class Finder(PlacedSink):
    cdef bint _begun, _whole
    cdef Py_ssize_t _skipped
    cdef object _on_entity, _next_document, _start
    @cython.locals(place=Place)
    cpdef start_object(self, Py_ssize_t offset)
    @cython.locals(place=Place)
    cpdef start_array(self, Py_ssize_t offset)
    @cython.locals(place=Place)
    cpdef Sink begin(self, Py_ssize_t offset)
    @cython.locals(place=Place)
    cpdef tuple next_entity(self)
    cpdef skip(self, Py_ssize_t depth, bint begun=*)
    cdef Sink _found_one(self, declared, Place place, Py_ssize_t offset)
    cdef tuple _alive(self, Place place)
    cdef _entity(self, tuple alive)
    cdef bint _is_element(self, declared)
    cdef _open(self, tuple alive, each, Place place, step)

cdef class Entity:
    cdef public object check, index, name, schema
    cdef public Place place
    cdef public Py_ssize_t document, offset
