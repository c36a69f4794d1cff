# Types for the compiler; the code is in call.py.
from .arguments cimport Arguments

cdef class ToolCall:
    cdef public object id, index, message_id, name, status, error, encoding
    cdef public object answered, result, result_is_error, model, hosted
    cdef public Arguments _arguments
