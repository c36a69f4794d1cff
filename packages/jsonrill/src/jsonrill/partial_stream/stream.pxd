# Types for the compiler; the code is in stream.py.
cimport cython
from ..parse.machine cimport Tokens, path_of
from .recorder cimport Recorder
from .update cimport Record

cdef class Entity:
    cdef public object check, index, mode, name, schema
    cdef public bint is_typed
    cdef public Py_ssize_t depth
    cdef public tuple path
    cdef public Recorder recorder

cdef class PartialStream:
    cdef public bint ended, failed
    cdef bint _data, _delta, _numbers, _literals, _zeros, _is_skipping
    cdef object _counts, _entities, _finder, _parse_float, _schema_of, _text
    cdef dict _modes, _options
    cdef Entity _entity
    cdef Py_ssize_t _batch_index
    cdef Tokens _machine
    cdef list _late_updates, _out
    cdef tuple _only_complete
    @cython.locals(entity=Entity)
    cpdef list feed(self, data)
    cpdef follow(self, PartialStream earlier)
    cdef list _take(self)
    @cython.locals(entity=Entity)
    cdef _check_schema(self)
    @cython.locals(recorder=Recorder)
    cdef _show_pending(self, Entity entity)
    @cython.locals(update=Record)
    cdef _new(self, str status, Entity entity, data, list delta)
    @cython.locals(recorder=Recorder, update=Record, has_data=bint)
    cdef _update(self, str status, Entity entity)
