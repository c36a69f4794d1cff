# Types for the compiler; the code is in reader.py.

cdef class Reader:
    cdef public object named, provider
    cdef object _accepts
    cdef readonly object _translate
    cdef readonly dict _pages
