# Types for the compiler; the code is in check.py.
cimport cython

cdef class Frame:
    cdef readonly object below, container, node, path, shown, step
    cdef readonly bint is_quiet
    cdef object _outer
    cdef Py_ssize_t _finished, _size
    cpdef look(self, step, Frame inner=*)
    cpdef show(self, inner)
    cdef _new_steps(self, step)
    cdef _finish(self, step, value, Frame inner)
    cpdef child(self, step)

cdef class Check:
    cdef public bint changed
    cdef list _frames
    cdef object _node, _shown
    @cython.locals(frames=list, frame=Frame, inner=Frame, level=Py_ssize_t, new=list, outer=Frame)
    cpdef look(self, value, open_path)
    @cython.locals(frame=Frame)
    cpdef partial(self, depth=*)

cpdef put(children, step, child)
