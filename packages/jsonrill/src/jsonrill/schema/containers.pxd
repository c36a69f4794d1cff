# Types for the compiler; the code is in containers.py.
cimport cython
from .branches cimport Branch
from .nodes cimport Elements, Members, Node
from .partials cimport instance_of

cdef int EVERY, OBJECT
cdef bint _COMPILED
cdef Py_ssize_t NESTED_VALIDATIONS
cdef object ABSENT, CHOICE, CLASS, FIELDS, ITEMS, ROOT

@cython.final
@cython.freelist(4)
cdef class Snapshot:
    cdef public Node node
    cdef public object value
    cdef public dict others
    cpdef at(self, Node node)
    cpdef add(self, Node node, value)

cdef class OpenPart:
    cdef public bint stopped, unsure
    cdef bint _keeps_extra, _zeros
    cdef public Branch branch
    cdef public Node node
    cdef public object known, shape
    cdef list _slots
    cdef object _collect, _step
    cpdef bint is_alive(self)
    cpdef list slots(self, step)
    cdef list _slots_at(self, step)
    cpdef put(self, step, tuple slot, value)
    @cython.locals(members=dict, node=Node, slot=tuple)
    cpdef make(self, cls, step, plain, Snapshot snapshot)

cdef class OpenItems(OpenPart):
    @cython.locals(items=list, slot=tuple)
    cpdef make(self, cls, step, plain, Snapshot snapshot)

cdef class OpenFields(OpenPart):
    cdef public dict extra
    cdef dict _before, _now, _ranks
    cdef set _names
    cdef tuple _plain
    cdef object _make
    @cython.locals(known=dict, extra=dict, fields=dict, more=dict, names=set, slot=tuple)
    cpdef make(self, cls, step, plain, Snapshot snapshot)
    cdef _begin(self, cls)

@cython.final
cdef class Recipe:
    cdef public Node node
    cdef OpenPart _part
    cdef object _cls
    cdef list _roots
    cpdef make(self, step, plain, Snapshot snapshot)

@cython.final
cdef class OpenContainer:
    cdef bint _is_settled
    cdef Py_ssize_t _moment
    cdef list _recipes
    cdef public Py_ssize_t asked
    cdef public int kind
    cdef public dict inner, parts
    cdef public list wants
    cdef public object raw, step
    cpdef bint asks(self)
    @cython.locals(part=OpenPart, nodes=list)
    cpdef list below(self)
    @cython.locals(recipe=Recipe)
    cpdef show(self, Snapshot snapshot, Py_ssize_t moment, step, plain)
    cdef _recipe(self, Node node)
