# What compiled modules do in place of the function of `plain_partial`, a call through pydantic.
from cpython.object cimport PyObject_GenericSetDict, PyTypeObject, Py_TYPE

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject *kind, Py_ssize_t count)

cdef inline int put(slot, instance, value) except -1:
    return Py_TYPE(slot).tp_descr_set(slot, instance, value)

cdef inline object instance_of(tuple plain, dict fields, extra, set names):
    instance = PyType_GenericAlloc(<PyTypeObject *>plain[0], 0)
    PyObject_GenericSetDict(instance, fields, NULL)
    put(plain[2], instance, names)
    put(plain[3], instance, extra)
    put(plain[4], instance, None)
    return instance
