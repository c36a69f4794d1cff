# Types for the compiler; the code is in cursor.py.
from ..parse.sink cimport PlacedSink
from ..paths cimport Place

cdef class Cursor(PlacedSink):
    cdef public object wants
    cdef Place _string
