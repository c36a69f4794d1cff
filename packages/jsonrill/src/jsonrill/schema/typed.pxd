# Types for the compiler; the code is in typed.py.
cimport cython
from ..parse.sink cimport TextBuffer
from ..paths cimport Place
from .check cimport Check
from .containers cimport Snapshot, OpenContainer, OpenPart
from .nodes cimport Elements, Members, Node, kind_of
from .walk cimport Frame, Walk

cdef int EVERY, FRACTION, STRING
cdef object ABSENT, CHOICE, ITEMS, ROOT, SCALAR, WITHIN

cdef class TypedCheck(Check):
    cdef bint _keep, _zeros
    cdef public bint changed
    cdef list _growing, _spine
    cdef dict _results
    cdef Py_ssize_t _moment, _told
    cdef OpenContainer _top
    @cython.locals(snapshot=Snapshot, node=Node)
    cpdef snapshot(self)
    @cython.locals(container=OpenContainer)
    cdef _around(self, list containers, Snapshot snapshot)
    @cython.locals(container=OpenContainer)
    cpdef key(self, str key, Py_ssize_t offset)
    cpdef text(self, str run)
    @cython.locals(container=OpenContainer)
    cdef list _below(self)
    @cython.locals(container=OpenContainer)
    cdef _complete_container(self)
    @cython.locals(around=OpenContainer, part=OpenPart, slot=tuple, quiet=bint)
    cdef _complete(self, value, int kind, OpenContainer container)
    @cython.locals(node=Node, one=Node)
    cdef _converted(self, Node node, value, int kind, OpenContainer container)
    cdef tuple _made(self, Node node, value, int kind, OpenContainer container)

cdef Node _asked(list entries, Node inner)
cpdef _grown(Node node, text)
