"""The public functions. Each takes a sync or an async source.

types.py        what they take
driving.py      a stage over a source, sync or async
settings.py     the options of a call: those of the source, those of the stage
documents.py    `values`, `fields`, `partial`, `loads`
selecting.py    `select`, `text`
fragmenting.py  `fragments`
pacing.py       updates that wait until they are due
updating.py     `updates`
chunking.py     `chunks`
answering.py    `content`, `parts`, `tool_calls`
framing.py      `sse`

A module loads what its functions need, so that reading text loads no provider and no schema.
"""
