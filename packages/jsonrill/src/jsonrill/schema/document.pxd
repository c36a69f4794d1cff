# Types for the compiler; the code is in document.py.
cimport cython
from ..build.builder cimport ValueBuilder
from ..parse.machine cimport Machine
from ..parse.sink cimport Sink
from .check cimport Check
from .typed cimport TypedCheck

cdef object ABSENT

cdef class SchemaDocument:
    cdef object __weakref__
    cdef public bint changed
    cdef public list finished
    cdef readonly object many
    cdef bint _complete, _is_refused, _live
    cdef TypedCheck _typed
    cdef list _fields
    cdef dict _seen
    cdef tuple _ends
    cdef Py_ssize_t _errors
    cdef Machine _machine
    cdef Check _check
    cdef object _violated_by, _schema, _state, _value, _violation
    @cython.locals(begin=Py_ssize_t, machine=Machine)
    cdef bint _read(self, data, bint is_last, cut=*) except -1
    @cython.locals(machine=Machine)
    cdef _check_pending(self)
    cdef _keep_value(self)
    @cython.locals(typed=TypedCheck)
    cdef _note_change(self, Py_ssize_t begin)

cdef class _Ends(Sink):
    cdef object _completed, _next_document

cdef class _Plain(ValueBuilder):
    cdef object _completed, _next_document
    cdef Py_ssize_t _told

cdef class _Live(_Plain):
    pass
