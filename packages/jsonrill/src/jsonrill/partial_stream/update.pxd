# Types for the compiler; the code is in update.py.

cdef class Record:
    cdef public object delta, entity, error, index, model, open_path, path, repairs, status
    cdef public object _completed, _data
