"""A run: one generation with its log, its producer and its readers. Nothing here knows HTTP.

records.py    what one record of the log says
positions.py  event ids: positions in the log
options.py    what a stream is made with, and how a reader wants to see it
render.py     records → events, one class for each format
value.py      what a stream says so far
view.py       one rendering for all readers of one process
reader.py     one reader, from any position to the end
metrics.py    counts
config.py     every setting of a server, with its default
hub.py        all runs of one process
"""
