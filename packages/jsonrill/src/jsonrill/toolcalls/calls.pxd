# Types for the compiler; the code is in calls.py.
cimport cython
from ..providers.call_delta cimport CallDelta
from .lifecycle cimport LiveCall

cdef class ToolCallUpdate:
    cdef public LiveCall call
    cdef public object function_name, function_args, json_update_fragments, status, encoding
    cdef public object is_result, message_id, tool_call_id, index, error
    cdef object _sends_id

cdef class ToolCalls:
    cdef public object reader
    cdef public list ended
    cdef readonly object _identity
    cdef object _keep, _schemas, _unknown
    cdef readonly dict _calls, _done
    cdef dict _early
    cdef list _updates
    cdef LiveCall _recent
    cdef CallDelta _last
    cdef Py_ssize_t _counted, _event
    cpdef read(self, statements)
    cdef _act(self, statement)
    cdef list _take(self)
    @cython.locals(call=LiveCall, update=ToolCallUpdate)
    cdef _call(self, CallDelta delta)

@cython.locals(news=tuple)
cdef _fed(LiveCall call, CallDelta delta)
cdef bint _continues(CallDelta delta, CallDelta last) except -1
cdef bint _says_nothing(CallDelta delta) except -1
