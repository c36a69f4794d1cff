# Types for the compiler; the code is in nesting.py.
cimport cython

@cython.locals(size=Py_ssize_t, inner=Py_ssize_t, members=dict, items=list)
cpdef Py_ssize_t spelled(value, Py_ssize_t depth, Py_ssize_t keys) except -2
