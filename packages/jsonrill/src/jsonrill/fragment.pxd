# Types for the compiler; the code is in fragment.py.
from .document cimport GrowingValue, ValueBuilder
from .parse.machine cimport Frame, Tokens, path_of

cdef class Fragment:
    cdef readonly object kind
    cdef readonly tuple path
    cdef readonly object text
    cdef readonly object value
    cdef readonly Py_ssize_t offset

cdef class FragmentBuilder(ValueBuilder):
    cdef public list fragments
    cdef Py_ssize_t _offset
    cdef _note(self, str kind, tuple path, text, value, Py_ssize_t offset)
    cdef tuple _container(self)
    cpdef list take(self)

cdef class Parser:
    cdef FragmentBuilder _builder
    cdef Tokens _machine

cdef class Rebuilder(GrowingValue):
    cdef bint _has_key, _is_foreign
    cdef list _frames
