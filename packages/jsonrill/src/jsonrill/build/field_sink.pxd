# Types for the compiler; the code is in field_sink.py.
cimport cython
from ..parse.machine cimport Machine
from ..parse.sink cimport Sink
from .builder cimport ValueBuilder

cdef Py_ssize_t FAR
cdef dict _KINDS
cdef list _NONE

cdef class Field:
    cdef public str name, other
    cdef public tuple pattern, steps
    cdef public Py_ssize_t size, wildcard
    cdef public bint found, reached, within

cdef class FieldSink(Sink):
    cdef list _alive, _first, _frames, _last, _next
    cdef object _step
    cdef bint _inner, _varies
    cdef Py_ssize_t _skipped
    cpdef check(self)
    cpdef tuple path(self)
    @cython.final
    @cython.locals(field=Field, done=Py_ssize_t)
    cdef _fit(self)
    @cython.final
    @cython.locals(fitting=list, field=Field, done=Py_ssize_t)
    cdef list _begin(self, str kind)
    @cython.final
    @cython.locals(field=Field, done=Py_ssize_t)
    cdef _open(self, step)

cdef class TextSink(FieldSink):
    cdef public bint ended
    cdef public list pieces
    cdef tuple _path
    @cython.locals(field=Field, done=Py_ssize_t)
    cpdef start_string(self, Py_ssize_t offset)
    @cython.final
    @cython.locals(field=Field, done=Py_ssize_t)
    cdef _other(self, str kind)

cdef class ValueSink(FieldSink):
    cdef public list places, values
    cdef tuple _place
    cdef ValueBuilder _building
    cdef Py_ssize_t _depth, _limit
    cdef Machine _machine
    cpdef attach(self, Machine machine)
    @cython.final
    @cython.locals(field=Field, done=Py_ssize_t)
    cdef bint _selects(self, str kind) except -1
    @cython.final
    cdef ValueBuilder _value(self, str kind, Py_ssize_t offset, step=*)
    @cython.final
    cdef _take(self, value)
    @cython.final
    cdef _drop(self)
