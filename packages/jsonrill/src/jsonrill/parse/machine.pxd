# Types for the compiler; the code is in machine.py.
cimport cython
from .position cimport Position
from .sink cimport Sink
from .tokens cimport Tokens

cdef int VALUE, FIRST_ELEMENT, END, STRING, KEY, DIGITS

cdef class Machine(Tokens):
    @cython.locals(pos=Py_ssize_t, end=Py_ssize_t, start=Py_ssize_t)
    cdef _run(self, str text)
    cdef _unexpected(self, str text, Py_ssize_t pos)
    cdef str _expected(self)
