# Types for the compiler; the code is in brackets.py.
from ..machine cimport Machine
from .quotes cimport QuoteMachine

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, AFTER, STRING, CLOSING, GUIDED

cdef class BracketMachine(QuoteMachine):
    cdef bint _deeper, _shallower, _misled, _lists_in_lists
    cdef str _last_closer
    cdef Py_ssize_t _root_end, _last_closed, _trailing, _last_size, _run_size
    cdef object _last_decoded, _nested
