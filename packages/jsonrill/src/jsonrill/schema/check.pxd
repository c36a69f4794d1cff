# Types for the compiler; the code is in check.py.
cimport cython

cdef class Frame:
    cdef readonly object container, made, node, reopened, step
    cdef object _base, _below
    cdef Py_ssize_t _size
    cpdef look(self, step, Frame inner=*)
    cpdef show(self, inner)
    cdef _take_members(self, step, Frame inner)
    cdef _take(self, step, value, Frame inner)
    cdef _put(self, step, made)
    cdef _narrow(self, node)

cdef class Check:
    cdef public bint changed
    cdef list _frames
    cdef object _node, _path, _shown, _text, _whole
    @cython.locals(frames=list, frame=Frame, inner=Frame, level=Py_ssize_t, done=Py_ssize_t)
    cpdef look(self, value, open_path)
    @cython.locals(frame=Frame)
    cpdef partial(self, depth=*)
    cdef _enter(self, Py_ssize_t level, node, container)
    cdef _grow(self, node, text)
