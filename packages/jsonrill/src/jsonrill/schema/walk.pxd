# Types for the compiler; the code is in walk.py.
cimport cython
from ..parse.sink cimport PlacedSink, Sink, TextBuffer
from ..paths cimport Place
from .branches cimport Branch, alive, expand, refuse
from .nodes cimport Elements, Members, Node

cdef int ARRAY, FALSE, FRACTION, INTEGER, NULL, NUMBER, OBJECT, STRING, TRUE

cdef class TextCheck:
    cdef public Branch branch
    cdef public Node node
    cdef Py_ssize_t _end, _first, _length
    @cython.locals(excess=Py_ssize_t)
    cpdef read(self, str run)
    cpdef bint refuses(self, str value)
    @cython.locals(texts=tuple, at=Py_ssize_t, first=Py_ssize_t, end=Py_ssize_t)
    cdef _compare(self, str run)

cdef class Frame:
    cdef public list asked, obligations, unsure
    cdef public Py_ssize_t offset
    cdef public set seen
    cdef public object value
    cpdef put(self, Place place, value)

cdef class Walk(PlacedSink):
    cdef bint _keeps_all
    cdef list _active, _member, _nodes, _starts, _texts
    cdef Py_ssize_t _offset, _validating
    cdef Place _string
    cdef TextBuffer _text
    cdef Sink _then
    cdef object _violated
    cdef public object budget, violation
    cdef public Py_ssize_t deepest
    @cython.locals(frame=Frame, place=Place, refused=list, node=Node, asked=list)
    cpdef end_container(self, Py_ssize_t offset)
    @cython.locals(frame=Frame, refused=list)
    cpdef key(self, str key, Py_ssize_t offset)
    @cython.locals(frame=Frame, active=list, refused=list, node=Node)
    cpdef start_string(self, Py_ssize_t offset)
    @cython.locals(active=list, texts=list, refused=list, place=Place, offset=Py_ssize_t, text=TextCheck)
    cpdef end_string(self)
    @cython.locals(active=list, refused=list, first=list, place=Place, kind=int)
    cpdef scalar(self, object value, object text, Py_ssize_t offset)
    @cython.locals(kind=int, refused=list)
    cpdef pending_value(self, str text, Py_ssize_t offset)
    cpdef pending_key(self, str text, Py_ssize_t offset)
    cdef tuple _begin(self, int kind)
    @cython.locals(frame=Frame, node=Node, branch=Branch, expected=list, refused=list)
    cdef tuple _expected(self)
    @cython.locals(node=Node, branch=Branch, refused=list, members=Members)
    cdef list _find_member(self, Frame frame, str key)
    @cython.locals(place=Place)
    cdef Place _started(self, Py_ssize_t offset)
    @cython.locals(active=list, refused=list, place=Place, outer=Frame, frame=Frame)
    cdef bint _start(self, int kind, step, Py_ssize_t offset) except -1
    @cython.locals(text=TextCheck)
    cdef bint _read(self, str run) except -1
    @cython.locals(frame=Frame, node=Node, branch=Branch, members=Members, refusals=list)
    cdef bint _allows_beginning(self, str key, Py_ssize_t offset) except -1
    @cython.locals(frame=Frame, unsure=list)
    cdef list _end_scalar(self, list active, int kind, Place place, value)
    @cython.locals(frame=Frame)
    cdef bint _allows(self, list refused, Place place, Py_ssize_t offset, bint begun=*, value=*, bint whole=*) except -1
    cdef list _validated(self, list obligations, value, bint container=*)
    cdef _opened_container(self, int kind, Frame frame)
    cdef _opened_string(self)
    cdef _complete_container(self)
    cdef _complete_scalar(self, value)

@cython.locals(refused=list, node=Node, branch=Branch)
cpdef list validated(list obligations, value, budget=*)
@cython.locals(node=Node)
cdef list _unsure(list active, int kind)
cdef _missing(Node node, set seen, step)
cdef int _kind(value, text)
