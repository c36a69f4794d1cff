# Types for the compiler; the code is in create.py.
from .machine cimport Machine
from .sink cimport Sink

cpdef Machine create_machine(Sink sink, dict options=*)
