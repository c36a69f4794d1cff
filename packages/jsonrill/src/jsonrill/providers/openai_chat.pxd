# Types for the compiler; the code is in openai_chat.py.
cimport cython
from .fields cimport as_dict, as_id, as_index, as_text, either
from .call_delta cimport CallDelta

cdef class ChatReader:
    cdef object _id, _message
    cdef set _seen
    cdef bint _changing, _ended

@cython.locals(statements=list, choice=dict)
cpdef list translate(dict event, message)
@cython.locals(delta=dict, call=dict)
cdef _add_choice(dict choice, message, bint has_error, list statements)
cdef list _reasoning(dict delta, choice)
@cython.locals(function=dict)
cdef CallDelta _call(dict call, message, choice)
