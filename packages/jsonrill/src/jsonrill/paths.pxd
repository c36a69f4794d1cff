# Types for the compiler; the code is in paths.py.
cdef class Place:
    cdef public object _path
    cdef public object key
    cdef public Place parent
