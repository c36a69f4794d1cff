# Types for the compiler; the code is in check.py.
cimport cython
from ..parse.machine cimport Frame as MachineFrame, Tokens

cdef class Node:
    cdef public object kinds, listed, text_rule, texts
    cdef public bint is_hidden, defers_children, is_deferred, shows_children, shows_text

cdef class Frame:
    cdef readonly object children, container, path, step
    cdef readonly Node node, open_node
    cdef readonly bint is_deferred
    cdef Node _outer
    cdef object _name
    cdef Py_ssize_t _finished, _size
    cpdef look(self, step, Frame inner=*)
    cpdef show(self, inner)
    cdef _new_steps(self, step)
    cdef _finish(self, step, value, Frame inner)
    cpdef child(self, step)

cdef class Check:
    cdef public bint changed
    cdef list _frames
    cdef Node _leaf, _node
    cdef str _text
    cdef tuple _path
    cpdef look(self, value, tuple open_path)
    @cython.locals(outer=Frame)
    cdef _grow_text(self, value)
    @cython.locals(frames=list, frame=Frame, inner=Frame, level=Py_ssize_t, depth=Py_ssize_t,
                   new=list, node=Node, before=Node)
    cdef _walk(self, value, tuple open_path)
    @cython.locals(frame=MachineFrame, outer=Frame, node=Node, depth=Py_ssize_t)
    cpdef begin_at(self, Tokens machine, Py_ssize_t base=*)
    @cython.locals(frame=Frame)
    cpdef partial(self, depth=*)

cpdef put(children, step, child)
