# Types for the compiler; the code is in call_delta.py.

cdef class CallDelta:
    cdef public object id, index, name, text, message, choice, alias, opens, free, hosted
    cdef public object value, parts, preset, end, received, fragments, status, error, unread
