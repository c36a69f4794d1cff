# Types for the compiler; the code is in core.py.
from ..machine cimport Machine
from ..sink cimport TextBuffer

cimport cython

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, AFTER, BEFORE, KEEPING, STRING, TOLERANT
cdef Py_ssize_t NOWHERE, REMEMBERED

cdef class Leniency(Machine):
    cdef bint _bare_keys, _passes
    cdef Py_ssize_t _repaired
    cdef tuple _closed
    cdef object _parens, _rules, _on_repair
    cdef readonly object prose, comments, schema, words, text, quotes, brackets, tokens, ending
    cdef _start_string(self, Py_ssize_t offset)
    cdef _show_text(self, str run)
    cdef _read_quote(self)
    cdef _back_to_quote(self)
    cdef str _text_of_string(self)
    cdef Py_ssize_t _hold(self, str text, Py_ssize_t pos) except -2
