# Types for the compiler; the code is in sink.py.

cdef class Frame:
    cdef public bint is_object
    cdef public str key
    cdef public Py_ssize_t count
    cdef public dict members
    cdef public list elements

cpdef tuple path_of(list frames, Py_ssize_t start, Py_ssize_t end)

cdef class Sink:
    cdef public list frames
    cpdef start_object(self, Py_ssize_t offset)
    cpdef start_array(self, Py_ssize_t offset)
    cpdef end_container(self, Py_ssize_t offset)
    cpdef key(self, str key, Py_ssize_t offset)
    cpdef start_string(self, Py_ssize_t offset)
    cpdef text(self, str run)
    cpdef end_string(self)
    cpdef scalar(self, object value, object text, Py_ssize_t offset)
    cpdef complete(self, Py_ssize_t offset)
    cpdef bint takes_values(self)
