# Types for the compiler; the code is in nodes.py.
cimport cython

cdef class Members:
    cdef public dict properties
    cdef public list patterns, required
    cdef public object additional, closed, maximum, minimum, names, rules
    cdef list _sorted
    @cython.locals(nodes=tuple, node=Node)
    cpdef find(self, key)
    cpdef missing(self, seen)
    cpdef excess(self, count)

cdef class Elements:
    cdef public list prefix
    cdef public object closed, maximum, minimum, rest, rules
    cpdef find(self, index)
    cpdef missing(self, length)

cdef class Node:
    cdef object __weakref__
    cdef public int about, kinds, natural, sure
    cdef public bint is_described
    cdef public list all, choices
    cdef public tuple texts
    cdef public Elements elements
    cdef public Members members
    cdef public Node shape
    cdef public object end_validator, full_validator, length_rule, maker, max_length, mismatch
    cdef public object text_rule
    cdef public object _idle, _width
    cdef public tuple _others
    cdef public bint _says_nothing

cpdef int kind_of(value)
