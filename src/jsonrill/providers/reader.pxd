# Types for the compiler; the code is in reader.py.

cdef class Reader:
    cdef public object given, provider
    cdef object _accepts, _translate
    cdef readonly dict _pages
