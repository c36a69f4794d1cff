# Types for the compiler; the code is in machine.py.
cimport cython
from .characters cimport code_at, is_cut, plain_end
from .sink cimport Sink
from .position cimport Position

cdef int VALUE, FIRST_ELEMENT, FIRST_KEY, NEXT_KEY, COLON, AFTER, END, STRING, KEY, DIGITS
cdef int SKIPPED, PLAIN, READY, HELD, CUT, CLOSED
cdef int START, ZERO, INTEGER
cdef tuple NUMBER_STEPS
cdef Py_ssize_t _MOST_TEXT, _MOST_STRING, _MOST_NUMBER, _MOST_KEYS
cdef Py_ssize_t NOWHERE
cdef Py_ssize_t WORTH_DECODING, WORTH_A_RUN, WHOLE_ESCAPE, SHORT
cdef bint _COMPILED

cdef class Machine(Position):
    cdef bint _bom, _cut, _many
    cdef Py_ssize_t _bound, _budget, _number_end, _run_after
    cdef Py_ssize_t _keys_limit, _number_limit, _string_limit, _text_limit
    cdef Py_ssize_t _document
    cdef list _errors
    cdef object _decoder, _limits, _parse_float
    cdef bytes _tail
    @cython.locals(entry=int)
    cpdef feed(self, data)
    @cython.locals(text=str)
    cpdef read(self, data)
    cpdef flush(self, cut=*)
    cpdef limit_text(self, Py_ssize_t offset, Py_ssize_t size)
    cdef _finish(self)
    cdef bint _at_bom(self)
    cdef bint _outside(self)
    cdef _feed_other(self, data)
    @cython.final
    cdef _keep_tail(self, bytes tail)
    cdef _run_undecodable(self, str text)
    cdef _leave_ended(self)
    cdef _run_carefully(self, str text)
    cdef _run_documents(self, str text)
    cdef _give_up(self, error, str text, Py_ssize_t pos)
    cdef _keep(self, error)
    cdef _next_document(self, int state, Py_ssize_t pos)
    @cython.final
    cdef _begin_at(self, Py_ssize_t offset)
    @cython.final
    @cython.locals(end=Py_ssize_t, after=Py_ssize_t, stop=Py_ssize_t, state=int, char=Py_UCS4)
    cdef _run(self, str text, Py_ssize_t pos=*)
    cdef Py_ssize_t _skip(self, str text, Py_ssize_t pos) except -2
    @cython.final
    cdef bint _closes(self, Py_UCS4 char, int state)
    @cython.final
    cdef Py_ssize_t _value(self, str text, Py_ssize_t pos, Py_UCS4 char) except -2
    @cython.final
    cdef Py_ssize_t _open(self, str text, Py_ssize_t pos, Py_UCS4 char) except -2
    @cython.final
    cdef Py_ssize_t _close(self, Py_ssize_t pos) except? -2
    @cython.final
    cdef _ended(self, Py_ssize_t pos)
    @cython.final
    @cython.locals(left=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t _decode_whole(self, str text, Py_ssize_t pos) except -2
    @cython.final
    @cython.locals(size=Py_ssize_t, depth=Py_ssize_t, brackets=Py_ssize_t, colons=Py_ssize_t)
    @cython.final
    @cython.locals(begins=str, last=Py_ssize_t, end=Py_ssize_t, size=Py_ssize_t, stop=Py_ssize_t, outside=Py_ssize_t)
    cdef Py_ssize_t _decode_run(self, str text, Py_ssize_t pos) except -2
    @cython.final
    @cython.locals(stop=Py_ssize_t)
    cdef Py_ssize_t _open_string(self, int state, str text, Py_ssize_t pos) except -2
    @cython.final
    @cython.locals(stop=Py_ssize_t, plain=bint, run=str, begun=str)
    cdef Py_ssize_t _string(self, str text, Py_ssize_t pos, Py_ssize_t end, int state) except -2
    @cython.locals(stop=Py_ssize_t, end=Py_ssize_t, run=str, cut=bint)
    cdef Py_ssize_t _escaped(self, str text, Py_ssize_t pos) except -2
    @cython.final
    @cython.locals(quote=Py_ssize_t, run=str)
    cdef Py_ssize_t _take_simple(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    @cython.final
    @cython.locals(stop=Py_ssize_t, code=int, run=str)
    cdef Py_ssize_t _take_escapes(self, str text, Py_ssize_t pos, Py_ssize_t end) except -2
    cdef Py_ssize_t _odd_escape(self, str text, Py_ssize_t pos) except -2
    cdef Py_ssize_t _control(self, str text, Py_ssize_t pos) except -2
    @cython.final
    cdef _take(self, str run)
    @cython.final
    @cython.locals(begun=str)
    cdef _add(self, str run)
    @cython.final
    @cython.locals(begun=str)
    cdef str _take_begun(self)
    cdef Py_ssize_t _end_string(self, str text, Py_ssize_t quote) except -2
    @cython.final
    @cython.locals(key=str)
    cdef Py_ssize_t _end_key(self, str text, Py_ssize_t quote) except -2
    @cython.final
    @cython.locals(end=Py_ssize_t)
    cdef Py_ssize_t _begin_number(self, str text, Py_ssize_t pos) except -2
    @cython.final
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, state=int, steps=dict, number=str)
    cdef Py_ssize_t _digits(self, str text, Py_ssize_t pos) except -2
    cdef bint _ends_number(self, str text, Py_ssize_t pos) except -1
    @cython.final
    cdef _finish_number(self, str number, bint integer, str text, Py_ssize_t end)
    @cython.final
    cdef _begun_number(self, str number)
    @cython.final
    cdef Py_ssize_t _literal(self, str text, Py_ssize_t pos, str char) except -2
    cdef Py_ssize_t _odd_literal(self, str text, Py_ssize_t pos, str word) except -2
    cdef Py_ssize_t _unexpected(self, str text, Py_ssize_t pos, str expected=*) except -2
