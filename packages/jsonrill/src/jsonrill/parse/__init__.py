"""Text → events: a state machine that emits what it has read to a sink.

grammar.py    patterns and tables of RFC 8259
states.py     the states of the machine
sink.py       the events, and what sinks share
nesting.py    how deep a value nests that was read at once
c_scanner.py  containers that are complete in one piece, read by the C scanner of `json`
position.py   offset, line, path and errors of the machine
machine.py    the strict machine
repair.py     the machine that also reads near-JSON, and reports what it repaired
rules.py      the names of its rules
lookahead.py  what it asks about the next characters
create.py     the machine for given options
"""
