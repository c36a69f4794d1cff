# Types for the compiler; the code is in models.py.
cimport cython

cdef int _DEEPEST

@cython.locals(names=dict, read=dict, fields=dict, sent=set)
cpdef dict read_model(model, left_out, int depth=*)
cdef _read_value(value, int depth)
