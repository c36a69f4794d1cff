# Types for the compiler; the code is in fields.py.
cpdef as_id(value)
cpdef as_index(value)
cpdef as_text(value)
cpdef dict as_dict(value)
cpdef either(holder, str name, str other)
