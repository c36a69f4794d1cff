# Types for the compiler; the code is in typed.py.
cimport cython
from ..parse.sink cimport TextBuffer
from ..paths cimport Place
from .branches cimport Branch
from .check cimport Check
from .makers cimport Maker
from .nodes cimport Elements, Members, Node, kind_of
from .walk cimport Frame, Walk

cdef int EVERY, FRACTION, OBJECT, STRING
cdef Py_ssize_t NESTED_VALIDATIONS
cdef object ABSENT, CHOICE, CLASS, FIELDS, ITEMS, ROOT, SCALAR, WITHIN

cdef class KnownPart:
    cdef public bint stopped, unsure
    cdef bint _zeros
    cdef public Branch branch
    cdef public Node node
    cdef public dict extra
    cdef public object known, shape
    cdef dict _base, _ranks
    cpdef list slots(self, step)
    cpdef put(self, step, tuple slot, value)

cdef class TypedFrame:
    cdef public Py_ssize_t asked
    cdef public int kind
    cdef public dict inner, parts
    cdef public list wants
    cdef public object raw, step
    cpdef bint asks(self)
    @cython.locals(part=KnownPart)
    cpdef list below(self)

cdef class TypedCheck(Check):
    cdef bint _grows, _keep, _zeros
    cdef public bint changed
    cdef public object root
    cdef list _plan, _spine, _wants
    cdef dict _results
    cdef Py_ssize_t _decided, _told, _valid
    cdef TypedFrame _top
    @cython.locals(spine=list, plan=list, at=Py_ssize_t, frame=TypedFrame, wants=list)
    cpdef snapshot(self)
    @cython.locals(frame=TypedFrame)
    cpdef key(self, str key, Py_ssize_t offset)
    cpdef text(self, str run)
    @cython.locals(frame=TypedFrame)
    cdef list _below(self)
    cdef _replan(self)
    @cython.locals(frame=TypedFrame)
    cdef _complete_container(self)
    @cython.locals(around=TypedFrame, part=KnownPart, slot=tuple, quiet=bint)
    cdef _complete(self, value, int kind, TypedFrame frame)
    @cython.locals(node=Node, one=Node)
    cdef _converted(self, Node node, value, int kind, TypedFrame frame)
    cdef tuple _made(self, Node node, value, int kind, TypedFrame frame)

cdef Node _asked(list entries, Node inner)
@cython.locals(inner=dict, around=dict, at=Py_ssize_t, maker=Maker)
cpdef dict _made_by(list plan, list wants, text)
cpdef _grown(Node node, text)
