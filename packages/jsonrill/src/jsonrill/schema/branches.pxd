# Types for the compiler; the code is in branches.py.
cimport cython
from .nodes cimport Node

cdef Py_ssize_t BRANCHED

cdef class Branch:
    cdef public bint ended
    cdef public object reason
    cdef public OpenChoice choice

cdef class OpenChoice:
    cdef public Branch around
    cdef public Py_ssize_t left
    cdef public object rule, first
    cdef public bint agrees

cpdef list alive(list obligations)
@cython.locals(active=list, refused=list, others=tuple, node=Node)
cpdef tuple expand(list expected, int kind)
cdef tuple _simple(Node node, int kind)
cpdef refuse(list refused, tuple where, tuple naming=*)
@cython.locals(choice=OpenChoice)
cdef _end(Branch branch, tuple reason, tuple naming, list narrowed)
cdef _last(rule, refusal)

cdef class _Expansion:
    cdef int _kind
    cdef set _always
    @cython.locals(part=Node, parts=tuple)
    cdef node(self, Node node, Branch branch, list out)
    cdef _choice(self, choice, Branch around, list out)
