# Types for the compiler; the code is in document.py.
from .machines cimport machine
from .machine cimport Machine
from .rebuilder cimport Growing, Tree

cdef class Document(Growing):
    cdef Machine _machine
