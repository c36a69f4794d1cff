# Types for the compiler; the code is in lifecycle.py.
from ..providers.call_delta cimport CallDelta
from .call cimport ToolCall

cdef class LiveCall(ToolCall):
    cdef public object limits, repair, on_repair, own_id, open, ended, apart, encoder, sent_id
    cdef public Py_ssize_t event, number
    cdef public list ids
    cdef object _check, _is_received, _is_typed, _preset, _unread, _void, _writer
    cpdef take(self, CallDelta delta)
    cdef _append(self, str text)
