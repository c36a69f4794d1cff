# Types for the compiler; the code is in parser.py.
from .fragment cimport Fragment, Parts
from ..parse.create cimport machine
from ..parse.machine cimport Machine
from ..parse.sink cimport Sink
from ..paths cimport Place

cdef class FragmentSink(Sink):
    cdef public list fragments
    cdef Place _container
    cdef object _step
    cdef list _steps
    cdef Place _string
    cdef Py_ssize_t _offset
    cdef public Py_ssize_t document
    cdef Parts _parts
    cdef list take(self)
    cdef Place _next(self)

cdef class Parser:
    cdef Machine _machine
    cdef FragmentSink _sink
