# Types for the compiler; the code is in leaves.py.

cdef class Leaf:
    cdef public object seen, written
    cdef public bint frozen
    cpdef grow(self, value)
    cpdef finish(self, value)

cdef class String(Leaf):
    pass

cdef class Number(Leaf):
    pass
