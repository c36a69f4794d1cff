"""Logs of recorded streams → rows: one function, and Dask to run it on many files.

`rows` is the work alone: lines in, dicts out. `run` does it for files and writes a folder.

    errors.py     what stops a run, and what is wrong with a line
    job.py        what to do with each stream
    record.py     a line of a log → a stream
    reader.py     a stream → a row: `rows`
    partition.py  files → partitions → lines
    summary.py    the counts of a run
    output.py     the rows of a partition → a file
    runner.py     partitions on Dask: `run`
    cli.py        the command `jsonrill batch`
"""

from .errors import BatchError
from .job import Job
from .reader import rows
from .runner import run
from .summary import Summary

__all__ = ["BatchError", "Job", "Summary", "rows", "run"]
