# Types for the compiler; the code is in recorder.py.
cimport cython
from ..document cimport ValueBuilder
from ..parse.sink cimport Frame, path_of

cdef Py_ssize_t _NOTHING_HIDDEN

cdef class Recorder(ValueBuilder):
    cdef public bint is_dirty, is_doubtful, is_sent, waits
    cdef public list completed
    cdef Py_ssize_t _depth, _hidden, _open_depth
    cdef bint _strings
    cdef object _last, _on_end, _pointer, _provisional, _under
    cdef tuple _only_complete
    cdef list _operations, _open_set, _draft
    @cython.locals(frame=Frame)
    cpdef end_container(self, Py_ssize_t offset)
    @cython.locals(text=str, last=list)
    cpdef text(self, str run)
    @cython.locals(frame=Frame)
    cdef _cover_hidden(self)
    cdef bint _is_held(self) except -1
    @cython.locals(draft=list, is_new=bint)
    cdef _show(self, value)
    @cython.locals(frame=Frame)
    cdef _note_repetition(self)
    cdef _end_value(self, value)
    cdef tuple _next_path(self)
    @cython.locals(frame=Frame)
    cpdef offer(self, value)
    @cython.locals(frame=Frame)
    cdef _uncover(self)
    cdef _withdraw(self)
    cpdef tuple take(self)
    cdef list _note(self, str name, value)
    cdef _open_part(self)
