"""A run: one generation with its log, its producer and its readers. No HTTP framework.

records.py    what one record of the log says
positions.py  event ids: positions in the log
options.py    the options of a stream, and of a reader's view of it
render.py     records → events, one class for each format
value.py      the current value of a stream
steps.py      advances a rendering without holding up the event loop
view.py       one rendering for all readers of one process
reader.py     one reader, from any position to the end
metrics.py    counts
settings.py   what runs and readers need to know, with defaults
hub.py        all streams of one process: views, readers, lost producers
claim.py      the place of a producer in a log
producer.py   records → the log of a run, coalesced, and its end
takeover.py   runs that are produced here, and going on with those of processes that are gone
threads.py    iterates in a thread what would block the event loop
elements.py   any source → records
shutdown.py   the signals that end a process: readers are ended first
answer.py     what a reader's request is answered with
run.py        `Run`: what was logged under a key
api.py        `Runs`
"""
