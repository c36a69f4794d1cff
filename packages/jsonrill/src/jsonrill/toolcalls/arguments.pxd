# Types for the compiler; the code is in arguments.py.
from ..build.builder cimport ValueBuilder
from ..parse.position cimport Position
from ..parse.sink cimport TextBuffer
from ..wire.parser cimport Parser

cdef Py_ssize_t _PART

cdef class Arguments:
    cdef object _known, _limits, _open, _repairs
    cdef TextBuffer _raw
    cdef public object error
    cdef public bint is_placeholder
    cpdef feed(self, str text)

cdef class JsonArguments(Arguments):
    cdef bint _is_new, _repairing
    cdef Parser _parser
    cdef ValueBuilder _tree
    cdef list _parse(self, str text)

cdef class FreeText(Arguments):
    pass

cdef class Received(Arguments):
    cdef Position _machine
    cdef ValueBuilder _parsed, _tree
    cdef object _reader
    cdef bint _juf
    cdef public bint free
