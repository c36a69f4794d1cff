# Types for the compiler; the code is in reader.py.

cdef class Reader:
    cdef public object named, provider
    cdef object _accepts
    cdef readonly object _translate
    cdef readonly dict _pages
    cdef object _like
    cdef str _head, _tail
    cdef Py_ssize_t _pause, _waits
    cdef _repeated(self, str text)
