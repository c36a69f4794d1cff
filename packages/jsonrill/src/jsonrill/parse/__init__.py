"""Text → events: state machines that emit what they have read to a sink.

grammar.py    patterns and tables of RFC 8259
states.py     the states of a machine
sink.py       the events, and what sinks share
scanner.py    a shortcut: containers that are complete in one piece
position.py   offset, line, path and errors of a machine
tokens.py     the tokens of JSON
machine.py    the strict machine
repair.py     the machine that also reads near-JSON, and reports what it repaired
lookahead.py  the patterns with which it looks ahead
rules.py      the names of its rules
create.py     the machine for given options
"""
