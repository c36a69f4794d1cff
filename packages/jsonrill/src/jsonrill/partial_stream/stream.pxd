# Types for the compiler; the code is in stream.py.
cimport cython
from ..parse.position cimport Position
from ..parse.sink cimport Sink
from ..paths cimport Place
from .entities cimport Entity, Finder
from .log cimport FinishedLog, Held, Log, Whole
from .update cimport Record

cdef object UNREAD, _NEW

cdef class PartialStream:
    cdef object __weakref__
    cdef readonly bint ended
    cdef readonly object mode
    cdef bint _is_refused, _repairing, _sees_pending, _realtime, _zeros
    cdef Py_ssize_t _document, _errors, _kept_before, _repairs
    cdef dict _counts
    cdef list _kept, _out, _violations
    cdef tuple _told
    cdef object _data, _delta, _recorder, _schema_of, _settings, _text
    cdef Entity _entity
    cdef Finder _finder
    cdef Held _held_back
    cdef Log _log
    cdef Position _machine
    @cython.final
    cdef _leave(self)
    @cython.final
    @cython.locals(log=Log, held=Held)
    cdef _see_pending(self)
    @cython.final
    cdef bint _show(self, Log log, str text) except -1
    @cython.final
    cdef _show_zero(self, Log log)
    @cython.final
    @cython.locals(update=Record)
    cdef Record _update(self, Entity entity, status, data)
    @cython.final
    @cython.locals(update=Record)
    cdef Record _completed(self, Entity entity, recorder)
