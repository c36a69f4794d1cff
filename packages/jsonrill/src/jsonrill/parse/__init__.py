"""Text → events: state machines that emit what they have read to a sink.

options.py    the options of everything that reads text, the repair rules, the machine for them
grammar.py    patterns and tables of RFC 8259
states.py     the states of a machine: what it expects, or is reading
machine.py    the strict machine, the code that both machines share, and the events
scanner.py    a shortcut: containers that are complete in one piece
repair.py     the machine that also reads near-JSON, and reports what it repaired
lookahead.py  the patterns for its lookahead
"""
