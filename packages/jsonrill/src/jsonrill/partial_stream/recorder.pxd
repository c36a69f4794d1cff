# Types for the compiler; the code is in recorder.py.
cimport cython
from ..document cimport ValueBuilder
from ..parse.machine cimport Frame, path_of

cdef Py_ssize_t NOTHING_HIDDEN

cdef class Recorder(ValueBuilder):
    cdef public bint is_dirty, is_sent, awaits_value
    cdef Py_ssize_t _depth, _open_depth
    cdef bint _may_be_equal, _strings
    cdef object _last, _on_end, _provisional, _under
    cdef str _pointer
    cdef tuple _only_complete
    @cython.final
    cdef tuple _path_of_string(self)
    cdef list _completed, _operations, _open_set, _draft
    @cython.locals(frame=Frame)
    cpdef end_container(self, Py_ssize_t offset)
    @cython.locals(text=str, last=list)
    cpdef text(self, str run)
    cdef bint _is_held(self) except -1
    @cython.final
    cdef bint _is_hidden_string(self)
    @cython.final
    @cython.locals(draft=list, is_new=bint)
    cdef _show(self, value)
    @cython.final
    @cython.locals(frame=Frame)
    cdef _replaced(self)
    @cython.final
    cdef _end_value(self, value, inner)
    cpdef tuple next_path(self)
    cpdef bint wants_zero(self) except -1
    cpdef offer(self, value)
    cdef _withdraw(self)
    cdef _remove(self, Frame frame, under)
    cpdef inspect(self, look)
    @cython.locals(start=Py_ssize_t, frame=Frame, inner=Frame)
    cpdef reveal(self)
    cpdef bint has_news(self) except -1
    cpdef tuple take(self)
    cdef list _note(self, str name, value)
    cdef _open_part(self)
