"""Any source → what a stage reads: pieces of text, or a provider's events.

opening.py   what to iterate: text, files, pipes, responses and streams, recognised in one table
text.py      the pieces of text that a stage reads: plain text, or what `answer.py` makes of events
answer.py    the text of an answer, or the arguments of its calls, in a provider's events
events.py    text that holds events, and the check that the events are a provider's
explain.py   what error messages say about a source and the beginning of an answer

`answer.py` and `events.py` load the providers, so they are imported when events come.
"""

from __future__ import annotations

from .opening import Opened as Opened
from .opening import open_source as open_source
from .text import TextReader as TextReader
