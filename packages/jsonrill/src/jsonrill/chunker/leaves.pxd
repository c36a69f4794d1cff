# Types for the compiler; the code is in leaves.py.

cdef dict _LITERALS
cdef int _SMALL_E, _LARGE_E

cpdef str escaped(str text)
cpdef str whole(tree)
cpdef bint waits(tree)
cdef Py_ssize_t settled(str text)

cdef class Leaf:
    cdef public object seen, written
    cdef public bint frozen
    cpdef grow(self, value)
    cpdef stay(self)
    cpdef finish(self, value)
    cpdef _rest(self, value)

cdef class String(Leaf):
    pass

cdef class Number(Leaf):
    pass
