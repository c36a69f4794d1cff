# Types for the compiler; the code is in by_schema.py.
from .around cimport ProseMachine

cdef int GUIDED

cdef class GuidedMachine(ProseMachine):
    cdef object _guide
