"""Any source → the elements that a stage reads: pieces of text, or a provider's events.

options.py   which part of a source to read
opening.py   how to iterate it: text, files, pipes, responses and streams, in one table
events.py    text that holds events, and the check that the events are a provider's
answer.py    the text of an answer, or the arguments of its calls, in a provider's events
explain.py   error messages about a source, or about the beginning of an answer

`answer.py` and `events.py` load the providers, so they are imported when events come.
"""
