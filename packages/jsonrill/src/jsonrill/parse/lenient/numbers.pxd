# Types for the compiler; the code is in numbers.py.
from ..machine cimport Machine
from .words cimport WordMachine

cdef int BARE_VALUE, DIGITS, MINUS, POINT, ZERO, INTEGER, FRACTION

cdef class NumberMachine(WordMachine):
    cdef Py_ssize_t _point_at
