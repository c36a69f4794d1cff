# Types for the compiler; the code is in around.py.
from ..machine cimport Machine

cdef int VALUE, NEXT_KEY, AFTER, END, LENIENT, BEFORE, PROSE, THOUGHTS, FENCE, IGNORED, LINE_COMMENT
cdef int BLOCK_COMMENT, ASIDE, CODE, WARY

cdef class ProseMachine(Machine):
    cdef bint _between, _last, _comment_closes, _comment_quoted, _aside_is_due, _aside_is_quoted
    cdef bint _announced, _aside_is_broken, _scalar_list, _trailing_code, _trailing_digits, _trailing_letters
    cdef bint _bare_keys, _in_prose, _json_fence, _trailing_words, _trailing_thoughts
    cdef int _resume
    cdef Py_ssize_t _mended, _depth_aside, _comment_quotes
    cdef object _rules, _on_repair
    cdef str _before_text, _language
    cdef Py_ssize_t _hold(self, str text, Py_ssize_t pos) except -2
