# Types for the compiler; the code is in core.py.
from ..machine cimport Machine
from ..sink cimport TextBuffer

cdef int VALUE, NEXT_KEY, AFTER, BEFORE, TOLERANT

cdef class Leniency(Machine):
    cdef bint _bare_keys, _passes
    cdef Py_ssize_t _repaired
    cdef object _parens, _rules, _on_repair
    cdef readonly object prose, comments, schema, words, text, quotes, brackets, tokens, ending
    cdef _start_string(self, Py_ssize_t offset)
    cdef _show_text(self, str run)
    cdef str _text_of_string(self)
    cdef Py_ssize_t _hold(self, str text, Py_ssize_t pos) except -2
