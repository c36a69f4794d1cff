# Types for the compiler; the code is in create.py.
from .machine cimport Machine
from .position cimport Position
from .sink cimport Sink

cpdef Position create_machine(Sink sink, dict options=*)
