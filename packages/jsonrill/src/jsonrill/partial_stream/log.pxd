# Types for the compiler; the code is in log.py.
cimport cython
from ..build.builder cimport ValueBuilder
from ..parse.sink cimport PlacedSink, TextBuffer
from ..paths cimport Place
from .replay cimport ReplayedValue, change, changes_of, pointer_of, same

cdef int ARRAY, END, END_STRING, OBJECT, SCALAR, SHOWN, STRING
cdef Place ROOT
cdef Py_ssize_t _PATIENCE

cdef class Whole(ValueBuilder):
    cdef object _ended, _given_up

cdef class Log(PlacedSink):
    cdef readonly list entries
    cdef readonly bint changed, doubtful, waits
    cdef readonly Py_ssize_t sent
    cdef readonly Place sent_string, string
    cdef public bint lags
    cdef bint _twice
    cdef Py_ssize_t _read, _spent, _taken_back
    cdef Place _named
    cdef object _ended, _given_up
    cdef str _pointer
    cdef tuple _shown
    cdef ReplayedValue _tree
    @cython.locals(place=Place)
    cpdef end_container(self, Py_ssize_t offset)
    @cython.locals(keys=set)
    cpdef key(self, str key, Py_ssize_t offset)
    @cython.locals(place=Place)
    cpdef start_string(self, Py_ssize_t offset)
    @cython.final
    cdef show(self, value)
    @cython.final
    cdef mark(self)
    @cython.final
    cdef bint news(self) except -1
    cdef bint _is_as_sent(self) except -1
    @cython.final
    @cython.locals(entries=list)
    cdef list delta(self, Py_ssize_t since, Place string, Py_ssize_t at)
    @cython.locals(tree=ReplayedValue)
    cpdef ReplayedValue at(self, Py_ssize_t at)
    @cython.final
    @cython.locals(place=Place)
    cdef _open(self, int code, value, step, set keys)
    @cython.final
    @cython.locals(shown=tuple)
    cdef _put(self, int code, Place place, value)

cdef class FinishedLog(Log):
    cdef TextBuffer _text
    @cython.locals(place=Place)
    cpdef end_string(self)

cdef class Held(PlacedSink):
    cdef Log _log
    cdef ValueBuilder _whole
    cdef tuple _patterns
    @cython.final
    cdef bint holds_next(self) except -1
    @cython.final
    cdef tuple _of_next(self)
    @cython.final
    cdef bint _holds(self, tuple patterns) except -1
    @cython.final
    @cython.locals(whole=ValueBuilder)
    cdef _hand_on(self)
