# Types for the compiler; the code is in snapshot.py.
cimport cython

cdef int _DEEPEST
cdef int _SMALL
cdef tuple _DIGITS
cdef dict _NO_DICT
cdef list _NO_LIST

cdef _copy(value, was, int depth=*)
@cython.locals(tree=dict)
cdef _copy_dict(dict value, dict was, int depth)
@cython.locals(tree=list, at=Py_ssize_t, count=Py_ssize_t)
cdef _copy_list(list value, list was, int depth)
cdef _copy_other(value, was, int depth)
cdef _digits(value)
cdef _decimal(value)
