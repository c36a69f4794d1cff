"""Logs of recorded streams → rows: one function, and Dask to run it on many files.

`rows` is the work alone: lines in, dicts out. `run` does it for files and writes a folder.

    reader.py     a line of a log → a stream → a row: `rows`
    output.py     files → partitions; rows → files, and their counts
    runner.py     partitions on Dask: `run`
    cli.py        the command `jsonrill batch`
"""

from .output import BatchError
from .reader import Job, rows
from .runner import run

__all__ = ["BatchError", "Job", "rows", "run"]
