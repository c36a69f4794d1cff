# Types for the compiler; the code is in stream.py.
from ..build.builder cimport ValueBuilder
from ..parse.position cimport Position
from ..parse.sink cimport Sink, path_of
from .recorder cimport Recorder

cdef class Whole(ValueBuilder):
    cdef object _on_end

cdef class Finder(Sink):
    cdef object _begin, _entities
    cdef bint _takes_whole
    cdef public bint has_found
