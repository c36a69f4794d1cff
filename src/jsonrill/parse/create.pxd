# Types for the compiler; the code is in machines.py.
from .machine cimport Machine
from .sink cimport Sink

cpdef Machine machine(
    Sink sink, repair=*, many=*, duplicates=*, parse_float=*, limits=*
)
