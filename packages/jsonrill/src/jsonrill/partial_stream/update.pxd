# Types for the compiler; the code is in update.py.
cimport cython
from ..paths cimport Place
from .entities cimport Entity
from .log cimport Log
from .replay cimport ReplayedValue

cdef object UNREAD

cdef class Record:
    cdef public object status, error
    cdef public object _completed, _data, _delta, _model, _open, _repairs
    cdef public Entity _entity
    cdef public Log _log
    cdef public Place _string
    cdef public Py_ssize_t _at, _since
    cpdef _of(self, Entity entity, status, Log log, data, delta)
    @cython.final
    @cython.locals(log=Log)
    cdef list _change(self)
