# Types for the compiler; the code is in brackets.py.
from ..machine cimport Machine
from .quotes cimport QuoteMachine

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, AFTER, STRING, CLOSING, GUIDED, UNKNOWN

cdef class BracketMachine(QuoteMachine):
    cdef bint _deeper, _shallower, _lists_in_lists, _bracketed, _run_repeats, _decoded_in_list
    cdef int _misled, _run_is_large
    cdef str _last_closer
    cdef Py_ssize_t _root_end, _last_closed, _trailing, _last_size
    cdef Py_ssize_t _leave_noted(self, Py_ssize_t pos) except? -2
    cdef object _last_decoded, _last_element, _root_decoded, _nested
