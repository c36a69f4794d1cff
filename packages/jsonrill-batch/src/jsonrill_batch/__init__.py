"""Logs of recorded streams → rows: one function, and Dask to run it on many files.

`rows` is the work alone: lines in, dicts out. `run` does it for files and writes a folder.

    job.py        what to do with each stream
    record.py     a line of a log → a stream
    reader.py     a stream → a row: `rows`
    guard.py      the same in a child process, for lines that kill it
    partition.py  files → partitions → lines
    output.py     the rows of a partition → a file, and their counts
    runner.py     partitions on Dask: `run`
    cli.py        the command `jsonrill batch`
"""

from .job import BatchError, Job
from .reader import rows
from .runner import run

__all__ = ["BatchError", "Job", "rows", "run"]
