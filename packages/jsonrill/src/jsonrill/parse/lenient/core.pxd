# Types for the compiler; the code is in core.py.
from ..machine cimport Machine

cdef int VALUE, NEXT_KEY, AFTER, BEFORE, TOLERANT

cdef class Leniency(Machine):
    cdef bint _last, _bare_keys, _passes
    cdef Py_ssize_t _repaired, _string_depth, _string_index
    cdef object _parens, _rules, _on_repair
    cdef readonly object prose, comments, schema, words, text, quotes, brackets, tokens, ending
    cdef Py_ssize_t _hold(self, str text, Py_ssize_t pos) except -2
