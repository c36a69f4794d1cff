# Types for the compiler; the code is in compact.py.
cimport cython
from .cursor cimport Cursor
from .fragment cimport Fragment

cdef class CompactEncoder:
    cdef Cursor _cursor
    @cython.locals(fragment=Fragment)
    cpdef list feed(self, fragments)
    cdef _item(self, Fragment fragment)
