# Types for the compiler; the code is in sink.py.

cdef class Sink:
    cpdef start_object(self, Py_ssize_t offset)
    cpdef start_array(self, Py_ssize_t offset)
    cpdef end_container(self, Py_ssize_t offset)
    cpdef key(self, str key, Py_ssize_t offset)
    cpdef start_string(self, Py_ssize_t offset)
    cpdef text(self, str run)
    cpdef end_string(self)
    cpdef scalar(self, object value, object text, Py_ssize_t offset)
    cpdef complete(self, Py_ssize_t offset)
    cpdef next_document(self)
    cpdef bint takes_values(self)
