"""Text → events: state machines that emit what they have read to a sink.

options.py    the options of everything that reads text, the repair rules, the machine for them
grammar.py    patterns and tables of RFC 8259
states.py     what a machine expects or is inside of
machine.py    the strict machine, what it shares with the other one, and the events
scanner.py    a shortcut: containers that are complete in one piece
repair.py     the machine that also reads near-JSON, and reports what it repaired
lookahead.py  the patterns with which it looks ahead
"""
