# Types for the compiler; the code is in frames.py.
cimport cython
from .leaves cimport waits, whole

cdef class Changes:
    cdef public object new, changed, same, gone, blanks

cdef class WritePlan:
    cdef public object closed, opened

cdef class Rules:
    cdef readonly bint eager, placeholder
    cdef readonly tuple atoms

cdef class _Container:
    cdef public bint frozen
    cdef public object open
    cdef Rules _rules
    cdef Py_ssize_t _size
    cpdef follow(self, value)
    cpdef child(self, value)
    cpdef bint agrees(self, value)
    cpdef was(self, key)
    cpdef changes(self, value)
    cpdef plan(self, Changes changes, value, bint still)
    cpdef make(self, WritePlan plan, Changes changes, value, list out)
    cpdef hold(self, Changes changes, value, bint still)
    cpdef end(self, child)
    cpdef finish(self, value, list out)

cdef class Object(_Container):
    cdef public dict held, written
    @cython.locals(held=dict)
    cpdef hold(self, Changes changes, value, bint still)

cdef class Array(_Container):
    cdef public list tail, written
    cdef list _was
    cdef Py_ssize_t _start
    @cython.locals(end=Py_ssize_t)
    cpdef follow(self, value)

cdef class Root(Array):
    pass
