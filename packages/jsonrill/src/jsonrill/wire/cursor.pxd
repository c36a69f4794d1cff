# Types for the compiler; the code is in cursor.py.
from ..parse.sink cimport PlacedSink
from ..paths cimport Place

cdef class Cursor(PlacedSink):
    cdef public object wants
    cdef Place _string
    cpdef Place expect(self, kind)
    cpdef move(self, kind, Place place, value)
    cdef _end_value(self)

cpdef Place adopted(at, Place expected)
cpdef bint same_place(at, Place expected) except -1
