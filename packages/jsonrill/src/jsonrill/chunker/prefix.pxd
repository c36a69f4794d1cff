# Types for the compiler; the code is in prefix.py.
cimport cython
from ..build.builder cimport ValueBuilder
from ..parse.machine cimport Machine

cdef int END, FIRST_ELEMENT, FIRST_KEY, STRING, VALUE

cdef class TreeBuilder(ValueBuilder):
    cpdef scalar(self, object value, object text, Py_ssize_t offset)
    cpdef bint takes_values(self)
    cpdef bint takes_open(self)

cdef class PrefixReader:
    cdef TreeBuilder _builder
    cdef Machine _machine
    cdef str _head, _more, _tail
    cdef object _inner
    cdef readonly bint grew
    cdef int _misses, _pause, _waits
    @cython.locals(known=Py_ssize_t, cut=Py_ssize_t, new=str, end=str)
    cpdef read(self, str text)
    @cython.locals(builder=TreeBuilder, spine=list, tail=str, state=int, fits=bint)
    cdef _value(self, str text, Py_ssize_t cut, str scalar)
    cdef _miss(self, str text)

@cython.locals(tail=str, core=str, last=str, scalar=str, start=Py_ssize_t)
cdef tuple _end_of_head(str text)
cdef bint _is_complete(str text) except -1
