"""Any source → what a stage reads: pieces of text, or a provider's events.

options.py   what to read of a source
opening.py   what to iterate: text, files, pipes, responses and streams, recognised in one table
events.py    text that holds events, and the check that the events are a provider's
answer.py    the text of an answer, or the arguments of its calls, in a provider's events
explain.py   what error messages say about a source and the beginning of an answer

`answer.py` and `events.py` load the providers, so they are imported when events come.
"""
