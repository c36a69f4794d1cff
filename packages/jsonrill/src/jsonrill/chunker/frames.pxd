# Types for the compiler; the code is in frames.py.
cimport cython

cdef class Changes:
    cdef public list final_keys, new_keys, grown_keys, unchanged_keys, missing_keys
    cdef public Py_ssize_t blanks
    cpdef bint is_any(self)

cpdef bint is_unsettled(tree)
@cython.locals(end=Py_ssize_t)
cdef Py_ssize_t _settled_length(scalar)

cdef class Leaf:
    cdef public object value, written
    cdef public bint is_frozen
    cpdef bint fits(self, value)
    cpdef grow(self, value)
    cpdef settle(self)
    cpdef finish(self, value)
    cdef _write(self, Py_ssize_t end)

cdef class Frame:
    cdef public object kind, open, written
    cdef public dict held
    cdef public set grown_keys
    cdef public bint is_root, is_frozen
    cpdef bint is_unchanged(self, value)
    cpdef bint agrees(self, value)
    cpdef unwritten(self, value, options)
    cpdef Changes compare(self, value, options)
    cpdef hold(self, Changes changes, value)
    cpdef write(self, choice, Changes changes, value)
    cpdef add(self, key, item)
    cpdef finish(self, value)
    cpdef brackets(self)
    cdef _start(self, key)

cdef class Comparison:
    cdef public list values, changes, missing, revised
    cdef public object leaf
    cdef public Py_ssize_t deepest, missing_level

cdef class Plan:
    cdef public Py_ssize_t level
    cdef public Changes changes
    cdef public object choice
    cdef public list frames, text
    cdef public Leaf leaf

cdef class Stack:
    cdef list _frames
    cdef Leaf _leaf
    cdef Py_ssize_t _missing_level
    cdef object _options
    @cython.locals(level=Py_ssize_t, frame=Frame, leaf=Leaf)
    cpdef Comparison compare(self, tree)
    @cython.locals(level=Py_ssize_t, frame=Frame, changes=Changes, is_still=bint)
    cpdef plan(self, Comparison comparison)
    cpdef write(self, Comparison comparison, Plan plan)
    cdef _compare_frame(self, Py_ssize_t level, Frame frame, value, Comparison comparison)
