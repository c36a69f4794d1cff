# Types for the compiler; the code is in fragment.py.

cdef class Fragment:
    cdef public object _at
    cdef public object kind
    cdef public object text
    cdef public object value
    cdef public Py_ssize_t offset
    cdef public Py_ssize_t document
