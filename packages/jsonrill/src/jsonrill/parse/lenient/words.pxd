# Types for the compiler; the code is in words.py.
from ..machine cimport Machine
from .around cimport ProseMachine
from .by_schema cimport GuidedMachine

cdef int AFTER, BARE_KEY, BARE_VALUE, KEY

cdef class WordMachine(GuidedMachine):
    pass
