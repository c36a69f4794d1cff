# Types for the compiler; the code is in frames.py.
cimport cython

cdef class Changes:
    cdef public object new, changed, same, gone, blanks

cdef class WritePlan:
    cdef public object closed, opened

cdef class _Container:
    cdef public bint frozen
    cdef object _rules
    cdef Py_ssize_t _size, _still
    cdef bint _is_left(self, bint still)

cdef class Object(_Container):
    cdef public dict held, written
    cdef public object open
    cdef dict _unchanged
    cpdef follow(self, value)
    cpdef changes(self, dict value)
    cpdef plan(self, Changes changes, dict value, bint still)
    cpdef make(self, WritePlan plan, Changes changes, dict value, list out)
    @cython.locals(held=dict)
    cpdef hold(self, Changes changes, dict value, bint still)

cdef class Array(_Container):
    cdef public list tail, written
    cdef public object open
    cdef list _was
    cdef Py_ssize_t _start
    @cython.locals(end=Py_ssize_t)
    cpdef follow(self, value)
    cpdef changes(self, list value)
    cpdef plan(self, Changes changes, list value, bint still)
    cpdef make(self, WritePlan plan, Changes changes, list value, list out)
    cpdef hold(self, Changes changes, list value, bint still)

cdef class Root(Array):
    pass
