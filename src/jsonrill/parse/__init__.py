"""Text → events: a state machine that tells a sink what it has read.

grammar.py    patterns and tables of RFC 8259
states.py     the states of the machine
sink.py       what the machine tells
c_scanner.py  containers that lie whole in one piece, read by the C scanner of `json`
standing.py   position, path and errors of the machine
machine.py    the strict machine
lenient/      the machine that also reads near-JSON, and reports what it repaired
create.py     the machine for given options
"""
