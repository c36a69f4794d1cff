# Types for the compiler; the code is in document.py.
cimport cython
from ..parse.create cimport machine
from ..parse.machine cimport Machine, plain_end
from .rebuilder cimport Growing, Tree

cdef bint _COMPILED
cdef int PLAIN, READY

cdef class Document(Growing):
    cdef Machine _machine
    @cython.locals(machine=Machine, tree=Tree, members=dict, key=str, piece=str, text=str, end=Py_ssize_t)
    cpdef bint feed(self, data)
