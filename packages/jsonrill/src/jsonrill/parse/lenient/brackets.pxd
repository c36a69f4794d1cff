# Types for the compiler; the code is in brackets.py.
cimport cython
from ..machine cimport Machine
from .quotes cimport QuoteMachine

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, AFTER, STRING, CLOSING, GUIDED, UNKNOWN

cdef class BracketMachine(QuoteMachine):
    cdef bint _deeper, _shallower, _lists_in_lists, _bracketed, _decoded_in_list
    cdef int _misled, _run_is_large
    cdef str _last_closer
    cdef Py_ssize_t _root_end, _root_line, _last_closed, _trailing, _last_size
    @cython.final
    @cython.locals(at=Py_ssize_t, depth=Py_ssize_t, size=Py_ssize_t, continued=bint, end=Py_ssize_t)
    cdef Py_ssize_t _leave_noted(self, Py_ssize_t pos) except? -2
    @cython.final
    @cython.locals(least=Py_ssize_t)
    cdef Py_ssize_t _chain(self, Py_ssize_t depth) except -2
    @cython.locals(depth=Py_ssize_t, follows=bint)
    cdef Py_ssize_t _string_element(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _close_warily(self, Py_ssize_t pos) except? -2
    cdef object _last_decoded, _last_element, _root_decoded, _run_keys
    cdef dict _nested
