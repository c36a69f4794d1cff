# Types for the compiler; the code is in scanner.py.
cimport cython

@cython.locals(size=Py_ssize_t, end=Py_ssize_t)
cpdef scan(str text, Py_ssize_t pos, read, limits, Py_ssize_t depth)
