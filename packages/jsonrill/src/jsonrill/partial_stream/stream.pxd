# Types for the compiler; the code is in stream.py.
from ..document cimport ValueBuilder
from ..parse.position cimport Position
from ..parse.sink cimport Sink, path_of
from .recorder cimport Recorder

cdef class Whole(ValueBuilder):
    cdef object _on_end

cdef class Finder(Sink):
    cdef object _begin, _entities
    cdef bint _takes_whole
    cdef public bint has_found

cdef class PartialStream:
    cdef public bint ended
    cdef public object mode
    cdef bint _data, _delta, _numbers, _literals, _zeros, _is_skipping
    cdef object _check, _declared, _entities, _parse_float, _schema, _schema_of, _sink, _text
    cdef dict _counts, _modes, _options
    cdef Py_ssize_t _depth
    cdef Finder _finder
    cdef Position _machine
    cdef list _kept, _out
    cdef tuple _only_complete, _path
